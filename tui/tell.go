package tui

import (
	"fmt"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/prompt"
	"replan/tui/plain"
	"replan/tui/untrusted"
)

// moment is what the run said just before an event, as far as the chat tells of
// it.
type moment struct {
	gate       *agent.Gate // the open gate that the event answers
	replanning bool
	failure    string // the error of the failed step that the event decides about; "" where it was told when the run ended
}

// moment looks at the run before an event is folded.
func (m *Model) moment(d event.Data) moment {
	was := moment{replanning: m.run.Replanning != nil}
	switch d := d.(type) {
	case event.GateResolved:
		for _, g := range m.run.Gates {
			if g.Gate == d.Gate {
				was.gate = g
			}
		}
	case event.FailureResolved:
		if s := m.run.Step(d.Step); s != nil && s.Status == agent.StepBroken {
			was.failure = s.Error
		}
	}
	return was
}

// tellRun writes into the chat what an event says of the run as a whole.
func (m *Model) tellRun(data event.Data, was moment) {
	c := m.chat
	m.tellCut()
	switch d := data.(type) {
	case event.RunResumed:
		m.goesOn()
	case event.PlanCreated:
		if !m.phased() {
			c.add(c.planned(m.run, d.Plan.Title, len(d.Plan.Steps), m.dry))
		}
	case event.ModelRequested:
		m.asked[errand{d.Purpose, d.Step}] = m.run.Now
		if d.Purpose == prompt.PurposeChat {
			m.openTurn()
		}
	case event.ModelReplied:
		m.replied(d)
	case event.RunSteered:
		// As a command it stands in the chat already.
		c.add(c.steered(d.Text, strings.TrimSpace(strings.TrimPrefix(m.sent, "/steer ")) == strings.TrimSpace(d.Text)))
		m.input.remember(d.Text)
	case event.RouteMatched:
		c.add(c.remark(doneGlyph, successStyle, plain.Routed(d, m.run.Model)))
		if m.run.Model == "" {
			m.troubled = c.problem // which that says
		}
	case event.ReplanStarted:
		m.tellFailure(d.Step, d.Error)
	case event.ReplanRefused:
		c.add(c.note("warn", "The new plan was refused: "+d.Reason))
	case event.PlanDiff:
		c.add(c.revision(d, was.replanning))
	case event.PlanReviewed:
		c.add(c.reviewed(m.run, d))
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

// tellAnswered ends the answer that was written, and says where it is not whole.
func (m *Model) tellAnswered(d event.SynthesisCompleted) {
	c := m.chat
	delete(m.asked, errand{purpose: prompt.PurposeSynthesis})
	delete(m.asked, errand{purpose: prompt.PurposeChat})
	m.closeTurn(d.Text, d.Reply.Thinking)
	switch {
	case d.Error == "" && d.Reply.CutOff:
		c.add(c.note("warn", plain.CutOff(m.run)))
	case d.Error == "":
	case d.Text != "":
		c.add(c.note("warn", "The answer was cut off: "+d.Error))
	case !m.run.Paused:
		m.blocked = d.Error
		c.add(c.note("warn", "No answer could be written: "+d.Error))
	}
}

// tellNotice writes what a model thinks while it plans, and what the user should
// know besides: of budgets, guards and anything else.
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
		c.add(c.note("error", d.Reason))
	case event.GuardWarned:
		c.add(c.note("warn", d.Reason))
	case event.BudgetWarned:
		c.add(c.note("warn", fmt.Sprintf("%s: %d of %d used", d.Guard, d.Used, d.Limit)))
	case event.JournalDamaged:
		c.add(c.note("warn", fmt.Sprintf("line %d of the journal is damaged, and what it said is lost", d.Line)))
	case event.Note:
		c.add(c.note(d.Level, d.Text))
	}
}

// tellCut says what was left out of the newest prompt to make it fit, once.
func (m *Model) tellCut() {
	n := len(m.run.Exchanges)
	if n == 0 {
		return
	}
	if cut := m.run.Exchanges[n-1].Request.Shortened; cut != "" && cut != m.cut {
		m.cut = cut
		m.chat.add(m.chat.note("info", cut))
	}
}

// answering is what a model is asked for where it writes the answer.
func answering(direct bool) prompt.Purpose {
	if direct {
		return prompt.PurposeChat
	}
	return prompt.PurposeSynthesis
}

// replied tells what came of a request outside the phases of planning: a turn
// of the chat, and that no reply came.
func (m *Model) replied(d event.ModelReplied) {
	delete(m.asked, errand{d.Purpose, d.Step})
	if d.Purpose == prompt.PurposeChat {
		m.closeTurn(d.Reply.Text, d.Reply.Thinking)
		m.tellCalls()
	}
	if d.Error != "" && !m.run.Paused {
		m.chat.add(m.chat.note("warn", d.Error))
	}
}

// tellStep writes into the chat what an event says of a step that a reader of
// the conversation wants to know.
func (m *Model) tellStep(data event.Data, was moment) {
	c := m.chat
	switch d := data.(type) {
	case event.GateRequested:
		if m.options.Replay {
			c.add(c.remark(gateGlyph, warningStyle, askedWords(d)))
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
		c.add(c.remark(separatorGlyph, faintStyle, failureWords(d)))
	case event.DoubtResolved:
		c.add(c.remark(separatorGlyph, faintStyle, doubtWords(d)))
	case event.GateResolved:
		c.add(c.remark(gateGlyph, warningStyle, resolvedWords(was.gate, d)))
	case event.StepInDoubt:
		c.add(c.note("warn", fmt.Sprintf("%s is in doubt: %s", stepWords(d.Index), d.Reason)))
	case event.StepCompleted:
		if d.DryRun && d.Gate != nil {
			c.add(c.remark(gateGlyph, warningStyle, fmt.Sprintf("step %s %s: %s", d.Index, wouldWords(*d.Gate), ruleWords(*d.Gate))))
		}
	}
}

// finish writes how the run ended. An answer that did not stream is written
// first.
func (m *Model) finish(r *event.Result) {
	clear(m.asked)
	if m.turn != nil && !m.turn.done {
		m.closeTurn(m.turn.text, "")
	}
	m.chat.touch()
	m.chat.settle()
	if r.Answer != "" && m.run.Synthesis.Text == "" && (m.turn == nil || m.turn.text == "") {
		m.chat.add(m.chat.prose(r.Answer)...)
	}
	told := *r
	if told.Error == m.blocked {
		told.Error = "" // the chat has said so
	}
	again := "ctrl+r takes the run up again."
	if m.options.Replay {
		again = "replan plan resume " + m.run.ID + " takes the run up again."
	}
	if m.dry {
		again = "" // it has no journal
	}
	if m.inner() {
		again = "" // with the run whose model started this one
	} else {
		m.stopping = false
	}
	var results []*block
	if r.Status == event.StatusCompleted && r.Answer == "" && !m.inner() {
		results = m.chat.results(m.run)
	}
	outcome := m.chat.outcome(&told, m.outcomeWord(r), again)
	outcome.gap = outcome.gap || len(results) > 0
	m.chat.add(append(results, outcome)...)
}

// outcomeWord says how a run that completed went.
func (m *Model) outcomeWord(r *event.Result) string {
	switch {
	case m.dry:
		return "dry run: nothing was called"
	case m.planOnly:
		return "planned: nothing was run"
	case r.Reason == event.ReasonPartial:
		return "done in part: some steps were skipped"
	case r.Reason == event.ReasonNothingFound:
		return "nothing found"
	default:
		return "done"
	}
}

// phased reports whether phases of planning have told of the plan.
func (m *Model) phased() bool {
	for i := range m.run.Phases {
		if m.run.Phases[i].Status != agent.PhasePending {
			return true
		}
	}
	return false
}

// tellPassed writes that a call passes by an answer that the user gave for longer
// than once, with a mark where it carries text from outside: nobody is shown it.
func (m *Model) tellPassed(d event.StepStarted) {
	words := plain.Passed(m.run, d)
	if words == "" {
		return
	}
	style := faintStyle
	if carriesUntrustedText(d.Provenance, m.run.Catalogue) {
		words, style = words+" "+m.look.glyphs.Separator+" untrusted text", warningStyle
	}
	m.chat.add(m.chat.remark(gateGlyph, style, words))
}

// tellFailure writes that an attempt of a step failed, once.
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
	failed := m.chat.remark(failedGlyph, dangerStyle, words)
	failed.gap = true
	m.chat.add(failed)
}
