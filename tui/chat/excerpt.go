package chat

import (
	"strings"
	"sync"

	"replan/agent"
	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/patch"
	"replan/tui/wording"
)

// excerpt draws at most so many lines of something for a width in cells, and says in one more
// how many others there are. It reports whether there are no others.
type excerpt func(width, most int) (lines []string, all bool)

// firstLines returns an excerpt of the first lines of a body; at most 0 shows none.
func firstLines(l *draw.Styles, body func(width int) []string) excerpt {
	return func(width, most int) ([]string, bool) {
		lines := body(width)
		if most == 0 {
			return nil, len(lines) == 0
		}
		return l.Shorten(lines, most, width), len(lines) <= most+1
	}
}

// resultExcerpt returns an excerpt of the result of a completed step: of what it is about if that is known, else of all its members.
func resultExcerpt(l *draw.Styles, s *agent.StepState) excerpt {
	shown := sync.OnceValue(func() wording.Shown { return wording.ShownOf(s) })
	members := firstLines(l, func(width int) []string {
		d := &draw.Document{Styles: l, Width: max(width, 1)}
		if lines := wording.ItemLines(s); lines != nil {
			d.CutLines(l.Text, lines)
		} else {
			writeResult(d, s.Result)
		}
		return d.Whole()
	})
	return func(width, most int) ([]string, bool) {
		if s.Items == nil && shown().Known() {
			return shownExcerpt(l, shown(), width, most)
		}
		return members(width, most)
	}
}

// shownExcerpt draws what a result is about, and below it a line of facts.
func shownExcerpt(l *draw.Styles, shown wording.Shown, width, most int) (lines []string, all bool) {
	d := &draw.Document{Styles: l, Width: max(width, 1)}
	if t := shown.Tests; t != nil {
		d.Prose(l.Text, t.Summary)
		d.CutLines(l.Danger, t.Failures)
		if len(d.Lines) > most+1 {
			return l.Shorten(d.Lines, most, width), false
		}
		if most -= len(d.Lines); most < 1 && shown.Output != "" {
			return d.Lines, false
		}
	}
	part, all := shownPart(l, shown, d.Width, most)
	d.Add(part...)
	if len(shown.Facts) > 0 {
		d.Add(l.Faint.Render(l.Cut(strings.Join(shown.Facts, " "+l.Glyphs.Separator+" "), d.Width)))
	}
	return d.Lines, all
}

// shownPart draws the thing that a result is about.
func shownPart(l *draw.Styles, shown wording.Shown, width, most int) (lines []string, all bool) {
	d := &draw.Document{Styles: l, Width: width}
	switch {
	case shown.Silent:
		d.Prose(l.Faint, noOutput)
	case shown.Output != "":
		return lastLines(l, shown.OutputLines(), most, width)
	case shown.Diff != "":
		return firstRows(l, draw.NewDiffRows(l, width, patch.Parse(shown.Diff).Brief()), width, most, 0, "more line")
	case len(shown.Table.Rows) > 0:
		table := draw.NewTable(l, width, shown.Table)
		noun := "more row"
		if table.Head() == 0 {
			noun = "more line"
		}
		lines, all = firstRows(l, table, width, most, table.Head(), noun)
		if missing := table.Missing(); missing != "" {
			lines = append(lines, l.Faint.Render(l.Cut(missing, width)))
		}
		return lines, all
	case shown.Words != "":
		d.Prose(l.Text, draw.Unmarked(strings.TrimSpace(shown.Words)))
	default:
		d.CutLines(l.Text, shown.Lines)
	}
	return l.Shorten(d.Lines, most, width), len(d.Lines) <= most+1
}

// firstRows draws the first lines of a leaf, after its head, and counts the others.
func firstRows(l *draw.Styles, leaf draw.Leaf, width, most, head int, noun string) (lines []string, all bool) {
	count, more := leaf.Count(), leaf.Count()-head-most
	if all = more <= 1; !all {
		count = head + most
	}
	for i := range count {
		lines = append(lines, leaf.Rows(i, width)...)
	}
	if !all {
		lines = append(lines, l.Faint.Render(l.Cut(english.Count(more, noun), width)))
	}
	return lines, all
}

// writeResult adds the result of a call: text as it is, an object by its
// members.
func writeResult(d *draw.Document, result any) {
	if text, ok := wording.ResultText(result); ok {
		result = text
	}
	switch result := result.(type) {
	case string:
		d.Output(d.Styles.Text, draw.Clip(strings.TrimRight(result, "\n")))
	case map[string]any:
		d.Object(result)
	default:
		text, _ := wording.ValueText(result)
		d.Code(d.Styles.Text, text)
	}
}
