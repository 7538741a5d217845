package agent_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
)

// branches is a plan with a branch for each stage, a step after both, and one that needs
// the result of the first.
const branches = `{"title":"Deploy","variables":{"stage":"STAGE"},"steps":[
	{"index":"1","title":"Look","tool":"look","args":{},"result_variable":"seen"},
	{"index":"2","title":"Deploy to production","tool":"change","args":{"at":"prod"},"when":"stage == 'prod' and seen.n > 1","result_variable":"deployed"},
	{"index":"3","title":"Deploy to staging","tool":"change","args":{"at":"staging"},"when":"stage == 'staging'","depends_on":["1"]},
	{"index":"4","title":"Say so","tool":"look","args":{},"depends_on":["2","3"]},
	{"index":"5","title":"Test production","tool":"look","args":{"at":"${deployed.n}"}}]}`

func TestConditionDecidesWhichStepsAreTaken(t *testing.T) {
	for _, c := range []struct {
		stage    string
		starts   []string
		notTaken []string
		reason   event.Reason
	}{
		{"prod", []string{"1", "2", "5", "4"}, []string{"3"}, event.ReasonGoalMet},
		{"staging", []string{"1", "3", "4"}, []string{"2", "5"}, event.ReasonGoalMet},
		{"nowhere", []string{"1", "4"}, []string{"2", "3", "5"}, event.ReasonPartial},
	} {
		t.Run(c.stage, func(t *testing.T) {
			w := newWorld(t)
			mirror(w)
			w.returning(map[string]any{"n": 2})
			start := given(t, strings.Replace(branches, "STAGE", c.stage, 1))
			result := w.play(start)
			started, taken := w.starts(), slices.Clone(c.starts)
			slices.Sort(started)
			slices.Sort(taken)
			if !slices.Equal(started, taken) || result.Reason != c.reason {
				t.Errorf("the run ended with %s after the steps %v, want %s after %v", result.Reason, started, c.reason, taken)
			}
			var skipped []string
			for _, d := range all[event.StepSkipped](w) {
				if d.Reason == event.NotTaken {
					skipped = append(skipped, d.Index)
				}
			}
			slices.Sort(skipped)
			if !slices.Equal(skipped, c.notTaken) {
				t.Errorf("the steps %v are not taken, want %v", skipped, c.notTaken)
			}
		})
	}
}

func TestConditionShowsTheValuesItSaw(t *testing.T) {
	w := newWorld(t)
	w.play(given(t, strings.Replace(branches, "STAGE", "staging", 1)))
	skipped := all[event.StepSkipped](w)
	if len(skipped) == 0 || len(skipped[0].Saw) == 0 || skipped[0].Saw[0].Path != "stage" {
		t.Fatalf("the skipped steps are %+v", skipped)
	}
	if got, want := string(w.run.Step("2").Error), `not taken: stage is "staging"`; !strings.HasPrefix(got, want) {
		t.Errorf("the step says %q, want %q", got, want)
	}
}

func TestConditionWithoutAnAnswerFailsItsStep(t *testing.T) {
	w := newWorld(t)
	w.returning(map[string]any{"other": 2})
	result := w.play(given(t, strings.Replace(branches, "STAGE", "prod", 1)))
	failed := all[event.StepFailed](w)
	if len(failed) != 1 || failed[0].Failure != event.FailureArgs || !strings.Contains(string(failed[0].Error), `there is no field "n"`) {
		t.Errorf("the run ended with %s and the failures %v", result.Reason, failed)
	}
}

func TestResumeDecidesAsBefore(t *testing.T) {
	w := newWorld(t)
	w.returning(map[string]any{"n": 2})
	start := given(t, strings.Replace(branches, "STAGE", "staging", 1))
	start.InDoubt = event.DoubtDone
	w.play(start)
	events := w.events
	for n := 1; n < len(events); n++ {
		w.events = events
		w.kill(n)
		result := w.resume(resumed(start))
		if result.Reason != event.ReasonGoalMet || w.run.Step("5").Status != agent.StepSkipped || w.run.Step("4").Status != agent.StepCompleted {
			t.Fatalf("killed after event %d, the run ended with %s:\n%s", n, result.Reason, w.tail())
		}
	}
}

func TestDryRunTakesStepsWhoseConditionIsNotKnownYet(t *testing.T) {
	w := newWorld(t)
	start := given(t, strings.Replace(branches, "STAGE", "prod", 1))
	start.DryRun = true
	w.play(start)
	if got := w.run.Step("2"); !got.DryRun || !w.run.Step("3").NotTaken {
		t.Errorf("step 2 is %s, and step 3 is %s", got.Status, w.run.Step("3").Status)
	}
}

// drawWhen draws the condition of a step of a random plan.
func drawWhen(t *rapid.T, step map[string]any) {
	if when := rapid.SampledFrom([]string{"", "", "", "", "on", "not on"}).Draw(t, "when"); when != "" {
		step["when"] = when
	}
}
