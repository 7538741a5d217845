package story_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/story"
)

// toldInAll returns what a reader is told of all events of a run.
func toldInAll(t *testing.T, to story.Reader, data ...event.Data) []story.Entry {
	t.Helper()
	var entries []story.Entry
	for i := range data {
		entries = append(entries, told(t, to, data[:i+1]...)...)
	}
	return entries
}

func TestLineLogTellsOnceHowAStepEnded(t *testing.T) {
	checked := step("1")
	checked.Checks = []plan.Check{{Title: "it holds", Expect: "result.passed"}}
	done := []event.Data{planOf(checked), begins("1"), event.StepCompleted{Index: "1", Attempt: 1, Result: map[string]any{}}}
	check := func(state plan.EvidenceState) event.Data {
		return event.CheckCompleted{Index: "1", Attempt: 1, Check: 1, Title: "it holds", State: state}
	}
	failed := event.StepFailed{Index: "1", Attempt: 1, Error: "it does not hold", Failure: event.FailureCheck}
	stopped := event.RunCompleted{Result: event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted}}
	for name, c := range map[string]struct {
		data []event.Data
		want []story.Level // of the lines about the step, after that it begins
	}{
		"the check holds":         {append(done, check(plan.StateVerified)), []story.Level{story.Done, story.Done}},
		"the check is refuted":    {append(done, check(plan.StateRefuted), failed), []story.Level{story.Failed, story.Failed}},
		"stopped before a check":  {append(done, stopped), []story.Level{story.Info}},
		"nothing before the last": {done, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []story.Level
			for _, e := range toldInAll(t, story.Lines, slices.Clone(c.data)...) {
				if words := e.Short(); e.Level != story.Begins && (strings.HasPrefix(words, "1 ") || strings.Contains(words, "it holds")) {
					got = append(got, e.Level)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got the levels %v, want %v", got, c.want)
			}
		})
	}
}

func TestLineLogNamesStepsThatDidNotRun(t *testing.T) {
	end := event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonStepFailed, Error: "no"}}
	var many []plan.Step
	for i := range 7 {
		many = append(many, step(fmt.Sprint(i+1)))
	}
	for want, data := range map[string][]event.Data{
		"2 Step 2  not run": {planOf(step("1"), step("2")), begins("1"), fails("1", "no"), end},
		"2 Step 2  not run, 3 Step 3  not run, 4 Step 4  not run, and 3 more steps  not run": {planOf(many...), begins("1"), fails("1", "no"), end},
		"": {planOf(step("1")), begins("1"), fails("1", "no"), end},
	} {
		var got []string
		for _, e := range toldInAll(t, story.Lines, data...) {
			if strings.Contains(e.Words, "not run") {
				got = append(got, e.Words)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDeclinedCallIsNoFailure(t *testing.T) {
	gate := event.GateRequested{Gate: "1.1.1", Step: "1", Tool: "look"}
	no := event.GateResolved{Gate: "1.1.1", Decision: event.Deny, Scope: event.ScopeOnce, By: "user", Reason: "not this"}
	end := event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonDenied, Error: "step 1 (Step 1) was declined: not this"}}
	data := []event.Data{planOf(step("1")), gate, no, event.StepFailed{Index: "1", Attempt: 1, Error: plan.DeniedAtGate, Failure: event.FailureDenied}, end}
	for _, to := range []story.Reader{story.Lines, story.Live, story.Replay, story.Record} {
		reasons := 0
		for _, e := range toldInAll(t, to, data...) {
			words := e.Short()
			if e.Ending != nil {
				words = e.Ending.Word + e.Ending.Evidence + string(e.Ending.Result.Error)
			}
			reasons += strings.Count(words, "not this")
			if e.Level == story.Failed || e.Level == story.Fatal || strings.Contains(words, "fail") || strings.Contains(words, "denied") || strings.Contains(words, "verified") {
				t.Errorf("reader %b is told %q", to, words)
			}
		}
		if reasons != 1 {
			t.Errorf("reader %b is told the reason %d times", to, reasons)
		}
	}
}

func TestAnswerDoesNotRepeatToldDenial(t *testing.T) {
	no := event.GateResolved{Gate: "1.1.1", Decision: event.Deny, Scope: event.ScopeOnce, By: "user"}
	data := []event.Data{planOf(step("1")), event.GateRequested{Gate: "1.1.1", Step: "1", Tool: "look"}, no, event.StepFailed{Index: "1", Attempt: 1, Error: plan.DeniedAtGate, Failure: event.FailureDenied}}
	for answer, want := range map[string]string{
		"Not allowed at the gate: look.":                       "",
		"There is one file.\n\nNot allowed at the gate: look.": "There is one file.",
	} {
		end := event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonDenied, Answer: untrusted.Text(answer)}}
		for _, to := range []story.Reader{story.Live, story.Replay} {
			for _, e := range told(t, to, append(data[:4:4], end)...) {
				if e.Kind == story.Answer && string(e.Text) != want {
					t.Errorf("reader %b is told %q, want %q", to, e.Text, want)
				}
			}
		}
	}
}
