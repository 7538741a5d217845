package agent

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"replan/agent/event"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

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
	flaw          flaw             // set when the loop fails
	pausedFor     time.Duration    // how long its clock was paused in all
	pausedSince   time.Time        // since when the clock is paused; zero if it runs
	mustAnswer    bool             // the requested turn must be an answer
}

// Bounds of a loop that a profile does not set.
const (
	maxStalls    = 2 // consecutive replies without text or call; the next one ends the loop
	callsPerTurn = 16
	maxMisfits   = 1 // consecutive replies whose calls fit no tool; the next one puts a format in place of calls
)

// promptContext is what the reminders to a model depend on, besides the loop.
type promptContext struct {
	goal        string
	writesCalls bool // a format holds its calls, in place of tools
}

// newLoop starts the conversation of a step, or of the chat if s is nil. planner makes the
// sub-agent's own plan; nil if it makes none.
func newLoop(s *StepState, profile prompt.Profile, planner planning.Planner) *Loop {
	l := &Loop{step: s, profile: profile, planner: planner, callCounts: map[string]int{}, failureCounts: map[string]int{}}
	if s != nil && s.Loop != nil {
		l.Calls = s.Loop.Calls // of an earlier attempt, kept for display
	}
	return l
}

// copyTo returns a copy of the loop as that of another step, with its calls. was is the
// index of the step that it belonged to.
func (l *Loop) copyTo(s *StepState, oldIndex string) *Loop {
	loop := *l
	loop.step, loop.Calls = s, make([]*StepState, len(l.Calls))
	for i, c := range l.Calls {
		loop.Calls[i] = c.copyTo(s.Step.Index, oldIndex)
	}
	return &loop
}

// over reports whether the loop has succeeded or failed.
func (l *Loop) over() bool { return l.answer != nil || l.flaw.kind != "" }

// ended returns the answer of a loop that is over, or how it failed.
func (l *Loop) ended() (answer string, failed flaw) {
	if l.flaw.kind != "" || l.answer == nil {
		return "", l.flaw
	}
	return *l.answer, flaw{}
}

// fail ends the loop.
func (l *Loop) fail(kind event.FailureKind, sentence string) { l.flaw = flaw{kind, sentence} }

// stepOf returns the step of a sub-agent; nil for the chat.
func (l *Loop) stepOf() *StepState { return l.step }

// agentStep returns the view of that step; nil for the chat.
func (l *Loop) agentStep() stepView {
	if l.step == nil {
		return nil
	}
	return l.step
}

// calls returns the calls so far, oldest first.
func (l *Loop) calls() iter.Seq[stepView] { return slices.Values(viewsOf(l.Calls)) }

// tokens returns the tokens of all replies.
func (l *Loop) tokens() int { return l.Tokens }

// viewOfLoop returns the view of a loop; nil for none.
func viewOfLoop(l *Loop) loopView {
	if l == nil {
		return nil
	}
	return l
}

// profileOf returns the profile of a sub-agent. Its model is empty if it has none of its own.
func (l *Loop) profileOf() prompt.Profile { return l.profile }

// model returns the model of a loop; ofRun is that of the run.
func (l *Loop) model(ofRun string) string { return cmp.Or(l.profile.Model, ofRun) }

// foundTools returns the names of the tools that the model has found.
func (l *Loop) foundTools() []string { return l.found }

// idle reports whether nothing is under way: the next turn can be asked for.
func (l *Loop) idle() bool {
	return !l.Asking && !l.over() && l.allAnswered()
}

// allAnswered reports whether the model knows the outcome of all calls of its newest reply.
func (l *Loop) allAnswered() bool {
	return !slices.ContainsFunc(l.lastCalls, func(c *StepState) bool { return !c.inner().isAnswered() })
}

// last reports whether the next turn must be an answer.
func (l *Loop) last() bool {
	return l.Turns+1 >= l.profile.Turns() || l.profile.MaxTokens > 0 && l.Tokens >= l.profile.MaxTokens
}

// turn returns the next turn.
func (l *Loop) turn() prompt.Turn {
	return prompt.Turn{Number: l.Turns + 1, Last: l.last(), Outline: l.outline}
}

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

// request records that the next turn was requested, with the user's remarks.
func (l *Loop) request(now time.Time) {
	l.Asking, l.mustAnswer = true, l.last()
	l.clock(now)
	l.messages = append(l.messages, l.newRemarks()...)
	l.remarks = nil
}

// conversation returns the messages of the next turn.
func (l *Loop) conversation() []prompt.Message {
	return append(slices.Clone(l.messages), l.newRemarks()...)
}

// stalled reports whether the last reply was useless: a model that got stuck thinking
// should answer now.
func (l *Loop) stalled() bool { return l.stalls > 0 }

// planRequest returns the next request of the sub-agent's own planning.
func (l *Loop) planRequest() (request prompt.Request, plans bool) {
	if l.planner == nil {
		return prompt.Request{}, false
	}
	request, _ = l.planner.Next()
	return request, true
}

// replied counts the reply to a turn.
func (l *Loop) replied(r reply.Reply, now time.Time) {
	l.Asking = false
	l.clock(now)
	l.Tokens += r.PromptTokens + r.CompletionTokens
}

// ownPlan takes a reply to the planning of a sub-agent. The plan is an outline for the
// sub-agent itself; without one it continues anyway. stopping says that the run ends.
func (l *Loop) ownPlan(d event.ModelReplied, stopping bool) {
	switch {
	case d.Failure == event.FailureInterrupted && stopping:
		return
	case d.Failure == event.FailureInterrupted:
		l.fail(event.FailureInterrupted, string(d.Error))
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

// noReply handles a turn without a reply. stopping says that the run ends: a resume asks again.
func (l *Loop) noReply(d event.ModelReplied, stopping bool, p promptContext) {
	switch {
	case d.Failure == event.FailureInterrupted && stopping:
	case d.Failure == event.FailureInterrupted:
		l.fail(event.FailureInterrupted, string(d.Error))
	case d.Failure == event.FailureTooLong:
		l.fail(event.FailureModel, string(d.Error))
	case l.stalls >= maxStalls || d.Failure == event.FailureTimeout:
		l.fail(d.Failure, string(d.Error))
	default:
		l.stalls++
		l.addContinuation(p)
	}
}

// writesCallsAsText reports whether a reply shows that the model writes its calls as text.
func (l *Loop) writesCallsAsText(modelReply reply.Reply, mayCall bool) bool {
	if l.mustAnswer || !mayCall || len(modelReply.Calls) == 0 && !modelReply.Broken {
		return false
	}
	l.native = l.native || modelReply.Written == ""
	return !l.native
}

// readReply handles a reply: it takes the answer, or returns the calls that are requested. mayCall
// says that there are tools to call.
func (l *Loop) readReply(modelReply reply.Reply, mayCall bool, p promptContext) []reply.ToolUse {
	l.Turns++
	l.Text = modelReply.Text
	message := prompt.ReplyMessage(modelReply)
	mayCall = mayCall && !l.mustAnswer
	switch {
	case len(modelReply.Calls) > 0 && (mayCall || !l.mustAnswer && modelReply.Written == ""):
		l.stalls, l.reminded = 0, false
		l.messages = append(l.messages, message)
		return modelReply.Calls
	case l.mustAnswer && (strings.TrimSpace(message.Content) == "" || modelReply.Broken):
		l.fail(event.FailureModel, fmt.Sprintf("the model gave no answer in %d turns", l.Turns))
		return nil
	case strings.TrimSpace(message.Content) == "" && modelReply.Written == "":
		l.stall("", p)
		return nil
	case modelReply.Broken:
		l.stall("The call in your last reply was not made: it stops in the middle, or repeats the schema of its tool. Make it again, whole, with a value for each argument.", p)
		return nil
	case len(modelReply.Calls) > 0 && !l.mustAnswer:
		l.stall("No tool can be called here. Answer in words, from what you know.", p)
		return nil
	case mayCall && l.onlyPromises(modelReply):
		l.reminded = true
		l.messages = append(l.messages, message, prompt.Remark("Call the tool, do not describe it."))
		return nil
	case modelReply.CutOff && l.step != nil:
		l.shorten()
		return nil
	}
	message.Calls = nil
	l.messages = append(l.messages, message)
	if len(l.remarks) > 0 && !l.mustAnswer {
		return nil // the user has added a remark that this does not answer
	}
	l.answer = &message.Content
	return nil
}

// shorten asks a sub-agent for a shorter version of an answer that was cut off.
// Later steps cannot rely on half an answer.
func (l *Loop) shorten() {
	if l.stalls++; l.stalls > maxStalls || l.mustAnswer {
		l.fail(event.FailureModel, "the model's answer was cut off at its maximum length")
		return
	}
	l.messages = append(l.messages, prompt.Remark("Your last reply was cut off, because it was too long, and was not taken. Answer in fewer words."))
}

// stall asks again after a reply with which nothing can be done. remark says why; "" is
// for one without words.
func (l *Loop) stall(remark string, p promptContext) {
	if l.stalls++; l.stalls > maxStalls {
		l.fail(event.FailureModel, "the model repeatedly replied with neither text nor a call")
		return
	}
	if remark == "" {
		l.addContinuation(p)
		return
	}
	l.messages = append(l.messages, prompt.Remark(remark))
}

// mayStall reports whether the loop survives one more useless reply.
func (l *Loop) mayStall() bool { return l.stalls < maxStalls }

// onlyPromises reports whether a reply announces a call and makes none, for the first
// time since the last call. A nil loop has had no reply yet.
func (l *Loop) onlyPromises(modelReply reply.Reply) bool {
	return (l == nil || !l.reminded && !l.mustAnswer) && len(modelReply.Calls) == 0 && reply.Promises(modelReply.Text)
}

// addContinuation adds the program's turn that continues a loop.
func (l *Loop) addContinuation(p promptContext) {
	switch {
	case l.step != nil:
		l.messages = append(l.messages, prompt.Reminder(prompt.Brief{Goal: p.goal, Prompting: prompt.Prompting{WritesCalls: p.writesCalls}}, l.step.Step, l.turn()))
	case l.stalls > 0:
		l.messages = append(l.messages, prompt.Remark("Your last reply was empty. Answer, or make a call."))
	case l.last():
		l.messages = append(l.messages, prompt.Remark("No further call will be made: answer now, from what you have."))
	}
}

// plan plans the calls that a reply requests; newCall makes the step of one.
func (l *Loop) plan(uses []reply.ToolUse, newCall func(reply.ToolUse) *StepState) []*StepState {
	count := min(len(uses), callsPerTurn)
	l.lastCalls, l.droppedCalls = nil, uses[count:]
	for _, use := range uses[:count] {
		c := newCall(use)
		l.Calls, l.lastCalls = append(l.Calls, c), append(l.lastCalls, c)
	}
	return l.lastCalls
}

// nextNumber returns the number of the next call.
func (l *Loop) nextNumber() int {
	if n := len(l.Calls); n > 0 {
		return l.Calls[n-1].number() + 1
	}
	return 1
}

// misfit notes whether any call of the newest reply fits a tool. It reports whether so few
// do that a format must hold the calls of the model.
func (l *Loop) misfit() bool {
	if l.misfits++; slices.ContainsFunc(l.lastCalls, func(call *StepState) bool { return call.Failure != event.FailureArgs }) {
		l.misfits = 0
	}
	return l.misfits > maxMisfits
}

// reportOutcomes tells the model the outcomes of all calls of its newest reply.
func (l *Loop) reportOutcomes(p promptContext) {
	repeats := 0
	var pictures []prompt.Message // after all answers, as templates expect
	for _, call := range l.lastCalls {
		l.messages = append(l.messages, call.answerToModel())
		if shown, ok := prompt.Pictures(string(call.Step.Title), call.Beside.Attachments); ok {
			pictures = append(pictures, shown)
		}
		l.find(call.foundTools())
		if call.author().edits() > 0 && call.Status == StepCompleted {
			l.messages = append(l.messages, prompt.Remark("The program notes: the user changed the arguments of your call of "+string(call.Step.Title)+" before it was made, to "+prompt.Text(call.Args)))
		}
		repeats = max(repeats, l.timesMade(call.Step.Tool, call.Args))
	}
	for _, use := range l.droppedCalls {
		l.messages = append(l.messages, prompt.Answered(use, nil, "", fmt.Sprintf("not made: at most %d calls of one reply are", callsPerTurn), ""))
	}
	l.messages = append(l.messages, pictures...)
	if repeats > 1 {
		l.messages = append(l.messages, prompt.Remark(fmt.Sprintf("The program notes: you have made one of these calls %d times now, with the same arguments. Making it again will not help.", repeats)))
	}
	l.addContinuation(p)
}

// find makes the next turns offer tools.
func (l *Loop) find(names []string) {
	if len(names) == 0 {
		return
	}
	l.found = slices.Concat(names, slices.DeleteFunc(l.found, func(name string) bool { return slices.Contains(names, name) }))
}

// countCall counts a call.
func (l *Loop) countCall(tool string, args map[string]any) { l.callCounts[callKey(tool, args)]++ }

// uncountCall takes a call back: nothing was done.
func (l *Loop) uncountCall(tool string, args map[string]any) { l.callCounts[callKey(tool, args)]-- }

// timesMade returns how often a call was made.
func (l *Loop) timesMade(tool string, args map[string]any) int {
	return l.callCounts[callKey(tool, args)]
}

// failed counts how a call failed.
func (l *Loop) failed(c *StepState) { l.failureCounts[resultKey(c.Step.Tool, string(c.Error))]++ }

// timesFailed returns how often a call failed like this one.
func (l *Loop) timesFailed(c *StepState) int {
	return l.failureCounts[resultKey(c.Step.Tool, string(c.Error))]
}

// failsAgain returns a call of the newest reply that failed as most calls or more did, and how
// many; nil for none.
func (l *Loop) failsAgain(most int) (call stepView, times int) {
	for _, c := range l.lastCalls {
		if times := l.timesFailed(c); c.Status == StepFailed && times >= most {
			return c, times
		}
	}
	return nil, 0
}

// newestCalls returns the calls of the newest reply.
func (l *Loop) newestCalls() []*StepState { return l.lastCalls }

// remark adds remarks of the user for the next turn.
func (l *Loop) remark(texts ...string) { l.remarks = append(l.remarks, texts...) }

// unreadRemarks returns the user's remarks that the model has not seen.
func (l *Loop) unreadRemarks() []string { return l.remarks }

// takeUnreadRemarks returns those remarks, for whoever continues.
func (l *Loop) takeUnreadRemarks() []string {
	texts := l.remarks
	l.remarks = nil
	return texts
}

// continueAfterRemark continues after an answer, since the user has made a remark.
func (l *Loop) continueAfterRemark(modelReply reply.Reply) {
	l.Turns++
	l.messages = append(l.messages, prompt.ReplyMessage(modelReply))
}

// newRemarks returns the user's remarks since the last turn.
func (l *Loop) newRemarks() []prompt.Message {
	out := make([]prompt.Message, 0, len(l.remarks)+1)
	for _, text := range l.remarks {
		if l.step != nil {
			text = "The user says: " + text
		}
		out = append(out, prompt.Remark(text))
	}
	return out
}

// interrupt drops the request of a turn, whose reply will never come.
func (l *Loop) interrupt() { l.Asking = false }

// resume continues an interrupted loop from its last reply. The time in between does not
// count, and the time limit restarts.
func (l *Loop) resume(now time.Time) {
	l.Asking, l.pausedFor, l.pausedSince = false, 0, time.Time{}
	l.clock(now)
}

// takeUp lets a conversation that had failed continue.
func (l *Loop) takeUp() {
	if l == nil || l.flaw.kind == "" {
		return
	}
	l.flaw, l.stalls, l.mustAnswer = flaw{}, 0, false
	l.messages = append(l.messages, prompt.Remark("The conversation continues."))
}

// waits reports whether a call of the loop waits for the user.
func (l *Loop) waits() bool {
	return slices.ContainsFunc(l.lastCalls, func(c *StepState) bool { return c.Status == StepWaiting || c.awaitsAnswer() })
}

// clockPaused reports whether the clock of the time limit is paused. A call waits for the
// user or, if no limit is set, the model works. Its requests have limits that
// follow the machine, and the number of turns is bounded.
func (l *Loop) clockPaused() bool { return l.waits() || l.Asking && l.ownLimit() == 0 }

// clock measures how long the clock is paused; simultaneous gates count once.
func (l *Loop) clock(now time.Time) {
	switch paused := l.clockPaused(); {
	case paused && l.pausedSince.IsZero():
		l.pausedSince = now
	case !paused && !l.pausedSince.IsZero():
		l.pausedFor, l.pausedSince = l.pausedFor+now.Sub(l.pausedSince), time.Time{}
	}
}

// timer returns the id of the timer for the time limit of an agent step.
func (l *Loop) timer() string { return fmt.Sprintf("agent/%s/%d", l.step.Step.Index, l.step.Attempt) }

// deadline returns the end of the time limit of an agent step.
func (l *Loop) deadline() time.Time { return l.step.StartedAt.Add(l.limit() + l.pausedFor) }

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

// plansUnderWay reports whether a call of the newest reply runs a plan.
func (l *Loop) plansUnderWay(tool func(string) plan.Tool) bool {
	return l != nil && slices.ContainsFunc(l.lastCalls, func(c *StepState) bool {
		return c.Status == StepRunning && prompt.IsPlanTool(tool(c.Step.Tool))
	})
}
