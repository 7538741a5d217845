package runner

import (
	"log/slog"

	"replan/planning/plan"
)

// experience is what runs in a workspace have shown of tools: how long calls took, and
// what their results looked like.
type experience struct {
	store     Store
	workspace string
	dry       bool // calls are only shown, which teaches nothing
	log       *slog.Logger
}

// recall returns tools with what earlier runs have shown of them.
func (x experience) recall(tools plan.Catalog) plan.Catalog {
	tools, err := x.store.RecallTools(x.workspace, tools)
	if err != nil {
		x.log.Warn("what earlier runs have shown of tools", "error", err)
	}
	return tools
}

// durations returns how long tools took before, in milliseconds.
func (x experience) durations() map[string]int64 {
	if x.dry {
		return nil
	}
	medians, err := x.store.MedianDurations()
	if err != nil {
		x.log.Warn("durations seen before", "error", err)
	}
	return medians
}

// add records the successful calls of a run and how long they took.
func (x experience) add(tools plan.Catalog, calls []plan.HistoryItem, durations map[string][]int64) {
	if x.dry || len(calls) == 0 {
		return
	}
	if err := x.store.AddDurations(durations); err != nil {
		x.log.Warn("note how long tools took", "error", err)
	}
	if err := x.store.NoteCalls(x.workspace, tools, calls); err != nil {
		x.log.Warn("note what tools returned", "error", err)
	}
}
