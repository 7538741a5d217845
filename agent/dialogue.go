package agent

import (
	"fmt"
	"slices"
	"strings"

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
	scheduler     *scheduler
	briefing      *briefing
	terms         *Terms
	tools         *Toolbox
	board         *Board
	planning      *Planning
	conversations *Conversations
	outcome       *Outcome
	permissions   *Permissions
	clock         *Clock
	steps         *roster
	counter       *counter
}

// handleReply handles a reply: it plans the requested calls, or takes the answer.
func (r *dialogue) handleReply(l *Loop, modelReply reply.Reply) {
	mayCall := len(r.briefing.callable(l)) > 0
	if l.writesCallsAsText(modelReply, mayCall) {
		r.conversations.holdCalls(l.model(r.terms.Model))
	}
	uses := l.readReply(modelReply, mayCall, r.promptContext(l))
	if len(uses) == 0 {
		return
	}
	for _, c := range l.plan(uses, func(use reply.ToolUse) *StepState { return r.newCall(l, use) }) {
		r.scheduler.enqueue(c)
	}
}

// promptContext returns what the reminders to the model of a loop depend on.
func (r *dialogue) promptContext(l *Loop) promptContext {
	return promptContext{goal: string(r.terms.Goal), writesCalls: r.conversations.holdsCalls(l.model(r.terms.Model))}
}

// newCall returns a step for a call of a loop.
func (r *dialogue) newCall(l *Loop, use reply.ToolUse) *StepState {
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
func (r *dialogue) handleCallFailure(c *StepState) {
	switch {
	case c.Failure == event.FailureInterrupted && r.outcome.ends():
		return // repeated if the run is resumed
	case c.Failure == event.FailureInDoubt:
		// The model is not told: resuming this run resumes the requested one.
		r.outcome.end(event.StatusFailed, event.ReasonInDoubt, string(c.Error))
		return
	case c.Failure == event.FailureDenied && !r.terms.attended() && !c.hasReason():
		sentence := c.deniedWords()
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
func (r *dialogue) settleCall(c *StepState) {
	l := c.inner().conversation()
	if c.inner().isAnswered() || l == nil {
		return
	}
	c.inner().markAnswered()
	if !l.allAnswered() {
		return
	}
	if l.misfit() {
		r.conversations.holdCalls(l.model(r.terms.Model))
	}
	l.reportOutcomes(r.promptContext(l))
	if s := l.stepOf(); s != nil {
		r.scheduler.enqueue(s)
	}
}

// beginLoop starts the conversation of an agent step.
func (r *dialogue) beginLoop(s *StepState) {
	profile, _ := r.terms.prompting().Profile(s.Step.Profile)
	var own planning.Planner
	if profile.Plans {
		own = planning.NewPipeline(prompt.AgentBrief(r.briefing.brief(), s.Step, profile))
	}
	s.startLoop(newLoop(s, profile, own))
	r.conversations.addAgent(s)
}

// resumeLoops makes interrupted loops continue from their last reply.
func (r *dialogue) resumeLoops() {
	r.conversations.forgetAgents()
	r.board.executed(func(s *StepState) {
		if s.Loop == nil || s.Loop.over() || s.Status != StepRunning && s.Status != StepPending {
			return
		}
		r.clock.unfire(s.Loop.timer())
		s.continueLoop(r.clock.Now)
		s.Loop.resume(r.clock.Now)
		r.conversations.addAgent(s)
	})
}

// leaveLoop ends the loop of a step that has ended. It drops the remaining calls,
// and keeps user remarks that no model has seen for whoever continues.
func (r *dialogue) leaveLoop(s *StepState) {
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

// keepRemarks saves the user remarks that a loop has not seen.
func (r *dialogue) keepRemarks(l *Loop) {
	for _, text := range l.takeUnreadRemarks() {
		if !slices.Contains(r.planning.UserMessages, text) {
			r.planning.keepMessages(text)
		}
	}
}

// applyRemarks replans the rest of the plan because of the user's remark, if that is
// possible now.
func (r *dialogue) applyRemarks() {
	if len(r.planning.UserMessages) == 0 || r.board.Revision == 0 || r.planning.active() || r.outcome.Synthesis.Started {
		return
	}
	r.planning.applyRemarks()
}

// remarks returns the remarks that the chat has not seen.
func (r *dialogue) remarks() []string {
	if r.conversations.Chat != nil {
		return r.conversations.Chat.unreadRemarks()
	}
	return r.planning.UserMessages
}

// takeRemarks adds remarks made during planning to the conversation that answers
// the goal.
func (r *dialogue) takeRemarks() {
	if len(r.planning.UserMessages) == 0 {
		return
	}
	r.conversations.chat().remark(r.planning.takeMessages()...)
	r.conversations.chat().request(r.clock.Now)
}

// continueAfterRemark continues after an answer if the user has made a remark since.
func (r *dialogue) continueAfterRemark(reply reply.Reply) {
	r.conversations.chat().remark(r.planning.takeMessages()...)
	r.conversations.chat().continueAfterRemark(reply)
	r.outcome.continueAnswer()
}

// applyTurn applies the reply to a turn of a sub-agent, or to its planning.
func (r *dialogue) applyTurn(d event.ModelReplied) {
	s := r.steps.step(d.Step)
	if s == nil || s.Status != StepRunning || s.Attempt != d.Attempt || s.Loop == nil || !s.Loop.Asking {
		return // the plan has changed since
	}
	defer r.scheduler.enqueue(s)
	l := s.Loop
	l.replied(d.Reply, r.clock.Now)
	s.count(l.Tokens)
	switch _, plans := l.planRequest(); {
	case plans:
		l.ownPlan(d, r.outcome.ends())
	case d.Error != "":
		l.noReply(d, r.outcome.ends(), r.promptContext(l))
	default:
		r.handleReply(l, d.Reply)
	}
}

// applyChatTurn applies a chat reply that requests calls.
func (r *dialogue) applyChatTurn(d event.ModelReplied) {
	r.conversations.chat().replied(d.Reply, r.clock.Now)
	r.outcome.continueAnswer()
	r.handleReply(r.conversations.Chat, d.Reply)
}

// applyDeadline ends the loop whose time is up.
func (r *dialogue) applyDeadline(id string) {
	for _, s := range r.conversations.working() {
		if id != s.Loop.timer() || s.Loop.over() {
			continue
		}
		if s.Loop.clockPaused() || r.clock.Now.Before(s.Loop.deadline()) {
			r.clock.unfire(id) // its clock was paused in the meantime
			continue
		}
		s.Loop.fail(event.FailureTimeout, "it took longer than the "+s.Loop.limit().String()+" it may")
		r.scheduler.enqueue(s)
	}
}

func (r *dialogue) applySynthesisStarted(d event.SynthesisStarted) {
	r.planning.finish()
	r.outcome.beginAnswer(d, r.clock.Now)
	r.counter.asked(&Exchange{Purpose: d.Request.Purpose, Request: d.Request})
	if d.Direct {
		r.takeRemarks()
	}
}

// applySynthesis takes the answer of the model. An empty one does not count.
func (r *dialogue) applySynthesis(d event.SynthesisCompleted) {
	purpose := prompt.PurposeSynthesis
	if r.outcome.Synthesis.Direct {
		purpose = prompt.PurposeChat
	}
	r.counter.replied(Exchange{Purpose: purpose, Reply: d.Reply, Error: d.Error})
	if r.conversations.Chat != nil {
		r.conversations.Chat.interrupt()
	}
	promised := d.Error == "" && r.outcome.Synthesis.Direct && r.conversations.Chat.onlyPromises(d.Reply) && len(prompt.ChatTools(r.briefing.brief())) > 0
	silent := d.Error == "" && strings.TrimSpace(string(d.Text)) == ""
	switch {
	case !r.outcome.Synthesis.Direct:
	case d.Error == "" && len(r.remarks()) > 0:
		r.continueAfterRemark(d.Reply)
		return
	case promised, silent && r.conversations.chat().mayStall():
		r.outcome.continueAnswer()
		r.handleReply(r.conversations.chat(), d.Reply)
		return
	}
	r.outcome.finishAnswer(d)
}

// applySteered passes the user's remark to whoever is working. Each model in a
// loop gets it with its next turn; without a loop, the planner of the rest does.
func (r *dialogue) applySteered(d event.RunSteered) {
	if loops := r.steps.activeLoops(); len(loops) > 0 {
		for _, l := range loops {
			if !l.over() {
				l.remark(string(d.Text))
			}
		}
		return
	}
	r.planning.keepMessages(string(d.Text))
	r.applyRemarks()
}
