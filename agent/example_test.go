package agent_test

import (
	"fmt"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// ExampleRun_Next uses the core alone: a run is folded from events, and after
// each batch of events Next returns the actions that may follow. The core never
// waits, and the caller sets the clock.
func ExampleRun_Next() {
	p, _ := plan.DecodePlan([]byte(`{"title": "Greet Ada", "steps": [
		{"title": "Choose the words", "tool": "words", "result_variable": "words"},
		{"title": "Greet her", "tool": "greet", "args": {"how": "${words.hello}"}, "result_variable": "greeted"}
	]}`))
	results := map[string]any{"words": map[string]any{"hello": "Good morning"}, "greet": "Good morning, Ada!"}
	var run agent.Run
	clock := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	apply := func(data event.Data) {
		clock = clock.Add(time.Second)
		if err := run.Apply(event.Event{Seq: run.Seq + 1, Time: clock, Run: "greeting", Data: data}); err != nil {
			fmt.Println(err)
		}
		fmt.Println(clock.Format("05"), data.Kind())
	}
	apply(event.RunStarted{
		Plan:    &p,
		Limits:  event.Limits{MaxConcurrency: 4},
		Rules:   []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun, Untrusted: true}},
		Catalog: plan.Catalog{{Server: "me", Name: "words"}, {Server: "me", Name: "greet"}},

		SkipSynthesis: true, // no model writes an answer
	})
	for run.Active() {
		actions := run.Next()
		for _, a := range actions { // first record the decisions, …
			if a.Record != nil {
				apply(a.Record)
			}
		}
		for _, a := range actions { // … then carry out their effects
			if call, ok := a.Effect.(agent.CallTool); ok {
				apply(event.StepCompleted{Index: call.Index, Attempt: call.Attempt, Result: results[call.Tool.Name]})
			}
		}
	}
	fmt.Println(run.Result.Reason, "after", run.Elapsed(), "with", run.Variables()["greeted"])
	// Output:
	// 01 run.started
	// 02 plan.created
	// 03 step.started
	// 04 step.completed
	// 05 step.started
	// 06 step.completed
	// 07 run.completed
	// goal_met after 6s with Good morning, Ada!
}
