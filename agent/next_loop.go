package agent

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// need returns what a running agent step needs next.
func (l *Loop) need() need {
	switch {
	case l.over():
		return needRecord // do not wait for calls in flight
	case l.idle():
		return needModelSlot
	default:
		return needNothing
	}
}

// beginLoop starts the conversation of an agent step.
func (r dialogue) beginLoop(s *StepState) {
	profile, _ := r.prompting.Profile(s.Step.Profile)
	s.Loop = newLoop(s, profile)
	if profile.Plans {
		s.Loop.planner = planning.NewPipeline(prompt.AgentBrief(r.brief(), s.Step, profile))
	}
	r.agents = append(r.agents, s)
}

// resumeLoops makes interrupted loops continue from their last reply.
func (r dialogue) resumeLoops() {
	r.agents = nil
	executed(r.Run, func(s *StepState) {
		if s.Loop == nil || s.Loop.over() || s.Status != StepRunning && s.Status != StepPending {
			return
		}
		s.Status, s.Loop.Asking = StepRunning, false
		r.Clock.unfire(deadlineID(s))
		// The time in between does not count, and the time limit restarts.
		s.StartedAt, s.Loop.stood, s.Loop.standingSince = r.Now, 0, time.Time{}
		s.Loop.clock(r.Now)
		r.agents = append(r.agents, s)
	})
}

// came returns the event that ends the step of a finished loop.
func (r decision) came(s *StepState) event.Data {
	ms := r.Now.Sub(s.StartedAt).Milliseconds()
	l := s.Loop
	if l.flaw != nil {
		return event.StepFailed{Index: s.Step.Index, Attempt: s.Attempt, Error: untrusted.Text(l.flaw.sentence), Failure: l.flaw.kind, MS: ms}
	}
	return event.StepCompleted{Index: s.Step.Index, Attempt: s.Attempt, Result: *l.answer, MS: ms, Tokens: l.Tokens}
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
	var request prompt.Request
	if l.planner != nil {
		request, _ = l.planner.Next()
		request.Step, request.Model = s.Step.Index, cmp.Or(l.profile.Model, r.prompting.Models.Of(request.Purpose).Name) // a resume may have changed it
	} else {
		messages := append(slices.Clone(l.messages), l.newRemarks()...)
		profile := l.profile
		profile.WritesCalls = r.writers[profile.Model]
		request = prompt.AgentRequest(r.briefOf(l), r.Plan, s.Step, profile, r.inputs(s.Step), messages, l.turn())
	}
	request.Think = request.Think && l.stalls == 0 // a model that got stuck thinking should answer now
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
	case c.flaw != nil:
		return append(out, r.finish(ending{event.StatusFailed, event.ReasonPlannerError, c.flaw.sentence, ""})...)
	case c.answer != nil:
		return append(out, r.finish(ending{status: event.StatusCompleted, reason: event.ReasonDirect, answer: *c.answer})...)
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
	request := prompt.ChatRequest(r.briefOf(c), c.last(), append(slices.Clone(c.messages), c.newRemarks()...)...)
	return append(out, Action{event.ModelRequested{Purpose: request.Purpose, Request: request}, CallModel{Request: request, Tools: r.readable(r.callable(c))}})
}

// nextOfLoops continues only the loops; nothing else starts.
func (r decision) nextOfLoops() []Action {
	var some queues
	for i, q := range r.queues {
		for _, s := range q {
			if s.inner.loop != nil || s.Status == StepRunning {
				some[i] = append(some[i], s)
			}
		}
		// In order, they are a heap again; their places in the real one stay.
		slices.SortFunc(some[i], func(a, b *StepState) int {
			switch {
			case a.before(b):
				return -1
			case b.before(a):
				return 1
			default:
				return 0
			}
		})
	}
	return r.nextOf(&some)
}

// nextDeadlines requests timers for the time limits of agent steps whose clocks
// run.
func (r decision) nextDeadlines() []Action {
	var out []Action
	for _, s := range r.agents {
		if s.Status == StepRunning && !s.Loop.over() && !s.Loop.stands() {
			out = append(out, Action{Effect: Wake{ID: deadlineID(s), At: s.Loop.deadline()}})
		}
	}
	return out
}

// applyDeadline ends the loop whose time is up.
func (r fold) applyDeadline(id string) {
	for _, s := range r.agents {
		if s.Status != StepRunning || id != deadlineID(s) || s.Loop.over() {
			continue
		}
		if s.Loop.stands() || r.Now.Before(s.Loop.deadline()) {
			r.Clock.unfire(id) // its clock stood in the meantime
			continue
		}
		s.Loop.flaw = &flaw{event.FailureTimeout, "it took longer than the " + s.Loop.limit().String() + " it may"}
		r.enqueue(s)
	}
}

// waits reports whether a call of the loop waits for the user.
func (l *Loop) waits() bool {
	return slices.ContainsFunc(l.lastCalls, func(c *StepState) bool { return c.Status == StepWaiting || c.awaitsUser })
}

// stands reports whether the clock of the time limit stands: a call waits for the
// user or, if nobody has set a limit, the model works. Its requests have limits that
// follow the machine, and the number of turns is bounded.
func (l *Loop) stands() bool { return l.waits() || l.Asking && l.ownLimit() == 0 }

// clock measures how long the clock stands; simultaneous gates count once.
func (l *Loop) clock(now time.Time) {
	switch stands := l.stands(); {
	case stands && l.standingSince.IsZero():
		l.standingSince = now
	case !stands && !l.standingSince.IsZero():
		l.stood, l.standingSince = l.stood+now.Sub(l.standingSince), time.Time{}
	}
}

// leaveLoop ends the loop of a step that has ended. It drops the remaining calls,
// and keeps user remarks that no model has seen for whoever continues.
func (r dialogue) leaveLoop(s *StepState) {
	l := s.Loop
	if l == nil {
		return
	}
	for _, c := range l.lastCalls {
		if c.Status == StepPending || c.Status == StepWaiting {
			r.closeGate(c.Gate)
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
	return l != nil && l.step != nil && (l.step.Status != StepRunning || l.step.Loop != l)
}

// keepRemarks saves the user remarks that a loop has not heard.
func (r dialogue) keepRemarks(l *Loop) {
	for _, text := range l.remarks {
		if !slices.Contains(r.UserMessages, text) {
			r.UserMessages = append(r.UserMessages, text)
		}
	}
	l.remarks = nil
}

// deadlineID returns the timer id for the time limit of an agent step.
func deadlineID(s *StepState) string { return fmt.Sprintf("agent/%s/%d", s.Step.Index, s.Attempt) }

// deadline returns the end of the time limit of an agent step.
func (l *Loop) deadline() time.Time { return l.step.StartedAt.Add(l.limit() + l.stood) }

// limit returns the time limit of an agent step.
func (l *Loop) limit() time.Duration {
	return cmp.Or(l.ownLimit(), prompt.DefaultAgentTimeout)
}

// ownLimit returns the time limit that the plan or the profile sets, else 0. The
// chat has none.
func (l *Loop) ownLimit() time.Duration {
	if l.step == nil {
		return 0
	}
	return cmp.Or(l.step.Step.Timeout, l.profile.Timeout)
}

// stuck ends the run if a loop has met the same failure so often that another
// turn would only repeat it.
func (r decision) stuck(l *Loop) []Action {
	most := r.Limits.MaxRepeats
	if most == 0 {
		return nil
	}
	for _, c := range l.lastCalls {
		used := l.failureCounts[resultKey(c.Step.Tool, string(c.Error))]
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
	b := budget{used: int64(c.inner.loop.callCounts[callKey(c.Step.Tool, c.call.args)]), limit: int64(most)}
	if b.used >= b.limit {
		return &Action{Record: event.GuardBlocked{
			Guard: event.GuardRunaway, Step: c.Step.Index, Used: b.used, Limit: b.limit,
			Reason: untrusted.Text(fmt.Sprintf("the model made the same call of %s %d times, so the run was stopped; step %s was next", c.Step.Title, b.used, c.Step.Index)),
		}}
	}
	b.used++
	if b.low() && !r.hasWarned(guardKey(event.GuardRunaway, c.Step.Index)) {
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
	if step := c.inner.loop.step; step != nil {
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
		if earlier.told() && !r.finds(earlier) { // an offer describes the same tools
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
