package draw

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Spot is the position of a line: the line of a block of text. Both count from
// 0; lines outside any block have block -1.
type Spot struct{ Block, Line int }

// Before reports whether a comes before b.
func (a Spot) Before(b Spot) bool {
	return a.Block < b.Block || a.Block == b.Block && a.Line < b.Line
}

// SpotLine is a drawn line and its position.
type SpotLine struct {
	Spot
	TextLine
}

// Mark is a range of cells of a drawn line, from From to before To, and its style.
type Mark struct {
	From, To int
	Style    lipgloss.Style
}

// Restyle draws the marked cells of a drawn line in the styles of their marks, which
// are in order and do not overlap. It reads the line once, however many marks there
// are.
func Restyle(line string, marks ...Mark) string {
	var out, marked strings.Builder
	pen := "" // the styles in force, as they were set
	flush := func() {
		if marked.Len() == 0 {
			return
		}
		if pen != "" {
			out.WriteString(ansi.ResetStyle)
		}
		out.WriteString(marks[0].Style.Render(marked.String()))
		out.WriteString(pen)
		marked.Reset()
	}
	at, state := 0, byte(0)
	for rest := line; rest != ""; {
		part, width, n, next := ansi.DecodeSequence(rest, state, nil)
		for width > 0 && len(marks) > 0 && at >= marks[0].To { // accents stay with their letter
			flush()
			marks = marks[1:]
		}
		if len(marks) == 0 {
			out.WriteString(rest)
			break
		}
		rest, state = rest[n:], next
		isStyle := strings.HasPrefix(part, "\x1b[") && strings.HasSuffix(part, "m")
		switch {
		case isStyle && marked.Len() > 0: // comes into force behind the marked cells
			flush()
			fallthrough
		case isStyle:
			pen += part
			if part == ansi.ResetStyle || part == "\x1b[0m" {
				pen = ""
			}
			out.WriteString(part)
		case at >= marks[0].From && !strings.HasPrefix(part, "\x1b"):
			marked.WriteString(part)
		default:
			out.WriteString(part)
		}
		at += width
	}
	if len(marks) > 0 {
		flush()
	}
	return out.String()
}
