package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/tui/draw"
	"replan/tui/timing"
	"replan/tui/wording"
)

// chart draws a timeline in rows of one width. A row has a step as in the plan pane, its
// bars on two axes, and how long it ran.
type chart struct {
	styles *draw.Styles
	run    *agent.Run
	line   *timing.Timeline
	draw.StepColumns
	width       int
	plan, steps axis // planning has an axis of its own, if there was any
}

// axis maps times to cells of the bars.
type axis struct {
	x, cells   int
	from, span time.Duration
}

// newChart lays out the rows of a run's timeline for a width in cells.
func newChart(l *draw.Styles, run *agent.Run, line *timing.Timeline, width int) *chart {
	c := &chart{styles: l, run: run, line: line, width: width, StepColumns: draw.StepColumns{Index: 1}}
	title := len("planning")
	for _, t := range line.Tracks {
		c.Index, title = max(c.Index, draw.VisibleWidth(t.Label())), max(title, draw.VisibleWidth(t.Title.Line()))
	}
	c.Index = min(c.Index, 6)
	lead := 4 + c.Index // cursor, mark, sign, index
	if width >= 70 {
		c.Title = min(width/4, title)
		lead += c.Title + 1
	}
	// Steps may begin before the planning does.
	if at := slices.IndexFunc(line.Tracks, func(t *timing.Track) bool { return t.Kind == timing.TrackPlanning }); at >= 0 {
		phases := line.Tracks[at].Stretches
		c.plan = axis{0, max(min(width/8, 12), 4), 0, max(phases[len(phases)-1].To, time.Millisecond)}
		c.steps.x = c.plan.cells + 1
	}
	c.steps.cells = max(width-lead-c.steps.x-durationWidth-1, 4)
	c.steps.from, c.steps.span = line.Begin, max(line.Last-line.Begin, time.Millisecond)
	return c
}

// durationWidth is the width of the running times at the right, in cells.
const durationWidth = 6

// of returns the cells that a period takes, at least one.
func (a axis) of(from, to time.Duration) (first, end int) {
	from, to = max(from-a.from, 0), max(to-a.from, 0)
	first = max(min(int(int64(a.cells)*int64(from)/int64(a.span)), a.cells-1), 0)
	end = first + 1
	if int64(to-from)*int64(a.cells) >= int64(a.span) { // else one cell, also if it crosses a cell boundary
		end = max(min(int((int64(a.cells)*int64(to)+int64(a.span)-1)/int64(a.span)), a.cells), end)
	}
	return a.x + first, a.x + end
}

// put draws text over a period of an axis.
func (a axis) put(bars *draw.Canvas, from, to time.Duration, style lipgloss.Style, glyph string) {
	first, end := a.of(from, to)
	bars.Put(first, 0, style, strings.Repeat(glyph, end-first))
}

// row draws a row: what stands before its index, its index and title, its bars and
// its time.
func (c *chart) row(p *draw.Painter, index, title draw.StepCell, bars *draw.Canvas, duration string) string {
	p.Gap(3 - p.Width)
	title.Text, duration = c.styles.Cut(title.Text, c.Title), c.styles.Cut(duration, durationWidth)
	p.Step(c.StepColumns, index, title, draw.StepCell{}, draw.StepCell{})
	p.B.WriteString(bars.Lines()[0])
	p.Width += bars.W
	p.Gap(c.width - p.Width - draw.VisibleWidth(duration))
	p.Add(c.styles.Faint, duration)
	return c.styles.Cut(p.Take(), c.width)
}

// bars returns the empty bars of a row.
func (c *chart) bars(line draw.LitLine) *draw.Canvas {
	l := c.styles
	bars := draw.NewCanvas(draw.Rect{W: c.steps.x + c.steps.cells, H: 1}, l.Method)
	bars.Put(0, 0, line.Lit(l.Text), strings.Repeat(" ", bars.W))
	if c.plan.cells > 0 {
		bars.Put(c.plan.cells, 0, line.Lit(l.Border), l.Glyphs.Guide)
	}
	return bars
}

// heading draws the name of the axis before the steps and the times along the other one.
func (c *chart) heading() string {
	l, line := c.styles, c.styles.Line(false, false)
	bars, name := c.bars(line), "before"
	if c.plan.cells < len(name) {
		name = "plan"
	}
	if c.plan.cells > 0 {
		bars.Put(0, 0, l.Muted, name)
	}
	step := TickEvery(c.steps.span, max(c.steps.cells/10, 1))
	free := 0
	for at := time.Duration(0); at <= c.steps.span; at += step {
		words := fmt.Sprintf("%gs", at.Seconds())
		if at >= 100*time.Second {
			words = wording.ClockTime(at)
		}
		if x := int(int64(c.steps.cells) * int64(at) / int64(c.steps.span)); x >= free && x+len(words) <= c.steps.cells {
			bars.Put(c.steps.x+x, 0, l.Faint, words)
			free = x + len(words) + 1
		}
	}
	return c.row(&draw.Painter{LitLine: line}, draw.StepCell{}, draw.StepCell{}, bars, "")
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

// track draws a track: its state, when it waited and ran, and how long.
func (c *chart) track(t *timing.Track, chosen bool) string {
	l, line := c.styles, c.styles.Line(chosen, true)
	p := &draw.Painter{LitLine: line, Lights: chosen}
	p.Start()
	if t.Critical {
		p.Add(l.Accent, l.Glyphs.Bullet)
	}
	p.Gap(2 - p.Width)
	sign, signStyle := c.sign(t)
	p.Add(signStyle, sign)
	on := line
	if l.Theme.Palette.Selection == nil {
		on = l.Line(false, true) // a selected row is reversed, and a bar would be a gap in it
	}
	bars := c.bars(on)
	for _, at := range c.line.Replans {
		c.steps.put(bars, at, at, on.Lit(l.Warning), l.Glyphs.Bars.Mark)
	}
	for kind := timing.StretchSlot; kind <= timing.StretchPhase; kind++ {
		glyph, style, axis := c.glyph(kind, t.Critical)
		for _, s := range t.Stretches {
			if s.Kind == kind {
				axis.put(bars, s.From, s.To, on.Lit(style), glyph)
				if first, _ := axis.of(s.From, s.To); kind == timing.StretchPhase {
					bars.Put(first, 0, on.Lit(style), strings.ToUpper(s.Name[:1]))
				}
			}
		}
	}
	if n := len(t.Stretches); n > 0 && (t.Status == agent.StepFailed || t.Status == agent.StepInDoubt) {
		_, end := c.steps.of(t.Stretches[n-1].From, t.Stretches[n-1].To)
		bars.Put(end-1, 0, on.Lit(signStyle), sign)
	}
	title, duration := l.Text, "-"
	if t.RemovedIn > 0 {
		title = l.Struck
	}
	if t.Tries > 0 || t.Ran > 0 || t.Kind != timing.TrackStep {
		duration = wording.Shortly(t.Ran)
	}
	return c.row(p, draw.StepCell{Style: l.Muted, Text: t.Label()}, draw.StepCell{Style: title, Text: t.Title.Line()}, bars, duration)
}

// glyph returns how a stretch of a kind is drawn, and on which axis.
func (c *chart) glyph(kind timing.StretchKind, critical bool) (string, lipgloss.Style, axis) {
	l, b := c.styles, &c.styles.Glyphs.Bars
	switch kind {
	case timing.StretchPhase:
		return b.Plan, l.Accent, c.plan
	case timing.StretchModel:
		return b.Plan, l.Accent, c.steps
	case timing.StretchGate:
		return b.Gate, l.Warning, c.steps
	case timing.StretchRun:
		if critical {
			return b.Critical, l.Running, c.steps
		}
		return b.Run, l.Running, c.steps
	default:
		return b.Wait, l.Faint, c.steps
	}
}

// sign returns the glyph of a track's state, and its style.
func (c *chart) sign(t *timing.Track) (string, lipgloss.Style) {
	switch t.Kind {
	case timing.TrackStep:
		return draw.StateGlyph(c.styles, c.run, &agent.StepState{Status: t.Status})
	case timing.TrackReplan:
		return c.styles.Glyphs.Revised, c.styles.Warning
	default:
		return " ", c.styles.Muted
	}
}

// density draws the number of running steps over time.
func (c *chart) density() string {
	l, line := c.styles, c.styles.Line(false, false)
	bars := c.bars(line)
	var counts strings.Builder
	for _, n := range c.line.AtOnce(c.steps.from, c.steps.span, c.steps.cells) {
		switch {
		case n > 9:
			counts.WriteString("+")
		case n > 0:
			counts.WriteString(strconv.Itoa(n))
		default:
			counts.WriteString(" ")
		}
	}
	bars.Put(c.steps.x, 0, l.Muted, counts.String())
	return c.row(&draw.Painter{LitLine: line}, draw.StepCell{}, draw.StepCell{Style: l.Muted, Text: "at once"}, bars, "")
}
