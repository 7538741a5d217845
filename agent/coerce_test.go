package agent_test

import (
	"encoding/json"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
)

// coercions returns the coercions recorded in the starts of a step.
func (w *world) coercions(index string) []plan.Coercion {
	var all []plan.Coercion
	for _, e := range w.events {
		if d, ok := e.Data.(event.StepStarted); ok && d.Index == index {
			all = append(all, d.Coerced...)
		}
	}
	return all
}

func TestResultIsCoercedToSchemaType(t *testing.T) {
	const plan = `{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"a"},"result_variable":"n"},
	 {"index":"2","title":"Fill","tool":"fill","args":{"at":"${n}"}}]}`
	for name, c := range map[string]struct {
		result  any
		strict  bool
		want    event.Reason
		coerced bool
	}{
		"number as string":                 {result: json.Number("7"), want: event.ReasonGoalMet, coerced: true},
		"string":                           {result: "7", want: event.ReasonGoalMet},
		"object":                           {result: map[string]any{"n": json.Number("7")}, want: event.ReasonStepFailed},
		"number as string in a strict run": {result: json.Number("7"), strict: true, want: event.ReasonStepFailed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.tool = func(call agent.CallTool) event.Data {
				if call.Index == "2" && call.Args["at"] != "7" {
					t.Errorf("called with %#v", call.Args)
				}
				return event.StepCompleted{Index: call.Index, Attempt: call.Attempt, Result: c.result}
			}
			start := given(t, plan)
			start.Strict = c.strict
			if got := w.play(start); got.Reason != c.want {
				t.Errorf("ended %s (%s), want %s", got.Reason, got.Error, c.want)
			}
			coerced := w.coercions("2")
			if c.coerced != (len(coerced) == 1 && coerced[0].String() == `at: 7 is taken as "7"`) || !c.coerced && len(coerced) > 0 {
				t.Errorf("got the coercions %v", coerced)
			}
			if step := w.run.Step("2"); len(step.Coerced) != len(coerced) {
				t.Errorf("the step has the coercions %v", step.Coerced)
			}
		})
	}
}
