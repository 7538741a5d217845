package chat

import (
	"strings"

	"replan/internal/untrusted"
)

// openTurn returns the turn being written. After a completed turn it starts a
// new one, which enters the chat with its first text.
func (n *Narrator) openTurn() *turn {
	if n.turn == nil || n.turn.done {
		n.turn = &turn{inset: n.nested}
	}
	return n.turn
}

// write adds streamed text and thinking of a model to the open turn.
func (n *Narrator) write(text, thinking string) {
	t := n.openTurn()
	if thinking != "" {
		if t.thought == nil {
			t.thought = &thought{began: n.run.Now, live: true, unfolded: n.pane.ShowsThinking}
			n.add(t.thought.block(n.pane.Styles))
		}
		t.thought.add("", thinking)
	}
	if text != "" {
		if t.thought != nil && t.thought.live {
			t.thought.end(n.run.Now)
		}
		t.written.WriteString(text)
		t.text = t.written.String()
		n.pane.flow(t)
	}
	n.pane.Invalidate()
}

// closeTurn ends a turn with its complete text and thinking.
func (n *Narrator) closeTurn(complete untrusted.Text, thinking string) {
	text := string(complete) // a turn keeps its text as it came, since its code is copied so
	if text == "" && thinking == "" && (n.turn == nil || n.turn.done) {
		return
	}
	t := n.openTurn()
	if thinking != "" && t.thought == nil && len(t.blocks) == 0 {
		t.thought = &thought{unfolded: n.pane.ShowsThinking}
		t.thought.add("", thinking)
		n.add(t.thought.block(n.pane.Styles))
	}
	if t.thought != nil {
		t.thought.end(n.run.Now)
	}
	if text != "" && text != t.text {
		if !strings.HasPrefix(text, t.text) {
			n.pane.removeTurn(t)
		}
		t.text = text
	}
	t.done = true
	n.pane.flow(t)
	n.pane.Invalidate()
}

// think handles streamed thinking in a planning phase. A non-empty text means
// that the model has begun to write.
func (n *Narrator) think(phase int, thinking, text string) {
	t := n.planning
	if thinking != "" {
		if t == nil {
			t = &thought{unfolded: n.pane.ShowsThinking}
			n.planning, n.planningBlock = t, t.block(n.pane.Styles)
			n.planningBlock.Gap = false
			n.add(n.planningBlock)
		}
		if !t.live {
			t.live, t.began = true, n.run.Now
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
	n.planning.live = false // its duration is unknown
}
