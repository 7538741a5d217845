package story

import (
	"cmp"

	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/wording"
)

// models knows whether a model writes an answer, and what the session was told of its models.
type models struct {
	once    *Once
	writing bool // a model writes a turn
}

// tell tells what models are asked and what they write.
func (m *models) tell(at scene, data event.Data) bool {
	switch d := data.(type) {
	case event.PhaseStarted:
		m.tellUntyped(at, d.Request.Untyped)
		at.tell(Lines|Client, Entry{Level: Begins, Words: d.Label, Brief: "planning: " + d.Label})
	case event.PhaseDelta:
		at.tell(Screen, Entry{Kind: Thinking, Phase: d.Phase, Thought: d.Thinking, Text: untrusted.Text(d.Text)})
	case event.PhaseCompleted:
		at.tell(Lines, Entry{Level: Done, Words: d.Label, Facts: []string{spent(d.MS, d.Tokens)}})
		at.tell(Screen, Entry{Kind: ThinkingEnds, Phase: d.Phase, Thought: d.Reply.Thinking})
	case event.PhaseSkipped:
		at.tell(Lines, Entry{Level: Skipped, Words: d.Label + " skipped: " + d.Reason.Line()})
	case event.PhaseFailed:
		e := Entry{Level: Trouble, Words: d.Label + " failed: " + d.Reason.Line()}
		if d.Failure == event.FailureInterrupted {
			e = Entry{Level: Skipped, Words: d.Label + " stopped"}
		}
		at.tell(Lines, e)
		at.tell(Record, Entry{Level: Trouble, Words: "planning failed: " + d.Reason.FirstLine()})
		at.tell(Screen, Entry{Kind: ThinkingEnds, Phase: d.Phase, Thought: d.Reply.Thinking})
	case event.ModelRequested:
		m.tellUnoffered(at, d.Request.Unoffered)
		switch d.Purpose {
		case prompt.PurposeAgent: // its step is announced
		case prompt.PurposeChat:
			m.tellTurn(at, Screen)
		default:
			at.tell(Lines, Entry{Level: Begins, Words: asks(d.Purpose, d.Step)})
		}
	case event.ModelReading:
		m.tellReading(at, d)
	case event.ModelReplied:
		m.tellReply(at, d)
	case event.SynthesisStarted:
		m.tellTurn(at, Lines|Screen)
	case event.SynthesisDelta:
		m.writing = true
		at.tell(Screen, Entry{Kind: TurnText, Text: untrusted.Text(d.Text), Thought: d.Thinking})
	case event.SynthesisCompleted:
		m.tellWritten(at, d)
	case event.RunCompleted:
		m.writing = false
		return false // how it ended is told elsewhere
	default:
		return false
	}
	return true
}

// spent says how long a model took, and how many tokens it read and wrote.
func spent(ms int64, tokens int) string {
	return wording.Milliseconds(ms) + "  " + english.Count(tokens, "token")
}

// tellUntyped tells once which tools a plan may give any arguments.
func (m *models) tellUntyped(at scene, tools []string) {
	if tools = m.once.freshUntyped(tools); len(tools) > 0 {
		words := untypedWords(tools)
		at.tell(Lines|Screen, Entry{Level: Info, Words: english.Capital(words) + ".", Line: words})
	}
}

// tellUnoffered tells once that a window has no room for all tools.
func (m *models) tellUnoffered(at scene, u *prompt.Unoffered) {
	if u == nil || !m.once.isNewCut(*u) {
		return
	}
	words := unofferedWords(*u)
	at.tell(Lines|Screen, Entry{Level: Info, Words: english.Capital(words) + ".", Line: words})
}

// tellTurn tells that a model begins to write.
func (m *models) tellTurn(at scene, to Reader) {
	m.writing = true
	at.tell(to, Entry{Kind: TurnBegins, Level: Begins, Words: "answer"})
}

// tellReading tells how long the model will read.
func (m *models) tellReading(at scene, d event.ModelReading) {
	model := at.run.Model
	if x := wording.Open(at.run); x != nil {
		model = cmp.Or(x.Request.Model, model)
	}
	if words := wording.WillRead(model, d.Forecast); words != "" {
		at.tell(Lines, Entry{Kind: Reading, Level: Begins, Words: words})
	}
}

// tellReply tells that a request outside the planning phases has ended.
func (m *models) tellReply(at scene, d event.ModelReplied) {
	chat := d.Purpose == prompt.PurposeChat
	if chat {
		m.writing = false
		at.tell(Screen, Entry{Kind: TurnEnds, Text: untrusted.Text(d.Reply.Text), Thought: d.Reply.Thinking})
	}
	if d.Error != "" && !at.run.Paused {
		at.tell(Screen, Entry{Level: Trouble, Words: d.Error.Visible()})
	}
	name := asks(d.Purpose, d.Step)
	switch {
	case d.Failure == event.FailureInterrupted:
		at.tell(Lines, Entry{Level: Skipped, Words: name + " stopped"})
	case d.Error != "":
		at.tell(Lines, Entry{Level: Trouble, Words: name + " failed: " + d.Error.Line()})
	case d.Purpose == prompt.PurposeAgent: // its calls are told
	case chat:
		if d.Reply.Text != "" && len(d.Reply.Calls) > 0 {
			at.tell(Lines, Entry{Kind: TurnText, Text: untrusted.Text(d.Reply.Text)})
		}
	default:
		at.tell(Lines, Entry{Level: Done, Words: name, Facts: []string{spent(d.MS, d.PromptTokens+d.CompletionTokens)}})
	}
}

// tellWritten tells that an answer is written, and what it lacks. The line log tells
// answers when their run ends.
func (m *models) tellWritten(at scene, d event.SynthesisCompleted) {
	if at.run.Synthesis.Again() && m.writing {
		at.tell(Screen, Entry{Kind: TurnWithdrawn}) // the next reply takes the place of this one
		return
	}
	m.writing = false
	at.tell(Screen, Entry{Kind: TurnEnds, Text: d.Text, Thought: d.Reply.Thinking})
	switch {
	case d.Error == "" && d.Reply.CutOff:
		at.tell(Screen, Entry{Level: Warn, Words: cutOffWords(at.run)})
	case d.Error == "":
	case d.Text != "":
		at.tell(Screen, Entry{Level: Warn, Words: "The answer was cut off: " + d.Error.Visible()})
	case !at.run.Paused:
		at.tell(Screen, Entry{Level: Warn, Words: "No answer could be written: " + d.Error.Visible(), ends: d.Error})
	}
}

// asks describes the request to a model.
func asks(purpose prompt.Purpose, step string) string {
	switch {
	case purpose == prompt.PurposeAgent:
		return "turn of step " + step
	case step != "":
		return "arguments of step " + step
	case purpose == prompt.PurposeTools:
		return "choice of tools"
	default:
		return string(purpose)
	}
}
