package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// canvas is a part of a drawing that may be larger: what is put outside of it is
// cut off.
type canvas struct {
	rect   // of the drawing
	method ansi.Method
	cells  []canvasCell
	pens   []lipgloss.Style
}

// canvasCell is one cell. What is wider than a cell leaves the next one empty.
type canvasCell struct {
	text string
	pen  int // one more than its place, 0 for none
	wide bool
}

func newCanvas(r rect, method ansi.Method) *canvas {
	return &canvas{rect: r, method: method, cells: make([]canvasCell, max(r.w, 0)*max(r.h, 0))}
}

// at is the cell at a place of the drawing, nil where it is out of view.
func (c *canvas) at(x, y int) *canvasCell {
	if !c.contains(x, y) {
		return nil
	}
	return &c.cells[(y-c.y)*c.w+x-c.x]
}

// put puts text into cells from x on.
func (c *canvas) put(x, y int, style lipgloss.Style, text string) {
	if y < c.y || y >= c.y+c.h || x >= c.x+c.w || text == "" {
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
		cell := c.at(x, y)
		switch {
		case width == 2 && cell != nil && c.at(x+1, y) != nil:
			*cell = canvasCell{text: cluster, pen: pen}
			*c.at(x+1, y) = canvasCell{pen: pen, wide: true}
		case width == 2: // half of it is out of view
			for _, half := range []int{x, x + 1} {
				if cell := c.at(half, y); cell != nil {
					*cell = canvasCell{text: " ", pen: pen}
				}
			}
		case width == 1 && cell != nil:
			*cell = canvasCell{text: cluster, pen: pen}
		}
		x += width
	}
}

// lines are the rows, each exactly as wide as the canvas.
func (c *canvas) lines() []string {
	out := make([]string, max(c.h, 0))
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
		for x := range c.w {
			cell := &c.cells[y*c.w+x]
			if cell.pen != pen {
				flush()
				pen = cell.pen
			}
			switch {
			case cell.wide:
			case cell.text == "":
				run.WriteByte(' ')
			default:
				run.WriteString(cell.text)
			}
		}
		flush()
		out[y] = row.String()
	}
	return out
}
