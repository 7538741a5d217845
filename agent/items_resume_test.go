package agent_test

import (
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
)

// A run with a fan-out is cut after every event and resumed: no call with an effect that
// has returned is repeated, and each doubt is about one item.
func TestKillInsideAFanOutRepeatsNothing(t *testing.T) {
	const items = 5
	played := func() (*world, event.RunStarted, map[any]int) {
		w := newWorld(t)
		w.finding(items)
		effects := map[any]int{}
		works := w.tool
		w.tool = func(c agent.CallTool) event.Data {
			if c.Tool.Name == "change" {
				effects[c.Args["at"]]++
			}
			return works(c)
		}
		start := eachPlan(t, `,"at_once":3,"check":{"expect":"result == item"}`)
		start.InDoubt = event.DoubtRerun
		w.play(start)
		return w, start, effects
	}
	whole, _, _ := played()
	for n := 1; n < len(whole.events); n++ {
		w, start, effects := played()
		returned := map[any]bool{}
		for _, e := range w.events[:n] {
			if d, ok := e.Data.(event.StepCompleted); ok && strings.HasPrefix(d.Index, "2.") {
				returned[d.Result] = true
			}
		}
		clear(effects)
		w.kill(n)
		result := w.resume(resumed(start))
		if result.Status != event.StatusCompleted || plan.CanonicalJSON(result.Variables["changed"]) != `["a","b","c","d","e"]` {
			t.Fatalf("killed after event %d, the run ended with %s and %v\n%s", n, result.Reason, result.Variables["changed"], w.tail())
		}
		for item, times := range effects {
			if returned[item] || times > 1 {
				t.Errorf("killed after event %d, item %v was changed %d times more", n, item, times)
			}
		}
		for _, d := range all[event.StepInDoubt](w) {
			if !strings.HasPrefix(d.Index, "2.") {
				t.Errorf("killed after event %d, step %s is in doubt", n, d.Index)
			}
		}
	}
}

func TestOnlyItemsOfAKilledStepAreInDoubt(t *testing.T) {
	w := newWorld(t)
	w.finding(3)
	w.play(eachPlan(t, `,"at_once":1`))
	w.kill(1 + slices.IndexFunc(w.events, func(e event.Event) bool {
		started, ok := e.Data.(event.StepStarted)
		return ok && started.Index == "2.2"
	}))
	if got := w.run.Snapshot(false).InDoubt; !slices.Equal(got, []string{"2.2"}) {
		t.Errorf("the steps %v are in doubt, want 2.2", got)
	}
}

func TestFailedRunWithItemsResumesTheRest(t *testing.T) {
	w := newWorld(t)
	w.finding(4)
	w.failing("c")
	start := eachPlan(t, `,"at_once":1`)
	w.play(start)
	w.finding(4)
	if result := w.resume(resumed(start)); result.Status != event.StatusCompleted {
		t.Fatalf("the resume ended with %s: %s", result.Reason, result.Error)
	}
	if got := w.starts(); !slices.Equal(got, []string{"1", "2.1", "2.2", "2.3", "2.3", "2.4", "3"}) {
		t.Errorf("the steps %v started", got)
	}
}
