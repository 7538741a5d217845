package tui

import (
	"fmt"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/chat"
	"replan/tui/plain"
	"replan/tui/telling"
)

// moment is the state of the run just before an event, as far as the chat needs
// it.
type moment struct {
	gate       *agent.Gate // the open gate answered by the event
	replanning bool
	failure    string // the error of the failed step that the event decides; "" if told at the end of the run
}

// tellRun writes to the chat what an event says about the run as a whole.
func (m *Model) tellRun(data event.Data, was moment) {
	c := m.chat
	m.tellCut()
	switch d := data.(type) {
	case event.RunResumed:
		m.goesOn()
	case event.PlanCreated:
		if !m.phased() {
			c.Add(c.Planned(m.run, d.Plan.Title, len(d.Plan.Steps), m.dry))
		}
	case event.ModelRequested:
		m.asked[errand{d.Purpose, d.Step}] = m.run.Now
		if d.Purpose == prompt.PurposeChat {
			m.openTurn()
		}
	case event.ModelReplied:
		m.replied(d)
	case event.RunSteered:
		// A /steer command is in the chat already.
		c.Add(c.Steered(d.Text, strings.TrimSpace(strings.TrimPrefix(m.sent, "/steer ")) == strings.TrimSpace(d.Text)))
		m.input.Remember(d.Text)
	case event.RouteMatched:
		c.Add(c.Remark(chat.DoneGlyph, chat.SuccessStyle, plain.Routed(d, m.run.Model)))
		if m.run.Model == "" {
			m.troubled = c.Problem // the route remark says so
		}
	case event.ReplanStarted:
		m.tellFailure(d.Step, d.Error)
	case event.ReplanRefused:
		c.Add(c.Note("warn", "The new plan was refused: "+d.Reason))
	case event.PlanDiff:
		c.Add(c.Revision(d, was.replanning))
	case event.PlanReviewed:
		c.Add(c.Reviewed(m.run, d))
	case event.SynthesisStarted:
		m.asked[errand{purpose: answering(d.Direct)}] = m.run.Now
		m.openTurn()
	case event.SynthesisDelta:
		m.writes(d.Text, d.Thinking)
	case event.SynthesisCompleted:
		m.tellAnswered(d)
	case event.RunCompleted:
		m.finish(&d.Result)
	default:
		m.tellNotice(d)
	}
}

// tellAnswered ends the written answer, and warns if it is incomplete.
func (m *Model) tellAnswered(d event.SynthesisCompleted) {
	c := m.chat
	delete(m.asked, errand{purpose: prompt.PurposeSynthesis})
	delete(m.asked, errand{purpose: prompt.PurposeChat})
	m.closeTurn(d.Text, d.Reply.Thinking)
	switch {
	case d.Error == "" && d.Reply.CutOff:
		c.Add(c.Note("warn", plain.CutOff(m.run)))
	case d.Error == "":
	case d.Text != "":
		c.Add(c.Note("warn", "The answer was cut off: "+d.Error))
	case !m.run.Paused:
		m.blocked = d.Error
		c.Add(c.Note("warn", "No answer could be written: "+d.Error))
	}
}

// tellNotice writes model thinking during planning, and notices about budgets,
// guards and the rest.
func (m *Model) tellNotice(data event.Data) {
	c := m.chat
	switch d := data.(type) {
	case event.PhaseDelta:
		m.thinks(d.Phase, d.Thinking, d.Text)
	case event.PhaseCompleted:
		m.thoughtIn(d.Phase, d.Reply.Thinking)
	case event.PhaseFailed:
		m.thoughtIn(d.Phase, d.Reply.Thinking)
	case event.GuardBlocked:
		m.blocked = d.Reason
		c.Add(c.Note("error", d.Reason))
	case event.GuardWarned:
		c.Add(c.Note("warn", d.Reason))
	case event.BudgetWarned:
		c.Add(c.Note("warn", fmt.Sprintf("%s: %d of %d used", d.Guard, d.Used, d.Limit)))
	case event.JournalDamaged:
		c.Add(c.Note("warn", fmt.Sprintf("line %d of the journal is damaged, and what it said is lost", d.Line)))
	case event.Note:
		c.Add(c.Note(d.Level, d.Text))
	}
}

// tellCut reports once what was omitted to fit the newest prompt.
func (m *Model) tellCut() {
	n := len(m.run.Exchanges)
	if n == 0 {
		return
	}
	if cut := m.run.Exchanges[n-1].Request.Shortened; cut != "" && cut != m.cut {
		m.cut = cut
		m.chat.Add(m.chat.Note("info", cut))
	}
}

// answering returns the purpose of the request that writes the answer.
func answering(direct bool) prompt.Purpose {
	if direct {
		return prompt.PurposeChat
	}
	return prompt.PurposeSynthesis
}

// replied handles the end of a request outside the planning phases: it closes a
// chat turn and reports a missing reply.
func (m *Model) replied(d event.ModelReplied) {
	delete(m.asked, errand{d.Purpose, d.Step})
	if d.Purpose == prompt.PurposeChat {
		m.closeTurn(d.Reply.Text, d.Reply.Thinking)
		m.tellCalls()
	}
	if d.Error != "" && !m.run.Paused {
		m.chat.Add(m.chat.Note("warn", d.Error))
	}
}

// tellStep writes to the chat what an event says about a step, if a reader of
// the conversation wants to know it.
func (m *Model) tellStep(data event.Data, was moment) {
	c := m.chat
	switch d := data.(type) {
	case event.GateRequested:
		if m.options.Replay {
			c.Add(c.Remark(chat.GateGlyph, chat.WarningStyle, telling.AskedWords(d)))
		}
	case event.StepStarted:
		m.tellPassed(d)
	case event.StepFailed:
		if m.options.Replay && m.askedStep() == d.Index {
			m.tellFailure(d.Index, d.Error)
		}
	case event.FailureResolved:
		if was.failure != "" {
			m.tellFailure(d.Step, was.failure)
		}
		c.Add(c.Remark(chat.SeparatorGlyph, chat.FaintStyle, telling.FailureWords(d)))
	case event.DoubtResolved:
		c.Add(c.Remark(chat.SeparatorGlyph, chat.FaintStyle, telling.DoubtWords(d)))
	case event.GateResolved:
		c.Add(c.Remark(chat.GateGlyph, chat.WarningStyle, telling.ResolvedWords(was.gate, d)))
	case event.StepInDoubt:
		c.Add(c.Note("warn", fmt.Sprintf("%s is in doubt: %s", telling.StepWords(d.Index), d.Reason)))
	case event.StepCompleted:
		if d.DryRun && d.Gate != nil {
			c.Add(c.Remark(chat.GateGlyph, chat.WarningStyle, fmt.Sprintf("step %s %s: %s", d.Index, telling.WouldWords(*d.Gate), telling.RuleWords(*d.Gate))))
		}
	}
}

// finish writes how the run ended, preceded by the answer if it did not stream.
func (m *Model) finish(r *event.Result) {
	clear(m.asked)
	if m.turn != nil && !m.turn.Done {
		m.closeTurn(m.turn.Text, "")
	}
	m.chat.Touch()
	m.chat.Settle()
	if r.Answer != "" && m.run.Synthesis.Text == "" && (m.turn == nil || m.turn.Text == "") {
		m.chat.Add(m.chat.Prose(r.Answer)...)
	}
	told := *r
	if told.Error == m.blocked {
		told.Error = "" // already in the chat
	}
	again := m.keys.Name("runs") + " takes the run up again."
	if m.options.Replay {
		again = "replan plan resume " + m.run.ID + " takes the run up again."
	}
	if m.dry {
		again = "" // a dry run has no journal
	}
	if m.inner() {
		again = "" // resumes with the run whose model started it
	} else {
		m.stopping = false
	}
	var results []*chat.Block
	if r.Status == event.StatusCompleted && r.Answer == "" && !m.inner() {
		results = m.chat.Results(m.run)
	}
	outcome := m.chat.Outcome(&told, m.outcomeWord(r), again)
	outcome.Gap = outcome.Gap || len(results) > 0
	m.chat.Add(append(results, outcome)...)
}

// tellPassed writes that an earlier lasting answer of the user let a call pass.
// It marks calls that carry untrusted text, since nobody sees them.
func (m *Model) tellPassed(d event.StepStarted) {
	words := plain.Passed(m.run, d)
	if words == "" {
		return
	}
	style := chat.FaintStyle
	if telling.CarriesUntrustedText(d.Provenance, m.run.Catalogue) {
		words, style = words+" "+m.look.Glyphs.Separator+" untrusted text", chat.WarningStyle
	}
	m.chat.Add(m.chat.Remark(chat.GateGlyph, style, words))
}

// tellFailure writes once that an attempt of a step failed.
func (m *Model) tellFailure(index, sentence string) {
	attempt := index
	if s := m.run.Step(index); s != nil {
		attempt = fmt.Sprintf("%s attempt %d", index, s.Attempt)
	}
	if m.failed == attempt {
		return
	}
	m.failed = attempt
	words := fmt.Sprintf("step %s failed: %s", index, untrusted.FirstLine(sentence))
	if s := m.run.Step(index); s != nil && s.Failure == event.FailureDenied {
		words = fmt.Sprintf("step %s was %s", index, untrusted.FirstLine(sentence))
	}
	failed := m.chat.Remark(chat.FailedGlyph, chat.DangerStyle, words)
	failed.Gap = true
	m.chat.Add(failed)
}
