package agent

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/fit"
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
	if i, ok := r.places[index]; ok && i < len(r.Steps) && r.Steps[i].Step.Index == index {
		return r.Steps[i]
	}
	for _, s := range r.Steps {
		if s.Step.Index == index {
			return s
		}
	}
	return r.call(index)
}

// DryRun reports whether the run only reports what its steps would do.
func (r *Run) DryRun() bool { return r.dryRun }

// PlanOnly reports whether the run ends with its plan.
func (r *Run) PlanOnly() bool { return r.planOnly }

// ModelTools reports whether the model of the run can call tools.
func (r *Run) ModelTools() bool { return r.modelTools }

// Rules returns the current gate rules of the run, starting with the user's
// permissions for the run.
func (r *Run) Rules() []rule.Rule {
	return append(r.Permissions.grantedRules(), r.Toolbox.gateRules()...)
}

// Variables returns the plan's variables and the results bound so far. The caller
// owns the map, but must not change its values.
func (r *Run) Variables() map[string]any {
	out := maps.Clone(r.variables)
	if out == nil {
		out = map[string]any{}
	}
	return out
}

// Done returns the number of completed steps in the plan.
func (r *Run) Done() int {
	n := 0
	for _, s := range r.Steps {
		if s.Status == StepCompleted {
			n++
		}
	}
	return n
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

// Models returns the models that plan in place of the run's.
func (r *Run) Models() prompt.Models { return r.prompting.Models }

// Measured returns the finding whose settings drive the model of the run, nil if its
// size alone decides.
func (r *Run) Measured() *fit.Record { return r.prompting.Measured }

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

// rebuildGraph recomputes what follows from a changed plan: the graph, the longest
// paths, and for each step its dependencies, missing args and next need.
func (r scheduler) rebuildGraph() {
	r.graph = plan.NewGraph(r.Plan)
	weights := map[string]float64{} // one lookup per tool
	lengths := r.graph.Weights(func(s plan.Step) float64 {
		key := string(s.Executor) + s.Tool
		w, ok := weights[key]
		if !ok {
			w = Weigh(s, r.Catalogue, r.priors)
			weights[key] = w
		}
		return w * Rounds(r.Plan, s, r.Catalogue, r.Limits)
	})
	r.places = make(map[string]int, len(r.Steps))
	r.producers, r.skipping = map[string][]*StepState{}, nil
	for i, s := range r.Steps {
		r.places[s.Step.Index] = i
		if name := s.Step.ResultVariable; name != "" {
			r.producers[name] = append(r.producers[name], s)
		}
		if r.Plan.FailureOf(s.Step, r.fallback) == plan.OnFailureSkip && failsByText(s.Step) {
			r.skipping = append(r.skipping, s)
		}
	}
	for _, s := range r.Steps {
		at, _ := r.graph.Position(s.Step.Index)
		s.sched.node, s.sched.place, s.sched.length, s.sched.waits = at, r.graph.Rank(at), lengths[at], 0
		for _, d := range r.graph.Needs(at) {
			if on := r.Steps[d]; on.Status != StepCompleted && !on.NotTaken {
				s.sched.waits++
			}
		}
		s.sched.feeds = r.graph.Feeds(at)
		r.findMissingArgs(s)
		for _, item := range s.Items {
			item.sched.length, item.sched.place = s.sched.length, s.sched.place
			r.findMissingArgs(item)
		}
	}
	r.hasChecks = len(r.Plan.Acceptance) > 0 || slices.ContainsFunc(r.Plan.Steps, func(s plan.Step) bool { return len(s.Checks) > 0 || s.Until != nil })
	r.History = slices.Grow(r.History, len(r.Steps))
	r.Attempts = slices.Grow(r.Attempts, len(r.Steps))
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

// modelTerms returns what is known of the models besides their replies.
func (r *Run) modelTerms() modelTerms { return modelTerms{r.Model, r.prompting} }
