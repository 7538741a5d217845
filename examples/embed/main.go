// Embed is a module of its own that runs plans with replan: it brings the planner
// and the tools, and prints the events. replan has no public address yet, so go.mod
// says where it lies on this disk.
//
//	go run -C examples/embed .
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// tools describes what plans may call.
var tools = plan.Catalog{
	{Name: "fetch", Server: "shop", ReadOnly: true, Annotated: true},
	{Name: "total", Server: "shop", ReadOnly: true, Annotated: true},
}

// prices is what fetch finds. The day's prices cannot be had.
var prices = map[string][]int{"yesterday": {3, 4, 5}}

func main() {
	result, err := runner.Run(context.Background(), runner.Job{
		Goal:     "add up the prices of today",
		Planners: planning.PlanFunc(propose),
		Catalog:  tools,
		Call:     call,
		Events:   tell,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, result.Reason)
}

// propose plans the goal for today, and for yesterday after a failure.
func propose(brief prompt.Brief, failure *prompt.Situation) plan.Plan {
	day := "today"
	if failure != nil {
		day = "yesterday"
	}
	return plan.Plan{Title: plan.Text(brief.Goal), Steps: []plan.Step{
		{Index: "1", Title: plan.Text("Fetch the prices of " + day), Tool: "fetch", Args: map[string]any{"day": day}, ResultVariable: "prices"},
		{Index: "2", Title: "Add them up", Tool: "total", Args: map[string]any{"of": "${prices}"}},
	}}
}

// call carries out a call of a tool.
func call(_ context.Context, c plan.ToolCall) (any, error) {
	switch c.Tool.Name {
	case "fetch":
		day := fmt.Sprint(c.Args["day"])
		if found, ok := prices[day]; ok {
			return found, nil
		}
		return nil, fmt.Errorf("there are no prices of %s", day)
	default:
		numbers, ok := c.Args["of"].([]any)
		if !ok {
			return nil, fmt.Errorf("of is no list")
		}
		sum := 0
		for _, n := range numbers {
			var price int
			if _, err := fmt.Sscan(fmt.Sprint(n), &price); err != nil {
				return nil, fmt.Errorf("add %v: %w", n, err)
			}
			sum += price
		}
		return sum, nil
	}
}

// tell prints a line for each event that says how the run goes.
func tell(e event.Event) {
	switch d := e.Data.(type) {
	case event.PlanCreated:
		fmt.Println("plan:", d.Plan.Title)
	case event.StepStarted:
		fmt.Printf("step %s: %s\n", d.Index, d.Title)
	case event.StepCompleted:
		fmt.Println("  result:", d.Result)
	case event.StepFailed:
		fmt.Println("  failed:", d.Error)
	case event.PlanDiff:
		fmt.Println("replan: revises", strings.Join(d.Revised, ", "))
	}
}
