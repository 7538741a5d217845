package draw

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/themes"
	"replan/tui/patch"
)

// codePaint highlights the lines of a diff as code, a few at a time as they
// come into view.
type codePaint struct {
	rows   *DiffRows
	styles map[themes.CodeKind]lipgloss.Style
	lines  map[int][]Run // nil if the language is unknown
}

// codeLinesAround is the number of lines highlighted before and after a visible one.
// codeBefore is the number of additional lines read before those: a lexer that
// starts in the middle may misread code.
const codeLinesAround, codeBefore = 20, 6

func newCodePaint(l *Styles, r *DiffRows) codePaint {
	if l.Theme.Mode.NoColor {
		return codePaint{}
	}
	return codePaint{rows: r, lines: map[int][]Run{}, styles: map[themes.CodeKind]lipgloss.Style{
		themes.CodePlain: l.Text, themes.CodeKeyword: l.Code, themes.CodeType: l.Running, themes.CodeFunction: l.Accent,
		themes.CodeString: l.Success, themes.CodeNumber: l.Warning, themes.CodeComment: l.Muted.Italic(true), themes.CodePunctuation: l.Muted,
		themes.CodeInserted: l.Added, themes.CodeDeleted: l.Removed, themes.CodeHeading: l.Accent.Bold(true),
	}}
}

// runs returns the highlighted parts of a line, or nil if it is not code.
func (c codePaint) runs(i int) []Run {
	if c.rows == nil || c.rows.patch.Lines[i].File < 0 {
		return nil
	}
	if _, known := c.lines[i]; !known {
		c.read(i)
	}
	return c.lines[i]
}

// read highlights a line together with its neighbors in its version of the
// file.
func (c codePaint) read(i int) {
	lines := c.rows.patch.Lines
	absent := patch.Removed
	if lines[i].Kind == patch.Removed {
		absent = patch.Added
	}
	var above, window []int
	read := 0 // already highlighted lines above, read only for context
	for at := i - 1; at >= 0 && read < codeBefore && len(above) < codeLinesAround+codeBefore && lines[at].Kind < patch.Heading; at-- {
		if lines[at].Kind != absent {
			above = append(above, at)
			if _, known := c.lines[at]; known {
				read++
			}
		}
	}
	for n := len(above) - 1; n >= 0; n-- {
		window = append(window, above[n])
	}
	first := max(len(window)-codeLinesAround, 0)
	for at := i; at < len(lines) && len(window) < len(above)+codeLinesAround && lines[at].Kind < patch.Heading; at++ {
		if lines[at].Kind != absent {
			window = append(window, at)
		}
	}
	var source strings.Builder
	for _, at := range window {
		source.WriteString(c.rows.texts[at])
		source.WriteByte('\n')
	}
	code := themes.Code(source.String(), c.rows.patch.Files[lines[i].File].Name())
	plain := !slices.ContainsFunc(code, func(line []themes.CodeSpan) bool {
		return slices.ContainsFunc(line, func(s themes.CodeSpan) bool { return s.Kind != themes.CodePlain })
	})
	for n, at := range window {
		// Highlight a line of both versions once, in the newer one.
		_, known := c.lines[at]
		switch {
		case known || n < first || absent == patch.Added && lines[at].Kind != patch.Removed:
		case plain:
			c.lines[at] = nil
		default:
			c.lines[at] = c.styled(code[n])
		}
	}
}

// styled returns the parts of a line with their styles.
func (c codePaint) styled(spans []themes.CodeSpan) []Run {
	out := make([]Run, len(spans))
	at := 0
	for i, span := range spans {
		out[i] = Run{patch.Span{From: at, To: at + len(span.Text)}, c.styles[span.Kind]}
		at += len(span.Text)
	}
	return out
}
