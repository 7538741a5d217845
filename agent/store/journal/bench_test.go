package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/store/journal"
	"replan/planning/plan"
)

// longRun returns the events of a run with that many steps: two events per step,
// after two that start the run and before one that ends it.
func longRun(steps int) []event.Event {
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	var out []event.Event
	add := func(data event.Data) {
		at = at.Add(1234567 * time.Nanosecond)
		out = append(out, event.Event{Seq: uint64(len(out) + 1), Time: at, Run: "20261121-090000-a1b2c3", Data: data})
	}
	tool := plan.Tool{Name: "fs.read", Server: "workspace", ReadOnly: true, Annotated: true}
	add(event.RunStarted{Goal: "a long run", Catalog: plan.Catalog{tool}, Limits: event.Limits{MaxConcurrency: 4}})
	p := plan.Plan{ID: "long", Title: "Long", Goal: "a long run"}
	for i := range steps {
		index := fmt.Sprint(i + 1)
		p.Steps = append(p.Steps, plan.Step{Index: index, Title: "Read a file", Executor: plan.ExecutorTool, Tool: "fs.read"})
	}
	add(event.PlanCreated{Plan: p, Revision: 1})
	for i, s := range p.Steps {
		add(event.StepStarted{
			Index: s.Index, Attempt: 1, Title: s.Title, Executor: s.Executor, Tool: s.Tool,
			Args: map[string]any{"path": fmt.Sprintf("internal/auth/handler_%d.go", i), "limit": json.Number("200")},
		})
		add(event.StepCompleted{
			Index: s.Index, Attempt: 1, MS: 12,
			Result: map[string]any{"text": "package auth\n\nfunc Handler() {}\n", "lines": json.Number("3"), "truncated": false},
		})
	}
	result := event.Result{
		Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Plan: &p,
		Variables: map[string]any{}, History: []plan.HistoryItem{}, Revisions: []event.RevisionSummary{},
	}
	for i, s := range p.Steps {
		started, completed := out[2+2*i].Data.(event.StepStarted), out[3+2*i].Data.(event.StepCompleted)
		result.History = append(result.History, plan.HistoryItem{
			Index: s.Index, Title: s.Title, Tool: s.Tool, Args: started.Args, Status: plan.ItemCompleted, Attempt: 1, Result: completed.Result, MS: 12,
		})
	}
	add(event.RunCompleted{Result: result})
	return out
}

// BenchmarkRead reads journals of several lengths and folds them: the wait before
// a run resumes. The time of the fold is also reported alone.
func BenchmarkRead(b *testing.B) {
	for _, count := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("events=%d", count), func(b *testing.B) { benchmarkRead(b, count) })
	}
}

func benchmarkRead(b *testing.B, count int) {
	path := filepath.Join(b.TempDir(), "r.jsonl")
	j, err := journal.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	written := longRun(count / 2)
	written = written[:len(written)-1] // an unfinished run
	if err := errors.Join(j.Append(written...), j.Close()); err != nil {
		b.Fatal(err)
	}
	var folding time.Duration
	for b.Loop() {
		events, torn, err := journal.Read(path)
		if err != nil || torn || len(events) != len(written) {
			b.Fatalf("%d events, torn %v: %v", len(events), torn, err)
		}
		start := time.Now()
		var run agent.Run
		for _, e := range events {
			if err := run.Apply(e); err != nil {
				b.Fatal(err)
			}
		}
		folding += time.Since(start)
	}
	b.ReportMetric(float64(folding.Milliseconds())/float64(b.N), "ms-of-fold/op")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(written)), "ns/event")
}

func BenchmarkAppend(b *testing.B) {
	for _, group := range []int{1, 8} {
		b.Run(fmt.Sprintf("group=%d", group), func(b *testing.B) {
			j, err := journal.Create(filepath.Join(b.TempDir(), "r.jsonl"))
			if err != nil {
				b.Fatal(err)
			}
			batch := longRun(group)[2 : 2+group]
			for b.Loop() {
				if err := j.Append(batch...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*group), "ns/event")
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
