package agent_test

import (
	"encoding/json"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// FuzzEvent checks that no line makes the reader of events panic. An event that
// was read survives writing and reading, and a run applies or rejects it.
func FuzzEvent(f *testing.F) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	plan := plan.Plan{Title: "T", Steps: []plan.Step{{Index: "1", Title: "S", Executor: plan.ExecutorTool, Tool: "look"}}}
	for i, d := range []event.Data{
		event.RunStarted{Goal: "g", Limits: event.DefaultLimits(), Rules: rules, Catalog: catalog, Plan: &plan, InDoubt: event.DoubtDone},
		event.RunResumed{From: 3, Limits: event.StrictLimits(), Rules: rules, Catalog: catalog, Attended: true},
		event.RunPaused{Reason: "stop"},
		event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonDenied, Plan: &plan}},
		event.PhaseStarted{Phase: 1, Label: "analysis"},
		event.PhaseCompleted{Phase: 3, Label: "plan", Reply: reply.Reply{Text: "<b>&"}},
		event.PlanDrafting{Step: plan.Steps[0]},
		event.PlanCreated{Plan: plan, Revision: 1},
		event.PlanDiff{Revision: 2, Plan: plan, Removed: []string{}, Added: []string{"2"}, Revised: []string{}},
		event.PlanChosen{Plan: plan, By: "user"},
		event.PlanReviewed{
			Revision: 1, Decision: event.ReviewRun, By: "user", Plan: &plan, Edited: []string{"1"}, Moved: []event.Move{{Step: "2", After: "1"}},
			Removed: []string{"3"}, Approved: []event.Approval{{Step: "1", Tool: "w:look", Args: map[string]any{"at": "a"}}},
		},
		event.StepStarted{Index: "1", Attempt: 1, Args: map[string]any{"n": json.Number("1.50"), "t": "\u2028"}},
		event.StepCompleted{Index: "1", Attempt: 1, Result: []any{nil, true, json.Number("1e400")}},
		event.StepFailed{Index: "1", Attempt: 1, Failure: event.FailureTimeout, Error: "late"},
		event.StepRetry{Index: "1", Attempt: 1, At: at},
		event.StepInDoubt{Index: "1", Attempt: 1, Reason: "lost"},
		event.JournalDamaged{Line: 3},
		event.StepProcess{Index: "1", Attempt: 1, PID: 7, Start: "boot/7"},
		event.DoubtResolved{Step: "1", Decision: event.DoubtRerun, By: "user"},
		event.FailureResolved{Step: "1", Decision: event.FailureRetry, Args: map[string]any{"at": "b"}, By: "user"},
		event.GateRequested{Gate: "1.1.1", Step: "1", Args: map[string]any{"at": "a"}},
		event.GateResolved{Gate: "1.1.1", Decision: event.Allow, Scope: event.ScopeRun, By: "user"},
		event.GuardBlocked{Guard: event.GuardSteps, Used: 3, Limit: 3},
		event.ModelReplied{Purpose: prompt.PurposeRepair, Error: "silent"},
		event.SynthesisCompleted{Text: "done"},
		event.Unknown{Name: "tea.served", Raw: json.RawMessage(`{"cups":[2]}`)},
		event.Note{Level: "info", Text: "\x00"},
	} {
		line, err := event.Event{Seq: uint64(i + 1), Time: at, Run: "r", Data: d}.MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var e event.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return
		}
		written, err := e.MarshalJSON()
		if err != nil {
			t.Fatalf("%s was read but cannot be written: %v", line, err)
		}
		var back event.Event
		if err := json.Unmarshal(written, &back); err != nil {
			t.Fatalf("%s was written as %s, which is unreadable: %v", line, written, err)
		}
		if again, err := back.MarshalJSON(); err != nil || string(again) != string(written) {
			t.Fatalf("written first as %s\nthen as %s, %v", written, again, err)
		}
		if e.Data.Kind() != back.Data.Kind() || e.Seq != back.Seq || e.Run != back.Run || !e.Time.Equal(back.Time) {
			t.Fatalf("%s was read as %+v and again as %+v", line, e, back)
		}
		for _, run := range fuzzed(t, at, plan) {
			e.Seq, e.Run = run.Seq+1, "r"
			if run.Apply(e) == nil {
				run.Next()
				run.Snapshot(true)
			}
		}
	})
}

// fuzzed returns runs to apply an event to. One plans, one is held, one waits for
// a tool, and one is over.
func fuzzed(t *testing.T, at time.Time, p plan.Plan) []*agent.Run {
	goal := started(event.DefaultLimits())
	carried := goal
	carried.Plan = &p
	held := carried
	held.Review = true
	var runs []*agent.Run
	for _, events := range [][]event.Data{
		{goal},
		{held, event.PlanCreated{Plan: p, Revision: 1}},
		{carried, event.PlanCreated{Plan: p, Revision: 1}, event.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "look"}},
		{carried, event.PlanCreated{Plan: p, Revision: 1}, event.RunCompleted{Result: event.Result{Status: event.StatusFailed}}},
	} {
		run := &agent.Run{}
		for i, d := range events {
			if err := run.Apply(event.Event{Seq: uint64(i + 1), Time: at, Run: "r", Data: d}); err != nil {
				t.Fatal(err)
			}
		}
		runs = append(runs, run)
	}
	return runs
}
