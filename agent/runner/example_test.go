package runner_test

import (
	"context"
	"fmt"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/planning/plan"
)

const greeting = `{
	"title": "Greet the team",
	"variables": {"team": ["Ada", "Grace"]},
	"steps": [
		{"title": "Choose the words", "tool": "words", "args": {"tone": "warm"}, "result_variable": "words"},
		{"title": "Greet the first", "tool": "greet", "args": {"who": "${team[0]}", "how": "${words.hello}"}, "result_variable": "first"},
		{"title": "Greet the second", "tool": "greet", "args": {"who": "${team[1]}", "how": "${words.hello}"}, "depends_on": ["2"]}
	]
}`

// tool executes the tool calls of the examples.
func tool(_ context.Context, call plan.ToolCall) (any, error) {
	switch call.Tool.Name {
	case "words":
		return map[string]any{"hello": "Good morning"}, nil
	case "greet":
		return fmt.Sprintf("%s, %s!", call.Args["how"], call.Args["who"]), nil
	default:
		return nil, fmt.Errorf("there is no tool %s", call.Tool.Name)
	}
}

// ExampleRun runs a plan with a function for its tool calls, and prints the events.
func ExampleRun() {
	p, faults, _ := plan.CheckPlan([]byte(greeting), plan.Rules{})
	if len(faults) > 0 {
		fmt.Println(plan.FaultError(faults))
		return
	}
	result, err := runner.Run(context.Background(), runner.Job{
		Plan: &p,
		Call: tool,
		Events: func(e event.Event) {
			switch d := e.Data.(type) {
			case event.StepStarted:
				fmt.Println(d.Index, d.Title)
			case event.StepCompleted:
				fmt.Println(" ", d.Result)
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Status, result.Reason)
	// Output:
	// 1 Choose the words
	//   map[hello:Good morning]
	// 2 Greet the first
	//   Good morning, Ada!
	// 3 Greet the second
	//   Good morning, Grace!
	// completed goal_met
}

// ExampleRun_resumed resumes a failed run: completed steps stay completed.
func ExampleRun_resumed() {
	p, _ := plan.DecodePlan([]byte(greeting))
	var past []event.Event
	broken := true
	job := runner.Job{
		Plan: &p,
		Call: func(ctx context.Context, call plan.ToolCall) (any, error) {
			if broken && call.Args["who"] == "Grace" {
				return nil, fmt.Errorf("she is out")
			}
			fmt.Println(call.Tool.Name)
			return tool(ctx, call)
		},
		Events: func(e event.Event) {
			if !e.Data.Kind().Passing() {
				past = append(past, e)
			}
		},
	}
	result, _ := runner.Run(context.Background(), job)
	fmt.Println(result.Error)

	broken, job.Past = false, past
	result, _ = runner.Run(context.Background(), job)
	fmt.Println(result.Reason)

	// Folding the same events always gives the same state.
	var run agent.Run
	for _, e := range past {
		if err := run.Apply(e); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(run.Done(), "of", len(run.Steps), "done in", run.Usage.Steps, "attempts")
	// Output:
	// words
	// greet
	// step 3 (Greet the second) failed: she is out
	// greet
	// goal_met
	// 3 of 3 done in 4 attempts
}
