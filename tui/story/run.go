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
func tellRun(at scene, gates *gates, data event.Data) bool {
	switch d := data.(type) {
	case event.RunStarted:
		if d.Outer != "" {
			at.tell(Record, Entry{Kind: Outer, Words: d.Outer})
		}
		at.event(Lines|Caller, d, Entry{Kind: Goal, Level: Started, Text: d.Goal})
		where(at, d.Model, len(d.Catalog), d.Workspace)
	case event.RunResumed:
		tellResumed(at, gates, d)
	case event.RunSteered:
		who := wording.WhoWords(cmp.Or(d.By, "user"))
		at.event(Lines|Screen|Record, d, Entry{
			Kind: Remark, Level: Started, Words: who + " said: " + d.Text.Line(), Line: who + ": " + d.Text.Line(),
		})
	case event.RunPaused:
		at.tell(Lines, Entry{Level: Info, Words: d.Reason.Line(), ends: d.Reason})
	case event.RunCompleted:
		tellEnding(at, gates, d.Result)
	default:
		return false
	}
	return true
}

// where tells the name of the run, its model, its tools and its folder.
func where(at scene, model string, tools int, workspace string) {
	named := "no model"
	if model != "" {
		named = "model " + untrusted.Line(model)
	}
	at.tell(Lines, Entry{Kind: Where, Words: fmt.Sprintf("run %s, %s, %s, in %s", at.run.ID, named, english.Count(tools, "tool"), workspace)})
}

// tellResumed tells how far a resumed run has come, and what is still open.
func tellResumed(at scene, gates *gates, d event.RunResumed) {
	at.tell(Record, Entry{Words: "resumed"})
	at.tell(Lines|Screen, Entry{Kind: Resumed, Level: Started, Words: resumedWords(at.run), Line: "resumed: " + at.run.Goal.Line()})
	where(at, d.Model, len(d.Catalog), at.run.Workspace)
	if at.run.Revision > 0 {
		at.tell(Lines, Entry{Depth: 1, Words: fmt.Sprintf("%d of %s done", at.run.Done(), english.Count(len(at.run.Plan.Steps), "step"))})
	}
	for _, g := range at.run.Gates { // still open: whoever answers must see the full call
		gates.tellOpen(at, Lines, g.GateRequested)
	}
	for _, q := range at.run.Questions() {
		at.tell(Lines, Entry{Kind: Question, Level: Asks, Words: wording.QuestionWords(q), Question: q})
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
func tellNotice(at scene, data event.Data) bool {
	const all = Lines | Screen | Record
	switch d := data.(type) {
	case event.GuardBlocked:
		at.tell(Lines|Screen, Entry{Level: Fatal, Words: d.Reason.Visible(), Line: d.Reason.Line(), ends: d.Reason})
		at.tell(Record, Entry{Level: Fatal, Words: "stopped: " + d.Reason.Line()})
	case event.GuardWarned:
		guard := ""
		if d.Guard != event.GuardRunaway { // its name says less than the reason
			guard = " (guard " + untrusted.Line(d.Guard) + ")"
		}
		at.tell(all, Entry{Level: Warn, Words: d.Reason.Visible(), Line: d.Reason.Visible() + guard})
	case event.BudgetWarned:
		at.tell(Lines|Screen, Entry{Level: Warn, Words: budgetWarning(d)})
	case event.JournalDamaged:
		at.tell(all, Entry{Level: Warn, Words: damagedWords(d)})
	case event.RunUndone:
		at.tell(all, Entry{Level: Info, Words: at.sentence(wording.UndoneWords(d))})
	case event.Note:
		at.tell(all|Caller, Entry{Kind: Noted, Level: noteLevel(d.Level), Words: d.Text.Visible(), Line: d.Text.Line()})
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

// tellSession tells what happened in the session itself.
func tellSession(at scene, gates *gates, data event.Data) {
	switch d := data.(type) {
	case event.ChatCompacted:
		words := wording.CompactedWords(d)
		if !d.Undone {
			words += fmt.Sprintf(", %d tokens became %d: %s", d.Before, d.After, d.Reason.Line())
		}
		at.tell(Lines, Entry{Level: Info, Words: words})
		at.tell(Record, Entry{Level: Info, Words: wording.CompactedWords(d)})
	case event.ChatUndone:
		at.tell(Lines, Entry{Level: Info, Words: undoneWords(d)})
	case event.Note:
		at.tell(Lines|Caller, Entry{Kind: Noted, Level: noteLevel(d.Level), Words: d.Text.Line()})
		at.tell(Record, Entry{Kind: Noted, Level: noteLevel(d.Level), Words: strings.Join([]string{untrusted.Line(d.Level), d.Text.Line()}, ": ")})
	case event.GateRequested:
		gates.ask(at, d)
	case event.GateResolved:
		gates.answer(at, d)
	}
}
