package store_test

import (
	"fmt"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/store"
	"replan/planning/plan"
)

// BenchmarkSummaries lists 1,000 runs, as replan runs does: for the first time,
// when it reads every journal, and from then on.
func BenchmarkSummaries(b *testing.B) {
	dirs, err := store.FindDirs(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	s := store.New(dirs)
	var tools plan.Catalog
	for i := range 40 {
		tools = append(tools, plan.Tool{Name: fmt.Sprintf("tool.%d", i), Server: "workspace", InputSchema: []byte(`{"type":"object","properties":{"path":{"type":"string","description":"where to look"}}}`)})
	}
	for i := range 1000 {
		id := fmt.Sprintf("r-20260102-030405-%06x", i)
		j, err := s.CreateJournal("run", id)
		if err != nil {
			b.Fatal(err)
		}
		events := []event.Data{
			event.RunStarted{Goal: "a goal of some words", Workspace: "/w", Catalog: tools},
			event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet}},
		}
		for n, d := range events {
			if err := j.Append(event.Event{Seq: uint64(n + 1), Time: time.Now(), Run: id, Data: d}); err != nil {
				b.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
	list := func(b *testing.B, s *store.Store) {
		if runs, broken, err := s.Summaries(); err != nil || len(broken) > 0 || len(runs) != 1000 {
			b.Fatalf("got %d runs, %v, %v", len(runs), broken, err)
		}
	}
	start := time.Now()
	list(b, s)
	first := time.Since(start)
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			list(b, store.New(dirs)) // as another process
		}
		b.ReportMetric(float64(first.Milliseconds()), "ms-first")
	})
	b.Run("last", func(b *testing.B) {
		for b.Loop() {
			if id, err := store.New(dirs).LastRun("/w", nil); err != nil || id == "" {
				b.Fatal(id, err)
			}
		}
	})
}
