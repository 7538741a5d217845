package step

import (
	"fmt"
	"image"
	"strings"

	"replan/agent"
	"replan/agent/session"
	"replan/internal/picture"
	"replan/planning/prompt"
	"replan/tui/draw"
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

// pictures are the pictures of results that the session has made small for the screen.
type pictures struct {
	styles   *draw.Styles
	terminal *graphics.Terminal         // which may draw them better than text
	held     map[string]session.Picture // by hash; without pixels until they arrive
	sharp    bool                       // they are for a terminal that draws them
}

// drawWith has the terminal draw pictures, where it can.
func (ps *pictures) drawWith(g *graphics.Terminal) { ps.terminal = g }

// version returns the version of what the terminal draws.
func (ps *pictures) version() int { return ps.terminal.Version }

// resolution returns how many pixels of a picture the terminal can show.
func (ps *pictures) resolution() (width, height int) {
	if ps.terminal.Draws() {
		return 12 * pictureColumns, 24 * pictureRows
	}
	return 2 * pictureColumns, 4 * pictureRows
}

// wanted returns the query for a picture of a step that was not asked for; nil if there is
// none.
func (ps *pictures) wanted(s *agent.StepState) keymap.Query {
	if !ps.draws() {
		return nil
	}
	if draws := ps.terminal.Draws(); draws != ps.sharp { // the terminal answered after some were asked for
		ps.sharp, ps.held = draws, nil
	}
	for _, a := range s.Beside.Attachments[:min(len(s.Beside.Attachments), picturesHeld)] {
		if _, asked := ps.held[a.SHA256]; asked || !prompt.IsPicture(a) {
			continue
		}
		if ps.held == nil || len(ps.held) >= 2*picturesHeld { // most are of other steps
			ps.held = map[string]session.Picture{}
		}
		ps.held[a.SHA256] = session.Picture{Of: a}
		width, height := ps.resolution()
		return keymap.QueryPicture(a, width, height)
	}
	return nil
}

// take keeps a picture, and reports whether it was asked for.
func (ps *pictures) take(p session.Picture) bool {
	_, asked := ps.held[p.Of.SHA256]
	if asked {
		ps.held[p.Of.SHA256] = p
	}
	return asked
}

// placed returns the pictures of a step, for a terminal that draws them in so many columns.
func (ps *pictures) placed(s *agent.StepState, columns int) []graphics.Picture {
	if !ps.draws() || !ps.terminal.Draws() {
		return nil
	}
	var out []graphics.Picture
	for _, a := range s.Beside.Attachments {
		if pixels := ps.held[a.SHA256].Pixels; pixels != nil {
			out = append(out, ps.terminal.Place(a.SHA256, pixels, max(min(columns, pictureColumns), 1), pictureRows))
		}
	}
	return out
}

// draws reports whether the screen can draw pictures, at least of half blocks in
// colors.
func (ps *pictures) draws() bool { return !ps.styles.Theme.Mode.ASCII && !ps.styles.Theme.Mode.NoColor }

// draw draws the text beside a result, and its files.
func (ps *pictures) draw(p *draw.SheetPage, s *agent.StepState) {
	l := ps.styles
	if s.Beside.Text != "" {
		p.Blank()
		p.Prose(l.Accent, "beside it")
		p.Put(draw.NewText(l, l.Text, strings.TrimSpace(s.Beside.Text.Visible())))
	}
	for _, a := range s.Beside.Attachments {
		p.Blank()
		held := ps.held[a.SHA256]
		facts := []string{a.Type, wording.TextSize(a.Bytes)}
		if held.Width > 0 {
			facts = append(facts, fmt.Sprintf("%d×%d", held.Width, held.Height))
		}
		p.Field("file", l.Text, strings.Join(facts, " "+l.Glyphs.Separator+" "))
		p.Field("at", l.Faint, a.File)
		if held.Problem != "" {
			p.Field("", l.Warning, held.Problem.Line())
		}
		if held.Pixels != nil && ps.draws() {
			lines := ps.terminal.Cells(a.SHA256)
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
