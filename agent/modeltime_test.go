package agent_test

import (
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/prompt"
	"replan/planning/reply"
)

func TestTimeOfTheModelCountsOnlyAgainstALimitThatSomebodySet(t *testing.T) {
	for _, tc := range []struct {
		name  string
		limit time.Duration // of the profile
		until time.Duration // after the start of the step, with an hour for the first reply
	}{
		{"no limit was set", 0, time.Hour + prompt.DefaultAgentTimeout},
		{"limit of the profile", 2 * time.Hour, 2 * time.Hour},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {text: "late"}}}
			k.join(w)
			w.apply(scouting(t, prompt.Profile{Timeout: tc.limit}))
			w.until(event.KindModelRequested)
			if timer := hasDeadline(w); timer != (tc.limit > 0) {
				t.Errorf("while the model works, a timer is set: %v", timer)
			}
			began := w.run.Step("5").StartedAt
			w.now = w.now.Add(time.Hour)
			w.deliver()
			w.advance()
			if got := deadline(w).Sub(began); got < tc.until || got > tc.until+time.Minute {
				t.Errorf("the step may take until %s after its start, want %s", got, tc.until)
			}
			if w.run.Step("5").Status != agent.StepRunning {
				t.Errorf("the step is %s", w.run.Step("5").Status)
			}
		})
	}
}

// hasDeadline reports whether a timer for a time limit is requested.
func hasDeadline(w *world) bool {
	for _, a := range w.run.Next() {
		if wake, ok := a.Effect.(agent.Wake); ok && wake.ID != event.GuardTime {
			return true
		}
	}
	return false
}
