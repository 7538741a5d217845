package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// dialogue applies what models say in loops, and creates the calls that they
// request.
type dialogue struct{ scheduler }

// Loop is a conversation in which a model calls tools until it has an answer. It
// belongs to a sub-agent or to a turn of the chat.
type Loop struct {
	Calls  []*StepState // calls so far, oldest first: "5.1", "5.2" of step 5, "chat.1" of the chat
	Turns  int          // replies so far
	Tokens int          // prompt and completion tokens of all replies
	Asking bool         // the model is working on the next reply
	Text   string       // of the newest reply

	step          *StepState       // the agent step; nil for the chat
	profile       prompt.Profile   // of the sub-agent; zero for the chat
	planner       planning.Planner // of the sub-agent's own plan; nil if it makes none or is done
	outline       string           // of that plan
	messages      []prompt.Message // since the loop began
	remarks       []string         // by the user, for the next turn
	lastCalls     []*StepState     // the calls of the newest reply
	droppedCalls  []reply.ToolUse  // of the newest reply, beyond the limit of concurrent calls
	callCounts    map[string]int   // call → number of times it was made
	failureCounts map[string]int   // failing result → number of occurrences
	found         []string         // names of the tools that the model has found, the newest first
	stalls        int              // consecutive replies that were empty, no call that can be made, or never came
	native        bool             // a call has arrived as one, and not as text
	misfits       int              // consecutive replies none of whose calls fits a tool
	reminded      bool             // the model announced a call in its last reply, and was told to make it
	answer        *string          // set when the loop succeeds
	flaw          *flaw            // set when the loop fails
	stood         time.Duration    // that its clock stood in all
	standingSince time.Time        // since when the clock stands, zero if it runs
	mustAnswer    bool             // the requested turn must be an answer
}

// Bounds of a loop that a profile does not set.
const (
	stallsBorne  = 2 // consecutive replies without text or call; the next one ends the loop
	callsPerTurn = 16
	misfitsBorne = 1 // consecutive replies whose calls fit no tool; the next one puts a format in place of calls
)

// newLoop starts the conversation of a step, or of the chat if s is nil.
func newLoop(s *StepState, profile prompt.Profile) *Loop {
	l := &Loop{step: s, profile: profile, callCounts: map[string]int{}, failureCounts: map[string]int{}}
	if s != nil && s.Loop != nil {
		l.Calls = s.Loop.Calls // of an earlier attempt, kept for display
	}
	return l
}

// over reports whether the loop has succeeded or failed.
func (l *Loop) over() bool { return l.answer != nil || l.flaw != nil }

// idle reports whether nothing is under way: the next turn can be asked for.
func (l *Loop) idle() bool {
	if l.Asking || l.over() {
		return false
	}
	for _, c := range l.lastCalls {
		if !c.inner.answered {
			return false
		}
	}
	return true
}

// last reports whether the next turn must be an answer.
func (l *Loop) last() bool {
	return l.Turns+1 >= l.profile.Turns() || l.profile.MaxTokens > 0 && l.Tokens >= l.profile.MaxTokens
}

func (l *Loop) turn() prompt.Turn {
	return prompt.Turn{Number: l.Turns + 1, Last: l.last(), Outline: l.outline}
}

// activeLoops returns the active loops.
func (r *Run) activeLoops() []*Loop {
	var out []*Loop
	if r.Chat != nil && !r.Synthesis.Done {
		out = append(out, r.Chat)
	}
	for _, s := range r.agents {
		if s.Status == StepRunning {
			out = append(out, s.Loop)
		}
	}
	return out
}

// every calls do for each step and each inner call of the run.
func (r *Run) every(do func(*StepState)) {
	executed(r, func(s *StepState) {
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

// executed calls do for each step of the plan and each item of one.
func executed(r *Run, do func(*StepState)) {
	for _, s := range r.Steps {
		do(s)
		for _, item := range s.Items {
			do(item)
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
	l.Asking = false
	l.clock(r.Now)
	l.Tokens += d.Reply.PromptTokens + d.Reply.CompletionTokens
	s.Tokens = l.Tokens
	if l.planner != nil {
		r.applyOwnPlan(l, d)
		return
	}
	if d.Error != "" {
		r.noReply(l, d)
		return
	}
	r.handleReply(l, d.Reply)
}

// applyOwnPlan applies a reply to the planning of a sub-agent. The plan is an
// outline for the sub-agent itself; without one it continues all the same.
func (r dialogue) applyOwnPlan(l *Loop, d event.ModelReplied) {
	switch {
	case d.Failure == event.FailureInterrupted && r.ending != nil:
		return
	case d.Failure == event.FailureInterrupted:
		l.flaw = &flaw{event.FailureInterrupted, string(d.Error)}
		return
	case d.Error != "":
		l.planner.Fail(string(d.Error), d.Reply)
	default:
		l.planner.Absorb(d.Reply)
	}
	if _, more := l.planner.Next(); more {
		return
	}
	if o := l.planner.Outcome(); o.Kind == planning.OutcomePlanned {
		l.outline = prompt.Outline(o.Plan)
	}
	l.planner = nil
}

// applyChatTurn applies a chat reply that requests calls.
func (r dialogue) applyChatTurn(d event.ModelReplied) {
	r.flight.modelReturns()
	r.Meter.reply(d.Reply)
	r.chatted().Asking = false
	r.Chat.Tokens += d.Reply.PromptTokens + d.Reply.CompletionTokens
	r.Synthesis.Text, r.Synthesis.Thinking = "", ""
	r.handleReply(r.Chat, d.Reply)
}

// chatted returns the loop of the chat, and starts it if needed.
func (r dialogue) chatted() *Loop {
	if r.Chat == nil {
		r.Chat = newLoop(nil, prompt.Profile{})
	}
	return r.Chat
}

// noReply handles a turn without a reply.
func (r dialogue) noReply(l *Loop, d event.ModelReplied) {
	switch {
	case d.Failure == event.FailureInterrupted && r.ending != nil:
		// The run was stopped; a resume asks again.
	case d.Failure == event.FailureInterrupted:
		l.flaw = &flaw{event.FailureInterrupted, string(d.Error)}
	case d.Failure == event.FailureTooLong:
		l.flaw = &flaw{event.FailureModel, string(d.Error)}
	case l.stalls >= stallsBorne || d.Failure == event.FailureTimeout:
		l.flaw = &flaw{d.Failure, string(d.Error)}
	default:
		l.stalls++
		r.goOn(l)
	}
}

// handleReply handles a reply: it plans the requested calls, or takes the answer.
func (r dialogue) handleReply(l *Loop, reply reply.Reply) {
	l.Turns++
	l.Text = reply.Text
	message := prompt.ReplyMessage(reply)
	mayCall := !l.mustAnswer && len(r.callable(l)) > 0
	if mayCall && (len(reply.Calls) > 0 || reply.Broken) {
		if l.native = l.native || reply.Written == ""; !l.native {
			r.writers[l.model(r.Model)] = true
		}
	}
	switch {
	case len(reply.Calls) > 0 && (mayCall || !l.mustAnswer && reply.Written == ""):
		l.stalls, l.reminded = 0, false
		l.messages = append(l.messages, message)
		r.plan(l, reply.Calls)
		return
	case l.mustAnswer && (strings.TrimSpace(message.Content) == "" || reply.Broken):
		l.flaw = &flaw{event.FailureModel, fmt.Sprintf("the model gave no answer in %d turns", l.Turns)}
		return
	case strings.TrimSpace(message.Content) == "" && reply.Written == "":
		r.stall(l, "")
		return
	case reply.Broken:
		r.stall(l, "The call in your last reply was not made: it stops in the middle, or repeats the schema of its tool. Make it again, whole, with a value for each argument.")
		return
	case len(reply.Calls) > 0 && !l.mustAnswer:
		r.stall(l, "No tool can be called here. Answer in words, from what you know.")
		return
	case mayCall && l.onlyPromises(reply):
		l.reminded = true
		l.messages = append(l.messages, message, prompt.Remark("Call the tool, do not describe it."))
		return
	case reply.CutOff && l.step != nil:
		r.shorten(l)
		return
	}
	message.Calls = nil
	l.messages = append(l.messages, message)
	if len(l.remarks) > 0 && !l.mustAnswer {
		return // the user has added a remark that this does not answer
	}
	l.answer = &message.Content
}

// shorten asks a sub-agent for a shorter version of an answer that was cut off.
// Later steps cannot rely on half an answer.
func (r dialogue) shorten(l *Loop) {
	if l.stalls++; l.stalls > stallsBorne || l.mustAnswer {
		l.flaw = &flaw{event.FailureModel, "the model's answer was cut off at its maximum length"}
		return
	}
	l.messages = append(l.messages, prompt.Remark("Your last reply was cut off, because it was too long, and was not taken. Answer in fewer words."))
}

// stall asks again after a reply with which nothing can be done. remark says why; "" is
// for one without words.
func (r dialogue) stall(l *Loop, remark string) {
	if l.stalls++; l.stalls > stallsBorne {
		l.flaw = &flaw{event.FailureModel, "the model repeatedly replied with neither text nor a call"}
		return
	}
	if remark == "" {
		r.goOn(l)
		return
	}
	l.messages = append(l.messages, prompt.Remark(remark))
}

// onlyPromises reports whether a reply announces a call and makes none, for the first
// time since the last call. A nil loop has had no reply yet.
func (l *Loop) onlyPromises(said reply.Reply) bool {
	return (l == nil || !l.reminded && !l.mustAnswer) && len(said.Calls) == 0 && reply.Promises(said.Text)
}

// model returns the model of a loop; ofRun is that of the run.
func (l *Loop) model(ofRun string) string { return cmp.Or(l.profile.Model, ofRun) }

// goOn adds the program's turn that continues a loop.
func (r dialogue) goOn(l *Loop) {
	switch {
	case l.step != nil:
		l.messages = append(l.messages, prompt.Reminder(prompt.Brief{Goal: string(r.Goal), Prompting: prompt.Prompting{WritesCalls: r.writers[l.model(r.Model)]}}, l.step.Step, l.turn()))
	case l.stalls > 0:
		l.messages = append(l.messages, prompt.Remark("Your last reply was empty. Answer, or make a call."))
	case l.last():
		l.messages = append(l.messages, prompt.Remark("No further call will be made: answer now, from what you have."))
	}
}

// plan turns the calls that a reply requests into steps.
func (r dialogue) plan(l *Loop, uses []reply.ToolUse) {
	made := min(len(uses), callsPerTurn)
	l.lastCalls, l.droppedCalls = nil, uses[made:]
	for _, use := range uses[:made] {
		c := r.newCall(l, use)
		l.Calls, l.lastCalls = append(l.Calls, c), append(l.lastCalls, c)
	}
	for _, c := range l.lastCalls {
		r.enqueue(c)
	}
}

// newCall returns a step for a call of a loop.
func (r dialogue) newCall(l *Loop, use reply.ToolUse) *StepState {
	parent, length, gate, replanned := prompt.ChatParent, 0.0, false, false
	if l.step != nil {
		parent, length, gate, replanned = l.step.Step.Index, l.step.sched.length, l.step.Step.Gate, l.step.replanned
	}
	number := 1
	if n := len(l.Calls); n > 0 {
		number = l.Calls[n-1].sched.place + 1
	}
	index := fmt.Sprintf("%s.%d", parent, number)
	for r.places != nil && r.planned(index) {
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
	return c
}

// callable returns the tools that the model of a loop may call, except for
// [prompt.FindTool].
func (r *Run) callable(l *Loop) plan.Catalogue {
	if l.step == nil {
		return prompt.ChatTools(r.brief())
	}
	return prompt.AgentTools(r.brief(), l.profile)
}

// briefOf returns the brief for the next turn of a loop.
func (r *Run) briefOf(l *Loop) prompt.Brief {
	b := r.brief()
	b.Found = l.found
	return b
}

// planned reports whether the plan has a step with this index.
func (r dialogue) planned(index string) bool {
	_, ok := r.places[index]
	return ok
}

// settleCall records that an inner call has ended, and tells the model once all
// calls of its reply have.
func (r dialogue) settleCall(c *StepState) {
	l := c.inner.loop
	if c.inner.answered || l == nil {
		return
	}
	c.inner.answered = true
	for _, other := range l.lastCalls {
		if !other.inner.answered {
			return
		}
	}
	if l.misfits++; slices.ContainsFunc(l.lastCalls, func(call *StepState) bool { return call.Failure != event.FailureArgs }) {
		l.misfits = 0
	}
	if l.misfits > misfitsBorne {
		r.writers[l.model(r.Model)] = true
	}
	again := 0
	var seen []prompt.Message // after all answers, as templates expect
	for _, call := range l.lastCalls {
		l.messages = append(l.messages, answered(call))
		if shown, ok := prompt.Pictures(string(call.Step.Title), call.Beside.Attachments); ok {
			seen = append(seen, shown)
		}
		if call.Status == StepCompleted && r.finds(call) {
			l.find(prompt.FoundNames(call.Result))
		}
		if call.author.edits > 0 && call.Status == StepCompleted {
			l.messages = append(l.messages, prompt.Remark("The program notes: the user changed the arguments of your call of "+string(call.Step.Title)+" before it was made, to "+prompt.Text(call.Args)))
		}
		again = max(again, l.callCounts[callKey(call.Step.Tool, call.Args)])
	}
	for _, use := range l.droppedCalls {
		l.messages = append(l.messages, prompt.Answered(use, nil, "", fmt.Sprintf("not made: at most %d calls of one reply are", callsPerTurn), ""))
	}
	l.messages = append(l.messages, seen...)
	if again > 1 {
		l.messages = append(l.messages, prompt.Remark(fmt.Sprintf("The program notes: you have made one of these calls %d times now, with the same arguments. Making it again will not help.", again)))
	}
	r.goOn(l)
	if l.step != nil {
		r.enqueue(l.step)
	}
}

// finds reports whether a call is one of [prompt.FindTool].
func (r *Run) finds(c *StepState) bool { return prompt.IsFindTool(r.facts(c.Step.Tool).Tool) }

// find makes the next turns offer tools.
func (l *Loop) find(names []string) {
	l.found = slices.Concat(names, slices.DeleteFunc(l.found, func(name string) bool { return slices.Contains(names, name) }))
}

// answered returns the message that tells a model the outcome of a call.
func answered(c *StepState) prompt.Message {
	failure := string(c.Error)
	switch {
	case c.Status == StepCompleted:
		failure = ""
	case c.Failure == event.FailureDenied:
		failure = "the user does not allow this call; find another way, or say what would be needed"
	case c.Failure == event.FailureInterrupted:
		failure = "the user cancelled this call"
	}
	return prompt.Answered(c.inner.use, c.Result, string(c.Beside.Text), failure, "the result of step "+c.Step.Index)
}

// dealCall decides what follows from a failed inner call. The model gets the
// error, unless nobody was present to allow the call or the run is stopping.
func (r dialogue) dealCall(c *StepState) {
	switch {
	case c.Failure == event.FailureInterrupted && r.ending != nil:
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
	c.inner.loop.failureCounts[resultKey(c.Step.Tool, string(c.Error))]++
	r.settleCall(c)
}
