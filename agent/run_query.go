package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// Active reports whether the run has begun and is neither over nor undone.
func (r *Run) Active() bool { return r.ID != "" && r.Result == nil && r.Undone == nil }

// Step returns the state of the step, or inner call, with this index; nil if
// there is none.
func (r *Run) Step(index string) *StepState { return r.services().roster.step(index) }

// Busy reports whether a model or a tool is working. It is false while the run
// waits for a gate, and after its end.
func (r *Run) Busy() bool {
	return r.Active() && (!r.quiet() || len(r.queues.of(needCheck)) > 0 || r.accepting())
}

// accepting reports whether the plan's acceptance is being evaluated.
func (r *Run) accepting() bool {
	to := r.services()
	return !r.ends() && !r.Planning.wantsReplan() && !r.Planning.active() && r.Revision > 0 && !r.ReviewPending() && !r.asks() && to.starter.settled() && to.checker.nextAcceptance() != nil
}

// Steerable reports whether a remark of the user to the run would be heard.
func (r *Run) Steerable() bool {
	switch {
	case !r.Active() || r.ends() || r.Paused || r.Terms.DryRun() || r.Terms.PlanOnly() && r.Revision > 0:
		return false
	case r.Synthesis.Started:
		return r.Synthesis.Direct && !r.Synthesis.Done
	case r.services().roster.converses():
		return true
	case r.Revision == 0:
		return r.Planning.canReplan(r.Model)
	default:
		return r.Planning.canReplan(r.Model) && (r.Planning.active() || r.Planning.wantsReplan() || !r.services().starter.settled())
	}
}

// Resumable reports whether a resume would find something to do. The run has
// begun and is not completed, or the model still owes an answer. Undone steps cannot
// be continued.
func (r *Run) Resumable() bool {
	return r.ID != "" && !r.Terms.DryRun() && r.Undone == nil && (r.Result == nil || r.Result.Status != event.StatusCompleted || r.Unanswered() != "")
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
		if tool, err := r.Catalog.Find(step.Tool); err == nil {
			return []string{tool.Server}
		}
		return nil
	}
	profile, _ := r.Terms.prompting().Profile(step.Profile)
	if step.Executor != plan.ExecutorAgent || profile.Tools == nil {
		return nil
	}
	servers := map[string]bool{}
	for _, t := range r.Catalog {
		if profile.May(t) {
			servers[t.Server] = true
		}
	}
	return slices.Sorted(maps.Keys(servers))
}

// UsualDuration returns the median duration of the step's tool in earlier runs, 0
// if there is none.
func (r *Run) UsualDuration(s *StepState) time.Duration {
	ms, _ := medianOf(s.Step.Tool, r.Catalog, r.Terms.priors())
	return time.Duration(ms) * time.Millisecond
}

// BytesPerToken returns how many bytes of a prompt the server of a model last counted
// as one token; 0 if unknown. "" is the run's model.
func (r *Run) BytesPerToken(model string) float64 {
	bytes, _ := r.ModelCalls.measured(cmp.Or(model, r.Model), 0, 0)
	return bytes
}

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
			Args: s.Args, Reason: s.Error, Replan: r.Planning.canReplan(r.Model), Denied: s.Failure == event.FailureDenied, Declined: s.isDeclined(),
		}
		if q.Args == nil {
			q.Args = s.args()
		}
		out = append(out, q)
	}
	return out
}

// MissingTools returns the tools that unfinished steps need and the run knew, but
// catalog lacks.
func (r *Run) MissingTools(catalog plan.Catalog) []string {
	return slices.DeleteFunc(r.ToolsToCall(), func(name string) bool {
		_, before := r.Catalog.Find(name)
		_, now := catalog.Find(name)
		return before != nil || now == nil
	})
}

// ToolsToCall returns the names of the tools that the run has still to call, as
// far as known.
func (r *Run) ToolsToCall() []string {
	var names []string
	r.services().roster.every(func(s *StepState) {
		if !s.Draft && !s.inner().isAnswered() && s.Status != StepCompleted && s.Step.Executor == plan.ExecutorTool && !slices.Contains(names, s.Step.Tool) {
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
	return r.Unanswered() != "" || r.Revision == 0 && !r.Terms.isGiven() && !r.Planning.byWords() && !r.hasOwn()
}

// PassesOver reports whether a step has failed for good and its run continues without it,
// as its on_failure says.
func (r *Run) PassesOver(s *StepState) bool {
	return s.Status == StepFailed && !s.isItem() && s.Failure.Replannable() && !r.services().scheduler.retries(s) &&
		r.Plan.FailureOf(s.Step, r.Terms.fallback()) == plan.OnFailureSkip
}

// RequiresVerified reports whether the run fails at its end unless all of its evidence is verified.
func (r *Run) RequiresVerified() bool { return r.Terms.requireVerified() }

// FollowsDecline reports whether a model follows the reason of a user who declines the call of a step:
// the one that asked for the call, or the one that plans the rest again.
func (r *Run) FollowsDecline(index string) bool {
	s := r.Step(index)
	return s != nil && (s.byModel() || r.services().decider.canReplan())
}

// DeclinedAt returns the step at which the run ended because the user said no to its call; nil
// if it ended otherwise.
func (r *Run) DeclinedAt() (at *StepState) {
	if r.Result == nil || r.Result.Reason != event.ReasonDenied {
		return nil
	}
	r.services().roster.every(func(s *StepState) {
		if at == nil && s.isDeclined() {
			at = s
		}
	})
	return at
}

// AttemptsOf returns the attempts of a step, in order.
func (r *Run) AttemptsOf(index string) []Attempt {
	var out []Attempt
	for i := range r.Attempts {
		if r.Attempts[i].Step == index {
			out = append(out, r.Attempts[i])
		}
	}
	return out
}

// Summary returns the summary of the run.
func (r *Run) Summary() Summary {
	s := Summary{
		Run: r.ID, Plan: r.Plan.ID, Goal: r.Goal, Title: r.Plan.Title, Status: StatusUnfinished,
		Started: r.StartedAt, Steps: len(r.Plan.Steps), Done: r.Done(), Replans: r.Usage.Replans,
		Workspace: r.Workspace, Session: r.Terms.session(), Outer: r.Terms.outerRun(), Resumable: r.Resumable(), PlanOnly: r.Terms.PlanOnly(),
	}
	if r.Result != nil {
		s.Status, s.Reason = r.Result.Status, r.Result.Reason
	}
	s.Declined = r.DeclinedAt() != nil
	if r.Undone != nil {
		s.Undone = true
		for _, f := range r.Undone.Files {
			if !f.Folder {
				s.Restored++
			}
		}
	}
	return s
}

// Snapshot returns the result so far, and the steps that are done or in doubt. A
// run that has not ended has the status unfinished and no reason. live means that
// some process is executing it. Without one, a step that was running is in doubt
// unless it is read-only.
func (r *Run) Snapshot(live bool) Snapshot {
	s := Snapshot{CompletedSteps: []string{}, InDoubt: []string{}}
	if r.Result != nil {
		s.Result = *r.Result
	} else {
		s.Result = r.services().answers.result(ending{status: StatusUnfinished})
	}
	r.services().roster.every(func(step *StepState) {
		switch {
		case step.Draft:
		case step.Status == StepCompleted && step.Parent == "":
			s.CompletedSteps = append(s.CompletedSteps, step.Step.Index)
		case step.Status == StepInDoubt, step.Status == StepRunning && step.Loop == nil && !step.expands() && (step.interruption().isLost() || !live && !r.services().caller.repeatable(step)):
			s.InDoubt = append(s.InDoubt, step.Step.Index)
		}
		if why, declined := step.Declined(); declined {
			s.Declined = append(s.Declined, Declined{Step: step.Step.Index, Reason: why})
		}
	})
	return s
}

// AcceptanceOf returns what is known about the acceptance of the plan.
func AcceptanceOf(r *Run) []plan.Evidence { return evidenceOf("", r.Plan.Acceptance, r.Accepted) }

// Budgets returns the budgets of the run that have a limit, as the guards count
// them.
func (r *Run) Budgets() []Budget {
	var out []Budget
	for _, b := range r.services().guards.budgets() {
		if b.limit > 0 {
			out = append(out, Budget{Guard: b.guard, Used: b.used, Limit: b.limit, Low: b.low()})
		}
	}
	return out
}

// Edited reports whether the user has edited the call of an open gate, and has yet to see
// what it would do now.
func Edited(r *Run, g *Gate) bool {
	s := r.Step(g.Step)
	return s != nil && s.author().edits() > 0
}

// EditCheck returns a function that checks replacement arguments for an open
// gate. The function returns an error if they do not fit, else nil. It is safe to
// call from any goroutine, whatever becomes of the run.
func (r *Run) EditCheck(gate string) func(args map[string]any) error {
	for _, g := range r.Gates {
		s := r.Step(g.Step)
		if g.Gate != gate || s == nil {
			continue
		}
		signature := r.facts(s.Step.Tool).Signature
		return func(args map[string]any) error {
			if err := signature.Check(args); err != nil {
				return fmt.Errorf("the args of %s do not fit: %w", g.Tool, err)
			}
			return nil
		}
	}
	return func(map[string]any) error { return fmt.Errorf("no gate %s is open", gate) }
}

// Sources returns the origins of a step's arguments, sorted by name.
func (r *Run) Sources(s *StepState) []Source { return r.services().origins.sources(s) }

// Read returns the untrusted texts that the answer of a run may hold, for the turns of the
// conversation that follow.
func (r *Run) Read() []rule.Provenance { return r.services().origins.textsInAnswer() }

// Authored returns the texts that the author of the present plan had read, for the plan as
// it is stored.
func (r *Run) Authored() []rule.Provenance { return r.services().origins.authored() }

// ReadFor returns what a model had read when it asked for another run by a call.
func (r *Run) ReadFor(index string) []rule.Provenance { return r.services().origins.readFor(index) }

// SynthesisItems returns the items from which the answer is made, see
// [prompt.SynthesisItems].
func (r *Run) SynthesisItems() []plan.HistoryItem { return r.services().answers.synthesisItems() }

// Results returns what each step of a completed run produced if no model wrote an
// answer; otherwise "". Later turns are sent it as part of the conversation. It
// therefore takes at most a sixth of the context window, at three characters a
// token.
func (r *Run) Results() string { return r.services().answers.results(r.ModelCalls.window()) }

// Evidence returns what is known about the checks of the plan. It also names the steps that
// no check covers although they may have effects or are a model's work.
func (r *Run) Evidence() []plan.Evidence { return r.services().evidence.all() }

// StateOf returns how far a completed step is shown to have done its work: refuted and
// unchecked before verified. It is "" for a step of which nothing is claimed.
func (r *Run) StateOf(s *StepState) plan.EvidenceState { return r.services().evidence.stateOf(s) }

// ModelPlans reports whether a model makes the first plan of the run. It does not
// if the plan is given, follows from the words of the goal, or comes from another
// planner.
func (r *Run) ModelPlans() bool { return r.services().origins.modelPlans() }
