package chat

import (
	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui/story"
)

// Narrator draws in the chat what the story of one run says: plans, answers at gates,
// failures, calls, the model's words and the outcome.
type Narrator struct {
	pane   *Pane
	prose  *prose // draws the texts in Markdown
	run    *agent.Run
	story  *story.Story
	nested bool // a call in the chat started the run; its blocks are inset

	turn          *turn    // the turn that a model writes or last wrote, nil before the first
	planning      *thought // the models' thinking in the planning phases, nil for none
	planningBlock *Block   // shows planning
	answers       *answers // the last ones to gates, nil before the first
	command       *Block   // the card of the user's command that the run carries out, nil for none
	cards         int      // number of calls of the chat that have a card
	replied       bool     // the session has reported the outcome
	outcome       *Block   // says how the run ended, nil before
}

// Undone draws how the run ended anew, since the run was undone or redone.
func (n *Narrator) Undone() {
	if n.outcome != nil {
		n.pane.redraw(n.outcome)
	}
}

func newNarrator(c *Pane, p *prose, once *story.Once, run *agent.Run, nested bool) *Narrator {
	n := &Narrator{pane: c, prose: p, nested: nested, story: story.New(story.Live, once)}
	n.Follow(run)
	return n
}

// Follow makes the narrator read another state of the same run. Existing blocks
// keep the state they were drawn from.
func (n *Narrator) Follow(run *agent.Run) {
	n.run = run
	n.story.Follow(run, n.nested)
}

// Cards returns the number of calls that the chat has shown for the run.
func (n *Narrator) Cards() int { return n.cards }

// Writing reports whether the text of an unfinished turn is in the chat.
func (n *Narrator) Writing() bool { return !n.turn.isOver() && !n.turn.isEmpty() }

// Start announces a run at its first event. A run that was not typed here, as in
// a replay, states its own goal.
func (n *Narrator) Start(d event.RunStarted) {
	c := n.pane
	if len(c.Blocks) == 0 && d.Plan == nil {
		c.addMessage(d.Goal, d.Prompting.Mentions)
	}
	if !n.nested {
		n.prose.turnTo(n.run.ID)
	}
	n.settle()
	if d.Plan == nil {
		n.add(phaseBlocks(c, n.run)...)
	}
}

// Before returns the state to pass to [Narrator.Narrate] once the run has applied
// the event.
func (n *Narrator) Before(data event.Data) story.Before { return n.story.Before(data) }

// Narrate draws what an event says, after the run has applied it.
func (n *Narrator) Narrate(data event.Data, before story.Before) {
	if n.pane.isReplay() {
		n.story.ReadBy(story.Replay)
	}
	for _, e := range n.story.Tell(data, before) {
		n.draw(e)
	}
}

// ApplyFailed warns that the run could not apply an event.
func (n *Narrator) ApplyFailed(err error) {
	n.add(noteBlock(n.pane.Styles, "error", "The screen may be behind: "+err.Error()))
}

// draw draws an entry.
func (n *Narrator) draw(e story.Entry) {
	if n.drawCommand(e) {
		return
	}
	c, l := n.pane, n.pane.Styles
	switch e.Kind {
	case story.Resumed:
		n.resume(e.Words)
	case story.Plan:
		n.add(planBlock(l, n.run, e.Plan.Title.Line(), len(e.Plan.Steps), n.run.DryRun()))
	case story.Revision:
		n.add(revisionBlock(l, e.Event.(event.PlanDiff), e.CauseKnown))
	case story.Reviewed:
		n.add(reviewBlock(l, n.run, e.Event.(event.PlanReviewed)))
	case story.Replanning:
		n.add(replanBlock(c, n.run))
	case story.Route:
		n.add(entryBlock(l, e))
		if n.run.Model == "" {
			c.ranByWords() // the remark reports the missing model
		}
	case story.Remark:
		d := e.Event.(event.RunSteered)
		n.add(steerBlock(l, d, c.showsSent("/steer ", d.Text))) // a command is in the chat already
	case story.Failure:
		n.add(entryBlock(l, e).withGap(true))
	case story.GateAnswered:
		n.drawAnswer(e)
	case story.Answer:
		n.settleRun()
		if n.run.Synthesis.Text == "" && n.turn.isEmpty() { // it did not stream
			n.add(n.prose.blocks(e.Text)...)
		}
	case story.Results:
		n.settleRun()
		n.add(resultBlocks(l, c.size, n.run, e.Results)...)
	case story.Outcome:
		n.settleRun()
		b := outcomeBlock(l, e.Ending, e.Ending.Resume(c.resumedBy(n.run.ID)), func() bool { return n.run.Undone != nil })
		n.outcome = b.withGap(b.Gap || len(e.Results) > 0)
		n.add(n.outcome)
	case story.Advice:
		n.add(c.advice())
	default:
		if !n.drawTurn(e) {
			n.add(entryBlock(l, e))
		}
	}
}

// drawTurn draws what a model writes or thinks. It reports whether the entry is about that.
func (n *Narrator) drawTurn(e story.Entry) bool {
	switch e.Kind {
	case story.Thinking:
		n.think(e.Phase, e.Thought, string(e.Text))
	case story.ThinkingEnds:
		n.endThinking(e.Phase, e.Thought)
	case story.TurnBegins:
		n.openTurn()
	case story.TurnText:
		n.openTurn().write(string(e.Text), e.Thought, n.run.Now)
	case story.TurnWithdrawn:
		n.turn.withdraw()
	case story.TurnEnds:
		n.closeTurn(e.Text, e.Thought)
		n.narrateCalls()
	default:
		return false
	}
	return true
}

// settleRun ends the open turn of a run that is over, and draws its live blocks for the
// last time.
func (n *Narrator) settleRun() {
	if !n.turn.isOver() {
		n.turn.stop(n.run.Now)
	}
	n.pane.Invalidate()
	n.settle()
}

// resume draws that the run was resumed, with its goal if the chat has not shown it
// yet.
func (n *Narrator) resume(words string) {
	c, r := n.pane, n.run
	n.replied = false
	n.settle()
	var goal untrusted.Text
	if !n.prose.isAbout(r.ID) {
		goal = r.Goal
	}
	if !n.nested {
		n.prose.turnTo(r.ID)
	}
	about := goal
	if c.showsSent("", goal) {
		about = "" // the message before it
	}
	n.add(resumeBlock(c.Styles, words, about))
	n.cards = 0
	switch {
	case goal == "" && r.Chat != nil:
		// The chat has shown the planning and the calls that have ended.
		for n.cards < len(r.Chat.Calls) && r.Chat.Calls[n.cards].Status.Ended() {
			n.cards++
		}
	case r.Revision == 0:
		n.add(phaseBlocks(c, r)...)
	}
	n.narrateCalls()
}

// outcomeReply handles the session's reply about the run. It reports whether the
// chat needs no more of it: the outcome has been told, or there is none.
func (n *Narrator) outcomeReply(d event.ChatReply) bool {
	result := n.run.Result
	if result == nil { // the session abandoned the run
		n.settle()
		n.add(noteBlock(n.pane.Styles, "error", d.Text.Visible()))
		return true
	}
	first := !n.replied
	n.replied = true
	// The reply to a run that only plans says where the plan is stored.
	return first && !n.run.PlanOnly() || d.Text == result.Error
}

// add appends blocks of the run to the chat.
func (n *Narrator) add(blocks ...*Block) { n.pane.add(n.nested, blocks...) }

// settle draws the live blocks of the run for the last time.
func (n *Narrator) settle() { n.pane.settle(n.nested) }

// narrateCalls adds a card for each call that has none.
func (n *Narrator) narrateCalls() {
	if n.run.Chat == nil {
		return
	}
	for ; n.cards < len(n.run.Chat.Calls); n.cards++ {
		card := cardBlock(n.pane.Styles, n.run, n.run.Chat.Calls[n.cards])
		n.add(card.withGap(n.cards == 0 || !n.pane.endsInCard()))
	}
}
