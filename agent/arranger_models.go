package agent

import (
	"strings"

	"replan/agent/event"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

func (r arranger) applyPhaseStarted(d event.PhaseStarted) {
	r.planning.startPhase(d.Phase, r.clock.Now)
	r.flight.modelStarts()
	r.models.asked(&Exchange{Purpose: prompt.Purpose(d.Label), Request: d.Request}, r.clock.Now)
	r.dropUnstartedDrafts()
}

func (r arranger) applyPhaseCompleted(d event.PhaseCompleted) {
	r.planning.completePhase(d)
	r.models.replied(Exchange{Purpose: prompt.Purpose(d.Label), Reply: d.Reply}, r.terms.modelTerms())
	r.modelReplies(d.Reply)
}

func (r arranger) applyPhaseFailed(d event.PhaseFailed) {
	r.planning.failPhase(d, r.clock.Now)
	r.models.replied(Exchange{Purpose: prompt.Purpose(d.Label), Reply: d.Reply, Error: d.Reason}, r.terms.modelTerms())
	r.modelFails(d.Failure, string(d.Reason), d.Reply)
}

func (r arranger) applySynthesisStarted(d event.SynthesisStarted) {
	r.planning.finish()
	r.outcome.beginAnswer(d, r.clock.Now)
	r.flight.modelStarts()
	r.models.asked(&Exchange{Purpose: d.Request.Purpose, Request: d.Request}, r.clock.Now)
	if d.Direct {
		r.dialogue.takeRemarks()
	}
}

// applySynthesis takes the answer of the model. An empty one does not count.
func (r arranger) applySynthesis(d event.SynthesisCompleted) {
	r.flight.modelReturns()
	r.meter.reply(d.Reply)
	purpose := prompt.PurposeSynthesis
	if r.outcome.Synthesis.Direct {
		purpose = prompt.PurposeChat
	}
	r.models.replied(Exchange{Purpose: purpose, Reply: d.Reply, Error: d.Error}, r.terms.modelTerms())
	if r.conversations.Chat != nil {
		r.conversations.Chat.interrupt()
	}
	promised := d.Error == "" && r.outcome.Synthesis.Direct && r.conversations.Chat.onlyPromises(d.Reply) && len(prompt.ChatTools(r.briefing.brief())) > 0
	silent := d.Error == "" && strings.TrimSpace(string(d.Text)) == ""
	switch {
	case !r.outcome.Synthesis.Direct:
	case d.Error == "" && len(r.dialogue.remarks()) > 0:
		r.dialogue.continueAfterRemark(d.Reply)
		return
	case promised, silent && r.conversations.chat().mayStall():
		r.outcome.continueAnswer()
		r.dialogue.handleReply(r.conversations.chat(), d.Reply)
		return
	}
	r.outcome.finishAnswer(d)
}

// modelReplies takes the reply to a request of the planner, and modelFails records that no
// complete one came.
func (r arranger) modelReplies(said reply.Reply) {
	r.flight.modelReturns()
	r.meter.reply(said)
	r.planning.absorb(said)
}

func (r arranger) modelFails(kind event.FailureKind, reason string, partial reply.Reply) {
	r.flight.modelReturns()
	r.meter.reply(partial)
	r.planning.unanswered(kind, reason, partial, r.outcome.ends())
}

// applyRequest records a model request outside the three phases.
func (r arranger) applyRequest(d event.ModelRequested) {
	r.flight.modelStarts()
	r.models.asked(&Exchange{Purpose: d.Purpose, Step: d.Step, Attempt: d.Attempt, Request: d.Request}, r.clock.Now)
	s := r.steps.Step(d.Step)
	switch {
	case d.Purpose == prompt.PurposeChat:
		r.conversations.chat().request(r.clock.Now)
	case d.Attempt > 0:
		if s != nil && s.Loop != nil {
			if d.Purpose == prompt.PurposeAgent && s.Loop.Turns == 0 {
				s.sawInPart(d.Request.Partial) // it has seen these, although later turns have less room for them
			}
			s.Loop.request(r.clock.Now)
			r.scheduler.enqueue(s)
		}
	case d.Purpose == prompt.PurposeStep && s != nil:
		s.sawInPart(d.Request.Partial)
		s.request().ask()
		r.scheduler.enqueue(s)
	default:
		r.planning.await()
		r.dropUnstartedDrafts()
	}
}

func (r arranger) applyReply(d event.ModelReplied) {
	r.models.replied(Exchange{Purpose: d.Purpose, Step: d.Step, Attempt: d.Attempt, Reply: d.Reply, Error: d.Error}, r.terms.modelTerms())
	switch {
	case d.Purpose == prompt.PurposeChat:
		r.tracker.applyChatTurn(d)
		return
	case d.Attempt > 0:
		r.tracker.applyTurn(d)
		return
	}
	if d.Purpose == prompt.PurposeStep {
		r.flight.modelReturns()
		r.meter.reply(d.Reply)
		if s := r.steps.Step(d.Step); s != nil {
			s.request().stop()
			if d.Error != "" {
				s.request().fail(string(d.Error))
			} else {
				r.tracker.fill(s, d.Reply.Text)
			}
			r.scheduler.enqueue(s)
		}
		return
	}
	if d.Error != "" {
		r.modelFails(d.Failure, string(d.Error), d.Reply)
		return
	}
	r.modelReplies(d.Reply)
}

// planGoal creates the planner of the goal.
func (r arranger) planGoal(d event.RunStarted) {
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

// briefOfGoal returns what the planner of the goal learns, with the calls that look at
// what the goal names. Where nothing may start before the plan is whole, nothing is
// looked at, nor for a goal with pictures, which only a model sees.
func (r arranger) briefOfGoal() prompt.Brief {
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
