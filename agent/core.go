package agent

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// ledger records what happened: usage, history, attempts, exchanges with models,
// open gates and questions.
type ledger struct{ *Run }

// Active reports whether the run has begun and is neither over nor undone.
func (r *Run) Active() bool { return r.ID != "" && r.Result == nil && r.Undone == nil }

// Busy reports whether a model or a tool is working. It is false while the run
// waits for a gate, and after its end.
func (r *Run) Busy() bool {
	return r.Active() && (!r.quiet() || len(r.queues[needCheck]) > 0 || decision{r}.accepting())
}

// Step returns the state of the step, or inner call, with this index; nil if
// there is none.
func (r *Run) Step(index string) *StepState {
	if s := r.Board.at(index); s != nil {
		return s
	}
	return r.call(index)
}

// Rules returns the current gate rules of the run, starting with the user's
// permissions for the run.
func (r *Run) Rules() []rule.Rule {
	return append(r.Permissions.grantedRules(), r.Toolbox.gateRules()...)
}

// brief returns what a planner learns about this run. A new plan gets no tool
// that the first was not offered, even if a resume added some.
func (r *Run) brief() prompt.Brief {
	catalogue := r.Catalogue
	var withheld plan.Catalogue
	if slices.ContainsFunc(catalogue, r.hasChanged) {
		withheld = slices.DeleteFunc(slices.Clone(catalogue), func(t plan.Tool) bool { return !r.hasChanged(t) })
		catalogue = slices.DeleteFunc(slices.Clone(catalogue), r.hasChanged)
	}
	if r.Revision > 0 {
		catalogue = r.Toolbox.offeredFirst(catalogue)
	}
	prompting := r.prompting
	prompting.BytesPerToken, prompting.ReadSpeed = r.ModelCalls.measured(r.Model, prompting.BytesPerToken, prompting.ReadSpeed)
	prompting.Models.Each(func(m *prompt.PlanModel) {
		m.BytesPerToken, m.ReadSpeed = r.ModelCalls.measured(m.Name, m.BytesPerToken, m.ReadSpeed)
	})
	prompting.WritesCalls = r.Conversations.holdsCalls(r.Model)
	profiles, toolless := prompting.Loopable(r.modelTools)
	prompting.Profiles = profiles
	return prompt.Brief{Goal: string(r.Goal), Catalogue: catalogue, Withheld: withheld, Prompting: prompting, MaxSteps: r.mayPropose(), Toolless: toolless, Assess: r.assess}
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

// rebuildGraph recomputes what follows from a changed plan: the order of the steps, and
// for each the missing args and the next need.
func (r scheduler) rebuildGraph() {
	weights := map[string]float64{} // one lookup per tool
	r.Board.arrange(func(s plan.Step) float64 {
		key := string(s.Executor) + s.Tool
		w, ok := weights[key]
		if !ok {
			w = Weigh(s, r.Catalogue, r.priors)
			weights[key] = w
		}
		return w * Rounds(r.Plan, s, r.Catalogue, r.Limits)
	}, r.fallback)
	r.executed(r.findMissingArgs)
	r.Ledger.grow(len(r.Steps))
	r.enqueueAll()
}

// findMissingArgs finds the missing args of a step's call, and marks its tool as
// gated if the plan asks for a gate.
func (r scheduler) findMissingArgs(s *StepState) {
	s.fill.missing = nil
	if s.Step.Executor != plan.ExecutorTool {
		return
	}
	facts := r.facts(s.Step.Tool)
	if facts.Err != nil {
		return
	}
	if s.author.args == nil {
		s.fill.missing = r.missingArgs(s, s.Step, facts)
	}
	if s.Step.Gate {
		r.Permissions.gateTool(facts.Tool)
	}
}

// missingArgs returns the args of a step that a model must write: those that its
// tool requires and the plan lacks. If none is required, and a model planned the
// step without mentioning args at all, it returns all args of the tool. In that
// case only the title says what the call is about.
func (r *Run) missingArgs(s *StepState, step plan.Step, facts *toolFacts) []string {
	missing := facts.Signature.Missing(step.Args)
	if len(missing) == 0 && step.Args == nil && r.modelPlanned(s) && r.Model != "" && !r.dryRun {
		return facts.Signature.Names()
	}
	return missing
}

// modelPlanned reports whether a model planned a step, in this run or earlier
// when it wrote the plan given to this run.
func (r *Run) modelPlanned(s *StepState) bool {
	if s.replanned {
		return r.ownPlanners == nil
	}
	return r.ModelPlans() || r.givenPlan != nil && r.givenPlan.PlannedBy != ""
}

// ModelPlans reports whether a model makes the first plan of the run. It does not
// if the plan is given, follows from the words of the goal, or comes from another
// planner.
func (r *Run) ModelPlans() bool {
	return r.ownPlanners == nil && r.givenPlan == nil && !r.Planning.byWords()
}

// BytesPerToken returns how many bytes of a prompt the server of a model last counted
// as one token; 0 if unknown. "" is the run's model.
func (r *Run) BytesPerToken(model string) float64 {
	bytes, _ := r.ModelCalls.measured(cmp.Or(model, r.Model), 0, 0)
	return bytes
}
