package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/tui/plain"
	"replan/tui/untrusted"
)

// stepClass is how a step stands, as the plan tells them apart.
type stepClass uint8

const (
	classWaits stepClass = iota // for other steps
	classDraft
	classReady // nothing keeps it but a free slot
	classHeld  // it would be ready, but nothing new starts before somebody has answered
	classRetry
	classRuns
	classGate
	classDoubt
	classFailed
	classStopped // it had begun when its run ended
	classDone
	classSkipped
	stepClasses
)

// quiet reports whether nothing about such a step asks to be looked at now.
func (c stepClass) quiet() bool {
	switch c {
	case classWaits, classDraft, classReady, classHeld, classDone, classSkipped:
		return true
	default:
		return false
	}
}

// over reports whether such a step needs nothing more and went as it should.
func (c stepClass) over() bool { return c == classDone || c == classSkipped }

// counts is how many steps stand how.
type counts [stepClasses]int

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

// heldWords says what keeps everything that is ready from starting, in few cells:
// a plan that is to be looked over, or the step of which only the user can say how
// to go on. "" is nothing.
func heldWords(run *agent.Run) string {
	if run.Held() {
		return "review"
	}
	if step := run.Asking(); step != "" {
		return "held: " + untrusted.Line(step)
	}
	return ""
}

// classOf is how a step stands that waits for so many others.
func classOf(run *agent.Run, s *agent.StepState, waits int) stepClass {
	switch {
	case halted(run, s):
		return classStopped
	case s.Status == agent.StepDone && plain.Fruitless(s) != "":
		return classFailed
	}
	switch s.Status {
	case agent.StepDone:
		return classDone
	case agent.StepActive:
		return classRuns
	case agent.StepWaiting:
		return classGate
	case agent.StepBroken:
		return classFailed
	case agent.StepUncertain:
		return classDoubt
	case agent.StepLeftOut:
		return classSkipped
	}
	switch {
	case s.Draft:
		return classDraft
	case run.Result != nil:
		return classWaits
	case !s.RetryAt.IsZero():
		return classRetry
	case waits == 0 && run.Revision > 0 && !run.Paused && run.Replanning == nil:
		return classReady
	default:
		return classWaits
	}
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
func eventStep(data agent.Data) (index string, all bool) {
	switch d := data.(type) {
	case agent.StepStarted:
		return d.Index, false
	case agent.StepCompleted:
		return d.Index, false
	case agent.StepFailed:
		return d.Index, false
	case agent.StepRetry:
		return d.Index, false
	case agent.StepSkipped:
		return d.Index, false
	case agent.StepInDoubt:
		return d.Index, false
	case agent.GateRequested:
		return d.Step, false
	default:
		return "", true
	}
}

// countWords says how many steps stand how: ✓18 ⠋2 ✗1 ·9.
func (l *look) countWords(c *counts, lit func(lipgloss.Style) lipgloss.Style) string {
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
