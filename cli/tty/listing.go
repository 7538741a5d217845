package tty

import (
	"strings"

	"charm.land/lipgloss/v2"

	"replan/internal/untrusted"
)

// Cell is a cell of a listing.
type Cell struct {
	Text  string
	Style lipgloss.Style
}

// Listing is a list for people: one row each, in columns below a heading.
type Listing struct {
	Heads []string
	Rows  [][]Cell
	// Wide is the column that takes the rest of the line and is cut to it.
	Wide int
}

// List draws a listing at the width of the terminal.
func (t *Terminal) List(list Listing) string {
	const gap = 2
	widths := make([]int, len(list.Heads))
	heads := make([]Cell, len(list.Heads))
	for i, head := range list.Heads {
		heads[i] = Cell{strings.ToUpper(head), t.Styles.Faint}
	}
	rows := append([][]Cell{heads}, list.Rows...)
	for _, row := range rows {
		for i := range row {
			row[i].Text = untrusted.Line(row[i].Text)
			widths[i] = max(widths[i], lipgloss.Width(row[i].Text))
		}
	}
	others := 0
	for i, width := range widths {
		if i != list.Wide {
			others += width + gap
		}
	}
	const least = 16
	widths[list.Wide] = min(widths[list.Wide], max(t.Width()-others, least))
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell.Style.Render(t.Styles.Cut(cell.Text, widths[i])))
			line.WriteString(strings.Repeat(" ", max(widths[i]-lipgloss.Width(cell.Text), 0)+gap))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// Tabs returns rows for other programs: whole values with a tab between them.
func Tabs(rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		for i, value := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(strings.ReplaceAll(untrusted.Line(value), "\t", " "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
