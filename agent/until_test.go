package agent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
)

// building waits for a build, and then looks at it.
const building = `{"title":"Build","steps":[
	{"index":"1","title":"Wait for the build","tool":"look","args":{},"result_variable":"build","until":{"expect":"result.state == 'done'","every":"10s","for":"1m"}},
	{"index":"2","title":"Look at it","tool":"look","args":{"at":"${build.state}"}}]}`

// doneAfter makes the build be done after so many calls.
func (w *world) doneAfter(calls int) {
	w.tool = func(c agent.CallTool) event.Data {
		state := "running"
		if calls--; calls <= 0 {
			state = "done"
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: map[string]any{"state": state}, MS: 1}
	}
}

func TestStepCallsAgainUntilItsConditionHolds(t *testing.T) {
	w := newWorld(t)
	mirror(w)
	w.doneAfter(3)
	start := given(t, building)
	start.Limits.MaxSteps = 2 // the calls of a step that waits are one execution
	result := w.play(start)
	if result.Reason != event.ReasonGoalMet || !slices.Equal(w.starts(), []string{"1", "1", "1", "2"}) || result.Usage.Steps != 2 || result.Usage.ToolCalls != 4 {
		t.Errorf("the run ended with %s after the steps %v: %s", result.Reason, w.starts(), result.Error)
	}
	if took := w.now.Sub(w.events[0].Time); took < 20*time.Second || took > 25*time.Second {
		t.Errorf("two waits of 10s took %s", took)
	}
	if got := evidence(result); !slices.Equal(got, []plan.EvidenceState{plan.StateVerified}) {
		t.Errorf("the evidence is %v", got)
	}
	if h := result.History; len(h) != 2 {
		t.Errorf("the history is %+v", h)
	}
}

func TestStepFailsWhenItHasWaitedLongEnough(t *testing.T) {
	w := newWorld(t)
	w.doneAfter(100)
	result := w.play(given(t, building))
	failed := all[event.StepFailed](w)
	if len(failed) != 1 || failed[0].Failure != event.FailureTimeout || result.Reason != event.ReasonStepFailed {
		t.Fatalf("the run ended with %s and the failures %v", result.Reason, failed)
	}
	if want := `it waited 1m0s, and result.state == 'done' does not hold (result.state is "running")`; string(failed[0].Error) != want {
		t.Errorf("the error is %q, want %q", failed[0].Error, want)
	}
	if n := len(w.starts()); n != 7 {
		t.Errorf("%d calls were made, want 7: at once, after each 10s, and at the end", n)
	}
}

func TestSlotIsFreeBetweenTheCallsOfAStepThatWaits(t *testing.T) {
	w := newWorld(t)
	w.doneAfter(3)
	start := given(t, strings.Replace(building, `{"index":"2","title":"Look at it","tool":"look","args":{"at":"${build.state}"}}`, `{"index":"2","title":"Look","tool":"look","args":{}}`, 1))
	start.Limits.MaxConcurrency = 1
	if w.play(start); !slices.Equal(w.starts(), []string{"1", "2", "1", "1"}) && !slices.Equal(w.starts(), []string{"2", "1", "1", "1"}) && !slices.Equal(w.starts(), []string{"1", "2", "1"}) {
		t.Errorf("the steps started in the order %v", w.starts())
	}
}

func TestResumeGoesOnWaiting(t *testing.T) {
	w := newWorld(t)
	w.doneAfter(4)
	start := given(t, building)
	w.play(start)
	events := w.events
	for n := 1; n < len(events); n++ {
		w.events = events
		w.kill(n)
		w.doneAfter(1)
		if result := w.resume(resumed(start)); result.Reason != event.ReasonGoalMet {
			t.Fatalf("killed after event %d, the run ended with %s: %s\n%s", n, result.Reason, result.Error, w.tail())
		}
	}
}

func TestStepThatWaitsIsTriedAgainAfterAnError(t *testing.T) {
	w := newWorld(t)
	calls := 0
	w.tool = func(c agent.CallTool) event.Data {
		calls++
		switch calls {
		case 1, 4:
			return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: map[string]any{"state": "running"}, MS: 1}
		case 2, 3:
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "broke", Failure: event.FailureTool}
		default:
			return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: map[string]any{"state": "done"}, MS: 1}
		}
	}
	start := given(t, strings.Replace(building, `"until"`, `"retries":2,"until"`, 1))
	if result := w.play(start); result.Reason != event.ReasonGoalMet {
		t.Errorf("the run ended with %s after the steps %v: %s", result.Reason, w.starts(), result.Error)
	}
}

// drawUntil draws what a step of a random plan waits for.
func drawUntil(t *rapid.T, step map[string]any) {
	if step["tool"] == "look" && rapid.IntRange(0, 4).Draw(t, "waits") == 0 {
		expect := rapid.SampledFrom([]string{"result.n == 1.5", "result.n == 2"}).Draw(t, "until")
		step["until"] = map[string]any{"expect": expect, "every": "1s", "for": "2s"}
	}
}
