package draw

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/internal/english"
	"replan/tui/wording"
)

const (
	columnGap   = 2 // cells between two columns
	leastColumn = 6 // cells to which a column may shrink; further ones are left out
)

// Table is a leaf of aligned columns that fit a width: long cells are cut, and columns without room are left out.
type Table struct {
	styles *Styles
	table  wording.Table
	widths []int // cells of each column that is drawn
}

// NewTable lays out a table for a width in cells.
func NewTable(l *Styles, width int, t wording.Table) *Table {
	d := &Table{styles: l, table: t}
	for _, row := range d.lines() {
		for i, cell := range row {
			if i == len(d.widths) {
				d.widths = append(d.widths, 1)
			}
			d.widths[i] = min(max(d.widths[i], VisibleWidth(cell)), max(width, 1))
		}
	}
	d.shrink(width)
	return d
}

// lines returns the rows with that of the names.
func (d *Table) lines() [][]string {
	if len(d.table.Names) == 0 {
		return d.table.Rows
	}
	return append([][]string{d.table.Names}, d.table.Rows...)
}

// shrink makes the widest columns smaller, and then leaves out the last ones, until all fit.
func (d *Table) shrink(width int) {
	for {
		over := (len(d.widths)-1)*columnGap - width
		for _, w := range d.widths {
			over += w
		}
		if over <= 0 || len(d.widths) == 0 {
			return
		}
		widest := slices.Max(d.widths)
		switch {
		case widest > leastColumn || len(d.widths) == 1:
			d.widths[slices.Index(d.widths, widest)] = max(widest-1, min(widest, 1))
			if widest <= 1 {
				return
			}
		default:
			d.widths = d.widths[:len(d.widths)-1]
		}
	}
}

// Head returns the number of lines above the rows.
func (d *Table) Head() int { return min(len(d.table.Names), 1) }

// Missing says how many columns are left out, "" for none.
func (d *Table) Missing() string {
	if n := len(d.table.Numbers) - len(d.widths); n > 0 {
		return english.Count(n, "more column")
	}
	return ""
}

// Count returns the number of lines.
func (d *Table) Count() int { return len(d.table.Rows) + d.Head() }

// Rows returns line i.
func (d *Table) Rows(i, _ int) []string {
	l, style := d.styles, d.styles.Text
	cells := d.table.Names
	if i >= d.Head() {
		cells = d.table.Rows[i-d.Head()]
	} else {
		style = l.Accent
	}
	var b strings.Builder
	for column, width := range d.widths {
		text, how := At(cells, column), style
		if len(d.table.Names) == 0 && column > 0 {
			how = l.Faint
		}
		if column > 0 {
			b.WriteString(strings.Repeat(" ", columnGap))
		}
		b.WriteString(d.cell(how, text, width, column))
	}
	return []string{strings.TrimRight(b.String(), " ")}
}

// cell draws a cell: numbers at the right of their column, the last text without blanks behind it.
func (d *Table) cell(style lipgloss.Style, text string, width, column int) string {
	text = d.styles.Cut(text, width)
	pad := strings.Repeat(" ", max(width-VisibleWidth(text), 0))
	switch {
	case text == "":
		return pad
	case d.table.Numbers[column]:
		return pad + style.Render(text)
	case column == len(d.widths)-1:
		return style.Render(text)
	default:
		return style.Render(text) + pad
	}
}
