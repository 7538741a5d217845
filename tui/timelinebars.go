package tui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/tui/untrusted"
)

// barColumns say where a row's parts stand, in cells.
type barColumns struct {
	width   int
	index   int
	title   int
	plan    int // of planning, before the axis of the steps
	bars    int
	took    int
	planned time.Duration
	begin   time.Duration
	span    time.Duration
}

func (d *timelineDialog) columns(width int) barColumns {
	t := d.line
	c := barColumns{width: width, index: 1, took: 6, begin: t.begin, span: max(t.last-t.begin, time.Millisecond)}
	for i := range t.tracks {
		c.index = max(c.index, visibleWidth(trackIndex(&t.tracks[i])))
	}
	c.index = min(c.index, 6)
	if len(t.phases) > 0 {
		c.plan = max(min(width/8, 12), 4)
		c.planned = max(t.phases[len(t.phases)-1].to, time.Millisecond)
	}
	if width >= 70 {
		c.title = min(width/4, 32)
	}
	fixed := 4 + c.index + c.took + 1 // cursor, mark, sign, and blanks between
	if c.title > 0 {
		fixed += c.title + 1
	}
	if c.plan > 0 {
		fixed += c.plan + 1
	}
	c.bars = max(width-fixed, 4)
	return c
}

// lead is how many cells stand before the bars.
func (c barColumns) lead() int {
	lead := 4 + c.index
	if c.title > 0 {
		lead += c.title + 1
	}
	return lead
}

// axisLine draws the times along the axis, and where new plans came.
func (d *timelineDialog) axisLine(c barColumns) string {
	l := d.look
	line := strings.Repeat(" ", c.lead())
	if c.plan > 0 {
		name := "planning"
		if c.plan < len(name) {
			name = "plan"
		}
		line += l.fit(l.Muted.Render(l.cut(name, c.plan)), c.plan) + l.Border.Render(l.glyphs.Guide)
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
	step := tickEvery(c.span, max(c.bars/10, 1))
	for at := time.Duration(0); at <= c.span; at += step {
		put(int(int64(c.bars)*int64(at)/int64(c.span)), tickWords(at, step))
	}
	return line + l.Faint.Render(string(cells))
}

// tickEvery is a round time of which at most that many fit into a span.
func tickEvery(span time.Duration, most int) time.Duration {
	for unit := time.Millisecond; ; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if step := n * unit; span/step <= time.Duration(most) {
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
		return clockTime(at)
	default:
		return fmt.Sprintf("%.0fs", at.Seconds())
	}
}

// row draws a track.
func (d *timelineDialog) row(t *track, chosen bool, c barColumns) string {
	l := d.look
	line := l.line(chosen, true)
	glyph, style := d.sign(t)
	mark := " "
	if t.critical {
		mark = l.glyphs.Bullet
	}
	drawn := line.cursor + line.draw(l.Accent, mark) + line.draw(style, glyph) + line.blank(1)
	index := l.cut(trackIndex(t), c.index)
	drawn += line.blank(c.index-visibleWidth(index)) + line.draw(l.Muted, index)
	if c.title > 0 {
		title, titleStyle := untrusted.Line(t.title), l.Text
		if t.gone > 0 {
			titleStyle = l.Struck
		}
		title = l.cut(title, c.title)
		drawn += line.blank(1) + line.draw(titleStyle, title) + line.blank(c.title-visibleWidth(title))
	}
	if c.plan > 0 {
		drawn += d.planBar(t, c, line) + line.draw(l.Border, l.glyphs.Guide)
	}
	drawn += d.bar(t, c, line)
	took := "-"
	if t.tries > 0 || t.ran > 0 || t.kind != trackStep {
		took = shortly(t.ran)
	}
	took = l.cut(took, c.took)
	return line.fill(drawn+line.blank(c.took-visibleWidth(took)+1)+line.draw(l.Faint, took), c.width)
}

// sign is how a track stands.
func (d *timelineDialog) sign(t *track) (string, lipgloss.Style) {
	l := d.look
	switch t.kind {
	case trackStep:
		return stateGlyph(l, d.run, &agent.StepState{Status: t.status})
	case trackReplan:
		return l.glyphs.Revised, l.Warning
	default:
		return " ", l.Muted
	}
}

// planBar draws the phases before the axis of the steps, each with its letter.
func (d *timelineDialog) planBar(t *track, c barColumns, line litLine) string {
	l := d.look
	if t.kind != trackPlanning {
		return line.blank(c.plan)
	}
	cells := make([]string, c.plan)
	for i := range cells {
		cells[i] = l.glyphs.Bars.Wait
	}
	for _, p := range d.line.phases {
		from, to := cellsOf(p.from, p.to, c.planned, c.plan)
		for i := from; i < to; i++ {
			cells[i] = strings.ToUpper(p.name[:1])
			if i > from {
				cells[i] = l.glyphs.Bars.Plan
			}
		}
	}
	return line.draw(l.Accent, strings.Join(cells, ""))
}

// cellsOf are the cells that a time takes of an axis, at least one.
func cellsOf(from, to, span time.Duration, cells int) (first, end int) {
	first = int(int64(cells) * int64(from) / int64(span))
	end = int((int64(cells)*int64(to) + int64(span) - 1) / int64(span))
	first = max(min(first, cells-1), 0)
	if int64(to-from)*int64(cells) < int64(span) {
		return first, first + 1 // also where it crosses from one into the next
	}
	return first, max(min(end, cells), first+1)
}

// bar draws when a track waited and ran.
func (d *timelineDialog) bar(t *track, c barColumns, line litLine) string {
	l, b := d.look, d.look.glyphs.Bars
	type cell struct {
		text  string
		style lipgloss.Style
		rank  int
	}
	cells := make([]cell, c.bars)
	for i := range cells {
		cells[i] = cell{" ", l.Text, -1}
	}
	for _, at := range d.line.replans {
		i, _ := cellsOf(at-c.begin, at-c.begin, c.span, c.bars)
		cells[i] = cell{b.Mark, l.Warning, 0}
	}
	for _, s := range t.stretches {
		var with cell
		switch s.kind {
		case stretchWait:
			with = cell{b.Wait, l.Faint, 1}
		case stretchGate:
			with = cell{b.Gate, l.Warning, 2}
		case stretchPlan:
			with = cell{b.Plan, l.Accent, 3}
		default:
			with = cell{b.Run, l.Running, 3}
			if t.critical {
				with.text = b.Critical
			}
		}
		from, to := cellsOf(max(s.from-c.begin, 0), max(s.to-c.begin, 0), c.span, c.bars)
		for i := from; i < to; i++ {
			if cells[i].rank <= with.rank {
				cells[i] = with
			}
		}
	}
	if n := len(t.stretches); n > 0 && t.kind == trackStep && (t.status == agent.StepBroken || t.status == agent.StepUncertain) {
		glyph, style := d.sign(t)
		_, to := cellsOf(max(t.stretches[n-1].from-c.begin, 0), max(t.stretches[n-1].to-c.begin, 0), c.span, c.bars)
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
		out.WriteString(line.draw(cells[i].style, text.String()))
		i = j
	}
	return out.String()
}

// density draws how many steps ran at each time.
func (d *timelineDialog) density(c barColumns) string {
	l := d.look
	lead := l.fit(" ", c.lead())
	if c.title > 0 {
		lead = l.fit(strings.Repeat(" ", 5+c.index)+l.Muted.Render("at once"), c.lead())
	}
	if c.plan > 0 {
		lead += strings.Repeat(" ", c.plan) + l.Border.Render(l.glyphs.Guide)
	}
	counts := d.line.atOnce(c.begin, c.span, c.bars)
	var b strings.Builder
	for _, n := range counts {
		switch {
		case n == 0:
			b.WriteString(" ")
		case n > 9:
			b.WriteString("+")
		default:
			b.WriteString(itoa(n))
		}
	}
	return lead + l.Muted.Render(b.String())
}
