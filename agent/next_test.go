package agent_test

import (
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
)

// TestNextLeavesTheRunAsItWas folds the events of random runs into two runs that share no
// data. Only one is asked what is next, after each event and as often as drawn.
func TestNextLeavesTheRunAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, start := randomWorld(t, executors)
		times := rapid.IntRange(1, 3).Draw(t, "times")
		asked, left := agent.NewRun(w.planners), agent.NewRun(w.planners)
		w.check = func(e event.Event) {
			for _, run := range []*agent.Run{asked, left} {
				if err := run.Apply(reread(t, e)); err != nil {
					t.Fatal(err)
				}
			}
			for range times {
				asked.Next()
			}
			if !agent.Same(asked, left) {
				t.Fatalf("Next changed the run after\n%s", w.tail())
			}
		}

		w.play(start)
		w.undo(resumed(start))
	})
}

// TestNextReachesPartsOnlyByViews holds that no type behind Next has a part of the run itself,
// whose methods could change it.
func TestNextReachesPartsOnlyByViews(t *testing.T) {
	for _, reached := range agent.PartsOfNext() {
		t.Errorf("%s is no view", reached)
	}
}
