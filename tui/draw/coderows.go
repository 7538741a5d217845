package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/themes"
	"replan/tui/patch"
)

// CodeRows breaks a line of code into rows of at most width cells and returns
// their bytes. It keeps every character.
func CodeRows(text string, width int) []patch.Span {
	rows := []patch.Span{{}}
	begin := func(at int) {
		rows[len(rows)-1].To = at
		rows = append(rows, patch.Span{From: at})
	}
	if plainWidth(text) {
		for at := width; at < len(text); at += width {
			begin(at)
		}
	} else {
		cells := 0
		for at := 0; at < len(text); {
			cluster, w := ansi.FirstGraphemeCluster(text[at:], ansi.GraphemeWidth)
			if len(cluster) == 0 {
				break
			}
			if cells+w > width && cells > 0 {
				begin(at)
				cells = 0
			}
			cells += w
			at += len(cluster)
		}
	}
	rows[len(rows)-1].To = len(text)
	return rows
}

// countRows returns the number of rows CodeRows makes.
func countRows(text string, width int) int {
	if plainWidth(text) {
		return max((len(text)+width-1)/width, 1)
	}
	if len(text) <= width { // no character has more cells than bytes
		return 1
	}
	return len(CodeRows(text, width))
}

// plainWidth reports whether every byte of a text is one cell wide.
func plainWidth(text string) bool {
	for i := range len(text) {
		if text[i] < 0x20 || text[i] > 0x7E {
			return false
		}
	}
	return true
}

// PaintRow draws the part of the runs of a text that is in a row.
func PaintRow(text string, runs []Run, row patch.Span) string {
	var b strings.Builder
	for _, run := range runs {
		if part := (patch.Span{From: max(run.From, row.From), To: min(run.To, row.To)}); part.From < part.To {
			b.WriteString(run.Style.Render(text[part.From:part.To]))
		}
	}
	return b.String()
}

// wrapSpans breaks a line of highlighted code into rows of at most width cells.
func wrapSpans(line []themes.CodeSpan, width int) [][]themes.CodeSpan {
	var text strings.Builder
	for _, s := range line {
		text.WriteString(s.Text)
	}
	var rows [][]themes.CodeSpan
	for _, row := range CodeRows(text.String(), width) {
		var parts []themes.CodeSpan
		at := 0
		for _, s := range line {
			if from, to := max(row.From-at, 0), min(row.To-at, len(s.Text)); from < to {
				parts = append(parts, themes.CodeSpan{Text: s.Text[from:to], Kind: s.Kind})
			}
			at += len(s.Text)
		}
		rows = append(rows, parts)
	}
	return rows
}
