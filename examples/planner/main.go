// Planner is a Go program that brings its own planner and its own tools: no
// model, no server. It walks every way that a run of plans and replans can go
// and tells the events of each.
//
//	go run ./examples/planner
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/planning"
	"replan/planning/plan"
)

// transition is one way that a run can go.
type transition struct {
	name   string
	goal   string            // "" is to publish the report
	broken map[string]string // what fails, and the error it fails with
	limit  func(*event.Limits)
	want   event.Reason
}

// transitions returns all of them, from the run that needs no replan to the one
// that has no plan.
func transitions() []transition {
	primary := map[string]string{"the primary": "the primary is down"}
	both := map[string]string{"the primary": "the primary is down", "the mirror": "the mirror is down"}
	return []transition{
		{name: "success", want: event.ReasonGoalMet},
		{name: "one replan", broken: primary, want: event.ReasonGoalMet},
		{name: "two replans", broken: both, want: event.ReasonGoalMet},
		{name: "replans spent", broken: both, limit: func(l *event.Limits) { l.MaxReplans = 1 }, want: event.ReasonReplanBudget},
		{
			name: "replans spent on the same plan", broken: map[string]string{"summarize": "the report is too long"},
			limit: func(l *event.Limits) { l.MaxReplans = 2 }, want: event.ReasonReplanBudget,
		},
		{
			name: "steps spent", broken: map[string]string{"publish": "the disk is full"},
			limit: func(l *event.Limits) { l.MaxSteps = 4 }, want: event.ReasonStepBudget,
		},
		{
			name: "steps spent before a replan fits", broken: primary,
			limit: func(l *event.Limits) { l.MaxSteps = 4 }, want: event.ReasonStepBudget,
		},
		{name: "nothing to replan", broken: map[string]string{"publish": "the disk is full"}, want: event.ReasonGaveUp},
		{name: "no plan", goal: "make tea", want: event.ReasonNoPlan},
	}
}

func main() {
	for _, t := range transitions() {
		result, err := t.run(context.Background(), os.Stdout)
		if err != nil {
			log.Fatal(err)
		}
		if result.Reason != t.want {
			log.Fatalf("%s: the run ended with %s, not %s: %s", t.name, result.Reason, t.want, result.Error)
		}
	}
}

// run plans and runs the goal and tells its events to out.
func (t transition) run(ctx context.Context, out io.Writer) (event.Result, error) {
	limits := event.DefaultLimits()
	limits.GrowSteps = false // a limit of steps is meant as it stands
	if t.limit != nil {
		t.limit(&limits)
	}
	goal := t.goal
	if goal == "" {
		goal = "publish the report"
	}
	_, _ = fmt.Fprintf(out, "%s\n", t.name)
	result, err := runner.Run(ctx, runner.Job{
		Goal:     goal,
		Planners: planning.PlanFunc(byError),
		Catalog:  tools(),
		Call:     t.call,
		Limits:   limits,
		Events:   func(e event.Event) { printEvent(out, e.Data) },
	})
	if err != nil {
		return result, fmt.Errorf("run %q: %w", t.name, err)
	}
	return result, nil
}

// tools describes what the plans may call.
func tools() plan.Catalog {
	return plan.Catalog{
		{Name: "find", Server: "example", ReadOnly: true, Annotated: true},
		{Name: "fetch", Server: "example", ReadOnly: true, Annotated: true},
		{Name: "summarize", Server: "example", ReadOnly: true, Annotated: true},
		{Name: "publish", Server: "example", Annotated: true},
	}
}

// call is the tools: a function that fails where the transition wants it to.
func (t transition) call(_ context.Context, call plan.ToolCall) (any, error) {
	from, _ := call.Args["from"].(string)
	for _, what := range []string{call.Tool.Name, from} {
		if fault, ok := t.broken[what]; ok {
			return nil, errors.New(fault)
		}
	}
	switch call.Tool.Name {
	case "find":
		return []string{"the primary", "the mirror", "the archive"}, nil
	case "fetch":
		return "a report from " + from, nil
	case "summarize":
		return fmt.Sprintf("%s, in short", call.Args["text"]), nil
	default:
		return nil, nil
	}
}

// printEvent writes a line for each event that says how the run goes.
func printEvent(out io.Writer, data event.Data) {
	printf := func(format string, args ...any) { _, _ = fmt.Fprintf(out, "  "+format+"\n", args...) }
	switch d := data.(type) {
	case event.PlanCreated:
		printf("plan      %s", line(d.Plan, plan.NewGraph(d.Plan).Order()))
	case event.PlanEmpty:
		printf("no plan   %s", d.Reason)
	case event.StepStarted:
		printf("step %s    %s(%s)", d.Index, d.Tool, values(d.Args))
	case event.StepFailed:
		printf("failed    %s", d.Error)
	case event.ReplanStarted:
		printf("replan %d  of steps %s", d.Attempt, strings.Join(d.Remaining, ", "))
	case event.ReplanRefused:
		printf("refused   %s", d.Reason)
	case event.PlanDiff:
		for _, change := range []struct {
			mark    string
			indices []string
		}{{"removed", d.Removed}, {"revised", d.Revised}, {"added", d.Added}} {
			if len(change.indices) > 0 {
				printf("%-8s  %s", change.mark, line(d.Plan, change.indices))
			}
		}
	case event.GuardBlocked:
		printf("blocked   by the guard %s: %d of %d used", d.Guard, d.Used, d.Limit)
	case event.RunCompleted:
		printf("%s: %s (steps: %d, replans: %d)", d.Status, d.Reason, d.Usage.Steps, d.Usage.Replans)
	}
}

// line names steps by their index and, where the plan still has them, their tool.
func line(p plan.Plan, indices []string) string {
	words := make([]string, len(indices))
	for i, index := range indices {
		words[i] = index
		if s, ok := p.Step(index); ok {
			words[i] += " " + s.Tool
		}
	}
	return strings.Join(words, ", ")
}

// values are the arguments of a call, each of which has one here.
func values(args map[string]any) string {
	var words []string
	for _, v := range args {
		words = append(words, fmt.Sprint(v))
	}
	return strings.Join(words, ", ")
}
