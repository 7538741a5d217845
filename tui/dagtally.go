package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
)

// tally keeps how each step of a chart stands. It is told which step an event
// was about, and counts only that one again.
type tally struct {
	run   *agent.Run
	chart *chart
	class []stepClass
	waits []int // dependencies that are not done
	total counts
	rolls []*rollup // for each step the roll-up that counts it, if any

	held  string // what keeps all that is ready, as heldWords has it
	whole bool   // everything may have changed
	dirty []int  // else these
}

func newTally(run *agent.Run, c *chart) *tally {
	n := len(c.steps)
	t := &tally{run: run, chart: c, class: make([]stepClass, n), waits: make([]int, n), rolls: make([]*rollup, n), whole: true}
	t.total[classWaits] = n
	for i := range n {
		t.waits[i] = len(c.deps[i])
	}
	return t
}

// settle counts again what may have changed, and reports whether anything has.
func (t *tally) settle() bool {
	changed := false
	if held := heldWords(t.run); held != t.held {
		t.held, t.whole = held, true
	}
	if t.whole {
		for i := range t.class {
			changed = t.recount(i) || changed
		}
	} else {
		for _, i := range t.dirty {
			changed = t.recount(i) || changed
		}
	}
	t.whole, t.dirty = false, t.dirty[:0]
	return changed
}

// recount looks at one step again, and at those that it lets go.
func (t *tally) recount(i int) bool {
	was, now := t.class[i], t.classOf(i)
	if was == now {
		return false
	}
	t.class[i] = now
	t.total[was]--
	t.total[now]++
	if r := t.rolls[i]; r != nil {
		r.counts[was]--
		r.counts[now]++
	}
	if (was == classDone) != (now == classDone) {
		by := 1
		if now == classDone {
			by = -1
		}
		for _, f := range t.chart.feeds[i] {
			t.waits[f] += by
			t.recount(f)
		}
	}
	return true
}

// classOf is how a step of the chart stands.
func (t *tally) classOf(i int) stepClass {
	c := classOf(t.run, t.chart.steps[i], t.waits[i])
	if c == classReady && t.held != "" {
		return classHeld
	}
	return c
}

// mark notes that the step with this index may stand otherwise; "" is any step.
func (t *tally) mark(index string) {
	i, ok := t.chart.at[index]
	switch {
	case index == "":
		t.whole = true
	case ok:
		t.dirty = append(t.dirty, i)
	}
}

// eventStep is the step that an event is about. Of one that may concern several
// steps it is "", and all is set.
func eventStep(data event.Data) (index string, all bool) {
	switch d := data.(type) {
	case event.StepStarted:
		return d.Index, false
	case event.StepCompleted:
		return d.Index, false
	case event.StepFailed:
		return d.Index, false
	case event.StepRetry:
		return d.Index, false
	case event.StepSkipped:
		return d.Index, false
	case event.StepInDoubt:
		return d.Index, false
	case event.GateRequested:
		return d.Step, false
	default:
		return "", true
	}
}

// countWords says how many steps stand how: ✓18 ⠋2 ✗1 ·9.
func countWords(l *look, c *counts, lit func(lipgloss.Style) lipgloss.Style) string {
	g := &l.glyphs
	var parts []string
	for _, p := range []struct {
		glyph string
		style lipgloss.Style
		n     int
	}{
		{g.Done, l.Success, c[classDone]},
		{l.spinner(), l.Running, c[classRuns]},
		{g.Gate, l.Warning, c[classGate]},
		{g.Failed, l.Danger, c[classFailed]},
		{g.Doubt, l.Warning, c[classDoubt]},
		{g.Stopped, l.Warning, c[classStopped]},
		{g.Retry, l.Warning, c[classRetry]},
		{g.Skipped, l.Faint, c[classSkipped]},
		{g.Ready, l.Text, c[classReady]},
		{g.Pending, l.Muted, c[classWaits] + c[classHeld] + c[classDraft]},
	} {
		if p.n > 0 {
			parts = append(parts, lit(p.style).Render(p.glyph)+lit(l.Muted).Render(fmt.Sprint(p.n)))
		}
	}
	return strings.Join(parts, lit(l.Text).Render(" "))
}

// asItIs leaves a style alone.
func asItIs(s lipgloss.Style) lipgloss.Style { return s }
