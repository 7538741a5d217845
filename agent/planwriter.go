package agent

import (
	"replan/agent/event"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// planwriter makes the planners of a run, and passes them what models reply.
type planwriter struct {
	terms    *Terms
	board    *Board
	planning *Planning
	outcome  *Outcome
	ledger   *Ledger
	clock    *Clock
	meter    *Meter
	briefing *briefing
	counter  *counter
}

func (r *planwriter) applyPhaseStarted(d event.PhaseStarted) {
	r.planning.startPhase(d.Phase, r.clock.Now)
	r.counter.asked(&Exchange{Purpose: prompt.Purpose(d.Label), Request: d.Request})
	r.dropUnstartedDrafts()
}

func (r *planwriter) applyPhaseCompleted(d event.PhaseCompleted) {
	r.planning.completePhase(d)
	r.counter.replied(Exchange{Purpose: prompt.Purpose(d.Label), Reply: d.Reply})
	r.planning.absorb(d.Reply)
}

func (r *planwriter) applyPhaseFailed(d event.PhaseFailed) {
	r.planning.failPhase(d, r.clock.Now)
	r.counter.replied(Exchange{Purpose: prompt.Purpose(d.Label), Reply: d.Reply, Error: d.Reason})
	r.planning.unanswered(d.Failure, string(d.Reason), d.Reply, r.outcome.ends())
}

// applyRequest applies a request of a planner outside the three phases, which is counted already.
func (r *planwriter) applyRequest() {
	r.planning.await()
	r.dropUnstartedDrafts()
}

// applyReply applies the reply to such a request.
func (r *planwriter) applyReply(d event.ModelReplied) {
	if d.Error != "" {
		r.planning.unanswered(d.Failure, string(d.Error), d.Reply, r.outcome.ends())
		return
	}
	r.planning.absorb(d.Reply)
}

// dropUnstartedDrafts drops draft steps that were not started, because another reply
// is coming. It keeps started ones, since the plan may use their work.
func (r *planwriter) dropUnstartedDrafts() {
	if r.board.Revision == 0 {
		r.board.dropIdleDrafts()
	}
}

func (r *planwriter) applyReplan(d event.ReplanStarted) {
	r.meter.replan()
	r.planning.replan(d, r.clock.Now)
	why := string(d.Error)
	if d.Step == "" && r.planning.onlyRemark() {
		why = "" // the replan comes only from the user's remark
	}
	r.planning.begin(r.planning.makers().Replan(r.briefing.brief(), prompt.Situation{
		Remarks:     string(d.Request),
		Plan:        r.board.Plan,
		History:     r.ledger.History,
		Finished:    r.board.finished(),
		Remaining:   r.board.remaining(),
		Attempt:     d.Attempt,
		Failed:      d.Step,
		Error:       why,
		StepsLeft:   r.meter.stepsLeft(),
		ReplansLeft: r.meter.replansLeft(),
	}))
}

// planGoal creates the planner of the goal.
func (r *planwriter) planGoal(d event.RunStarted) {
	if r.planning.hasOwn() {
		r.planning.begin(r.planning.makers().Plan(r.briefing.brief()))
		return
	}
	chain, ok, err := Route(d.Routing, prompt.Unmentioned(string(d.Goal), d.Prompting.Mentions), d.Catalog, d.Model != "")
	switch {
	case ok:
		meaning := event.RouteMatched{Intent: chain.Intent, Confidence: chain.Intent.Confidence, Chain: chain.Tools()}
		r.planning.route(meaning, planning.Given(owned(chain.Plan(string(d.Goal)), d.Catalog)))
		if d.Model == "" {
			r.terms.abortOnFailure()
		}
		return
	case d.Routing.Planner == event.PlannerRouter:
		reason := "the goal is not clear enough without a model; write it like \"find X\", \"rename X to Y\" or \"run the tests\", or let a model plan with --planner auto"
		if err != nil {
			reason = err.Error()
		}
		r.planning.begin(planning.Unplanned(reason))
		return
	case d.Routing.Planner == event.PlannerNone && !d.PlanOnly:
		r.terms.skipPhases()
	}
	r.planning.begin(r.planning.makers().Plan(r.briefOfGoal()))
}

// planAgain makes the planner of the goal again.
func (r *planwriter) planAgain() {
	r.planning.restart(r.planning.makers().Plan(r.briefOfGoal()))
}

// briefOfGoal returns what the planner of the goal learns, with the calls that look at
// what the goal names. Where nothing may start before the plan is whole, nothing is
// looked at, nor for a goal with pictures, which only a model sees.
func (r *planwriter) briefOfGoal() prompt.Brief {
	b := r.briefing.brief()
	if r.terms.Model == "" || r.terms.DryRun() || r.terms.ReviewsPlans() || r.terms.prompting().Patient || len(prompt.WithPictures(b.Prompting.Mentions)) > 0 {
		return b
	}
	looks := r.terms.surveyed().Look(prompt.Unmentioned(b.Goal, b.Prompting.Mentions), b.Catalog)
	if most := r.meter.mayPropose(); most > 0 && len(looks.Steps) >= most {
		return b // the plan would have no room for other steps
	}
	b.Looks, b.LooksSuffice = owned(plan.Plan{Steps: looks.Steps}, b.Catalog).Steps, looks.Whole
	return b
}
