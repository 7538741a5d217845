package agent

import (
	"fmt"
	"strings"
	"time"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Action is one thing that may be done now. Record, where there is one, is
// written and applied before Effect is carried out.
type Action struct {
	Record event.Data // nil for effects that may be asked for again until their event comes
	Effect Effect     // nil where the record is all there is to do
}

// Effect is work for the runner: a call whose outcome comes back as an event.
type Effect interface {
	// Once names an effect that Next returns again until its event comes, so
	// that it is carried out once alone; "" for one that is returned once.
	Once() string
}

// CallModel puts a request to the model.
type CallModel struct {
	Request prompt.Request
	Index   string // the step it carries out; "" for planning, synthesis and chat
	Attempt int
	Timeout time.Duration // 0 means none of the step's own
	Again   bool          // a plan is there already: no step of the reply is a draft
}

// CallTool calls a tool for a step.
type CallTool struct {
	Index   string
	Attempt int
	Tool    plan.Tool
	Args    map[string]any
	Hashes  map[string]string // what its gate was shown, see plan.ToolCall
	Diff    string            // what its gate showed
	Hold    bool              // nobody has seen what it would change, see plan.ToolCall
	Timeout time.Duration
}

// CallPlan makes a plan, runs one, or both, for the model that asked for it in
// chat. What comes of it is the StepCompleted or StepFailed of the call, with the
// id of the run that it was and what that used.
type CallPlan struct {
	Index   string
	Attempt int
	Tool    plan.Tool // one of prompt.PlanTools
	Args    map[string]any
	Limits  event.Limits // what is left of the account of the run that asks
	Run     string       // that the call had started already when it was cut off; "" starts one
	Used    event.Usage  // what that run has been counted with so far, which Limits leaves out
}

// OpenGate applies a call dry, where its tool can do that, and then asks. It is
// returned until the gate.requested (or step.failed) event comes; the runner
// does it once for each gate id.
type OpenGate struct {
	Gate    event.GateRequested // without diff and hashes
	Attempt int
	Tool    plan.Tool
}

// Wake asks for a timer.fired event at a time. It is returned until then; the
// runner keeps one timer for each id.
type Wake struct {
	ID string
	At time.Time
}

// Once is empty: the record of the call keeps it from being returned again.
func (CallModel) Once() string { return "" }

// Once is empty: the record of the call keeps it from being returned again.
func (CallTool) Once() string { return "" }

// Once is empty: the record of the call keeps it from being returned again.
func (CallPlan) Once() string { return "" }

// Once names the gate.
func (g OpenGate) Once() string { return "gate/" + g.Gate.Gate }

// Once names the timer.
func (w Wake) Once() string { return "timer/" + w.ID }

// Delta is the event for a piece of the reply that has streamed in; nil where
// nobody would show it.
func (c CallModel) Delta(text, thinking string) event.Data {
	switch phase := c.phase(); {
	case phase > 0:
		return event.PhaseDelta{Phase: phase, Text: text, Thinking: thinking}
	case c.Index != "" && c.speaks():
		return event.StepOutput{Index: c.Index, Chunk: text}
	case c.Request.Purpose == prompt.PurposeSynthesis, c.Request.Purpose == prompt.PurposeChat:
		return event.SynthesisDelta{Text: text, Thinking: thinking}
	default:
		return nil
	}
}

// Drafts reports whether whole steps of a plan stream in with the reply, each
// to be told as plan.drafting.
func (c CallModel) Drafts() bool {
	if c.Index != "" || c.Again {
		return false // of a sub-agent's own plan no step is carried out
	}
	switch c.Request.Purpose {
	case prompt.PurposePlan, prompt.PurposeAnalysis, prompt.PurposeRepair:
		return true
	default:
		return false
	}
}

// phase is the phase of the run's planning that the call is, 0 where it is none:
// a sub-agent's planning is its own affair.
func (c CallModel) phase() int {
	if c.Index != "" {
		return 0
	}
	return c.Request.Purpose.Phase()
}

// speaks reports whether the reply is the step's own words, or on the way there.
func (c CallModel) speaks() bool {
	return c.Request.Purpose == prompt.PurposeStep || c.Request.Purpose == prompt.PurposeAgent
}

// Replied is the event for a whole reply.
func (c CallModel) Replied(reply reply.Reply) event.Data {
	switch phase := c.phase(); {
	case phase > 0:
		return event.PhaseCompleted{
			Phase: phase, Label: string(c.Request.Purpose), Reply: reply,
			Tokens: reply.PromptTokens + reply.CompletionTokens, MS: reply.MS,
		}
	case c.Index != "" && c.Request.Purpose == prompt.PurposeStep:
		return c.wrote(reply)
	case c.Request.Purpose == prompt.PurposeSynthesis, c.Request.Purpose == prompt.PurposeChat && len(reply.Calls) == 0:
		return event.SynthesisCompleted{Text: prompt.Said(reply).Content, Reply: reply}
	default:
		return event.ModelReplied{
			Purpose: c.Request.Purpose, Step: c.Request.Step, Attempt: c.Attempt, Reply: reply,
			PromptTokens: reply.PromptTokens, CompletionTokens: reply.CompletionTokens,
			ContextWindow: reply.ContextWindow, MS: reply.MS,
		}
	}
}

// wrote is the event for a step in the model's own words. Later steps go by
// them, so that nothing, and half of something, is no result.
func (c CallModel) wrote(reply reply.Reply) event.Data {
	said := prompt.Said(reply).Content
	failed := event.StepFailed{Index: c.Index, Attempt: c.Attempt, Failure: event.FailureModel, MS: reply.MS, Reply: &reply}
	switch {
	case strings.TrimSpace(said) == "":
		failed.Error = "the model said nothing"
		return failed
	case reply.CutOff:
		failed.Error = fmt.Sprintf("the reply was cut off after the %d tokens that it may have", c.Request.MaxTokens)
		return failed
	default:
		return event.StepCompleted{
			Index: c.Index, Attempt: c.Attempt, Result: said, MS: reply.MS,
			Tokens: reply.PromptTokens + reply.CompletionTokens,
			Reply:  &reply,
		}
	}
}

// Failed is the event for a reply that did not come whole: partial is what had
// streamed in by then, its MS how long it was waited for.
func (c CallModel) Failed(kind event.FailureKind, sentence string, partial reply.Reply) event.Data {
	switch phase := c.phase(); {
	case phase > 0:
		return event.PhaseFailed{Phase: phase, Label: string(c.Request.Purpose), Reason: sentence, Failure: kind, Reply: partial}
	case c.Index != "" && c.Request.Purpose == prompt.PurposeStep:
		return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: sentence, Failure: kind, MS: partial.MS, Reply: &partial}
	case c.Request.Purpose == prompt.PurposeSynthesis, c.Request.Purpose == prompt.PurposeChat:
		return event.SynthesisCompleted{Text: prompt.Said(partial).Content, Error: sentence, Reply: partial}
	default:
		return event.ModelReplied{
			Purpose: c.Request.Purpose, Step: c.Request.Step, Attempt: c.Attempt, Reply: partial,
			Error: sentence, Failure: kind, MS: partial.MS,
		}
	}
}
