package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/telling"
)

// Narrator writes into the chat what the events of one run say to its reader:
// plans, answers at gates, failures, calls, the model's words and the outcome.
type Narrator struct {
	pane   *Pane
	run    *agent.Run
	nested bool // a call in the chat started the run; its blocks are inset

	turn          *turn          // the turn that a model writes or last wrote, nil before the first
	planning      *thought       // the models' thinking in the planning phases, nil for none
	planningBlock *Block         // shows planning
	answers       *answers       // the last ones to gates, nil before the first
	cards         int            // number of calls of the chat that have a card
	failedAttempt string         // the attempt whose failure was last reported
	failure       failure        // the failure last reported
	explained     untrusted.Text // the last reported reason why the run ends or has no answer
	replied       bool           // the session has reported the outcome
}

// failure is the failure of a step.
type failure struct {
	step   string
	reason untrusted.Text
}

// Narrate returns a narrator for a run and makes it the run's narrator in the
// chat. nested means that a call in the chat started the run. The narrator of a
// run that the user started replaces all others.
func (c *Pane) Narrate(run *agent.Run, nested bool) *Narrator {
	if !nested || c.narrators == nil {
		c.narrators = map[string]*Narrator{}
	}
	n := &Narrator{pane: c, run: run, nested: nested}
	c.narrators[run.ID] = n
	return n
}

// Narrator returns the narrator of the run with this id, nil if there is none.
func (c *Pane) Narrator(run string) *Narrator { return c.narrators[run] }

// Follow makes the narrator read another state of the same run. Existing blocks
// keep the state they were drawn from.
func (n *Narrator) Follow(run *agent.Run) { n.run = run }

// Cards returns the number of calls that the chat has shown for the run.
func (n *Narrator) Cards() int { return n.cards }

// Writing reports whether the text of an unfinished turn is in the chat.
func (n *Narrator) Writing() bool { return n.turn != nil && !n.turn.done && n.turn.text != "" }

// Start announces a run at its first event. A run that was not typed here, as in
// a replay, states its own goal.
func (n *Narrator) Start(d event.RunStarted) {
	c := n.pane
	if len(c.Blocks) == 0 && d.Plan == nil {
		c.addMessage(d.Goal, d.Prompting.Mentions)
	}
	if !n.nested {
		c.goalOf = n.run.ID
	}
	n.settle()
	if d.Plan == nil {
		n.add(c.phaseBlocks(n.run)...)
	}
}

// Before holds the parts of the state of a run that an event is about to overwrite
// and that the chat reports.
type Before struct {
	gate       *agent.Gate // the open gate that the event answers
	replanning bool
	failure    untrusted.Text // the error of the failed step that the event decides
}

// Before returns the state to pass to [Narrator.Narrate] once the run has applied
// the event.
func (n *Narrator) Before(data event.Data) Before {
	before := Before{replanning: n.run.Replanning != nil}
	switch d := data.(type) {
	case event.GateResolved:
		for _, g := range n.run.Gates {
			if g.Gate == d.Gate {
				before.gate = g
			}
		}
	case event.FailureResolved:
		if s := n.run.Step(d.Step); s != nil && s.Status == agent.StepFailed {
			before.failure = s.Error
		}
	}
	return before
}

// Narrate writes what an event says, after the run has applied it.
func (n *Narrator) Narrate(data event.Data, before Before) {
	n.narrateStep(data, before)
	n.narrateRun(data, before)
}

// ApplyFailed warns that the run could not apply an event.
func (n *Narrator) ApplyFailed(err error) {
	n.add(n.pane.Note("error", "The screen may be behind: "+err.Error()))
}

// narrateRun writes what an event says about the run as a whole.
func (n *Narrator) narrateRun(data event.Data, before Before) {
	c := n.pane
	switch d := data.(type) {
	case event.RunResumed:
		n.narrateResumed()
	case event.PlanCreated:
		if !n.planned() {
			n.add(c.planned(n.run, d.Plan.Title.Line(), len(d.Plan.Steps), n.run.DryRun()))
		}
		if len(d.Drafts) > 0 {
			n.add(c.remark(doneGlyph, successStyle, telling.DraftsWords(d.Drafts)))
		}
	case event.PhaseStarted:
		n.narrateUntyped(d.Request.Untyped)
	case event.ModelRequested:
		n.narrateUnoffered(d.Request.Unoffered)
		if d.Purpose == prompt.PurposeChat {
			n.openTurn()
		}
	case event.ModelReplied:
		n.narrateModelReply(d)
	case event.RunSteered:
		// The chat shows a /steer command already.
		typed := strings.TrimSpace(strings.TrimPrefix(c.sent, "/steer ")) == strings.TrimSpace(d.Text.Visible())
		n.add(c.steered(d, typed))
	case event.RouteMatched:
		n.add(c.remark(doneGlyph, successStyle, telling.RouteWords(d, n.run.Model)))
		if n.run.Model == "" {
			c.byWords = true // the remark reports the missing model
		}
	case event.ReplanStarted:
		switch {
		case d.Step != "":
			n.narrateFailure(d.Step, d.Error)
		case d.Request == "":
			n.add(c.remark(failedGlyph, dangerStyle, english.Capital(d.Error.Line())))
		}
		n.add(c.replanning(n.run))
	case event.ReplanRefused:
		n.add(c.Note("warn", english.Capital(telling.RefusedWords(d))))
	case event.PlanDiff:
		n.add(c.revision(d, before.replanning))
	case event.PlanChosen:
		n.add(c.remark(gateGlyph, warningStyle, telling.ChosenWords(n.run.Drafts, d)))
	case event.PlanReviewed:
		n.add(c.reviewed(n.run, d))
	case event.SynthesisStarted:
		n.openTurn()
	case event.SynthesisDelta:
		n.write(d.Text, d.Thinking)
	case event.SynthesisCompleted:
		n.narrateAnswer(d)
	case event.RunCompleted:
		n.narrateOutcome(d.Result)
	default:
		n.narrateNotice(d)
	}
}

// narrateNotice writes the thinking of models during planning, and notices about
// budgets, guards and the journal.
func (n *Narrator) narrateNotice(data event.Data) {
	c := n.pane
	switch d := data.(type) {
	case event.PhaseDelta:
		n.think(d.Phase, d.Thinking, d.Text)
	case event.PhaseCompleted:
		n.endThinking(d.Phase, d.Reply.Thinking)
	case event.PhaseFailed:
		n.endThinking(d.Phase, d.Reply.Thinking)
	case event.GuardBlocked:
		n.explained = d.Reason
		n.add(c.Note("error", d.Reason.Visible()))
	case event.GuardWarned:
		n.add(c.Note("warn", d.Reason.Visible()))
	case event.BudgetWarned:
		n.add(c.Note("warn", telling.BudgetWarning(d)))
	case event.JournalDamaged:
		n.add(c.Note("warn", telling.DamagedWords(d)))
	case event.RunUndone:
		n.add(c.Note("info", english.Capital(telling.UndoneWords(d))))
	case event.Note:
		n.add(c.Note(d.Level, d.Text.Visible()))
	}
}

// narrateStep writes what an event says about a step.
func (n *Narrator) narrateStep(data event.Data, before Before) {
	c := n.pane
	switch d := data.(type) {
	case event.GateRequested:
		if c.state.Replayed && !d.Nothing {
			n.add(c.remark(gateGlyph, warningStyle, telling.AskedWords(d)))
		}
	case event.ElicitationRequested:
		if c.state.Replayed {
			n.add(c.remark(gateGlyph, warningStyle, untrusted.Line(d.Server)+" asked in "+telling.StepWords(d.Step)+": "+d.Message.Line()))
		}
	case event.ElicitationResolved:
		n.add(c.remark(gateGlyph, warningStyle, telling.ElicitationWords(d)))
	case event.CheckCompleted:
		n.narrateAccepted(d)
	case event.StepStarted:
		n.narrateAllowed(d)
	case event.StepFailed:
		if q := n.run.Questions(); c.state.Replayed && len(q) > 0 && q[0].Step == d.Index {
			n.narrateFailure(d.Index, d.Error)
		}
		if s := n.run.Step(d.Index); s != nil && n.run.PassesOver(s) {
			n.narrateFailure(d.Index, d.Error)
		}
	case event.FailureResolved:
		switch {
		case before.failure == "":
		case n.endsRun(d) && n.failedAttempt != n.attempt(d.Step):
			n.failure = failure{} // the outcome says it
		default:
			n.narrateFailure(d.Step, before.failure)
		}
		n.add(c.remark(separatorGlyph, faintStyle, telling.FailureWords(d)+telling.ByWords(d.By)))
	case event.DoubtResolved:
		n.add(c.remark(separatorGlyph, faintStyle, telling.DoubtWords(d)+telling.ByWords(d.By)))
	case event.GateResolved:
		n.narrateGate(before.gate, d)
	case event.StepInDoubt:
		n.add(c.Note("warn", telling.InDoubtWords(d)))
	case event.StepCompleted:
		if d.DryRun && d.Gate != nil {
			n.add(c.remark(gateGlyph, warningStyle, fmt.Sprintf("step %s %s: %s", d.Index, telling.WouldWords(*d.Gate), telling.RuleReason(*d.Gate))))
		}
	}
}

// narrateAllowed writes that an earlier lasting answer of the user let a call pass.
// It marks calls that carry untrusted text, since nobody sees them.
func (n *Narrator) narrateAllowed(d event.StepStarted) {
	words := telling.GrantedWords(n.run, d)
	if words == "" {
		return
	}
	style := faintStyle
	if telling.CarriesUntrustedText(d.Provenance, n.run.Catalogue) {
		words, style = words+" "+n.pane.Look.Glyphs.Separator+" untrusted text", warningStyle
	}
	n.add(n.pane.remark(gateGlyph, style, words))
}

// narrateFailure writes once that an attempt of a step failed.
func (n *Narrator) narrateFailure(index string, reason untrusted.Text) {
	if n.failedAttempt == n.attempt(index) {
		return
	}
	n.failedAttempt = n.attempt(index)
	kind := event.FailureKind("")
	if s := n.run.Step(index); s != nil {
		kind = s.Failure
	}
	words := telling.FailedWords(index, kind, reason)
	if now := (failure{index, reason}); now == n.failure {
		words = telling.StepWords(index) + " failed again, for the same reason"
	} else {
		n.failure = now
	}
	b := n.pane.remark(failedGlyph, dangerStyle, words)
	b.Gap = true
	n.add(b)
}

// attempt names the current attempt of a step.
func (n *Narrator) attempt(index string) string {
	if s := n.run.Step(index); s != nil {
		return fmt.Sprintf("%s attempt %d", index, s.Attempt)
	}
	return index
}

// narrateModelReply ends a request outside the planning phases: it closes a turn of
// the chat and reports a missing reply.
func (n *Narrator) narrateModelReply(d event.ModelReplied) {
	if d.Purpose == prompt.PurposeChat {
		n.closeTurn(untrusted.Text(d.Reply.Text), d.Reply.Thinking)
		n.narrateCalls()
	}
	if d.Error != "" && !n.run.Paused {
		n.add(n.pane.Note("warn", d.Error.Visible()))
	}
}

// narrateAnswer ends the written answer, and warns if it is incomplete.
func (n *Narrator) narrateAnswer(d event.SynthesisCompleted) {
	c := n.pane
	if n.run.Synthesis.Again() && n.turn != nil && !n.turn.done {
		c.unsay(n.turn)
		n.turn.text = ""
		return // the next reply takes the place of this one
	}
	n.closeTurn(d.Text, d.Reply.Thinking)
	switch {
	case d.Error == "" && d.Reply.CutOff:
		n.add(c.Note("warn", telling.CutOffWords(n.run)))
	case d.Error == "":
	case d.Text != "":
		n.add(c.Note("warn", "The answer was cut off: "+d.Error.Visible()))
	case !n.run.Paused:
		n.explained = d.Error
		n.add(c.Note("warn", "No answer could be written: "+d.Error.Visible()))
	}
}

// narrateOutcome writes how the run ended, preceded by the answer if it did not
// stream.
func (n *Narrator) narrateOutcome(r event.Result) {
	c := n.pane
	if n.turn != nil && !n.turn.done {
		n.closeTurn(untrusted.Text(n.turn.text), "")
	}
	c.Invalidate()
	n.settle()
	if r.Answer != "" && n.run.Synthesis.Text == "" && (n.turn == nil || n.turn.text == "") {
		n.add(c.prose(r.Answer)...)
	}
	var results []*Block
	if r.Status == event.StatusCompleted && r.Answer == "" && !n.nested {
		results = c.results(n.run)
	}
	word := n.outcomeWord(r)
	if r.Error == n.explained || telling.RepeatsFailure(r.Error, n.failure.reason) || telling.FailureReason(n.run, r) != "" || telling.RepeatsPhase(n.run, r) {
		r.Error = "" // already in the chat, or in the word
	}
	b := c.outcome(&r, n.stepsDone(), word, n.resume(r), telling.EvidenceWords(n.run))
	b.Gap = b.Gap || len(results) > 0
	n.add(append(results, b)...)
	if r.Reason == event.ReasonNoPlan && len(n.run.Exchanges) > 0 && !n.nested && !c.state.Replayed {
		n.add(c.Note("", c.state.Advice))
	}
}

// stepsDone counts the steps of the plan: "6 steps", "3 of 4 steps". The usage of a run also
// counts calls of agents and earlier attempts.
func (n *Narrator) stepsDone() string {
	all := len(n.run.Plan.Steps)
	switch done := n.run.Done(); {
	case all == 0:
		return ""
	case done < all:
		return fmt.Sprintf("%d of %s", done, english.Count(all, "step"))
	default:
		return english.Count(all, "step")
	}
}

// resume says what resuming the ended run does, or returns "" if it cannot be resumed
// on its own.
func (n *Narrator) resume(r event.Result) string {
	if n.run.DryRun() || n.nested { // no journal; or resumed with the run that started it
		return ""
	}
	resumes := n.pane.resumedBy(n.run.ID) + " resumes the run"
	if r.Unanswered != "" {
		return resumes + " and asks for it again."
	}
	done, failed := 0, []string{}
	for _, s := range n.run.Steps {
		switch {
		case s.Status == agent.StepCompleted:
			done++
		case s.Status == agent.StepFailed && !n.skippedByUser(s.Step.Index):
			failed = append(failed, untrusted.Line(s.Step.Index))
		}
	}
	switch len(failed) {
	case 0:
	case 1:
		resumes += " and tries step " + failed[0] + " again"
	default:
		resumes += " and tries the failed steps again"
	}
	if done > 0 {
		resumes = "Finished steps are kept; " + resumes
	}
	return resumes + "."
}

// skippedByUser reports whether the user chose to skip a failed step, which no resume
// tries again.
func (n *Narrator) skippedByUser(index string) bool {
	attempts := n.run.AttemptsOf(index)
	if len(attempts) == 0 {
		return false
	}
	return slices.ContainsFunc(attempts[len(attempts)-1].Asked, func(a agent.Asked) bool {
		return a.About == agent.AskedFailure && a.Decision == string(event.FailureSkip)
	})
}

// endsRun reports whether the user ended the run at a failed step, so that the
// outcome says why it failed.
func (n *Narrator) endsRun(d event.FailureResolved) bool {
	s := n.run.Step(d.Step)
	return d.Decision == event.FailureAbort && s != nil && s.Failure != event.FailureDenied && s.Failure != event.FailureInterrupted
}

// outcomeWord describes the outcome of a run that was not stopped.
func (n *Narrator) outcomeWord(r event.Result) string {
	switch why := telling.FailureReason(n.run, r); {
	case r.Status == event.StatusFailed && why != "" && (telling.RepeatsFailure(r.Error, n.failure.reason) || strings.Contains(r.Answer.Line(), why)):
		return "failed" // the chat has said why
	case r.Status == event.StatusFailed:
		return "failed: " + cmp.Or(why, telling.ReasonWords(r.Reason))
	case n.run.DryRun():
		return telling.NothingCalled
	case n.run.PlanOnly():
		return "planned: nothing was run"
	case r.Reason == event.ReasonPartial:
		return "partial: " + telling.PartialWords(n.run, r)
	case r.Reason.Nothing():
		return telling.ReasonWords(r.Reason)
	default:
		return "done"
	}
}

// narrateResumed writes that the run was resumed, with its goal if the chat has not
// shown it yet.
func (n *Narrator) narrateResumed() {
	c, r := n.pane, n.run
	n.replied = false
	words := fmt.Sprintf("resumed: %d of %s done", r.Done(), english.Count(len(r.Plan.Steps), "step"))
	switch {
	case r.Answering():
		words = "resumed: asking for the answer again"
	case r.Chat != nil, r.Synthesis.Direct:
		words = "resumed: the conversation continues"
	case r.Revision == 0:
		words = "resumed: planning continues"
	}
	n.settle()
	var goal untrusted.Text
	if c.goalOf != r.ID {
		goal = r.Goal
	}
	if !n.nested {
		c.goalOf = r.ID
	}
	about := goal
	if strings.TrimSpace(c.sent) == strings.TrimSpace(goal.Visible()) {
		about = "" // the message before it
	}
	n.add(c.resumed(words, about))
	n.cards = 0
	switch {
	case goal == "" && r.Chat != nil:
		// The chat has shown the planning and the calls that have ended.
		for n.cards < len(r.Chat.Calls) && r.Chat.Calls[n.cards].Status.Ended() {
			n.cards++
		}
	case r.Revision == 0:
		n.add(c.phaseBlocks(r)...)
	}
	n.narrateCalls()
}

// outcomeReply handles the session's reply about the run. It reports whether the
// chat needs no more of it: the outcome has been told, or there is none.
func (n *Narrator) outcomeReply(d event.ChatReply) bool {
	result := n.run.Result
	if result == nil { // the session abandoned the run
		n.settle()
		n.add(n.pane.Note("error", d.Text.Visible()))
		return true
	}
	first := !n.replied
	n.replied = true
	// The reply to a run that only plans says where the plan is stored.
	return first && !n.run.PlanOnly() || d.Text == result.Error
}

// planned reports whether planning phases produced the plan.
func (n *Narrator) planned() bool {
	for i := range n.run.Phases {
		if n.run.Phases[i].Status != agent.PhasePending {
			return true
		}
	}
	return false
}

// add appends blocks of the run to the chat.
func (n *Narrator) add(blocks ...*Block) { n.pane.add(n.nested, blocks...) }

// settle draws the live blocks of the run for the last time.
func (n *Narrator) settle() { n.pane.settle(n.nested) }
