package dag

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/tui/draw"
	"replan/tui/wording"
)

// stepCounts keeps the class of each step of a chart. Events mark the steps they
// concern, and only those are counted again.
type stepCounts struct {
	run    *agent.Run
	chart  *chart
	class  []wording.StepClass
	waits  []int // number of unfinished dependencies
	total  wording.Counts
	groups []*group // for each step, the group that counts it, if any

	held  string // why no ready step starts, from HeldWords
	whole bool   // everything may have changed
	dirty []int  // otherwise, the steps that changed
}

func newStepCounts(run *agent.Run, c *chart) *stepCounts {
	n := len(c.Steps)
	t := &stepCounts{run: run, chart: c, class: make([]wording.StepClass, n), waits: make([]int, n), groups: make([]*group, n), whole: true}
	t.total[wording.ClassWaits] = n
	for i := range n {
		t.waits[i] = len(c.dependencies(i))
	}
	return t
}

// refresh recounts what may have changed, and reports whether anything has.
func (t *stepCounts) refresh() bool {
	changed := false
	if held := wording.HeldWords(t.run); held != t.held {
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

// recount updates one step and its dependents, and reports whether its class
// changed.
func (t *stepCounts) recount(i int) bool {
	was, now := t.class[i], t.classOf(i)
	if was == now {
		return false
	}
	t.class[i] = now
	t.total[was]--
	t.total[now]++
	if r := t.groups[i]; r != nil {
		r.recount(was, now)
	}
	if (was == wording.ClassDone) != (now == wording.ClassDone) {
		by := 1
		if now == wording.ClassDone {
			by = -1
		}
		for _, f := range t.chart.dependents(i) {
			t.waits[f] += by
			t.recount(f)
		}
	}
	return true
}

// of returns the class of a step.
func (t *stepCounts) of(i int) wording.StepClass { return t.class[i] }

// sum returns the number of steps of each class.
func (t *stepCounts) sum() *wording.Counts { return &t.total }

// heldWords says why no ready step starts, "" if they do.
func (t *stepCounts) heldWords() string { return t.held }

// waitsOn returns the steps that a step still waits for. A failed step or one in doubt blocks
// it as a running one does.
func (t *stepCounts) waitsOn(i int) []string {
	var waits []string
	for _, p := range t.chart.dependencies(i) {
		if !t.class[p].Over() {
			waits = append(waits, t.chart.Steps[p].Step.Index)
		}
	}
	return waits
}

// countIn counts the steps of groups in them from now on, in place of earlier groups.
func (t *stepCounts) countIn(groups []*group) {
	clear(t.groups)
	for _, r := range groups {
		for _, m := range r.Members() {
			r.add(t.class[m])
			t.groups[m] = r
		}
	}
}

// classOf returns the class of a step of the chart.
func (t *stepCounts) classOf(i int) wording.StepClass {
	c := wording.ClassOf(t.run, t.chart.Steps[i], t.waits[i])
	if c == wording.ClassReady && t.held != "" {
		return wording.ClassHeld
	}
	return c
}

// mark records that a step may have changed; "" means any step.
func (t *stepCounts) mark(index string) {
	i, ok := t.chart.position(index)
	switch {
	case index == "":
		t.whole = true
	case ok:
		t.dirty = append(t.dirty, i)
	}
}

// countWords returns the number of steps by status: ✓18 ⠋2 ✗1 ·9.
func countWords(l *draw.Styles, c *wording.Counts, lit func(lipgloss.Style) lipgloss.Style) string {
	g := &l.Glyphs
	var parts []string
	for _, p := range []struct {
		glyph string
		style lipgloss.Style
		n     int
	}{
		{g.Done, l.Success, c[wording.ClassDone]},
		{l.Spinner(), l.Running, c[wording.ClassRuns]},
		{g.Gate, l.Warning, c[wording.ClassGate]},
		{g.Failed, l.Danger, c[wording.ClassFailed]},
		{g.Declined, l.Text, c[wording.ClassDeclined]},
		{g.Doubt, l.Warning, c[wording.ClassDoubt]},
		{g.Stopped, l.Warning, c[wording.ClassStopped]},
		{g.Retry, l.Warning, c[wording.ClassRetry]},
		{g.Skipped, l.Faint, c[wording.ClassSkipped]},
		{g.Ready, l.Text, c[wording.ClassReady]},
		{g.Pending, l.Muted, c[wording.ClassWaits] + c[wording.ClassHeld] + c[wording.ClassDraft]},
	} {
		if p.n > 0 {
			parts = append(parts, lit(p.style).Render(p.glyph)+lit(l.Muted).Render(fmt.Sprint(p.n)))
		}
	}
	return strings.Join(parts, lit(l.Text).Render(" "))
}

// asItIs returns the style unchanged.
func asItIs(s lipgloss.Style) lipgloss.Style { return s }
