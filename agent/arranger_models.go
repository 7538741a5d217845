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
	r.Planning.startPhase(d.Phase, r.Now)
	r.flight.modelStarts()
	r.ModelCalls.asked(&Exchange{Purpose: prompt.Purpose(d.Label), Request: d.Request}, r.Now)
	r.dropUnstartedDrafts()
}

func (r arranger) applyPhaseCompleted(d event.PhaseCompleted) {
	r.Planning.completePhase(d)
	r.ModelCalls.replied(Exchange{Purpose: prompt.Purpose(d.Label), Reply: d.Reply}, r.modelTerms())
	r.modelReplies(d.Reply)
}

func (r arranger) applyPhaseFailed(d event.PhaseFailed) {
	r.Planning.failPhase(d, r.Now)
	r.ModelCalls.replied(Exchange{Purpose: prompt.Purpose(d.Label), Reply: d.Reply, Error: d.Reason}, r.modelTerms())
	r.modelFails(d.Failure, string(d.Reason), d.Reply)
}

func (r arranger) applySynthesisStarted(d event.SynthesisStarted) {
	r.Planning.finish()
	r.Outcome.beginAnswer(d, r.Now)
	r.flight.modelStarts()
	r.ModelCalls.asked(&Exchange{Purpose: d.Request.Purpose, Request: d.Request}, r.Now)
	if d.Direct {
		r.takeRemarks()
	}
}

// applySynthesis takes the answer of the model. An empty one does not count.
func (r arranger) applySynthesis(d event.SynthesisCompleted) {
	r.flight.modelReturns()
	r.Meter.reply(d.Reply)
	purpose := prompt.PurposeSynthesis
	if r.Synthesis.Direct {
		purpose = prompt.PurposeChat
	}
	r.ModelCalls.replied(Exchange{Purpose: purpose, Reply: d.Reply, Error: d.Error}, r.modelTerms())
	if r.Chat != nil {
		r.Chat.interrupt()
	}
	promised := d.Error == "" && r.Synthesis.Direct && r.Chat.onlyPromises(d.Reply) && len(prompt.ChatTools(r.briefing.brief())) > 0
	silent := d.Error == "" && strings.TrimSpace(string(d.Text)) == ""
	switch {
	case !r.Synthesis.Direct:
	case d.Error == "" && len(r.remarks()) > 0:
		r.continueAfterRemark(d.Reply)
		return
	case promised, silent && r.Conversations.chat().mayStall():
		r.Outcome.continueAnswer()
		r.handleReply(r.Conversations.chat(), d.Reply)
		return
	}
	r.Outcome.finishAnswer(d)
}

// modelReplies takes the reply to a request of the planner, and modelFails records that no
// complete one came.
func (r arranger) modelReplies(said reply.Reply) {
	r.flight.modelReturns()
	r.Meter.reply(said)
	r.Planning.absorb(said)
}

func (r arranger) modelFails(kind event.FailureKind, reason string, partial reply.Reply) {
	r.flight.modelReturns()
	r.Meter.reply(partial)
	r.Planning.unanswered(kind, reason, partial, r.ends())
}

// applyRequest records a model request outside the three phases.
func (r arranger) applyRequest(d event.ModelRequested) {
	r.flight.modelStarts()
	r.ModelCalls.asked(&Exchange{Purpose: d.Purpose, Step: d.Step, Attempt: d.Attempt, Request: d.Request}, r.Now)
	s := r.Step(d.Step)
	switch {
	case d.Purpose == prompt.PurposeChat:
		r.Conversations.chat().request(r.Now)
	case d.Attempt > 0:
		if s != nil && s.Loop != nil {
			if d.Purpose == prompt.PurposeAgent && s.Loop.Turns == 0 {
				s.sawInPart(d.Request.Partial) // it has seen these, although later turns have less room for them
			}
			s.Loop.request(r.Now)
			r.enqueue(s)
		}
	case d.Purpose == prompt.PurposeStep && s != nil:
		s.askForArgs(d.Request.Partial)
		r.enqueue(s)
	default:
		r.Planning.await()
		r.dropUnstartedDrafts()
	}
}

func (r arranger) applyReply(d event.ModelReplied) {
	r.ModelCalls.replied(Exchange{Purpose: d.Purpose, Step: d.Step, Attempt: d.Attempt, Reply: d.Reply, Error: d.Error}, r.modelTerms())
	switch {
	case d.Purpose == prompt.PurposeChat:
		r.applyChatTurn(d)
		return
	case d.Attempt > 0:
		r.applyTurn(d)
		return
	}
	if d.Purpose == prompt.PurposeStep {
		r.flight.modelReturns()
		r.Meter.reply(d.Reply)
		if s := r.Step(d.Step); s != nil {
			s.stopAsking()
			if d.Error != "" {
				s.lackArgs(string(d.Error))
			} else {
				r.fill(s, d.Reply.Text)
			}
			r.enqueue(s)
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
	if r.hasOwn() {
		r.Planning.begin(r.makers().Plan(r.briefing.brief()))
		return
	}
	chain, ok, err := Route(d.Routing, prompt.Unmentioned(string(d.Goal), d.Prompting.Mentions), d.Catalogue, d.Model != "")
	switch {
	case ok:
		meaning := event.RouteMatched{Intent: chain.Intent, Confidence: chain.Intent.Confidence, Chain: chain.Tools()}
		r.Planning.route(meaning, planning.Given(owned(chain.Plan(string(d.Goal)), d.Catalogue)))
		if d.Model == "" {
			r.Terms.abortOnFailure()
		}
		return
	case d.Routing.Planner == event.PlannerRouter:
		reason := "the goal is not clear enough without a model; write it like \"find X\", \"rename X to Y\" or \"run the tests\", or let a model plan with --planner auto"
		if err != nil {
			reason = err.Error()
		}
		r.Planning.begin(planning.Unplanned(reason))
		return
	case d.Routing.Planner == event.PlannerNone && !d.PlanOnly:
		r.Terms.skipPhases()
	}
	r.Planning.begin(r.makers().Plan(r.briefOfGoal()))
}

// briefOfGoal returns what the planner of the goal learns, with the calls that look at
// what the goal names. Where nothing may start before the plan is whole, nothing is
// looked at.
func (r arranger) briefOfGoal() prompt.Brief {
	b := r.briefing.brief()
	if r.Model == "" || r.dryRun || r.reviewPlans || r.prompting.Patient {
		return b
	}
	looks := r.surveyed.Look(prompt.Unmentioned(b.Goal, b.Prompting.Mentions), b.Catalogue)
	if most := r.mayPropose(); most > 0 && len(looks.Steps) >= most {
		return b // the plan would have no room for other steps
	}
	b.Looks, b.LooksSuffice = owned(plan.Plan{Steps: looks.Steps}, b.Catalogue).Steps, looks.Whole
	return b
}
