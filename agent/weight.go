package agent

import (
	"cmp"

	"replan/agent/event"
	"replan/planning/plan"
)

// Weigh returns the expected duration of a step, in ms. It is the median seen for
// its tool, by its qualified name or the one the step uses. Otherwise it is a
// rough guess by executor.
func Weigh(s plan.Step, catalog plan.Catalog, priors map[string]int64) float64 {
	if s.Executor != plan.ExecutorTool {
		return 10_000
	}
	if ms, ok := medianOf(s.Tool, catalog, priors); ok {
		return float64(max(ms, 1)) // many quick steps take time too
	}
	return 1_000
}

// Rounds returns how many calls of a step run one after the other. Of a step with items, that
// follows from their estimated number and how many may run at once.
func Rounds(p plan.Plan, s plan.Step, catalog plan.Catalog, limits event.Limits) float64 {
	if s.ForEach == nil {
		return 1
	}
	items, _, _ := s.ForEach.Estimate(p)
	atOnce := max(limits.ModelSlots, 1)
	if s.Executor == plan.ExecutorTool {
		atOnce = max(cmp.Or(limits.MaxConcurrency, event.DefaultLimits().MaxConcurrency), 1)
	}
	if most := s.ForEach.AtOnce; most > 0 {
		atOnce = min(atOnce, most)
	}
	if tool, err := catalog.Find(s.Tool); err == nil && tool.Serial {
		atOnce = 1
	}
	return float64((items + atOnce - 1) / atOnce)
}

// medianOf returns the median duration seen for a tool, in ms, if any.
func medianOf(name string, catalog plan.Catalog, priors map[string]int64) (ms int64, ok bool) {
	if ms, ok = priors[name]; ok {
		return ms, true
	}
	tool, err := catalog.Find(name)
	if err != nil {
		return 0, false
	}
	ms, ok = priors[tool.QualifiedName()]
	return ms, ok
}
