package timeline

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/tui/draw"
	"replan/tui/telling"
	"replan/tui/timing"
)

// barColumns are the widths of a row's parts, in cells.
type barColumns struct {
	width   int
	index   int
	title   int
	plan    int // planning, before the axis of the steps
	bars    int
	took    int
	planned time.Duration
	begin   time.Duration
	span    time.Duration
}

func (d *Dialog) columns(width int) barColumns {
	t := d.line
	c := barColumns{width: width, index: 1, took: 6, begin: t.Begin, span: max(t.Last-t.Begin, time.Millisecond)}
	for i := range t.Tracks {
		c.index = max(c.index, draw.VisibleWidth(timing.TrackIndex(&t.Tracks[i])))
	}
	c.index = min(c.index, 6)
	if len(t.Phases) > 0 {
		c.plan = max(min(width/8, 12), 4)
		c.planned = max(t.Phases[len(t.Phases)-1].To, time.Millisecond)
	}
	if width >= 70 {
		c.title = min(width/4, 32)
	}
	fixed := 4 + c.index + c.took + 1 // cursor, mark, sign and the spaces between
	if c.title > 0 {
		fixed += c.title + 1
	}
	if c.plan > 0 {
		fixed += c.plan + 1
	}
	c.bars = max(width-fixed, 4)
	return c
}

// lead returns the number of cells before the bars.
func (c barColumns) lead() int {
	lead := 4 + c.index
	if c.title > 0 {
		lead += c.title + 1
	}
	return lead
}

// axisLine draws the heading of the planning column and the times along the
// axis.
func (d *Dialog) axisLine(c barColumns) string {
	l := d.look
	line := strings.Repeat(" ", c.lead())
	if c.plan > 0 {
		name := "planning"
		if c.plan < len(name) {
			name = "plan"
		}
		line += l.Fit(l.Muted.Render(l.Cut(name, c.plan)), c.plan) + l.Border.Render(l.Glyphs.Guide)
	}
	cells := make([]rune, c.bars)
	for i := range cells {
		cells[i] = ' '
	}
	free := 0
	put := func(at int, text string) {
		if at < free || at+len(text) > c.bars {
			return
		}
		for i, r := range text {
			cells[at+i] = r
		}
		free = at + len(text) + 1
	}
	step := TickEvery(c.span, max(c.bars/10, 1))
	for at := time.Duration(0); at <= c.span; at += step {
		put(int(int64(c.bars)*int64(at)/int64(c.span)), tickWords(at, step))
	}
	return line + l.Faint.Render(string(cells))
}

// TickEvery returns a round interval that fits into span at most that many
// times.
func TickEvery(span time.Duration, maxTicks int) time.Duration {
	for unit := time.Millisecond; ; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if step := n * unit; span/step <= time.Duration(maxTicks) {
				return step
			}
		}
	}
}

func tickWords(at, step time.Duration) string {
	switch {
	case step < time.Second:
		return fmt.Sprintf("%gs", at.Seconds())
	case at >= 100*time.Second:
		return telling.ClockTime(at)
	default:
		return fmt.Sprintf("%.0fs", at.Seconds())
	}
}

// row draws a track.
func (d *Dialog) row(t *timing.Track, chosen bool, c barColumns) string {
	l := d.look
	line := l.Line(chosen, true)
	glyph, style := d.sign(t)
	mark := " "
	if t.Critical {
		mark = l.Glyphs.Bullet
	}
	drawn := line.Cursor + line.Draw(l.Accent, mark) + line.Draw(style, glyph) + line.Blank(1)
	index := l.Cut(timing.TrackIndex(t), c.index)
	drawn += line.Blank(c.index-draw.VisibleWidth(index)) + line.Draw(l.Muted, index)
	if c.title > 0 {
		title, titleStyle := t.Title.Line(), l.Text
		if t.Gone > 0 {
			titleStyle = l.Struck
		}
		title = l.Cut(title, c.title)
		drawn += line.Blank(1) + line.Draw(titleStyle, title) + line.Blank(c.title-draw.VisibleWidth(title))
	}
	if c.plan > 0 {
		drawn += d.planBar(t, c, line) + line.Draw(l.Border, l.Glyphs.Guide)
	}
	drawn += d.bar(t, c, line)
	took := "-"
	if t.Tries > 0 || t.Ran > 0 || t.Kind != timing.TrackStep {
		took = telling.Shortly(t.Ran)
	}
	took = l.Cut(took, c.took)
	return line.Fill(drawn+line.Blank(c.took-draw.VisibleWidth(took)+1)+line.Draw(l.Faint, took), c.width)
}

// sign returns the glyph of a track's state, and its style.
func (d *Dialog) sign(t *timing.Track) (string, lipgloss.Style) {
	l := d.look
	switch t.Kind {
	case timing.TrackStep:
		return draw.StateGlyph(l, d.run, &agent.StepState{Status: t.Status})
	case timing.TrackReplan:
		return l.Glyphs.Revised, l.Warning
	default:
		return " ", l.Muted
	}
}

// planBar draws the phases before the axis of the steps, each with its letter.
func (d *Dialog) planBar(t *timing.Track, c barColumns, line draw.LitLine) string {
	l := d.look
	if t.Kind != timing.TrackPlanning {
		return line.Blank(c.plan)
	}
	cells := make([]string, c.plan)
	for i := range cells {
		cells[i] = l.Glyphs.Bars.Wait
	}
	for _, p := range d.line.Phases {
		from, to := cellsOf(p.From, p.To, c.planned, c.plan)
		for i := from; i < to; i++ {
			cells[i] = strings.ToUpper(p.Name[:1])
			if i > from {
				cells[i] = l.Glyphs.Bars.Plan
			}
		}
	}
	return line.Draw(l.Accent, strings.Join(cells, ""))
}

// cellsOf returns the cells of an axis that a period takes, at least one.
func cellsOf(from, to, span time.Duration, cells int) (first, end int) {
	first = int(int64(cells) * int64(from) / int64(span))
	end = int((int64(cells)*int64(to) + int64(span) - 1) / int64(span))
	first = max(min(first, cells-1), 0)
	if int64(to-from)*int64(cells) < int64(span) {
		return first, first + 1 // also if it crosses a cell boundary
	}
	return first, max(min(end, cells), first+1)
}

// bar draws when a track waited and ran.
func (d *Dialog) bar(t *timing.Track, c barColumns, line draw.LitLine) string {
	l, b := d.look, d.look.Glyphs.Bars
	type cell struct {
		text  string
		style lipgloss.Style
		rank  int
	}
	cells := make([]cell, c.bars)
	for i := range cells {
		cells[i] = cell{" ", l.Text, -1}
	}
	for _, at := range d.line.Replans {
		i, _ := cellsOf(at-c.begin, at-c.begin, c.span, c.bars)
		cells[i] = cell{b.Mark, l.Warning, 0}
	}
	for _, s := range t.Stretches {
		var with cell
		switch s.Kind {
		case timing.StretchWait:
			with = cell{b.Wait, l.Faint, 1}
		case timing.StretchGate:
			with = cell{b.Gate, l.Warning, 2}
		case timing.StretchPlan:
			with = cell{b.Plan, l.Accent, 3}
		default:
			with = cell{b.Run, l.Running, 3}
			if t.Critical {
				with.text = b.Critical
			}
		}
		from, to := cellsOf(max(s.From-c.begin, 0), max(s.To-c.begin, 0), c.span, c.bars)
		for i := from; i < to; i++ {
			if cells[i].rank <= with.rank {
				cells[i] = with
			}
		}
	}
	if n := len(t.Stretches); n > 0 && t.Kind == timing.TrackStep && (t.Status == agent.StepFailed || t.Status == agent.StepInDoubt) {
		glyph, style := d.sign(t)
		_, to := cellsOf(max(t.Stretches[n-1].From-c.begin, 0), max(t.Stretches[n-1].To-c.begin, 0), c.span, c.bars)
		cells[to-1] = cell{glyph, style, 4}
	}
	var out strings.Builder
	for i := 0; i < len(cells); {
		j := i
		var text strings.Builder
		for j < len(cells) && cells[j].rank == cells[i].rank {
			text.WriteString(cells[j].text)
			j++
		}
		out.WriteString(line.Draw(cells[i].style, text.String()))
		i = j
	}
	return out.String()
}

// density draws the number of running steps over time.
func (d *Dialog) density(c barColumns) string {
	l := d.look
	lead := l.Fit(" ", c.lead())
	if c.title > 0 {
		lead = l.Fit(strings.Repeat(" ", 5+c.index)+l.Muted.Render("at once"), c.lead())
	}
	if c.plan > 0 {
		lead += strings.Repeat(" ", c.plan) + l.Border.Render(l.Glyphs.Guide)
	}
	counts := d.line.AtOnce(c.begin, c.span, c.bars)
	var b strings.Builder
	for _, n := range counts {
		switch {
		case n == 0:
			b.WriteString(" ")
		case n > 9:
			b.WriteString("+")
		default:
			b.WriteString(timing.Number(n))
		}
	}
	return lead + l.Muted.Render(b.String())
}
