package dag

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/draw"
	"replan/tui/telling"
)

// tally keeps how each step of a chart stands. It is told which step an event
// was about, and counts only that one again.
type tally struct {
	run   *agent.Run
	chart *chart
	class []telling.StepClass
	waits []int // dependencies that are not done
	total telling.Counts
	rolls []*rollup // for each step the roll-up that counts it, if any

	held  string // what keeps all that is ready, as HeldWords has it
	whole bool   // everything may have changed
	dirty []int  // else these
}

func newTally(run *agent.Run, c *chart) *tally {
	n := len(c.Steps)
	t := &tally{run: run, chart: c, class: make([]telling.StepClass, n), waits: make([]int, n), rolls: make([]*rollup, n), whole: true}
	t.total[telling.ClassWaits] = n
	for i := range n {
		t.waits[i] = len(c.deps[i])
	}
	return t
}

// settle counts again what may have changed, and reports whether anything has.
func (t *tally) settle() bool {
	changed := false
	if held := telling.HeldWords(t.run); held != t.held {
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
		r.Counts[was]--
		r.Counts[now]++
	}
	if (was == telling.ClassDone) != (now == telling.ClassDone) {
		by := 1
		if now == telling.ClassDone {
			by = -1
		}
		for _, f := range t.chart.feeds[i] {
			t.waits[f] += by
			t.recount(f)
		}
	}
	return true
}

// ClassOf is how a step of the chart stands.
func (t *tally) classOf(i int) telling.StepClass {
	c := telling.ClassOf(t.run, t.chart.Steps[i], t.waits[i])
	if c == telling.ClassReady && t.held != "" {
		return telling.ClassHeld
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

// CountWords says how many steps stand how: ✓18 ⠋2 ✗1 ·9.
func CountWords(l *draw.Look, c *telling.Counts, lit func(lipgloss.Style) lipgloss.Style) string {
	g := &l.Glyphs
	var parts []string
	for _, p := range []struct {
		glyph string
		style lipgloss.Style
		n     int
	}{
		{g.Done, l.Success, c[telling.ClassDone]},
		{l.Spinner(), l.Running, c[telling.ClassRuns]},
		{g.Gate, l.Warning, c[telling.ClassGate]},
		{g.Failed, l.Danger, c[telling.ClassFailed]},
		{g.Doubt, l.Warning, c[telling.ClassDoubt]},
		{g.Stopped, l.Warning, c[telling.ClassStopped]},
		{g.Retry, l.Warning, c[telling.ClassRetry]},
		{g.Skipped, l.Faint, c[telling.ClassSkipped]},
		{g.Ready, l.Text, c[telling.ClassReady]},
		{g.Pending, l.Muted, c[telling.ClassWaits] + c[telling.ClassHeld] + c[telling.ClassDraft]},
	} {
		if p.n > 0 {
			parts = append(parts, lit(p.style).Render(p.glyph)+lit(l.Muted).Render(fmt.Sprint(p.n)))
		}
	}
	return strings.Join(parts, lit(l.Text).Render(" "))
}

// AsItIs leaves a style alone.
func AsItIs(s lipgloss.Style) lipgloss.Style { return s }
