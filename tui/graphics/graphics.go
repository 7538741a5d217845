package graphics

import (
	"bytes"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"

	"replan/internal/picture"
)

// A cell names its picture by a color of the palette, which needs no true color.
// The first 16 are left to the theme.
const (
	firstID = 16
	lastID  = 255
)

// queryID is the picture of the query; the terminal does not keep it.
const queryID = 31

// askCellSize asks the terminal for the size of a cell in pixels.
const askCellSize = "\x1b[16t"

// settleTime is how long a terminal has had its size when pictures are sent again.
const settleTime = 100 * time.Millisecond

// Terminal is what the terminal can draw, and the pictures that it holds.
type Terminal struct {
	Version int // changes when [Terminal.Cells] draws a picture in another way

	asked  bool
	draws  bool
	ended  bool
	cell   picture.Size // in pixels
	held   map[string]*held
	newest int // id
	sizes  int // number of sizes reported
}

// Picture is a picture on the screen. Key tells it from others.
type Picture struct {
	Key           string
	Pixels        *image.RGBA
	Columns, Rows int // cells
}

// held is a picture that was sent.
type held struct {
	Picture
	id      int
	arrived bool
}

type (
	// sentMsg reports that a picture was written to the terminal.
	sentMsg held
	// settledMsg reports that the terminal may have kept a size.
	settledMsg struct{ sizes int }
)

// New returns a terminal of which nothing is known.
func New() *Terminal {
	return &Terminal{cell: picture.Size{Width: 10, Height: 20}, held: map[string]*held{}, newest: lastID}
}

// Update handles what the terminal reports about itself.
func (t *Terminal) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.EnvMsg:
		if knowsPlaceholders(msg.Getenv) {
			t.asked = true
			return tea.Raw(ansi.KittyGraphics([]byte("AAAA"), fmt.Sprint("i=", queryID), "s=1", "v=1", "a=q", "t=d", "f=24") + askCellSize)
		}
	case uv.KittyGraphicsEvent:
		if t.asked && msg.Options.ID == queryID && string(msg.Payload) == "OK" {
			t.draws = true
		}
	case uv.CellSizeEvent:
		if msg.Width > 0 && msg.Height > 0 {
			t.cell = picture.Size(msg)
		}
	case sentMsg:
		return t.sent(msg)
	case tea.WindowSizeMsg:
		// An editor may have had the terminal, and the pictures went with its screen.
		if t.sizes++; t.draws {
			settled := settledMsg{t.sizes}
			return tea.Tick(settleTime, func(time.Time) tea.Msg { return settled })
		}
	case settledMsg:
		if msg.sizes == t.sizes {
			again := []tea.Cmd{tea.Raw(askCellSize)} // another font has other cells
			for _, h := range t.held {
				again = append(again, send(*h))
			}
			return tea.Batch(again...)
		}
	}
	return nil
}

// knowsPlaceholders reports whether a terminal is known to draw pictures in the
// place of placeholders. Others that answer the query, among them WezTerm and
// Konsole, show the placeholders themselves.
func knowsPlaceholders(getenv func(string) string) bool {
	for _, between := range []string{"TMUX", "STY", "ZELLIJ"} {
		if getenv(between) != "" {
			return false
		}
	}
	term := getenv("TERM")
	return term == "xterm-kitty" || term == "xterm-ghostty" || getenv("TERM_PROGRAM") == "ghostty"
}

// Draws reports whether the terminal draws pictures.
func (t *Terminal) Draws() bool { return t.draws }

// Place returns a picture at its own size in pixels, or smaller to fit into so many
// cells.
func (t *Terminal) Place(key string, pixels *image.RGBA, columns, rows int) Picture {
	size := pixels.Bounds()
	fit := picture.Size{Width: size.Dx(), Height: size.Dy()}.Within(columns*t.cell.Width, rows*t.cell.Height)
	return Picture{
		Key: key, Pixels: pixels,
		Columns: (fit.Width + t.cell.Width - 1) / t.cell.Width,
		Rows:    (fit.Height + t.cell.Height - 1) / t.cell.Height,
	}
}

// Show makes the terminal hold just these pictures.
func (t *Terminal) Show(pictures []Picture) tea.Cmd {
	if !t.draws || t.ended {
		return nil
	}
	var cmds []tea.Cmd
	for key, h := range t.held {
		if !slices.ContainsFunc(pictures, func(p Picture) bool { return p.Key == key }) {
			cmds = append(cmds, tea.Raw(remove(h.id)))
			delete(t.held, key)
			t.Version++
		}
	}
	for _, p := range pictures {
		switch h := t.held[p.Key]; {
		case h == nil:
			h = &held{Picture: p, id: t.freeID()}
			t.held[p.Key] = h
			cmds = append(cmds, send(*h))
		case h.Pixels != p.Pixels: // in another resolution
			h.Picture = p
			cmds = append(cmds, send(*h))
			t.Version++
		case h.Columns != p.Columns || h.Rows != p.Rows:
			h.Picture = p
			cmds = append(cmds, tea.Raw(place(*h)))
			t.Version++
		}
	}
	return tea.Batch(cmds...)
}

// freeID returns an id that no held picture has.
func (t *Terminal) freeID() int {
	taken := map[int]bool{}
	for _, h := range t.held {
		taken[h.id] = true
	}
	for {
		if t.newest++; t.newest > lastID {
			t.newest = firstID
		}
		if !taken[t.newest] {
			return t.newest
		}
	}
}

// sent notes that a picture is with the terminal. Meanwhile it may have left the
// screen, or changed its size.
func (t *Terminal) sent(msg sentMsg) tea.Cmd {
	h := t.held[msg.Key]
	if h == nil || h.id != msg.id {
		return tea.Raw(remove(msg.id))
	}
	if !h.arrived {
		h.arrived = true
		t.Version++
	}
	if h.Columns != msg.Columns || h.Rows != msg.Rows {
		return tea.Raw(place(*h))
	}
	return nil
}

// Cells returns the lines of cells that show a picture, nil if the terminal does not
// hold it yet.
func (t *Terminal) Cells(key string) []string {
	h := t.held[key]
	if h == nil || !h.arrived {
		return nil
	}
	lines := make([]string, h.Rows)
	for y := range lines {
		var b strings.Builder
		fmt.Fprintf(&b, "\x1b[0;38;5;%dm", h.id)
		for x := range h.Columns { // each says where it is, since others may be covered
			b.WriteString(string([]rune{kitty.Placeholder, kitty.Diacritic(y), kitty.Diacritic(x)}))
		}
		b.WriteString("\x1b[m")
		lines[y] = b.String()
	}
	return lines
}

// BeforeQuit returns the message to handle in place of msg: the end of the program
// waits, for two frames of that length, until the pictures are deleted. After a
// panic they go with the screen that they are on.
func (t *Terminal) BeforeQuit(msg tea.Msg, frame time.Duration) tea.Msg {
	if _, quits := msg.(tea.QuitMsg); !quits || len(t.held) == 0 {
		return msg
	}
	emptied := t.Show(nil)
	t.ended = true
	return tea.Sequence(emptied, tea.Tick(2*frame, func(time.Time) tea.Msg { return msg }))()
}

// send sends a picture with its place.
func send(h held) tea.Cmd {
	return tea.Sequence(func() tea.Msg {
		var out bytes.Buffer
		// A buffer takes every byte, and an RGBA picture is a sound PNG.
		_ = kitty.EncodeGraphics(&out, h.Pixels, &kitty.Options{
			Action: kitty.Transmit, Transmission: kitty.Direct, Format: kitty.PNG, ID: h.id, Quiet: 2, Chunk: true,
		})
		return tea.RawMsg{Msg: out.String() + place(h)}
	}, func() tea.Msg { return sentMsg(h) })
}

// place gives a picture its size in cells, in place of an earlier one.
func place(h held) string {
	return ansi.KittyGraphics(nil, "a=p", "U=1", "q=2", fmt.Sprint("i=", h.id), "p=1", fmt.Sprint("c=", h.Columns), fmt.Sprint("r=", h.Rows))
}

// remove deletes a picture and its places.
func remove(id int) string {
	return ansi.KittyGraphics(nil, "a=d", "d=I", "q=2", fmt.Sprint("i=", id))
}
