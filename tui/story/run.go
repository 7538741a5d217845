package story

import (
	"cmp"
	"fmt"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/wording"
)

// tellRun tells how a run begins, goes on and ends. Like the other functions of its kind,
// it reports whether the event is one of those it knows.
func (s *Story) tellRun(data event.Data) bool {
	switch d := data.(type) {
	case event.RunStarted:
		if d.Outer != "" {
			s.tell(Record, Entry{Kind: Outer, Words: d.Outer})
		}
		s.event(Lines|Caller, d, Entry{Kind: Goal, Level: Started, Text: d.Goal})
		s.where(d.Model, len(d.Catalogue), d.Workspace)
	case event.RunResumed:
		s.tellResumed(d)
	case event.RunSteered:
		who := wording.WhoWords(cmp.Or(d.By, "user"))
		s.event(Lines|Screen|Record, d, Entry{
			Kind: Remark, Level: Started, Words: who + " said: " + d.Text.Line(), Line: who + ": " + d.Text.Line(),
		})
	case event.RunPaused:
		s.tell(Lines, Entry{Level: Info, Words: d.Reason.Line(), ends: d.Reason})
	case event.RunCompleted:
		s.tellEnding(d.Result)
	default:
		return false
	}
	return true
}

// where tells the name of the run, its model, its tools and its folder.
func (s *Story) where(model string, tools int, workspace string) {
	named := "no model"
	if model != "" {
		named = "model " + untrusted.Line(model)
	}
	s.tell(Lines, Entry{Kind: Where, Words: fmt.Sprintf("run %s, %s, %s, in %s", s.run.ID, named, english.Count(tools, "tool"), workspace)})
}

// tellResumed tells how far a resumed run has come, and what is still open.
func (s *Story) tellResumed(d event.RunResumed) {
	s.tell(Record, Entry{Words: "resumed"})
	s.tell(Lines|Screen, Entry{Kind: Resumed, Level: Started, Words: resumedWords(s.run), Line: "resumed: " + s.run.Goal.Line()})
	s.where(d.Model, len(d.Catalogue), s.run.Workspace)
	if s.run.Revision > 0 {
		s.tell(Lines, Entry{Depth: 1, Words: fmt.Sprintf("%d of %s done", s.run.Done(), english.Count(len(s.run.Plan.Steps), "step"))})
	}
	for _, g := range s.run.Gates { // still open: whoever answers must see the full call
		s.tellOpen(Lines, g.GateRequested)
	}
	for _, q := range s.run.Questions() {
		s.tell(Lines, Entry{Kind: Question, Level: Asks, Words: wording.QuestionWords(q), Question: q})
	}
}

// resumedWords says where a resumed run continues.
func resumedWords(r *agent.Run) string {
	switch {
	case r.Answering():
		return "resumed: asking for the answer again"
	case r.Chat != nil, r.Synthesis.Direct:
		return "resumed: the conversation continues"
	case r.Revision == 0:
		return "resumed: planning continues"
	default:
		return fmt.Sprintf("resumed: %d of %s done", r.Done(), english.Count(len(r.Plan.Steps), "step"))
	}
}

// tellNotice tells what the user should know: limits, notes, and what befell the journal
// or the files.
func (s *Story) tellNotice(data event.Data) bool {
	const all = Lines | Screen | Record
	switch d := data.(type) {
	case event.GuardBlocked:
		s.tell(Lines|Screen, Entry{Level: Fatal, Words: d.Reason.Visible(), Line: d.Reason.Line(), ends: d.Reason})
		s.tell(Record, Entry{Level: Fatal, Words: "stopped: " + d.Reason.Line()})
	case event.GuardWarned:
		guard := ""
		if d.Guard != event.GuardRunaway { // its name says less than the reason
			guard = " (guard " + untrusted.Line(d.Guard) + ")"
		}
		s.tell(all, Entry{Level: Warn, Words: d.Reason.Visible(), Line: d.Reason.Visible() + guard})
	case event.BudgetWarned:
		s.tell(Lines|Screen, Entry{Level: Warn, Words: budgetWarning(d)})
	case event.JournalDamaged:
		s.tell(all, Entry{Level: Warn, Words: damagedWords(d)})
	case event.RunUndone:
		s.tell(all, Entry{Level: Info, Words: s.sentence(wording.UndoneWords(d))})
	case event.Note:
		s.tell(all|Caller, Entry{Kind: Noted, Level: noteLevel(d.Level), Words: d.Text.Visible(), Line: d.Text.Line()})
	default:
		return false
	}
	return true
}

// noteLevel returns the level of a note of the session.
func noteLevel(level string) Level {
	switch level {
	case "error":
		return Fatal
	case "warn":
		return Warn
	default:
		return Info
	}
}

// sentence begins words with a capital in the chat, where they stand alone.
func (s *Story) sentence(words string) string {
	if s.to&Screen == 0 {
		return words
	}
	return english.Capital(words)
}

// Session returns what an event of the session itself says.
func (s *Story) Session(data event.Data) []Entry {
	s.out = nil
	switch d := data.(type) {
	case event.ChatCompacted:
		words := wording.CompactedWords(d)
		if !d.Undone {
			words += fmt.Sprintf(", %d tokens became %d: %s", d.Before, d.After, d.Reason.Line())
		}
		s.tell(Lines, Entry{Level: Info, Words: words})
		s.tell(Record, Entry{Level: Info, Words: wording.CompactedWords(d)})
	case event.ChatUndone:
		s.tell(Lines, Entry{Level: Info, Words: fmt.Sprintf("undone: %s, %s put back", d.Run, english.Count(len(d.Files), "file"))})
	case event.Note:
		s.tell(Lines|Caller, Entry{Kind: Noted, Level: noteLevel(d.Level), Words: d.Text.Line()})
		s.tell(Record, Entry{Kind: Noted, Level: noteLevel(d.Level), Words: strings.Join([]string{untrusted.Line(d.Level), d.Text.Line()}, ": ")})
	case event.GateRequested:
		s.asked[d.Gate] = d
		s.tellOpen(Lines|Asked, d)
	case event.GateResolved:
		e := Entry{Kind: GateAnswered, Level: Asks, Depth: 1, Words: wording.GateDecision(d), Event: d}
		if g, ok := s.asked[d.Gate]; ok {
			e.Gate = &g
		}
		s.tell(Lines|Asked, e)
	}
	return s.out
}
