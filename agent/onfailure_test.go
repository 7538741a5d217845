package agent_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

func TestFailedStepOfGoalFollowsOnFailure(t *testing.T) {
	const p = `{"title":"x",ORDER"steps":[{"index":"1","title":"Look","tool":"look","args":{"at":1}STEP},{"index":"2","title":"Fill","tool":"fill","args":{"at":"x"}}]}`
	for name, c := range map[string]struct {
		planner, step string // on_failure of the plan, and of the step
		ordered       plan.OnFailure
		noReplan      bool
		want          event.Reason
		replans       int
	}{
		"replans by default":                   {want: event.ReasonGoalMet, replans: 1},
		"planner says skip":                    {planner: "skip", want: event.ReasonPartial},
		"user says abort":                      {ordered: plan.OnFailureAbort, want: event.ReasonStepFailed},
		"user overrides planner":               {planner: "skip", ordered: plan.OnFailureAbort, want: event.ReasonStepFailed},
		"step overrides user":                  {step: "skip", ordered: plan.OnFailureAbort, want: event.ReasonPartial},
		"replans forbidden":                    {noReplan: true, want: event.ReasonStepFailed},
		"step asks for a forbidden replan":     {step: "replan", noReplan: true, want: event.ReasonStepFailed},
		"planner says skip, replans forbidden": {planner: "skip", noReplan: true, want: event.ReasonPartial},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			order, step := "", ""
			if c.planner != "" {
				order = `"on_failure":"` + c.planner + `",`
			}
			if c.step != "" {
				step = `,"on_failure":"` + c.step + `"`
			}
			w.reply = script{
				prompt.PurposePlan:   {strings.NewReplacer("ORDER", order, "STEP", step).Replace(p)},
				prompt.PurposeReplan: {`{"title":"x","steps":[{"index":"3","title":"Fill","tool":"fill","args":{"at":"y"}}]}`},
			}.reply
			w.tool = failingAlways("look")
			start := started(event.DefaultLimits())
			start.OnFailure, start.Limits.NoReplan = c.ordered, c.noReplan
			got := w.play(start)
			if got.Reason != c.want || got.Usage.Replans != c.replans {
				t.Errorf("ended %s (%s) after %d replans, want %s after %d", got.Reason, got.Error, got.Usage.Replans, c.want, c.replans)
			}
		})
	}
}
