package review

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/tui/draw"
)

// View draws the dialog on exactly size.H lines of size.W cells.
func (d *Dialog) View(size draw.Rect) []string {
	l, width, height := d.styles, size.W, size.H
	if d.editor != nil {
		return l.Block(d.drawEditor(width, height), width, height)
	}
	bar := d.bar(width)
	if width < draw.WideFrom {
		return l.Block(d.drawStacked(width, height, bar), width, height)
	}
	left := width * 11 / 20
	left += max(min(d.table.missing(left-2), width*13/20-left), 0)
	right := width - left
	bar = d.bar(left)
	rows := d.table.draw(left-2, max(height-3-len(bar), 1))
	title, note := d.title()
	plan := l.Frame(left, l.Warning,
		draw.Section{Title: title, Note: note, Lines: rows, Style: l.Warning},
		draw.Section{Lines: fitted(l, bar, left), Style: l.Warning},
	)
	lines, place := d.page.draw(&d.table, d.review.Plan(), right, max(height-2, 1))
	step := l.Frame(right, l.Border, draw.Section{Title: d.stepTitle(), Lines: lines, Note: place, Style: l.Border})
	out := make([]string, 0, height)
	for i := range height {
		out = append(out, draw.At(plan, i)+draw.At(step, i))
	}
	return l.Block(out, width, height)
}

// fitted fits lines into a frame of width cells.
func fitted(l *draw.Styles, lines []string, width int) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = l.Fit(line, width-4)
	}
	return draw.Padded(out)
}

// drawStacked draws the plan above the selected step.
func (d *Dialog) drawStacked(width, height int, bar []string) []string {
	l := d.styles
	room := max(height-4-len(bar), 2)
	count := d.table.count()
	if d.table.missing(width-2) > 0 {
		count++ // the selected row may take two
	}
	body := max(min(count, room*3/5), 1)
	rows := d.table.draw(width-2, body)
	title, note := d.title()
	lines, place := d.page.draw(&d.table, d.review.Plan(), width, max(room-body, 1))
	return l.Frame(width, l.Warning,
		draw.Section{Title: title, Note: note, Lines: rows, Style: l.Warning},
		draw.Section{Title: d.stepTitle(), Lines: lines, Note: place, Style: l.Warning},
		draw.Section{Lines: fitted(l, bar, width), Style: l.Warning},
	)
}

// title returns the title of the dialog and the range of visible rows.
func (d *Dialog) title() (title, note string) {
	l := d.styles
	words := "Review"
	if d.review.Revision > 1 {
		words = fmt.Sprintf("Review of rev %d", d.review.Revision)
	}
	title = l.Warning.Bold(true).Render(l.Glyphs.Gate+" "+words) + l.Muted.Render(" "+l.Glyphs.Separator+" "+d.review.Plan().Title.Line())
	return title, d.table.inView()
}

func (d *Dialog) stepTitle() string {
	return d.styles.Muted.Render(draw.StepTitle(d.styles, d.table.chosen().Step.Index))
}

// bar shows the changes, a message about the last key, or a question.
func (d *Dialog) bar(width int) []string {
	l := d.styles
	maxLines := 4
	lines := func(style lipgloss.Style, text string) []string {
		out := draw.Wrap(text, max(width-4, 1))
		if len(out) > maxLines {
			out = append(out[:maxLines-1], out[maxLines-1]+l.Glyphs.Ellipsis)
		}
		return draw.Paint(style, out)
	}
	switch {
	case d.confirm != nil:
		return lines(l.Warning, d.confirm.text+"  "+d.keys.Shown("quit.yes")+" yes  "+d.keys.Shown("quit.no")+" no")
	case d.word != "":
		return lines(l.Warning, d.word)
	}
	changed := strings.ReplaceAll(d.review.Changes().String(), "·", l.Glyphs.Separator)
	if changed == "" {
		return lines(l.Faint, "No edits yet.")
	}
	return lines(l.Accent, changed)
}
