package agent

import (
	"slices"
	"strings"

	"replan/agent/event"
	"replan/planning/plan"
)

// Asking returns the index of the step with the oldest open question, or "" if
// none is open.
func (r *Run) Asking() string {
	if !r.asks() || !r.Active() || r.ends() {
		return ""
	}
	return r.OpenQuestions.waiting()[0].Step.Index
}

// Questions returns the open questions, oldest first.
func (r *Run) Questions() []Question {
	if !r.asks() || !r.Active() || r.ends() {
		return nil
	}
	out := make([]Question, 0, len(r.OpenQuestions.waiting()))
	for _, s := range r.OpenQuestions.waiting() {
		q := Question{
			Step: s.Step.Index, Doubt: s.Status == StepInDoubt, Title: s.Step.Title, Tool: s.Step.Tool,
			Args: s.Args, Reason: s.Error, Replan: r.origins().canReplan(), Denied: s.Failure == event.FailureDenied,
		}
		if q.Args == nil {
			q.Args = s.args()
		}
		out = append(out, q)
	}
	return out
}

// applyDamaged treats every step with effects that could start here as started,
// so that a resume finds it in doubt. The lost line may have recorded its start.
func (r *Run) applyDamaged() {
	for _, action := range r.Next() {
		started, ok := action.Record.(event.StepStarted)
		if !ok {
			continue
		}
		if s := r.Step(started.Index); s != nil && !r.caller().repeatable(s) {
			r.tracker().applyStepStarted(started)
			s.startMayBeLost()
		}
	}
}

// unasked reports whether nobody made a decision: an option did, or nobody was there.
func unasked(by string) bool {
	return strings.HasPrefix(by, "--") || strings.HasPrefix(by, "nobody ")
}

// MissingTools returns the tools that unfinished steps need and the run knew, but
// catalogue lacks.
func (r *Run) MissingTools(catalogue plan.Catalogue) []string {
	return slices.DeleteFunc(r.ToolsToCall(), func(name string) bool {
		_, before := r.Catalogue.Find(name)
		_, now := catalogue.Find(name)
		return before != nil || now == nil
	})
}

// ToolsToCall returns the names of the tools that the run has still to call, as
// far as known.
func (r *Run) ToolsToCall() []string {
	var names []string
	r.roster().every(func(s *StepState) {
		if !s.Draft && !s.inner.isAnswered() && s.Status != StepCompleted && s.Step.Executor == plan.ExecutorTool && !slices.Contains(names, s.Step.Tool) {
			names = append(names, s.Step.Tool)
		}
	})
	left := plan.Plan{Acceptance: r.Plan.Acceptance}
	for _, s := range r.Steps {
		if s.Status != StepCompleted {
			left.Steps = append(left.Steps, plan.Step{Executor: plan.ExecutorSelf, Checks: s.Step.Checks})
		}
	}
	for _, name := range left.Tools() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// NeedsModel reports whether the run cannot continue without a model. Either
// there is no plan and no other planner, or only the answer is missing.
func (r *Run) NeedsModel() bool {
	return r.Unanswered() != "" || r.Revision == 0 && r.givenPlan == nil && !r.Planning.byWords() && !r.hasOwn()
}
