package agent

import (
	"fmt"
	"strings"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Action is one thing that may be done now. Record, if any, is written and
// applied before Effect is executed.
type Action struct {
	Record event.Data // nil for effects that Next may return again until their event comes
	Effect Effect     // nil if the record is the whole action
}

// Effect is work for the runner: a call that reports its outcome as an event.
type Effect interface {
	// Once returns a key for an effect that Next repeats until its event comes,
	// so that the runner executes it only once. It returns "" for an effect that
	// Next returns once.
	Once() string
}

// CallModel sends a request to the model.
type CallModel struct {
	Request prompt.Request
	Index   string // the step to execute; "" for planning, synthesis and chat
	Attempt int
	Timeout time.Duration // 0 if the step has no timeout of its own
	Again   bool          // a plan already exists, so no step of the reply is a draft
	Tools   plan.Offer    // by whose names calls in the text of the reply are known, see prompt.ReadReply
}

// CallTool calls a tool for a step.
type CallTool struct {
	Index   string
	Attempt int
	Tool    plan.Tool
	Args    map[string]any
	Hashes  map[string]string // file hashes shown at its gate, see plan.ToolCall
	Diff    string            // shown at its gate
	Command *plan.Command     // shown at its gate
	Hold    bool              // its changes were not shown yet, see plan.ToolCall
	Paths   map[string]string // judged in place of its paths, see plan.ToolCall
	Timeout time.Duration
	Limit   string // whose limit Timeout is, in a few words
}

// CallPlan makes a plan, runs one, or both, on request of the model in chat. Its
// outcome is the StepCompleted or StepFailed of the call, with the id and the
// usage of the run.
type CallPlan struct {
	Index   string
	Attempt int
	Tool    plan.Tool // one of prompt.PlanTools
	Args    map[string]any
	Limits  event.Limits // what remains of the budget of the calling run
	Run     string       // already started by the call when it was interrupted; "" starts a new run
	Used    event.Usage  // of that run so far, already subtracted from Limits
}

// OpenGate does a dry run of a call, if its tool supports that, and then asks the
// user. Next returns it until the gate.requested (or step.failed) event comes;
// the runner executes it once per gate id.
type OpenGate struct {
	Gate    event.GateRequested // without diff and hashes
	Attempt int
	Tool    plan.Tool
}

// Wake asks for a timer.fired event at the given time. Next returns it until
// then; the runner keeps one timer per id.
type Wake struct {
	ID string
	At time.Time
}

// Once returns "": the record of the call keeps Next from returning it again.
func (CallModel) Once() string { return "" }

// Once returns "": the record of the call keeps Next from returning it again.
func (CallTool) Once() string { return "" }

// Once returns "": the record of the call keeps Next from returning it again.
func (CallPlan) Once() string { return "" }

// Once returns the key of the gate.
func (g OpenGate) Once() string { return "gate/" + g.Gate.Gate }

// Once returns the key of the timer.
func (w Wake) Once() string { return "timer/" + w.ID }

// Delta returns the event for a streamed piece of the reply, or nil if it
// would not be shown.
func (c CallModel) Delta(text, thinking string) event.Data {
	switch phase := c.phase(); {
	case c.inLoop() && len(c.Request.Format) > 0:
		return nil // pieces of JSON, which are no text for people
	case phase > 0:
		return event.PhaseDelta{Phase: phase, Text: text, Thinking: thinking}
	case c.Index == "" && c.Request.Purpose == prompt.PurposeReplan:
		return event.ReplanDelta{Text: text, Thinking: thinking}
	case c.Index != "" && c.speaks():
		return event.StepOutput{Index: c.Index, Chunk: text}
	case c.Request.Purpose == prompt.PurposeSynthesis, c.Request.Purpose == prompt.PurposeChat:
		return event.SynthesisDelta{Text: text, Thinking: thinking}
	default:
		return nil
	}
}

// Reading returns the event for a prompt that the model begins to read.
func (c CallModel) Reading(f pace.Forecast) event.ModelReading {
	return event.ModelReading{Purpose: c.Request.Purpose, Step: c.Request.Step, Attempt: c.Attempt, Forecast: f}
}

// Drafts reports whether the reply streams whole plan steps, each of which is
// reported as plan.drafting.
func (c CallModel) Drafts() bool {
	if c.Index != "" || c.Again {
		return false // steps of a sub-agent's own plan are not executed
	}
	switch c.Request.Purpose {
	case prompt.PurposePlan, prompt.PurposeAnalysis, prompt.PurposeRepair:
		return true
	default:
		return false
	}
}

// phase returns the planning phase of the call, or 0 if it belongs to none. A
// sub-agent's planning does not count as a phase of the run.
func (c CallModel) phase() int {
	if c.Index != "" {
		return 0
	}
	return c.Request.Purpose.Phase()
}

// inLoop reports whether the reply is a turn of a sub-agent or of the chat.
func (c CallModel) inLoop() bool {
	return c.Request.Purpose == prompt.PurposeAgent || c.Request.Purpose == prompt.PurposeChat
}

// speaks reports whether the reply is, or leads to, the text of the step.
func (c CallModel) speaks() bool {
	return c.Request.Purpose == prompt.PurposeStep || c.Request.Purpose == prompt.PurposeAgent
}

// Replied returns the event for a complete reply.
func (c CallModel) Replied(reply reply.Reply) event.Data {
	reply = prompt.ReadReply(c.Request, c.Tools, reply)
	switch phase := c.phase(); {
	case phase > 0:
		return event.PhaseCompleted{
			Phase: phase, Label: string(c.Request.Purpose), Reply: reply,
			Tokens: reply.PromptTokens + reply.CompletionTokens, MS: reply.MS,
		}
	case c.Index != "" && c.Request.Purpose == prompt.PurposeStep:
		return c.wrote(reply)
	case c.Request.Purpose == prompt.PurposeSynthesis, c.Request.Purpose == prompt.PurposeChat && len(reply.Calls) == 0 && !reply.Broken:
		if called := c.noProse(reply); called != "" {
			return event.SynthesisCompleted{Error: untrusted.Text(called), Reply: reply}
		}
		return event.SynthesisCompleted{Text: untrusted.Text(prompt.ReplyMessage(reply).Content), Reply: reply}
	default:
		return event.ModelReplied{
			Purpose: c.Request.Purpose, Step: c.Request.Step, Attempt: c.Attempt, Reply: reply,
			PromptTokens: reply.PromptTokens, CompletionTokens: reply.CompletionTokens,
			ContextWindow: reply.ContextWindow, MS: reply.MS,
		}
	}
}

// noProse says why a reply in prose, for which nothing can be called, is none: it is a
// call, a plan or the request. It returns "" for prose.
func (c CallModel) noProse(modelReply reply.Reply) string {
	if c.inLoop() {
		return "" // they are made
	}
	if prompt.Repeats(c.Request, modelReply.Text) {
		return "the model repeated the request in place of an answer"
	}
	if reply.IsPlan(modelReply.Text) {
		return "the model's reply was a plan in place of text"
	}
	w := reply.ReadCalls(modelReply.Text, c.Tools, modelReply.CutOff)
	if len(w.Calls) == 0 || w.Text != "" {
		return ""
	}
	return "the model's reply was a call of " + w.Calls[0].Name + " in place of text"
}

// wrote returns the event for a step that the model answers in text. Later steps
// rely on that text, so an empty or truncated reply is a failure.
func (c CallModel) wrote(reply reply.Reply) event.Data {
	message := prompt.ReplyMessage(reply).Content
	failed := event.StepFailed{Index: c.Index, Attempt: c.Attempt, Failure: event.FailureModel, MS: reply.MS, Reply: &reply}
	called := ""
	if len(c.Request.Format) == 0 {
		called = c.noProse(reply)
	}
	switch {
	case strings.TrimSpace(message) == "":
		failed.Error = "the model's reply was empty"
		return failed
	case called != "":
		failed.Error = untrusted.Text(called)
		return failed
	case reply.CutOff:
		failed.Error = untrusted.Text(fmt.Sprintf("the reply was cut off after the %d tokens that it may have", c.Request.MaxTokens))
		return failed
	default:
		return event.StepCompleted{
			Index: c.Index, Attempt: c.Attempt, Result: message, MS: reply.MS,
			Tokens: reply.PromptTokens + reply.CompletionTokens,
			Reply:  &reply,
		}
	}
}

// Failed returns the event for an incomplete reply. partial holds what had
// streamed in so far; its MS is the time waited.
func (c CallModel) Failed(kind event.FailureKind, sentence string, partial reply.Reply) event.Data {
	if c.inLoop() && len(c.Request.Format) > 0 {
		partial = prompt.ReadReply(c.Request, c.Tools, partial)
		partial.Calls, partial.Broken = nil, false // of half a reply
	}
	switch phase := c.phase(); {
	case phase > 0:
		return event.PhaseFailed{Phase: phase, Label: string(c.Request.Purpose), Reason: untrusted.Text(sentence), Failure: kind, Reply: partial}
	case c.Index != "" && c.Request.Purpose == prompt.PurposeStep:
		if kind == event.FailureTooLong {
			kind = event.FailureModel
		}
		return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: untrusted.Text(sentence), Failure: kind, MS: partial.MS, Reply: &partial}
	case c.Request.Purpose == prompt.PurposeSynthesis, c.Request.Purpose == prompt.PurposeChat:
		return event.SynthesisCompleted{Text: untrusted.Text(prompt.ReplyMessage(partial).Content), Error: untrusted.Text(sentence), Reply: partial}
	default:
		return event.ModelReplied{
			Purpose: c.Request.Purpose, Step: c.Request.Step, Attempt: c.Attempt, Reply: partial,
			Error: untrusted.Text(sentence), Failure: kind, MS: partial.MS,
		}
	}
}

// mayEnd reports whether nothing new may start after this action is applied.
func (a Action) mayEnd() bool {
	switch a.Record.(type) {
	case event.StepFailed, event.GuardBlocked:
		return true
	default:
		return false
	}
}

// blocks reports whether this is a guard ending the run.
func (a Action) blocks() bool {
	_, blocked := a.Record.(event.GuardBlocked)
	return blocked
}

// list turns nil into an empty list, so that JSON shows [] and not null.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
