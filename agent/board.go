package agent

import (
	"iter"
	"maps"
	"slices"
	"time"

	"replan/agent/event"
	"replan/planning/plan"
)

// Board is the current plan with the states of its steps. It also holds what followed from them:
// the order of the steps, and the values of the variables.
type Board struct {
	Plan      plan.Plan    // the current plan; no steps while planning
	Revision  int          // 0 before the first plan
	PlannedAt time.Time    // of the first plan
	Steps     []*StepState // in plan order; the drafted steps before there is a plan
	Revisions []Revision   // one per replan

	graph     *plan.Graph
	waits     []int                   // for each step, how many of its dependencies are not completed
	places    map[string]int          // step → index in Steps
	producers map[string][]*StepState // name → steps that produce that result; nil while the plan is incomplete
	skipping  []*StepState            // steps that text of a result can fail, whereupon those that depend on them are skipped and the run continues
	variables map[string]any
	attempts  map[string]int // step → highest attempt before the current plan
	hasChecks bool           // the plan has any
}

// newBoard returns a board without a plan.
func newBoard() Board { return Board{variables: map[string]any{}, attempts: map[string]int{}} }

// rehearsed returns a board with the same plan, on which placeholders stand for the results that
// are not known yet.
func (b *Board) rehearsed() Board {
	copied := newBoard()
	copied.define(b.Variables())
	var steps []*StepState
	for _, s := range b.Steps {
		state := *s
		steps = append(steps, &state)
		if name := s.Step.ResultVariable; name != "" && s.Status != StepCompleted {
			copied.define(map[string]any{name: placeholder(s.Step)})
		}
	}
	copied.take(b.Plan, b.Revision, steps)
	return copied
}

// take puts a plan on the board, with the states of its steps. [Board.arrange] must follow.
func (b *Board) take(p plan.Plan, revision int, steps []*StepState) {
	b.Plan, b.Revision, b.Steps = p, revision, steps
	b.places = make(map[string]int, len(steps))
	for i, s := range steps {
		b.places[s.Step.Index] = i
	}
}

// current returns the plan.
func (b *Board) current() plan.Plan { return b.Plan }

// revision returns the number of the plan, 0 before the first.
func (b *Board) revision() int { return b.Revision }

// steps returns the steps of the plan.
func (b *Board) steps() []stepView { return viewsOf(b.Steps) }

// revisions returns what each replan changed, in short.
func (b *Board) revisions() []event.RevisionSummary {
	out := []event.RevisionSummary{}
	for _, rev := range b.Revisions {
		var removed []string
		for _, s := range rev.Removed {
			removed = append(removed, s.Step.Index)
		}
		out = append(out, event.RevisionSummary{
			Revision: rev.Number, Reason: rev.Reason,
			Removed: list(removed), Added: list(rev.Added), Revised: list(rev.Revised),
		})
	}
	return out
}

// first notes when the first plan was made.
func (b *Board) first(at time.Time) { b.PlannedAt = at }

// revise adds a revision of the plan.
func (b *Board) revise(r Revision) { b.Revisions = append(b.Revisions, r) }

// addDraft adds a step that the planner has sent already.
func (b *Board) addDraft(s *StepState) { b.Steps = append(b.Steps, s) }

// dropIdleDrafts drops the drafts that were not started.
func (b *Board) dropIdleDrafts() {
	b.Steps = slices.DeleteFunc(b.Steps, func(s *StepState) bool { return s.Attempt == 0 })
}

// clear drops all steps.
func (b *Board) clear() { b.Steps = nil }

// arrange recomputes what follows from a changed plan: the graph, and for each step its
// place, its dependencies and the longest path from it. weigh returns how long a step takes,
// in ms, and fallback what follows from its failure if the plan does not say.
func (b *Board) arrange(weigh func(plan.Step) float64, fallback plan.OnFailure) {
	b.graph = plan.NewGraph(b.Plan)
	b.producers, b.skipping = map[string][]*StepState{}, nil
	for _, s := range b.Steps {
		if name := s.Step.ResultVariable; name != "" {
			b.producers[name] = append(b.producers[name], s)
		}
		if b.Plan.FailureOf(s.Step, fallback) == plan.OnFailureSkip && failsByText(s.Step) {
			b.skipping = append(b.skipping, s)
		}
	}
	lengths := b.graph.Weights(weigh)
	b.waits = make([]int, len(b.Steps))
	for _, s := range b.Steps {
		at, _ := b.graph.Position(s.Step.Index)
		for _, d := range b.graph.Needs(at) {
			if on := b.Steps[d]; on.Status != StepCompleted && !on.NotTaken {
				b.waits[at]++
			}
		}
		s.placed(at, b.graph.Rank(at), lengths[at])
	}
	b.hasChecks = len(b.Plan.Acceptance) > 0 || slices.ContainsFunc(b.Plan.Steps, func(s plan.Step) bool { return len(s.Checks) > 0 || s.Until != nil })
}

// blocked reports whether a step of the plan waits for others.
func (b *Board) blocked(s *StepState) bool {
	at, ok := b.position(s)
	return ok && b.waits[at] > 0
}

// position returns the position of a step in the graph. Items and calls of models have none.
func (b *Board) position(s *StepState) (at int, ok bool) {
	if s.Parent != "" || b.graph == nil {
		return 0, false
	}
	return s.position(), true
}

// dependencyDone notes that a dependency of the step at a position of the graph is completed. It reports
// whether it was the last one.
func (b *Board) dependencyDone(at int) bool {
	b.waits[at]--
	return b.waits[at] == 0
}

// dependents returns the steps that depend on a step directly, with their positions in the graph.
func (b *Board) dependents(s *StepState) iter.Seq2[int, *StepState] {
	return func(yield func(int, *StepState) bool) {
		from, ok := b.position(s)
		if !ok {
			return
		}
		for _, at := range b.graph.Feeds(from) {
			if !yield(at, b.Steps[at]) {
				return
			}
		}
	}
}

// at returns the step of the plan with this index, or nil.
func (b *Board) at(index string) *StepState {
	if i, ok := b.places[index]; ok && i < len(b.Steps) && b.Steps[i].Step.Index == index {
		return b.Steps[i]
	}
	for _, s := range b.Steps {
		if s.Step.Index == index {
			return s
		}
	}
	return nil
}

// hasPlace reports whether the arranged plan has a step with this index.
func (b *Board) hasPlace(index string) bool {
	_, ok := b.places[index]
	return ok
}

// executed calls do for each step of the plan and each item of one.
func (b *Board) executed(do func(*StepState)) {
	for _, s := range b.Steps {
		do(s)
		for _, item := range s.Items {
			do(item)
		}
	}
}

// needs returns the steps that a step waits for, including those it references.
func (b *Board) needs(s stepView) []string {
	if b.graph == nil || s.parent() != "" {
		return list(s.dependsOn()) // a draft waits for nothing
	}
	if len(b.graph.Needs(s.position())) == len(s.dependsOn()) {
		return list(s.dependsOn()) // the step lists them all itself
	}
	return list(b.graph.Dependencies(s.index()))
}

// ancestors returns the steps that a step depends on, directly or indirectly.
func (b *Board) ancestors(index string) map[string]bool { return b.graph.Ancestors(index) }

// producersOf returns the steps whose result has the given name.
func (b *Board) producersOf(name string) []stepView {
	if b.producers != nil {
		return viewsOf(b.producers[name])
	}
	var out []stepView
	for _, s := range b.Steps {
		if s.Step.ResultVariable == name {
			out = append(out, s)
		}
	}
	return out
}

// skippedBehind returns the steps that text of a result can fail, whereupon the step with this
// index is skipped and the run continues.
func (b *Board) skippedBehind(index string) []stepView {
	if len(b.skipping) == 0 {
		return nil
	}
	before := b.ancestors(index)
	var out []stepView
	for _, s := range b.skipping {
		if before[s.Step.Index] {
			out = append(out, s)
		}
	}
	return out
}

// mayFailByText reports whether text of a result can fail a step, whereupon those that depend on
// it are skipped and the run continues.
func (b *Board) mayFailByText(of stepView) bool {
	return slices.ContainsFunc(b.skipping, func(s *StepState) bool { return stepView(s) == of })
}

// attemptsBefore counts the attempts under an index before the current plan.
func (b *Board) attemptsBefore(index string) attemptCount {
	n := b.attempts[index]
	return attemptCount{total: n, before: n}
}

// countAttempts saves the attempts of a step that another plan replaces.
func (b *Board) countAttempts(s *StepState) {
	if n := s.attemptsTotal(); n > b.attempts[s.Step.Index] {
		b.attempts[s.Step.Index] = n
	}
}

// hadAttempts reports whether a step of an earlier plan was tried under this index.
func (b *Board) hadAttempts(index string) bool { return b.attempts[index] > 0 }

// define defines the variables of a plan.
func (b *Board) define(variables map[string]any) {
	if b.variables == nil {
		b.variables = map[string]any{}
	}
	maps.Copy(b.variables, variables)
}

// undefine drops the variables of a plan.
func (b *Board) undefine(variables map[string]any) {
	for name := range variables {
		delete(b.variables, name)
	}
}

// bind stores the result of a step as a variable.
func (b *Board) bind(s *StepState) {
	if s.Step.ResultVariable != "" {
		b.variables[s.Step.ResultVariable] = s.Result
	}
}

// value returns the value of a variable; read-only.
func (b *Board) value(name string) (any, bool) {
	v, ok := b.variables[name]
	return v, ok
}

// values returns the values of all variables; read-only.
func (b *Board) values() map[string]any { return b.variables }

// Variables returns the plan's variables and the results bound so far. The caller
// owns the map, but must not change its values.
func (b *Board) Variables() map[string]any {
	out := maps.Clone(b.variables)
	if out == nil {
		out = map[string]any{}
	}
	return out
}

// unsettled reports whether any step of the plan is left.
func (b *Board) unsettled() bool {
	return slices.ContainsFunc(b.Steps, func(s *StepState) bool { return !s.settled() })
}

// Done returns the number of completed steps in the plan.
func (b *Board) Done() int {
	n := 0
	for _, s := range b.Steps {
		if s.Status == StepCompleted {
			n++
		}
	}
	return n
}

// finished returns the indices of the completed steps.
func (b *Board) finished() map[string]bool {
	done := map[string]bool{}
	for _, s := range b.Steps {
		if s.Status == StepCompleted {
			done[s.Step.Index] = true
		}
	}
	return done
}

// remaining returns the steps that are not completed, in plan order.
func (b *Board) remaining() []plan.Step {
	var out []plan.Step
	for _, s := range b.Steps {
		if s.Status != StepCompleted {
			out = append(out, s.Step)
		}
	}
	return out
}

// Checks reports whether the plan has checks.
func (b *Board) Checks() bool { return b.hasChecks }
