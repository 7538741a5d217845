package chat

import "replan/internal/untrusted"

// openTurn returns the turn being written. After a completed turn it starts a
// new one, which enters the chat with its first text.
func (n *Narrator) openTurn() *turn {
	if n.turn.isOver() {
		n.turn = &turn{pane: n.pane, prose: n.prose, inset: n.nested}
	}
	return n.turn
}

// closeTurn ends a turn with its complete text and thinking.
func (n *Narrator) closeTurn(text untrusted.Text, thinking string) {
	if text == "" && thinking == "" && n.turn.isOver() {
		return
	}
	n.openTurn().close(string(text), thinking, n.run.Now) // as it came, since its code is copied so
}

// think handles streamed thinking in a planning phase. A non-empty text means
// that the model has begun to write.
func (n *Narrator) think(phase int, thinking, text string) {
	t := n.planning
	if thinking != "" {
		if t == nil {
			t = newThought(n.pane.ShowsThinking)
			n.planning, n.planningBlock = t, t.block(n.pane.Styles).withGap(false)
			n.add(n.planningBlock)
		}
		if t.begin(n.run.Now) {
			n.pane.revive(n.planningBlock)
		}
		t.add(phaseName(phase), thinking)
	}
	if text != "" && t != nil {
		t.end(n.run.Now)
	}
}

// endThinking handles the thinking of a finished phase if it was not streamed.
func (n *Narrator) endThinking(phase int, thinking string) {
	if n.planning != nil {
		n.planning.end(n.run.Now)
	}
	if thinking == "" || n.planning != nil && n.planning.in(phaseName(phase)) {
		return
	}
	n.think(phase, thinking, "")
	n.planning.endUnmeasured()
}
