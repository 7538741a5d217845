package tui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/tui/untrusted"
)

// timelineDialog shows when the steps of the run waited and ran, each as a bar on
// one axis.
type timelineDialog struct {
	look  *look
	keys  *keyMap
	stage func() *stage      // the run in the plan pane
	into  func(index string) // leads to a step of it
	open  bool
	list
	line *timeline
	seq  uint64 // of the run when line was made
	run  *agent.Run
	now  time.Time
	wish string // the step that was chosen in the plan
}

func (d *timelineDialog) shown() bool { return d.open }

func (d *timelineDialog) hints() []hint {
	return []hint{{d.keys.Away, "close"}, {shownAs("up/down"), "choose"}, {d.keys.Open, "look in"}}
}

// noTimeline is why there is no timeline.
func (m *Model) noTimeline() string {
	if m.shown.run == nil || len(m.shown.run.Steps) == 0 {
		return "There are no steps yet that could stand on a timeline."
	}
	return ""
}

// lookInto chooses a step in the plan and leads to it, also where a revision has
// taken it out.
func (m *Model) lookInto(index string) {
	d := m.dag
	key := index
	if run := m.shown.run; run.Step(index) == nil {
		for i := range run.Revisions {
			r := &run.Revisions[i]
			for j := range r.Removed {
				if r.Removed[j].Step.Index == index {
					d.open[r.Number], d.stale = true, true
					key = goneKey(r, index)
				}
			}
		}
	}
	d.reveal(key)
	m.focus = paneStep
	m.refresh()
}

// openTimeline opens it with the step chosen that is chosen in the plan. While the
// run goes on its bars grow.
func (m *Model) openTimeline() tea.Cmd {
	d := m.timeline
	d.open, d.list, d.run, d.wish = true, list{}, nil, ""
	if r := m.dag.chosen(); r != nil && r.step != nil {
		d.wish = r.step.Step.Index
		if r.step.Parent != "" {
			d.wish = r.step.Parent
		}
	}
	d.update(m.shown.run)
	return m.animate()
}

// grows reports whether bars of an open timeline do.
func (m *Model) grows() bool { return m.timeline.open && !m.closed && m.shown.goes() }

// press takes a key while the timeline is open.
func (d *timelineDialog) press(k tea.KeyPressMsg) wanted {
	count := 0
	if d.line != nil {
		count = len(d.line.tracks)
	}
	switch {
	case key.Matches(k, d.keys.Away, d.keys.Timeline):
		d.open = false
	case key.Matches(k, d.keys.Open):
		if t := d.chosen(); t != nil && t.kind == trackStep {
			d.open = false
			d.into(t.index)
		}
	default:
		d.list.press(k, d.keys, false, count)
	}
	return wanted{}
}

func (d *timelineDialog) wheeled(lines int) {
	if d.line != nil {
		d.move(lines/wheelStep, len(d.line.tracks))
	}
}

func (d *timelineDialog) clicked(y int) {
	if d.line != nil {
		d.list.clicked(y, len(d.line.tracks))
	}
}

func (d *timelineDialog) chosen() *track {
	if d.line == nil || d.at >= len(d.line.tracks) {
		return nil
	}
	return &d.line.tracks[d.at]
}

// update works the timeline out anew where the run or the time has gone on. What
// was chosen stays chosen.
func (d *timelineDialog) update(run *agent.Run) {
	now := d.look.now
	if now.Before(run.Now) || run.Result != nil {
		now = run.Now
	}
	if d.run == run && d.seq == run.Seq && d.now.Equal(now) {
		return
	}
	var held track
	if t := d.chosen(); t != nil {
		held = *t
	}
	d.line, d.run, d.seq, d.now = chronicle(run, now), run, run.Seq, now
	for i := range d.line.tracks {
		t := &d.line.tracks[i]
		if d.wish != "" && t.kind == trackStep && t.index == d.wish || d.wish == "" && t.kind == held.kind && t.index == held.index {
			d.at = i
			break
		}
	}
	d.wish = ""
}

// draw draws the timeline in exactly height lines of screenWidth cells.
func (d *timelineDialog) draw(screenWidth, height int) []string {
	const widest = 160 // cells
	l, run := d.look, d.stage().run
	width := min(screenWidth, widest)
	inner := width - 4
	if run == nil {
		return l.block(nil, screenWidth, height)
	}
	d.update(run)
	below := d.below(inner, height-2)
	room := height - 2 - 1 - len(below) // the axis above
	dense := height >= 16
	if dense {
		room--
	}
	room = max(room, 1)
	end := d.window(len(d.line.tracks), room, 1)
	c := d.columns(inner)
	lines := []string{d.axisLine(c)}
	for i := d.top; i < end; i++ {
		lines = append(lines, d.row(&d.line.tracks[i], i == d.at, c))
	}
	if dense {
		lines = append(lines, d.density(c))
	}
	lines = append(lines, below...)
	if len(lines) > height-2 {
		lines = lines[:height-2]
	}
	title := l.Strong.Render("Timeline") + l.Faint.Render(" "+l.glyphs.Separator+" ") + l.Text.Render(d.summary(width-16))
	framed := l.frame(width, l.Focus, section{title: title, note: l.span(d.top, end, len(d.line.tracks)), lines: padded(l.block(lines, inner, len(lines))), style: l.Focus})
	d.first = max((height-len(framed))/2, 0) + 2 // under border and axis
	return l.middle(framed, width, screenWidth, height)
}

// summary is the figures of the whole run, as many as there is room for.
func (d *timelineDialog) summary(room int) string {
	t := d.line
	parts := []string{"makespan " + seconds(t.makespan()), "steps " + shortly(t.sum), fmt.Sprintf("parallelism %.1f", t.parallelism())}
	if t.most > 1 {
		parts = append(parts, fmt.Sprintf("%d at once", t.most))
	}
	if t.gates > 0 {
		parts = append(parts, "at gates "+seconds(t.gates))
	}
	if room < 40 {
		parts[0], parts[1], parts[2] = seconds(t.makespan()), "sum "+shortly(t.sum), fmt.Sprintf("×%.1f", t.parallelism())
		if d.look.theme.Mode.ASCII {
			parts[2] = fmt.Sprintf("x%.1f", t.parallelism())
		}
	}
	line := parts[0]
	for _, p := range parts[1:] {
		next := line + " " + d.look.glyphs.Separator + " " + p
		if visibleWidth(next) > room {
			break
		}
		line = next
	}
	return line
}

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

// trackIndex is the index of a track's step, or the number of its revision.
func trackIndex(t *track) string {
	if t.kind == trackReplan {
		return "r" + t.index
	}
	return untrusted.Line(t.index)
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

// below is the figures of the chosen track and what the signs mean, as many lines
// as there is room for.
func (d *timelineDialog) below(width, height int) []string {
	l := d.look
	var out []string
	t := d.chosen()
	if t != nil {
		out = wrap(d.words(t), width)
		if most := max(height/4, 1); len(out) > most {
			out = append(out[:most-1:most-1], l.cut(strings.Join(out[most-1:], " "), width))
		}
		out = paint(l.Text, out)
	}
	if height >= 14 {
		b := l.glyphs.Bars
		legend := flow([]string{
			l.Accent.Render(l.glyphs.Bullet) + " " + l.Running.Render(b.Critical) + l.Faint.Render(" ran, on the critical path"), l.Running.Render(b.Run) + l.Faint.Render(" ran beside it"),
			l.Warning.Render(b.Gate) + l.Faint.Render(" at its gate"), l.Faint.Render(b.Wait + " waited"),
			l.Accent.Render(b.Plan) + l.Faint.Render(" a model planned or wrote"), l.Warning.Render(b.Mark) + l.Faint.Render(" a new plan"),
		}, "   ", width)
		out = append(append(append([]string{""}, out...), ""), legend...)
	}
	return out
}

// words are the figures of a track.
func (d *timelineDialog) words(t *track) string {
	l := d.look
	var parts []string
	add := func(took time.Duration, what string) {
		if took > 0 {
			parts = append(parts, what+" "+shortly(took))
		}
	}
	switch t.kind {
	case trackPlanning:
		for _, p := range d.line.phases {
			parts = append(parts, p.name+" "+seconds(p.to-p.from))
		}
		return "Planning took " + seconds(t.ran) + ": " + strings.Join(parts, ", ") + d.cause(t)
	case trackReplan:
		return "Revision " + t.index + " took " + seconds(t.ran) + " to plan" + d.cause(t)
	case trackAnswer:
		return "The answer took " + seconds(t.ran)
	}
	name := stepTitle(l, t.index) + " " + untrusted.Line(t.title) + ": "
	add(t.needs, "waited for others")
	add(t.slot, "for a slot")
	add(t.gate, "at its gate")
	add(t.pause, "to be tried again")
	if t.tries > 0 {
		parts = append(parts, "ran "+shortly(t.ran))
	} else if len(parts) == 0 {
		return name + "not ready yet"
	}
	if t.tries > 1 {
		parts = append(parts, plural(t.tries, "attempt"))
	}
	if t.inner > 0 {
		parts = append(parts, plural(t.inner, "call"))
	}
	if len(t.beside) > 0 {
		parts = append(parts, "beside "+untrusted.Line(strings.Join(t.beside, ", ")))
	}
	if t.gone > 0 {
		parts = append(parts, fmt.Sprintf("taken out by revision %d", t.gone))
	}
	return name + strings.Join(parts, ", ") + d.cause(t)
}

// cause says why a track is on the critical path.
func (d *timelineDialog) cause(t *track) string {
	switch {
	case !t.critical:
		return ""
	case t.after == "":
		return "; the critical path begins here"
	default:
		return "; on the critical path, after " + untrusted.Line(t.after)
	}
}
