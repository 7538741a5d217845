package step

import (
	"slices"
	"strings"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/wording"
)

// drawShown draws what a result is about, below one line of facts, and then the other facts and members.
func (o output) drawShown(p *draw.SheetPage, s *agent.StepState, shown wording.Shown) {
	l := p.Styles
	if t := shown.Tests; t != nil {
		sign, style := l.Glyphs.Done, l.Success
		if !t.Passed {
			sign, style = l.Glyphs.Failed, l.Danger
		}
		p.Prose(style, sign+" "+t.Summary)
	}
	facts := draw.Paint(l.Faint, draw.Flow(slices.Concat(shown.Facts, shown.Denied), " "+l.Glyphs.Separator+" ", p.Width))
	p.Add(facts[:min(len(facts), 1)]...)
	if t := shown.Tests; t != nil && len(t.Failures) > 0 {
		p.Blank()
		p.Put(draw.NewText(l, l.Danger, strings.Join(t.Failures, "\n")))
	}
	switch {
	case shown.Silent:
		p.Prose(l.Faint, "no output")
	case shown.Output != "" && shown.Tests != nil:
		p.Blank()
		p.Put(guidedCode(p, strings.Join(shown.OutputLines(), "\n"), languageTest))
	case shown.Output != "":
		p.Put(draw.NewStyledCode(l, testStyle(l), strings.Join(shown.OutputLines(), "\n")))
	case shown.Diff != "":
		p.Put(draw.NewDiff(l, p.Width, shown.Diff))
	case len(shown.Table.Rows) > 0:
		drawTable(p, shown.Table)
	case shown.Words != "":
		o.drawWords(p, shown.Words)
	case len(shown.Lines) > 0:
		p.Put(draw.NewStyledCode(l, testStyle(l), strings.Join(shown.Lines, "\n")))
	}
	rest := shown.Rest()
	if len(facts) > 1 || len(rest) > 0 {
		p.Blank()
	}
	if len(facts) > 1 {
		p.Add(facts[1:]...)
	}
	if len(rest) > 0 {
		drawMembers(p, s, rest)
	}
}

// drawTable draws a table, and says which part of it has no room.
func drawTable(p *draw.SheetPage, t wording.Table) {
	table := draw.NewTable(p.Styles, p.Width, t)
	p.Put(table)
	if missing := table.Missing(); missing != "" {
		p.Prose(p.Styles.Faint, missing)
	}
}

// drawMembers draws the members of a result, lists of objects as tables.
func drawMembers(p *draw.SheetPage, s *agent.StepState, r map[string]any) {
	names, column := p.Order(r)
	for _, name := range names {
		list, _ := r[name].([]any)
		text, isText := r[name].(string)
		table := wording.TableOf(list)
		switch {
		case isText && languageOf(s, name, text) == "diff":
			p.Add(p.Styles.Accent.Render(p.Styles.Cut(untrusted.Line(name), p.Width)))
			p.Put(draw.NewDiff(p.Styles, p.Width, text))
		case len(table.Rows) > 0 && draw.IsLong(r[name]):
			p.Add(p.Styles.Accent.Render(p.Styles.Cut(untrusted.Line(name), p.Width)))
			drawTable(p, table)
		default:
			writeArgument(p, name, column, r[name], languageOf(s, name, r[name]))
		}
	}
}
