package agent

import (
	"fmt"
	"strconv"
	"strings"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// dialogue applies what models say in loops, and creates the calls that they
// request.
type dialogue struct{ scheduler }

// activeLoops returns the active loops.
func (r *Run) activeLoops() []*Loop {
	var out []*Loop
	if r.Chat != nil && !r.Synthesis.Done {
		out = append(out, r.Chat)
	}
	for _, s := range r.Conversations.working() {
		out = append(out, s.Loop)
	}
	return out
}

// every calls do for each step and each inner call of the run.
func (r *Run) every(do func(*StepState)) {
	r.executed(func(s *StepState) {
		do(s)
		if s.Loop != nil {
			for _, c := range s.Loop.Calls {
				do(c)
			}
		}
	})
	if r.Chat != nil {
		for _, c := range r.Chat.Calls {
			do(c)
		}
	}
}

// call returns the inner call, or the item, with this index, or nil.
func (r *Run) call(index string) *StepState {
	parent, number, inner := cutLast(index)
	if !inner {
		return nil
	}
	loop := r.Chat
	if parent != prompt.ChatParent {
		s := r.Step(parent)
		if s == nil {
			return nil
		}
		if n, err := strconv.Atoi(number); err == nil && 0 < n && n <= len(s.Items) && s.Items[n-1].Step.Index == index {
			return s.Items[n-1]
		}
		loop = s.Loop
	}
	if loop == nil {
		return nil
	}
	for _, c := range loop.Calls {
		if c.Step.Index == index {
			return c
		}
	}
	return nil
}

func cutLast(index string) (parent, number string, ok bool) {
	at := strings.LastIndexByte(index, '.')
	if at < 0 {
		return "", "", false
	}
	return index[:at], index[at+1:], true
}

// applyTurn applies the reply to a turn of a sub-agent, or to its planning.
func (r dialogue) applyTurn(d event.ModelReplied) {
	r.flight.modelReturns()
	r.Meter.reply(d.Reply)
	s := r.Step(d.Step)
	if s == nil || s.Status != StepRunning || s.Attempt != d.Attempt || s.Loop == nil || !s.Loop.Asking {
		return // the plan has changed since
	}
	defer r.enqueue(s)
	l := s.Loop
	l.replied(d.Reply, r.Now)
	s.Tokens = l.Tokens
	switch _, plans := l.planRequest(); {
	case plans:
		l.ownPlan(d, r.ends())
	case d.Error != "":
		l.noReply(d, r.ends(), r.manners(l))
	default:
		r.handleReply(l, d.Reply)
	}
}

// applyChatTurn applies a chat reply that requests calls.
func (r dialogue) applyChatTurn(d event.ModelReplied) {
	r.flight.modelReturns()
	r.Meter.reply(d.Reply)
	r.Conversations.chat().replied(d.Reply, r.Now)
	r.Outcome.continueAnswer()
	r.handleReply(r.Chat, d.Reply)
}

// handleReply handles a reply: it plans the requested calls, or takes the answer.
func (r dialogue) handleReply(l *Loop, said reply.Reply) {
	mayCall := len(r.callable(l)) > 0
	if l.writesCallsAsText(said, mayCall) {
		r.Conversations.holdCalls(l.model(r.Model))
	}
	uses := l.hear(said, mayCall, r.manners(l))
	if len(uses) == 0 {
		return
	}
	for _, c := range l.plan(uses, func(use reply.ToolUse) *StepState { return r.newCall(l, use) }) {
		r.enqueue(c)
	}
}

// manners returns how the model of a loop is talked to.
func (r dialogue) manners(l *Loop) manners {
	return manners{goal: string(r.Goal), writesCalls: r.Conversations.holdsCalls(l.model(r.Model))}
}

// newCall returns a step for a call of a loop.
func (r dialogue) newCall(l *Loop, use reply.ToolUse) *StepState {
	parent, length, gate, replanned := prompt.ChatParent, 0.0, false, false
	if of := l.stepOf(); of != nil {
		parent, length, gate, replanned = of.Step.Index, of.sched.length, of.Step.Gate, of.replanned
	}
	number := l.nextNumber()
	index := fmt.Sprintf("%s.%d", parent, number)
	for r.hasPlace(index) {
		number++
		index = fmt.Sprintf("%s.%d", parent, number)
	}
	args := use.Args
	if args == nil {
		args = map[string]any{}
	}
	c := &StepState{
		Step: plan.Step{
			Index: index, Title: untrusted.Text(use.Name), Executor: plan.ExecutorTool, Tool: use.Name, Args: args,
			OnFailure: plan.OnFailureAbort, Gate: gate,
		},
		Status: StepPending, Parent: parent, replanned: replanned, attempts: r.attemptsBefore(index),
		inner: innerCall{loop: l, use: use}, sched: schedule{length: length, place: number},
	}
	// It may also call tools for which its request had no room.
	if tool, err := reply.FindTool(plan.Offer(append(r.callable(l), prompt.FindTool())), use.Name); err != nil {
		c.inner.unknown = err
		if changed, err := plan.Offer(r.brief().Withheld).Find(use.Name); err == nil {
			c.inner.unknown = fmt.Errorf("%w; only the user can do that", &plan.ChangedToolError{Tool: changed})
		}
	} else {
		c.Step.Tool, c.Step.Title = tool.Name, untrusted.Text(tool.Name)
		if named, err := r.Catalogue.Find(tool.Name); err != nil || named.Server != tool.Server {
			c.Step.Tool = tool.QualifiedName()
		}
	}
	c.inner.finds = prompt.IsFindTool(r.facts(c.Step.Tool).Tool)
	return c
}

// callable returns the tools that the model of a loop may call, except for
// [prompt.FindTool].
func (r *Run) callable(l *Loop) plan.Catalogue {
	if l.stepOf() == nil {
		return prompt.ChatTools(r.brief())
	}
	return prompt.AgentTools(r.brief(), l.profileOf())
}

// briefOf returns the brief for the next turn of a loop.
func (r *Run) briefOf(l *Loop) prompt.Brief {
	b := r.brief()
	b.Found = l.foundTools()
	return b
}

// dealCall decides what follows from a failed inner call. The model gets the
// error, unless nobody was present to allow the call or the run is stopping.
func (r dialogue) dealCall(c *StepState) {
	switch {
	case c.Failure == event.FailureInterrupted && r.ends():
		return // repeated if the run is resumed
	case c.Failure == event.FailureInDoubt:
		// The model is not told: resuming this run resumes the requested one.
		r.end(event.StatusFailed, event.ReasonInDoubt, string(c.Error))
		return
	case c.Failure == event.FailureDenied && !r.attended:
		sentence := fmt.Sprintf("step %s (%s) was denied", c.Step.Index, c.Step.Title)
		if c.Run != "" {
			sentence = fmt.Sprintf("step %s (%s) failed: %s", c.Step.Index, c.Step.Title, headline(string(c.Error)))
		}
		r.end(event.StatusFailed, event.ReasonDenied, sentence)
		return
	case !c.Failure.Replannable() && c.Failure != event.FailureDenied && c.Failure != event.FailureInterrupted:
		r.end(event.StatusFailed, event.ReasonGuard, fmt.Sprintf("step %s (%s) failed: %s", c.Step.Index, c.Step.Title, headline(string(c.Error))))
		return
	}
	c.inner.loop.failed(c)
	r.settleCall(c)
}

// settleCall records that an inner call has ended, and tells the model once all
// calls of its reply have.
func (r dialogue) settleCall(c *StepState) {
	l := c.inner.loop
	if c.inner.answered || l == nil {
		return
	}
	c.inner.answered = true
	if !l.allAnswered() {
		return
	}
	if l.misfit() {
		r.Conversations.holdCalls(l.model(r.Model))
	}
	l.tell(r.manners(l))
	if s := l.stepOf(); s != nil {
		r.enqueue(s)
	}
}
