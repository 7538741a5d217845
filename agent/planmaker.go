package agent

import (
	"cmp"
	"fmt"
	"strings"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
)

// planmaker has plans made: the first one, and those that replace it.
type planmaker struct {
	terms    termsView
	planning planningView
	board    boardView
	steps    stepsView
	flight   flightView
	meter    meterView
	closer   *closer
	starter  *starter
	calls    *callstarter
	checker  *checker
	guards   *guards
}

// nextPlanning asks the model for the next phase, or takes the outcome of
// planning. During a phase, read-only steps of the draft may start.
func (r *planmaker) nextPlanning() []Action {
	if r.planning.waits() {
		return r.nextDrafts()
	}
	if meaning, ok := r.planning.unreportedRoute(); ok {
		return []Action{{Record: meaning}}
	}
	if looks := r.planning.looks(); len(looks) > 0 {
		return r.nextLooks(looks)
	}
	if request, more := r.planning.nextRequest(); more {
		if r.terms.model() == "" {
			return r.closer.finish(ending{event.StatusFailed, event.ReasonPlannerError, noModel("plan with"), ""})
		}
		if blocked := r.guards.stopped(event.GuardTokens, ""); blocked != nil {
			return blocked
		}
		if r.guards.modelsBusy() {
			return nil
		}
		request.Model = r.terms.prompting().Models.Of(request.Purpose).Name // a resume may have changed it
		call := CallModel{Request: request, Again: r.board.revision() > 0}
		if phase := request.Purpose.Phase(); phase > 0 {
			return []Action{{event.PhaseStarted{Phase: phase, Label: string(request.Purpose), Request: request}, call}}
		}
		return []Action{{event.ModelRequested{Purpose: request.Purpose, Request: request}, call}}
	}
	if r.board.revision() > 0 {
		return r.takeReplan(r.planning.outcome())
	}
	return r.takePlan(r.planning.outcome())
}

// takePlan turns the outcome of the pipeline into actions.
func (r *planmaker) takePlan(o planning.Outcome) []Action {
	switch o.Kind {
	case planning.OutcomePlanned:
		o.Plan.OnFailure = cmp.Or(r.terms.userOnFailure(), o.Plan.OnFailure)
		return warned(o, event.PlanCreated{Plan: o.Plan, Revision: 1})
	case planning.OutcomeDirect:
		return r.closer.answerDirectly()
	case planning.OutcomeAnalyzed:
		return r.closer.finish(ending{status: event.StatusCompleted, reason: event.ReasonDirect, answer: o.Text})
	case planning.OutcomeSilent:
		return r.closer.finish(ending{event.StatusFailed, event.ReasonPlannerError, cmp.Or(o.Reason, "the model sent no plan"), ""})
	case planning.OutcomeEmpty:
		return []Action{{Record: event.PlanEmpty{Reason: untrusted.Text(cmp.Or(o.Reason, "the planner proposed no steps"))}}}
	default:
		return r.planningFailed(o)
	}
}

// takeReplan turns the outcome of a replan into actions.
func (r *planmaker) takeReplan(o planning.Outcome) []Action {
	switch o.Kind {
	case planning.OutcomePlanned:
		return warned(o, event.PlanDiff{
			Revision: r.board.revision() + 1, Reason: untrusted.Text(r.planning.reason()), Plan: o.Plan,
			Removed: list(o.Diff.Removed), Added: list(o.Diff.Added), Revised: list(o.Diff.Revised),
		})
	case planning.OutcomeRefused:
		return []Action{{Record: event.ReplanRefused{Attempt: r.meter.used().Replans, Reason: untrusted.Text(o.Reason)}}}
	case planning.OutcomeGaveUp, planning.OutcomeEmpty:
		return r.closer.finish(ending{event.StatusFailed, event.ReasonGaveUp, cmp.Or(o.Reason, "the planner found no other way"), ""})
	default:
		if r.planning.onlyRemark() {
			return []Action{{Record: event.ReplanRefused{Attempt: r.meter.used().Replans, Reason: untrusted.Text(cmp.Or(o.Reason, "planning failed"))}}}
		}
		return r.planningFailed(o)
	}
}

// planningFailed ends the run. A plan that is too long for the remaining step
// budget counts as exhausting that budget.
func (r *planmaker) planningFailed(o planning.Outcome) []Action {
	left := r.meter.stepsLeft()
	for _, f := range o.Faults {
		if f.Code == "too_many_steps" && left >= 0 && r.meter.mayPropose() >= max(left, 1) {
			return []Action{{Record: event.GuardBlocked{
				Guard: event.GuardSteps, Used: int64(r.meter.used().Steps), Limit: int64(r.meter.maxSteps()),
				Reason: untrusted.Text(fmt.Sprintf("the new plan does not fit into the rest of the step budget (%d of %d used)", r.meter.used().Steps, r.meter.maxSteps())),
			}}}
		}
	}
	if r.board.revision() == 0 && !r.planning.hasOwn() {
		return []Action{{Record: event.PlanEmpty{Reason: untrusted.Text(cmp.Or(o.Reason, "planning failed"))}}}
	}
	return r.closer.finish(ending{event.StatusFailed, event.ReasonPlannerError, cmp.Or(o.Reason, "planning failed"), ""})
}

// nextReplan passes a failed step to the planner once nothing is in flight.
func (r *planmaker) nextReplan() []Action {
	if r.steps.converses() {
		return r.starter.nextOfLoops() // a working sub-agent may finish
	}
	if checks := r.checker.nextDue(); len(checks) > 0 {
		return checks
	}
	if !r.flight.quiet() {
		return nil
	}
	step, err := r.planning.failure()
	if !r.planning.canReplan(r.terms.model()) {
		return r.closer.finish(ending{event.StatusFailed, event.ReasonStepFailed, "step " + step + " failed: " + headline(err) + "; it asks for a replan, and there is no model to make one", ""})
	}
	for _, guard := range []string{event.GuardReplans, event.GuardSteps, event.GuardTokens} {
		if blocked := r.guards.stopped(guard, ""); blocked != nil {
			return blocked
		}
	}
	if blocked := r.guards.sameFailure(); blocked != nil {
		return blocked
	}
	var remaining []string
	for _, s := range r.board.remaining() {
		remaining = append(remaining, s.Index)
	}
	return []Action{{Record: event.ReplanStarted{
		Attempt: r.meter.used().Replans + 1, Step: step, Error: untrusted.Text(r.planning.reason()), Request: untrusted.Text(r.planning.request()), Remaining: list(remaining),
	}}}
}

// nextDrafts starts ready steps while the plan is still streaming in.
func (r *planmaker) nextDrafts() []Action {
	if r.board.revision() > 0 || r.terms.PlanOnly() || r.terms.DryRun() || r.terms.ReviewsPlans() || r.terms.prompting().Patient {
		return nil
	}
	return r.startDrafts(false)
}

// nextLooks starts the steps that the planner waits for.
func (r *planmaker) nextLooks(looks []plan.Step) []Action {
	var out []Action
	for _, step := range looks {
		if r.steps.find(step.Index) == nil {
			out = append(out, Action{Record: event.PlanDrafting{Step: step}})
		}
	}
	if len(out) > 0 {
		return out
	}
	return r.startDrafts(true)
}

// warned adds a note to a new plan with all its warnings for the user.
func warned(o planning.Outcome, newPlan event.Data) []Action {
	out := []Action{{Record: newPlan}}
	if len(o.Warnings) == 0 {
		return out
	}
	words := make([]string, len(o.Warnings))
	for i, w := range o.Warnings {
		words[i] = w.Message
	}
	return append(out, Action{Record: event.Note{Level: "warn", Text: untrusted.Text("of this plan: " + strings.Join(words, "; "))}})
}

// startDrafts starts the draft steps that can start, while slots are free. The planner
// waits for looks. They start again if a resume found them under way, and no bound on the
// length of a plan stops them.
func (r *planmaker) startDrafts(looks bool) []Action {
	free := r.guards.freeSlots()
	var out []Action
	for i, s := range r.board.steps() {
		if most := r.meter.mayPropose(); !looks && most > 0 && i >= most {
			break // a plan of that length will be refused
		}
		if free.noDiscovery() {
			break
		}
		if s.startable() && s.status() == StepPending && (s.attempt() == 0 || looks) {
			out = r.calls.startTool(out, s, &free)
		}
	}
	return out
}
