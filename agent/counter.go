package agent

import "replan/agent/event"

// counter counts the requests to models and the calls of tools: those under way, and what they
// use.
type counter struct {
	flight *flight
	meter  *Meter
	models *ModelCalls
	tools  *Toolbox
	terms  *Terms
	clock  *Clock
}

// asked counts a request to a model, which is under way now; nil is one that an older replan did
// not record.
func (r *counter) asked(x *Exchange) {
	r.flight.modelStarts()
	if x != nil {
		r.models.asked(x, r.clock.Now)
	}
}

// replied counts the reply to a request, or why none came.
func (r *counter) replied(x Exchange) {
	r.flight.modelReturns()
	r.repliedToStep(x)
}

// repliedToStep counts what the model of a step replied, after the attempt has returned.
func (r *counter) repliedToStep(x Exchange) {
	r.meter.reply(x.Reply)
	r.models.replied(x, r.terms.modelTerms())
}

// begins counts a step, or a call of a model. Items count as one with their step.
func (r *counter) begins(s *StepState) {
	if !s.isItem() {
		r.meter.beginStep()
	}
	if s.byModel() {
		r.meter.beginInner()
	}
}

// callStarts counts a call of a step, which is under way now.
func (r *counter) callStarts(index string, attempt int, tool string) {
	r.meter.call(r.called(tool))
	r.flight.callStarts(index, attempt)
}

// callIsDry counts a call that a dry run does not make.
func (r *counter) callIsDry(tool string) { r.meter.dryCall(r.called(tool)) }

// checkCalled counts a call that a check has made.
func (r *counter) checkCalled(tool string) {
	if tool != "" {
		r.called(tool)
		r.meter.call(true)
	}
}

func (r *counter) called(tool string) (readOnly bool) {
	facts := r.tools.facts(tool)
	r.tools.called(facts)
	return facts.Tool.ReadOnly
}

// takeBack takes back what was counted for a call that its tool refused to run: nothing was done.
func (r *counter) takeBack(s *StepState) {
	r.tools.uncalled(r.tools.facts(s.Step.Tool))
	if !s.isItem() {
		r.meter.takeBackStep()
	}
	r.meter.takeBackCall()
	if s.byModel() {
		r.meter.takeBackInner()
	}
}

// returned counts an attempt as no longer under way. byModel says that a request to a model is
// its work, if no call is.
func (r *counter) returned(index string, attempt int, byModel bool) {
	if !r.flight.callReturns(index, attempt) && byModel {
		r.flight.modelReturns()
	}
}

// spend counts what the run that a step has requested used.
func (r *counter) spend(more event.Usage) { r.meter.spend(more) }
