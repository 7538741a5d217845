package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/tui/untrusted"
)

// timelineDialog shows when the steps of the run waited and ran, each as a bar on
// one axis.
type timelineDialog struct {
	look     *look
	keys     *keyMap
	shownRun func() *agent.Run // in the plan pane
	open     bool
	list
	line *timeline
	seq  uint64 // of the run when line was made
	run  *agent.Run
	now  time.Time
	wish string // the step that was chosen in the plan
}

func (d *timelineDialog) shown() bool { return d.open }

func (d *timelineDialog) hints() []hint {
	return []hint{d.keys.hint("close", "dialog.leave"), d.keys.hint("choose", "move.up", "move.down"), d.keys.hint("look in", "plan.open")}
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

// handlers are the actions of the timeline.
func (d *timelineDialog) handlers() handlers {
	count := 0
	if d.line != nil {
		count = len(d.line.tracks)
	}
	shut := handler{do: just(func() { d.open = false })}
	return handlers{
		"dialog.leave": shut, "plan.timeline": shut,
		"plan.open": {do: func() wanted {
			t := d.chosen()
			if t == nil || t.kind != trackStep {
				return wanted{}
			}
			d.open = false
			return wanted{step: t.index}
		}},
	}.with(d.moving(false, count))
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
	l, run := d.look, d.shownRun()
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
