package agent

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// Active reports whether the run has begun and is neither over nor undone.
func (r *Run) Active() bool { return r.ID != "" && r.Result == nil && r.Undone == nil }

// Busy reports whether a model or a tool is working. It is false while the run
// waits for a gate, and after its end.
func (r *Run) Busy() bool {
	return r.Active() && (!r.quiet() || len(r.queues[needCheck]) > 0 || r.closer().accepting())
}

// Rules returns the current gate rules of the run, starting with the user's
// permissions for the run.
func (r *Run) Rules() []rule.Rule {
	return append(r.Permissions.grantedRules(), r.Toolbox.gateRules()...)
}

// ServersOf returns the servers whose tools a step may call: that of its tool, or
// those of all tools on its profile's list, sorted. A step without such a tool or
// list has none.
func ServersOf(r *Run, step plan.Step) []string {
	if step.Tool != "" {
		if tool, err := r.Catalogue.Find(step.Tool); err == nil {
			return []string{tool.Server}
		}
		return nil
	}
	profile, _ := r.prompting.Profile(step.Profile)
	if step.Executor != plan.ExecutorAgent || profile.Tools == nil {
		return nil
	}
	servers := map[string]bool{}
	for _, t := range r.Catalogue {
		if profile.May(t) {
			servers[t.Server] = true
		}
	}
	return slices.Sorted(maps.Keys(servers))
}

// Weigh returns the expected duration of a step, in ms. It is the median seen for
// its tool, by its qualified name or the one the step uses. Otherwise it is a
// rough guess by executor.
func Weigh(s plan.Step, catalogue plan.Catalogue, priors map[string]int64) float64 {
	if s.Executor != plan.ExecutorTool {
		return 10_000
	}
	if ms, ok := medianOf(s.Tool, catalogue, priors); ok {
		return float64(max(ms, 1)) // many quick steps take time too
	}
	return 1_000
}

// Rounds returns how many calls of a step run one after the other: for its items, by their
// estimated number and how many may run at once.
func Rounds(p plan.Plan, s plan.Step, catalogue plan.Catalogue, limits event.Limits) float64 {
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
	if tool, err := catalogue.Find(s.Tool); err == nil && tool.Serial {
		atOnce = 1
	}
	return float64((items + atOnce - 1) / atOnce)
}

// UsualDuration returns the median duration of the step's tool in earlier runs, 0
// if there is none.
func (r *Run) UsualDuration(s *StepState) time.Duration {
	ms, _ := medianOf(s.Step.Tool, r.Catalogue, r.priors)
	return time.Duration(ms) * time.Millisecond
}

// medianOf returns the median duration seen for a tool, in ms, if any.
func medianOf(name string, catalogue plan.Catalogue, priors map[string]int64) (ms int64, ok bool) {
	if ms, ok = priors[name]; ok {
		return ms, true
	}
	tool, err := catalogue.Find(name)
	if err != nil {
		return 0, false
	}
	ms, ok = priors[tool.QualifiedName()]
	return ms, ok
}

// BytesPerToken returns how many bytes of a prompt the server of a model last counted
// as one token; 0 if unknown. "" is the run's model.
func (r *Run) BytesPerToken(model string) float64 {
	bytes, _ := r.ModelCalls.measured(cmp.Or(model, r.Model), 0, 0)
	return bytes
}
