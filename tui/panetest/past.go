package panetest

import (
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Past is a list of events with the second at which each happened.
type Past []struct {
	At   float64
	Data event.Data
}

// Folded returns the run of the events, and the time of the last one.
func (p Past) Folded(t *testing.T) (*agent.Run, time.Time) {
	t.Helper()
	run, now := &agent.Run{}, time.Time{}
	began := map[string]float64{}
	for i, e := range p {
		switch d := e.Data.(type) {
		case event.StepStarted:
			began[d.Index] = e.At
		case event.StepCompleted:
			if d.MS == 0 {
				d.MS = int64((e.At - began[d.Index]) * 1000)
				e.Data = d
			}
		case event.StepFailed:
			d.MS = int64((e.At - began[d.Index]) * 1000)
			e.Data = d
		}
		now = time.Unix(0, 0).UTC().Add(time.Duration(e.At * float64(time.Second)))
		if err := run.Apply(event.Event{Seq: uint64(i + 1), Time: now, Run: "r", Data: e.Data}); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	return run, now
}

// TimedTools are the tools of the steps: one reads, one changes.
var TimedTools = plan.Catalog{{Name: "look", Server: "s", ReadOnly: true, Annotated: true}, {Name: "change", Server: "s"}}

// TimedPlan returns the first events of a run of these steps.
func TimedPlan(steps ...plan.Step) (event.RunStarted, event.PlanCreated) {
	plan := plan.Plan{Title: "P", Steps: steps, OnFailure: plan.OnFailureReplan}
	return event.RunStarted{Plan: &plan, Model: "m", Limits: event.DefaultLimits(), Catalog: TimedTools, Rules: []rule.Rule{{Tool: "look", Verdict: rule.VerdictRun}, {Tool: "change", Verdict: rule.VerdictAsk}}},
		event.PlanCreated{Plan: plan, Revision: 1}
}

// TimedStep returns a step that calls a tool after others.
func TimedStep(index, tool string, deps ...string) plan.Step {
	return plan.Step{Index: index, Title: untrusted.Text("Step " + index), Executor: plan.ExecutorTool, Tool: tool, Args: map[string]any{}, DependsOn: deps}
}

// Begins starts an attempt of a step.
func Begins(index string, n int) event.Data {
	return event.StepStarted{Index: index, Attempt: n, Executor: plan.ExecutorTool, Tool: "look"}
}

// Succeeds ends an attempt of a step well.
func Succeeds(index string, n int) event.Data { return event.StepCompleted{Index: index, Attempt: n} }

// Fails ends an attempt of a step in a failure of its tool.
func Fails(index string, n int) event.Data {
	return event.StepFailed{Index: index, Attempt: n, Error: "no", Failure: event.FailureTool}
}
