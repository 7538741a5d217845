package agent

import (
	"fmt"
	"slices"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// dialogue carries on the conversations of a run: it makes the calls that models ask for,
// and passes what the user says to them.
type dialogue struct {
	scheduler     scheduler
	briefing      briefing
	terms         *Terms
	tools         *Toolbox
	board         *Board
	planning      *Planning
	conversations *Conversations
	outcome       *Outcome
	permissions   *Permissions
	clock         *Clock
}

// handleReply handles a reply: it plans the requested calls, or takes the answer.
func (r dialogue) handleReply(l *Loop, said reply.Reply) {
	mayCall := len(r.briefing.callable(l)) > 0
	if l.writesCallsAsText(said, mayCall) {
		r.conversations.holdCalls(l.model(r.terms.Model))
	}
	uses := l.hear(said, mayCall, r.promptContext(l))
	if len(uses) == 0 {
		return
	}
	for _, c := range l.plan(uses, func(use reply.ToolUse) *StepState { return r.newCall(l, use) }) {
		r.scheduler.enqueue(c)
	}
}

// promptContext returns what the reminders to the model of a loop depend on.
func (r dialogue) promptContext(l *Loop) promptContext {
	return promptContext{goal: string(r.terms.Goal), writesCalls: r.conversations.holdsCalls(l.model(r.terms.Model))}
}

// newCall returns a step for a call of a loop.
func (r dialogue) newCall(l *Loop, use reply.ToolUse) *StepState {
	parent, gate := prompt.ChatParent, false
	if of := l.stepOf(); of != nil {
		parent, gate = of.Step.Index, of.Step.Gate
	}
	number := l.nextNumber()
	index := fmt.Sprintf("%s.%d", parent, number)
	for r.board.hasPlace(index) {
		number++
		index = fmt.Sprintf("%s.%d", parent, number)
	}
	args := use.Args
	if args == nil {
		args = map[string]any{}
	}
	step := plan.Step{
		Index: index, Title: untrusted.Text(use.Name), Executor: plan.ExecutorTool, Tool: use.Name, Args: args,
		OnFailure: plan.OnFailureAbort, Gate: gate,
	}
	var unknown error
	// It may also call tools for which its request had no room.
	if tool, err := reply.FindTool(plan.Offer(append(r.briefing.known(l), prompt.FindTool())), use.Name); err != nil {
		unknown = err
		if changed, err := plan.Offer(r.briefing.brief().Withheld).Find(use.Name); err == nil {
			unknown = fmt.Errorf("%w; only the user can do that", &plan.ChangedToolError{Tool: changed})
		}
	} else {
		step.Tool, step.Title = tool.Name, untrusted.Text(tool.Name)
		if named, err := r.tools.Catalog.Find(tool.Name); err != nil || named.Server != tool.Server {
			step.Tool = tool.QualifiedName()
		}
	}
	r.tools.learn(step.Tool)
	finds := prompt.IsFindTool(r.tools.facts(step.Tool).Tool)
	return newCall(newInnerCall(l, use, finds, unknown), step, parent, number, r.board.attemptsBefore(index))
}

// handleCallFailure decides what follows from a failed inner call. The model gets the
// error, unless no user was present to allow the call or the run is stopping.
func (r dialogue) handleCallFailure(c *StepState) {
	switch {
	case c.Failure == event.FailureInterrupted && r.outcome.ends():
		return // repeated if the run is resumed
	case c.Failure == event.FailureInDoubt:
		// The model is not told: resuming this run resumes the requested one.
		r.outcome.end(event.StatusFailed, event.ReasonInDoubt, string(c.Error))
		return
	case c.Failure == event.FailureDenied && !r.terms.attended():
		sentence := fmt.Sprintf("step %s (%s) was denied", c.Step.Index, c.Step.Title)
		if c.Run != "" {
			sentence = fmt.Sprintf("step %s (%s) failed: %s", c.Step.Index, c.Step.Title, headline(string(c.Error)))
		}
		r.outcome.end(event.StatusFailed, event.ReasonDenied, sentence)
		return
	case !c.Failure.Replannable() && c.Failure != event.FailureDenied && c.Failure != event.FailureInterrupted:
		r.outcome.end(event.StatusFailed, event.ReasonGuard, fmt.Sprintf("step %s (%s) failed: %s", c.Step.Index, c.Step.Title, headline(string(c.Error))))
		return
	}
	c.inner().conversation().failed(c)
	r.settleCall(c)
}

// settleCall records that an inner call has ended, and tells the model once all
// calls of its reply have.
func (r dialogue) settleCall(c *StepState) {
	l := c.inner().conversation()
	if c.inner().isAnswered() || l == nil {
		return
	}
	c.inner().answer()
	if !l.allAnswered() {
		return
	}
	if l.misfit() {
		r.conversations.holdCalls(l.model(r.terms.Model))
	}
	l.tell(r.promptContext(l))
	if s := l.stepOf(); s != nil {
		r.scheduler.enqueue(s)
	}
}

// beginLoop starts the conversation of an agent step.
func (r dialogue) beginLoop(s *StepState) {
	profile, _ := r.terms.prompting().Profile(s.Step.Profile)
	var own planning.Planner
	if profile.Plans {
		own = planning.NewPipeline(prompt.AgentBrief(r.briefing.brief(), s.Step, profile))
	}
	s.converse(newLoop(s, profile, own))
	r.conversations.addAgent(s)
}

// resumeLoops makes interrupted loops continue from their last reply.
func (r dialogue) resumeLoops() {
	r.conversations.forgetAgents()
	r.board.executed(func(s *StepState) {
		if s.Loop == nil || s.Loop.over() || s.Status != StepRunning && s.Status != StepPending {
			return
		}
		r.clock.unfire(s.Loop.timer())
		s.converseAgain(r.clock.Now)
		s.Loop.resume(r.clock.Now)
		r.conversations.addAgent(s)
	})
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
			r.permissions.closeGate(c.Gate)
			c.leaveGate()
			r.scheduler.enqueue(c)
		}
	}
	r.keepRemarks(l)
	r.applyRemarks()
}

// keepRemarks saves the user remarks that a loop has not heard.
func (r dialogue) keepRemarks(l *Loop) {
	for _, text := range l.takeUnheard() {
		if !slices.Contains(r.planning.UserMessages, text) {
			r.planning.keepMessages(text)
		}
	}
}

// applyRemarks replans the rest of the plan because of the user's remark, if that is
// possible now.
func (r dialogue) applyRemarks() {
	if len(r.planning.UserMessages) == 0 || r.board.Revision == 0 || r.planning.active() || r.outcome.Synthesis.Started {
		return
	}
	r.planning.applyRemarks()
}

// remarks returns the remarks that the chat has not heard.
func (r dialogue) remarks() []string {
	if r.conversations.Chat != nil {
		return r.conversations.Chat.unheard()
	}
	return r.planning.UserMessages
}

// takeRemarks adds remarks made during planning to the conversation that answers
// the goal.
func (r dialogue) takeRemarks() {
	if len(r.planning.UserMessages) == 0 {
		return
	}
	r.conversations.chat().remark(r.planning.takeMessages()...)
	r.conversations.chat().request(r.clock.Now)
}

// continueAfterRemark continues after an answer if the user has made a remark since.
func (r dialogue) continueAfterRemark(reply reply.Reply) {
	r.conversations.chat().remark(r.planning.takeMessages()...)
	r.conversations.chat().continueAfterRemark(reply)
	r.outcome.continueAnswer()
}
