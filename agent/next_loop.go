package agent

import (
	"cmp"
	"fmt"
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// beginLoop starts the conversation of an agent step.
func (r dialogue) beginLoop(s *StepState) {
	profile, _ := r.prompting.Profile(s.Step.Profile)
	var own planning.Planner
	if profile.Plans {
		own = planning.NewPipeline(prompt.AgentBrief(r.brief(), s.Step, profile))
	}
	s.Loop = newLoop(s, profile, own)
	r.Conversations.addAgent(s)
}

// resumeLoops makes interrupted loops continue from their last reply.
func (r dialogue) resumeLoops() {
	r.Conversations.forgetAgents()
	r.executed(func(s *StepState) {
		if s.Loop == nil || s.Loop.over() || s.Status != StepRunning && s.Status != StepPending {
			return
		}
		s.Status = StepRunning
		r.Clock.unfire(s.Loop.timer())
		s.StartedAt = r.Now
		s.Loop.resume(r.Now)
		r.Conversations.addAgent(s)
	})
}

// came returns the event that ends the step of a finished loop.
func (r decision) came(s *StepState) event.Data {
	ms := r.Now.Sub(s.StartedAt).Milliseconds()
	answer, failed := s.Loop.ended()
	if failed != nil {
		return event.StepFailed{Index: s.Step.Index, Attempt: s.Attempt, Error: untrusted.Text(failed.sentence), Failure: failed.kind, MS: ms}
	}
	return event.StepCompleted{Index: s.Step.Index, Attempt: s.Attempt, Result: answer, MS: ms, Tokens: s.Loop.Tokens}
}

// nextTurn asks a sub-agent for its next turn, or for its own plan.
func (r decision) nextTurn(s *StepState, free *slots) []Action {
	l := s.Loop
	for _, blocked := range [][]Action{r.stopped(event.GuardTokens, s.Step.Index), r.stuck(l)} {
		if blocked != nil {
			return blocked
		}
	}
	free.models--
	profile := l.profileOf()
	request, plans := l.planRequest()
	if plans {
		request.Step, request.Model = s.Step.Index, cmp.Or(profile.Model, r.prompting.Models.Of(request.Purpose).Name) // a resume may have changed it
	} else {
		profile.WritesCalls = r.Conversations.holdsCalls(profile.Model)
		request = prompt.AgentRequest(r.briefOf(l), r.Plan, s.Step, profile, r.inputs(s.Step), l.conversation(), l.turn())
	}
	request.Think = request.Think && !l.stalled() // a model that got stuck thinking should answer now
	return []Action{{
		event.ModelRequested{Purpose: request.Purpose, Step: s.Step.Index, Attempt: s.Attempt, Request: request},
		CallModel{Request: request, Index: s.Step.Index, Attempt: s.Attempt, Tools: r.readable(r.callable(l))},
	}}
}

// nextChat continues a chat turn: first its calls, then the model's reply to
// them.
func (r decision) nextChat() []Action {
	out := r.nextSteps()
	c := r.Chat
	switch {
	case c == nil || len(out) > 0 && out[len(out)-1].mayEnd():
		return out
	case c.over():
		answer, failed := c.ended()
		if failed != nil {
			return append(out, r.finish(ending{event.StatusFailed, event.ReasonPlannerError, failed.sentence, ""})...)
		}
		return append(out, r.finish(ending{status: event.StatusCompleted, reason: event.ReasonDirect, answer: answer})...)
	case !c.idle() || r.flight.modelsUnderWay() >= r.modelSlots():
		return out
	case r.Model == "":
		return append(out, r.finish(ending{event.StatusFailed, event.ReasonPlannerError, "there is no model to answer; start Ollama, or choose one with --host and --model", ""})...)
	}
	for _, blocked := range [][]Action{r.stopped(event.GuardTokens, ""), r.stuck(c)} {
		if blocked != nil {
			return append(out, blocked...)
		}
	}
	request := prompt.ChatRequest(r.briefOf(c), c.last(), c.conversation()...)
	return append(out, Action{event.ModelRequested{Purpose: request.Purpose, Request: request}, CallModel{Request: request, Tools: r.readable(r.callable(c))}})
}

// nextOfLoops continues only the loops; nothing else starts.
func (r decision) nextOfLoops() []Action {
	some := r.queues.only(func(s *StepState) bool { return s.inner.loop != nil || s.Status == StepRunning })
	return r.nextOf(&some)
}

// nextDeadlines requests timers for the time limits of agent steps whose clocks
// run.
func (r decision) nextDeadlines() []Action {
	var out []Action
	for _, s := range r.Conversations.working() {
		if !s.Loop.over() && !s.Loop.stands() {
			out = append(out, Action{Effect: Wake{ID: s.Loop.timer(), At: s.Loop.deadline()}})
		}
	}
	return out
}

// applyDeadline ends the loop whose time is up.
func (r fold) applyDeadline(id string) {
	for _, s := range r.Conversations.working() {
		if id != s.Loop.timer() || s.Loop.over() {
			continue
		}
		if s.Loop.stands() || r.Now.Before(s.Loop.deadline()) {
			r.Clock.unfire(id) // its clock stood in the meantime
			continue
		}
		s.Loop.fail(event.FailureTimeout, "it took longer than the "+s.Loop.limit().String()+" it may")
		r.enqueue(s)
	}
}

// leaveLoop ends the loop of a step that has ended. It drops the remaining calls,
// and keeps user remarks that no model has seen for whoever continues.
func (r dialogue) leaveLoop(s *StepState) {
	l := s.Loop
	if l == nil {
		return
	}
	for _, c := range l.newestCalls() {
		if c.Status == StepPending || c.Status == StepWaiting {
			r.Permissions.closeGate(c.Gate)
			c.Status, c.Gate = StepPending, ""
			r.enqueue(c)
		}
	}
	r.keepRemarks(l)
	r.heed()
}

// orphaned reports whether nobody waits for a call any more. The loop that
// requested it has ended with its step, which may have a newer attempt.
func (s *StepState) orphaned() bool {
	l := s.inner.loop
	if l == nil || l.stepOf() == nil {
		return false
	}
	of := l.stepOf()
	return of.Status != StepRunning || of.Loop != l
}

// keepRemarks saves the user remarks that a loop has not heard.
func (r dialogue) keepRemarks(l *Loop) {
	for _, text := range l.takeUnheard() {
		if !slices.Contains(r.UserMessages, text) {
			r.Planning.keepMessages(text)
		}
	}
}

// stuck ends the run if a loop has met the same failure so often that another
// turn would only repeat it.
func (r decision) stuck(l *Loop) []Action {
	most := r.Limits.MaxRepeats
	if most == 0 {
		return nil
	}
	for _, c := range l.newestCalls() {
		used := l.timesFailed(c)
		if c.Status == StepFailed && used >= most {
			return []Action{{Record: event.GuardBlocked{
				Guard: event.GuardRunaway, Step: c.Step.Index, Used: int64(used), Limit: int64(most),
				Reason: untrusted.Text(fmt.Sprintf("calls of %s failed %d times in the same way, so the run was stopped: %s", c.Step.Title, used, headline(string(c.Error)))),
			}}}
		}
	}
	return nil
}

// repeated applies the runaway guard to a call that a loop is about to repeat, or
// that follows a result which failed in the same way before.
func (r decision) repeated(c *StepState) *Action {
	most := r.Limits.MaxRepeats
	if most == 0 {
		return nil
	}
	b := budget{used: int64(c.inner.loop.timesMade(c.Step.Tool, c.call.args)), limit: int64(most)}
	if b.used >= b.limit {
		return &Action{Record: event.GuardBlocked{
			Guard: event.GuardRunaway, Step: c.Step.Index, Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(fmt.Sprintf("the model made the same call of %s %d times, so the run was stopped; step %s was next", c.Step.Title, b.used, c.Step.Index)),
		}}
	}
	b.used++
	if b.low() && !r.Meter.hasWarned(guardKey(event.GuardRunaway, c.Step.Index)) {
		return &Action{Record: event.GuardWarned{
			Guard: event.GuardRunaway, Step: c.Step.Index, Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(fmt.Sprintf("the model makes the same call of %s again: %d of %d times", c.Step.Title, b.used, b.limit)),
		}}
	}
	return nil
}

// read returns what a model had read when it wrote the arguments of a call: what was read
// before the run and by the author of its step, its inputs, and the results of its own
// calls.
func (r *Run) read(c *StepState) []rule.Provenance {
	out := r.before()
	if step := c.inner.loop.stepOf(); step != nil {
		out = append(out, step.author.read...)
		for _, h := range r.inputs(step.Step) {
			out = append(out, rule.Provenance{Step: h.Index, Tool: h.Tool, Written: true})
		}
		out = append(out, r.deciding(step, out)...)
	}
	for _, earlier := range c.inner.loop.Calls {
		if earlier == c {
			break
		}
		if earlier.told() && !earlier.inner.finds { // an offer describes the same tools
			out = append(out, rule.Provenance{Step: earlier.Step.Index, Tool: string(earlier.Step.Title), Written: true})
		}
	}
	return plan.Newest(out)
}

// readable returns the tools by whose names calls in the text of a reply are known:
// those that can be called, and the whole catalogue if there are none, since a call is no
// answer all the same.
func (r decision) readable(callable plan.Catalogue) plan.Offer {
	if len(callable) == 0 {
		return plan.Offer(r.Catalogue)
	}
	return append(plan.Offer(callable), prompt.FindTool())
}
