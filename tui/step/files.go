package step

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/session"
	"replan/internal/picture"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/editor"
	"replan/tui/graphics"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// Limits of pictures on the screen.
const (
	pictureColumns = 80 // cells
	pictureRows    = 24 // cells; a half block is one of two pixels
	picturesHeld   = 32
)

// resolution returns how many pixels of a picture the terminal can show.
func (d *Pane) resolution() (width, height int) {
	if d.graphics.Draws() {
		return 12 * pictureColumns, 24 * pictureRows
	}
	return 2 * pictureColumns, 4 * pictureRows
}

// Wanted returns the query for a picture that the tab would draw; nil if there is
// none. Each picture is asked for once.
func (d *Pane) Wanted() keymap.Query {
	s := d.state()
	if s == nil || d.tab != tabOutput || !d.draws() {
		return nil
	}
	if draws := d.graphics.Draws(); draws != d.sharp { // the terminal answered after some were asked for
		d.sharp, d.pictures = draws, nil
	}
	for _, a := range s.Beside.Attachments[:min(len(s.Beside.Attachments), picturesHeld)] {
		if _, asked := d.pictures[a.SHA256]; asked || !prompt.IsPicture(a) {
			continue
		}
		if d.pictures == nil || len(d.pictures) >= 2*picturesHeld { // most are of other steps
			d.pictures = map[string]session.Picture{}
		}
		d.pictures[a.SHA256] = session.Picture{Of: a}
		width, height := d.resolution()
		return keymap.QueryPicture(a, width, height)
	}
	return nil
}

// Picture takes a picture that the pane asked for.
func (d *Pane) Picture(p session.Picture, err error) {
	if _, asked := d.pictures[p.Of.SHA256]; asked && err == nil {
		d.pictures[p.Of.SHA256] = p
		d.back, d.drawn = nil, false
	}
}

// Pictures returns the pictures that the tab shows, for a terminal that draws them.
func (d *Pane) Pictures() []graphics.Picture {
	s := d.state()
	if s == nil || d.tab != tabOutput || !d.draws() || !d.graphics.Draws() {
		return nil
	}
	var out []graphics.Picture
	for _, a := range s.Beside.Attachments {
		if pixels := d.pictures[a.SHA256].Pixels; pixels != nil {
			out = append(out, d.graphics.Place(a.SHA256, pixels, max(min(d.columns(s), pictureColumns), 1), pictureRows))
		}
	}
	return out
}

// draws reports whether the screen can draw pictures, at least of half blocks in
// colors.
func (d *Pane) draws() bool { return !d.styles.Theme.Mode.ASCII && !d.styles.Theme.Mode.NoColor }

// drawFiles draws the text beside a result, and its files.
func (d *Pane) drawFiles(p *draw.SheetPage, s *agent.StepState) {
	l := d.styles
	if s.Beside.Text != "" {
		p.Blank()
		p.Prose(l.Accent, "beside it")
		p.Put(draw.NewText(l, l.Text, strings.TrimSpace(s.Beside.Text.Visible())))
	}
	for _, a := range s.Beside.Attachments {
		p.Blank()
		held := d.pictures[a.SHA256]
		facts := []string{a.Type, wording.TextSize(a.Bytes)}
		if held.Width > 0 {
			facts = append(facts, fmt.Sprintf("%d×%d", held.Width, held.Height))
		}
		p.Field("file", l.Text, strings.Join(facts, " "+l.Glyphs.Separator+" "))
		p.Field("at", l.Faint, a.File)
		if held.Problem != "" {
			p.Field("", l.Warning, held.Problem.Line())
		}
		if held.Pixels != nil && d.draws() {
			lines := d.graphics.Cells(a.SHA256)
			if lines == nil {
				lines = halfBlocks(held.Pixels, min(p.Width, pictureColumns), pictureRows)
			}
			p.Lines = append(p.Lines, lines...)
		}
	}
}

// halfBlocks draws a picture in cells of two pixels, one above the other.
func halfBlocks(pixels *image.RGBA, columns, rows int) []string {
	small := picture.Scale(pixels, max(columns, 1), max(2*rows, 1))
	size := small.Bounds()
	var lines []string
	for y := 0; y < size.Dy(); y += 2 {
		var b strings.Builder
		for x := range size.Dx() {
			b.WriteString(halfBlock(small, x, y))
		}
		b.WriteString("\x1b[m")
		lines = append(lines, b.String())
	}
	return lines
}

// halfBlock draws two pixels in a cell. Where they are transparent the background
// stays.
func halfBlock(pixels *image.RGBA, x, y int) string {
	const opaque = 128
	upper := pixels.RGBAAt(x, y)
	lower := pixels.RGBAAt(x, y+1) // transparent below the last row
	switch {
	case upper.A < opaque && lower.A < opaque:
		return "\x1b[m "
	case lower.A < opaque:
		return fmt.Sprintf("\x1b[0;38;2;%d;%d;%dm▀", upper.R, upper.G, upper.B)
	case upper.A < opaque:
		return fmt.Sprintf("\x1b[0;38;2;%d;%d;%dm▄", lower.R, lower.G, lower.B)
	default:
		return fmt.Sprintf("\x1b[38;2;%d;%d;%d;48;2;%d;%d;%dm▀", upper.R, upper.G, upper.B, lower.R, lower.G, lower.B)
	}
}

// noFile returns why there is no file to open.
func (d *Pane) noFile() string {
	if why := d.nothing(); why != "" {
		return why
	}
	if s := d.state(); s == nil || len(s.Beside.Attachments) == 0 {
		return "The result of this step has no files."
	}
	return ""
}

// openFile opens the first file of the result with the system's program for it.
// Where there is none, it copies the path.
func (d *Pane) openFile() keymap.Request {
	a := d.state().Beside.Attachments[0]
	if !editor.Shows(a.File, os.Getenv) {
		return keymap.Request{Copy: &keymap.Copied{What: "the path of the file", Text: a.File}}
	}
	return keymap.Request{
		Footer: "Opening " + filepath.Base(a.File),
		Cmd:    editor.Show(a.File, func(err error) tea.Msg { return keymap.AnswerMsg[struct{}]{Err: err} }),
	}
}

// filesText returns the text beside a result and its files, to copy.
func filesText(s *agent.StepState) string {
	var b strings.Builder
	if s.Beside.Text != "" {
		b.WriteString(string(s.Beside.Text) + "\n")
	}
	for _, a := range s.Beside.Attachments {
		fmt.Fprintf(&b, "%s, %d bytes: %s\n", a.Type, a.Bytes, a.File)
	}
	return b.String()
}
