package draw

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Canvas is the visible part of a drawing. It clips everything outside its
// rectangle.
type Canvas struct {
	Rect   // in coordinates of the drawing
	method ansi.Method
	cells  []CanvasCell
	pens   []lipgloss.Style
}

// CanvasCell is one cell. A wider character leaves the next cell empty.
type CanvasCell struct {
	Text string
	Pen  int // index of its pen plus one, 0 for none
	wide bool
}

// NewCanvas returns an empty canvas for a part of a drawing.
func NewCanvas(r Rect, method ansi.Method) *Canvas {
	return &Canvas{Rect: r, method: method, cells: make([]CanvasCell, max(r.W, 0)*max(r.H, 0))}
}

// Len returns the number of cells, line by line from the upper left.
func (c *Canvas) Len() int { return len(c.cells) }

// Fill puts texts in cells, by their number, in one style. An empty text leaves its cell.
func (c *Canvas) Fill(style lipgloss.Style, text func(cell int) string) {
	c.pens = append(c.pens, style)
	for i := range c.cells {
		if s := text(i); s != "" {
			c.cells[i] = CanvasCell{Text: s, Pen: len(c.pens)}
		}
	}
}

// At returns the cell at a position of the drawing, or nil if it is out of
// view.
func (c *Canvas) At(x, y int) *CanvasCell {
	if !c.Contains(x, y) {
		return nil
	}
	return &c.cells[(y-c.Y)*c.W+x-c.X]
}

// Put writes text into cells, starting at x.
func (c *Canvas) Put(x, y int, style lipgloss.Style, text string) {
	if y < c.Y || y >= c.Y+c.H || x >= c.X+c.W || text == "" {
		return
	}
	c.pens = append(c.pens, style)
	pen := len(c.pens)
	for text != "" {
		cluster, width := ansi.FirstGraphemeCluster(text, c.method)
		if cluster == "" {
			return
		}
		text = text[len(cluster):]
		cell := c.At(x, y)
		switch {
		case width == 2 && cell != nil && c.At(x+1, y) != nil:
			*cell = CanvasCell{Text: cluster, Pen: pen}
			*c.At(x+1, y) = CanvasCell{Pen: pen, wide: true}
		case width == 2: // half of it is out of view
			for _, half := range []int{x, x + 1} {
				if cell := c.At(half, y); cell != nil {
					*cell = CanvasCell{Text: " ", Pen: pen}
				}
			}
		case width == 1 && cell != nil:
			*cell = CanvasCell{Text: cluster, Pen: pen}
		}
		x += width
	}
}

// Lines returns the rows, each exactly as wide as the canvas.
func (c *Canvas) Lines() []string {
	out := make([]string, max(c.H, 0))
	var row, run strings.Builder
	for y := range out {
		row.Reset()
		pen := 0
		flush := func() {
			switch {
			case run.Len() == 0:
			case pen == 0:
				row.WriteString(run.String())
			default:
				row.WriteString(c.pens[pen-1].Render(run.String()))
			}
			run.Reset()
		}
		for x := range c.W {
			cell := &c.cells[y*c.W+x]
			if cell.Pen != pen {
				flush()
				pen = cell.Pen
			}
			switch {
			case cell.wide:
			case cell.Text == "":
				run.WriteByte(' ')
			default:
				run.WriteString(cell.Text)
			}
		}
		flush()
		out[y] = row.String()
	}
	return out
}
