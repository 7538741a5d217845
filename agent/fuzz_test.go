package agent_test

import (
	"encoding/json"
	"testing"
	"time"

	"replan/agent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// FuzzEvent holds that no line makes the reader of events panic, that what it
// reads is written so that it reads back the same, and that a run which is given
// the event takes it or refuses it.
func FuzzEvent(f *testing.F) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	plan := plan.Plan{Title: "T", Steps: []plan.Step{{Index: "1", Title: "S", Executor: plan.ExecutorTool, Tool: "look"}}}
	for i, d := range []agent.Data{
		agent.RunStarted{Goal: "g", Limits: agent.DefaultLimits(), Rules: rules, Catalogue: catalogue, Plan: &plan, InDoubt: agent.DoubtDone},
		agent.RunResumed{From: 3, Limits: agent.StrictLimits(), Rules: rules, Catalogue: catalogue, Attended: true},
		agent.RunPaused{Reason: "stop"},
		agent.RunCompleted{Result: agent.Result{Status: agent.StatusFailed, Reason: agent.ReasonDenied, Plan: &plan}},
		agent.PhaseStarted{Phase: 1, Label: "analysis"},
		agent.PhaseCompleted{Phase: 3, Label: "plan", Reply: reply.Reply{Text: "<b>&"}},
		agent.PlanDrafting{Step: plan.Steps[0]},
		agent.PlanCreated{Plan: plan, Revision: 1},
		agent.PlanDiff{Revision: 2, Plan: plan, Removed: []string{}, Added: []string{"2"}, Revised: []string{}},
		agent.PlanReviewed{
			Revision: 1, Decision: agent.ReviewRun, By: "user", Plan: &plan, Edited: []string{"1"}, Moved: []agent.Move{{Step: "2", After: "1"}},
			Removed: []string{"3"}, Approved: []agent.Approval{{Step: "1", Tool: "w:look", Args: map[string]any{"at": "a"}}},
		},
		agent.StepStarted{Index: "1", Attempt: 1, Args: map[string]any{"n": json.Number("1.50"), "t": "\u2028"}},
		agent.StepCompleted{Index: "1", Attempt: 1, Result: []any{nil, true, json.Number("1e400")}},
		agent.StepFailed{Index: "1", Attempt: 1, Failure: agent.FailureTimeout, Error: "late"},
		agent.StepRetry{Index: "1", Attempt: 1, At: at},
		agent.StepInDoubt{Index: "1", Attempt: 1, Reason: "lost"},
		agent.JournalDamaged{Line: 3},
		agent.StepProcess{Index: "1", Attempt: 1, PID: 7, Start: "boot/7"},
		agent.DoubtResolved{Step: "1", Decision: agent.DoubtRerun, By: "user"},
		agent.FailureResolved{Step: "1", Decision: agent.FailureRetry, Args: map[string]any{"at": "b"}, By: "user"},
		agent.GateRequested{Gate: "1.1.1", Step: "1", Args: map[string]any{"at": "a"}},
		agent.GateResolved{Gate: "1.1.1", Decision: agent.Allow, Scope: agent.ScopeRun, By: "user"},
		agent.GuardBlocked{Guard: agent.GuardSteps, Used: 3, Limit: 3},
		agent.ModelReplied{Purpose: prompt.PurposeRepair, Error: "silent"},
		agent.SynthesisCompleted{Text: "done"},
		agent.Unknown{Name: "tea.served", Raw: json.RawMessage(`{"cups":[2]}`)},
		agent.Note{Level: "info", Text: "\x00"},
	} {
		line, err := agent.Event{Seq: uint64(i + 1), Time: at, Run: "r", Data: d}.MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var e agent.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return
		}
		written, err := e.MarshalJSON()
		if err != nil {
			t.Fatalf("%s was read and cannot be written: %v", line, err)
		}
		var back agent.Event
		if err := json.Unmarshal(written, &back); err != nil {
			t.Fatalf("%s was written as %s, which cannot be read: %v", line, written, err)
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
				run.Standing(true)
			}
		}
	})
}

// fuzzed returns runs that an event may come to: one that plans, one that waits
// for a tool, one that is held, and one that is over.
func fuzzed(t *testing.T, at time.Time, p plan.Plan) []*agent.Run {
	goal := started(agent.DefaultLimits())
	carried := goal
	carried.Plan = &p
	held := carried
	held.Review = true
	var runs []*agent.Run
	for _, events := range [][]agent.Data{
		{goal},
		{held, agent.PlanCreated{Plan: p, Revision: 1}},
		{carried, agent.PlanCreated{Plan: p, Revision: 1}, agent.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "look"}},
		{carried, agent.PlanCreated{Plan: p, Revision: 1}, agent.RunCompleted{Result: agent.Result{Status: agent.StatusFailed}}},
	} {
		run := &agent.Run{}
		for i, d := range events {
			if err := run.Apply(agent.Event{Seq: uint64(i + 1), Time: at, Run: "r", Data: d}); err != nil {
				t.Fatal(err)
			}
		}
		runs = append(runs, run)
	}
	return runs
}
