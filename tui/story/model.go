package story

import (
	"cmp"

	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/wording"
)

// tellModel tells what models are asked and what they write.
func (s *Story) tellModel(data event.Data) bool {
	switch d := data.(type) {
	case event.PhaseStarted:
		s.tellUntyped(d.Request.Untyped)
		s.tell(Lines|Client, Entry{Level: Begins, Words: d.Label, Brief: "planning: " + d.Label})
	case event.PhaseDelta:
		s.tell(Screen, Entry{Kind: Thinking, Phase: d.Phase, Thought: d.Thinking, Text: untrusted.Text(d.Text)})
	case event.PhaseCompleted:
		s.tell(Lines, Entry{Level: Done, Words: d.Label, Facts: []string{spent(d.MS, d.Tokens)}})
		s.tell(Screen, Entry{Kind: ThinkingEnds, Phase: d.Phase, Thought: d.Reply.Thinking})
	case event.PhaseSkipped:
		s.tell(Lines, Entry{Level: Skipped, Words: d.Label + " skipped: " + d.Reason.Line()})
	case event.PhaseFailed:
		e := Entry{Level: Trouble, Words: d.Label + " failed: " + d.Reason.Line()}
		if d.Failure == event.FailureInterrupted {
			e = Entry{Level: Skipped, Words: d.Label + " stopped"}
		}
		s.tell(Lines, e)
		s.tell(Record, Entry{Level: Trouble, Words: "planning failed: " + d.Reason.FirstLine()})
		s.tell(Screen, Entry{Kind: ThinkingEnds, Phase: d.Phase, Thought: d.Reply.Thinking})
	case event.ModelRequested:
		s.tellUnoffered(d.Request.Unoffered)
		switch d.Purpose {
		case prompt.PurposeAgent: // its step is announced
		case prompt.PurposeChat:
			s.tellTurn(Screen)
		default:
			s.tell(Lines, Entry{Level: Begins, Words: asks(d.Purpose, d.Step)})
		}
	case event.ModelReading:
		s.tellReading(d)
	case event.ModelReplied:
		s.tellReply(d)
	case event.SynthesisStarted:
		s.tellTurn(Lines | Screen)
	case event.SynthesisDelta:
		s.writing = true
		s.tell(Screen, Entry{Kind: TurnText, Text: untrusted.Text(d.Text), Thought: d.Thinking})
	case event.SynthesisCompleted:
		s.tellWritten(d)
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
func (s *Story) tellUntyped(tools []string) {
	if tools = freshUntyped(s.once.untyped, tools); len(tools) > 0 {
		words := untypedWords(tools)
		s.tell(Lines|Screen, Entry{Level: Info, Words: english.Capital(words) + ".", Line: words})
	}
}

// tellUnoffered tells once that a window has no room for all tools.
func (s *Story) tellUnoffered(u *prompt.Unoffered) {
	if u == nil || s.once.cuts[offerCut{u.Of, u.Window}] {
		return
	}
	s.once.cuts[offerCut{u.Of, u.Window}] = true
	words := unofferedWords(*u)
	s.tell(Lines|Screen, Entry{Level: Info, Words: english.Capital(words) + ".", Line: words})
}

// tellTurn tells that a model begins to write.
func (s *Story) tellTurn(to Reader) {
	s.writing = true
	s.tell(to, Entry{Kind: TurnBegins, Level: Begins, Words: "answer"})
}

// tellReading tells how long the model will read.
func (s *Story) tellReading(d event.ModelReading) {
	model := s.run.Model
	if x := wording.Open(s.run); x != nil {
		model = cmp.Or(x.Request.Model, model)
	}
	if words := wording.WillRead(model, d.Forecast); words != "" {
		s.tell(Lines, Entry{Kind: Reading, Level: Begins, Words: words})
	}
}

// tellReply tells that a request outside the planning phases has ended.
func (s *Story) tellReply(d event.ModelReplied) {
	chat := d.Purpose == prompt.PurposeChat
	if chat {
		s.writing = false
		s.tell(Screen, Entry{Kind: TurnEnds, Text: untrusted.Text(d.Reply.Text), Thought: d.Reply.Thinking})
	}
	if d.Error != "" && !s.run.Paused {
		s.tell(Screen, Entry{Level: Trouble, Words: d.Error.Visible()})
	}
	name := asks(d.Purpose, d.Step)
	switch {
	case d.Failure == event.FailureInterrupted:
		s.tell(Lines, Entry{Level: Skipped, Words: name + " stopped"})
	case d.Error != "":
		s.tell(Lines, Entry{Level: Trouble, Words: name + " failed: " + d.Error.Line()})
	case d.Purpose == prompt.PurposeAgent: // its calls are told
	case chat:
		if d.Reply.Text != "" && len(d.Reply.Calls) > 0 {
			s.tell(Lines, Entry{Kind: TurnText, Text: untrusted.Text(d.Reply.Text)})
		}
	default:
		s.tell(Lines, Entry{Level: Done, Words: name, Facts: []string{spent(d.MS, d.PromptTokens+d.CompletionTokens)}})
	}
}

// tellWritten tells that an answer is written, and what it lacks. The line log tells
// answers when their run ends.
func (s *Story) tellWritten(d event.SynthesisCompleted) {
	if s.run.Synthesis.Again() && s.writing {
		s.tell(Screen, Entry{Kind: TurnWithdrawn}) // the next reply takes the place of this one
		return
	}
	s.writing = false
	s.tell(Screen, Entry{Kind: TurnEnds, Text: d.Text, Thought: d.Reply.Thinking})
	switch {
	case d.Error == "" && d.Reply.CutOff:
		s.tell(Screen, Entry{Level: Warn, Words: cutOffWords(s.run)})
	case d.Error == "":
	case d.Text != "":
		s.tell(Screen, Entry{Level: Warn, Words: "The answer was cut off: " + d.Error.Visible()})
	case !s.run.Paused:
		s.tell(Screen, Entry{Level: Warn, Words: "No answer could be written: " + d.Error.Visible(), ends: d.Error})
	}
}
