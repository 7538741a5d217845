package chat

import (
	"slices"
	"strings"
	"time"

	"replan/tui/draw"
)

// turn is one reply that a model writes into the chat: the answer, or text
// before tool calls.
type turn struct {
	pane     *Pane
	prose    *prose // draws the text
	inset    bool   // belongs to a run that a call in the chat started
	text     string
	done     bool
	received strings.Builder // text, as received
	thought  *thought        // thinking before the text, nil for none

	split    splitter
	finished []*Block       // one for each finished part of the text
	open     *Block         // the open part, nil for none
	colors   *draw.OpenCode // of the code in the open part
}

// isOver reports whether no model writes the turn any more. The turn may be nil.
func (t *turn) isOver() bool { return t == nil || t.done }

// isEmpty reports whether the turn has no text. It may be nil.
func (t *turn) isEmpty() bool { return t == nil || t.text == "" }

// write adds streamed text and thinking of a model.
func (t *turn) write(text, thinking string, now time.Time) {
	if thinking != "" {
		if t.thought == nil {
			t.thought = newThought(t.pane.ShowsThinking)
			t.thought.begin(now)
			t.pane.add(t.inset, t.thought.block(t.pane.Styles))
		}
		t.thought.add("", thinking)
	}
	if text != "" {
		if t.thought != nil {
			t.thought.end(now)
		}
		t.received.WriteString(text)
		t.text = t.received.String()
		t.flow()
	}
	t.pane.Invalidate()
}

// close ends the turn with its complete text and thinking.
func (t *turn) close(text, thinking string, now time.Time) {
	if thinking != "" && t.thought == nil && len(t.finished) == 0 && t.open == nil {
		t.thought = newThought(t.pane.ShowsThinking)
		t.thought.add("", thinking)
		t.pane.add(t.inset, t.thought.block(t.pane.Styles))
	}
	if t.thought != nil {
		t.thought.end(now)
	}
	if text != "" && text != t.text {
		if !strings.HasPrefix(text, t.text) {
			t.remove()
		}
		t.text = text
	}
	t.done = true
	t.flow()
	t.pane.Invalidate()
}

// stop ends the turn with the text that has come.
func (t *turn) stop(now time.Time) { t.close(t.text, "", now) }

// withdraw takes the text of the turn back.
func (t *turn) withdraw() {
	t.remove()
	t.text = ""
	t.received.Reset()
}

// remove removes the text of the turn from the chat.
func (t *turn) remove() {
	for _, b := range t.finished {
		t.pane.remove(b)
	}
	if t.open != nil {
		t.pane.remove(t.open)
	}
	t.finished, t.open, t.split = nil, nil, splitter{}
}

// flow shows the text received so far: one block per finished part,
// drawn once, and one for the open part. A completed turn has no open part.
func (t *turn) flow() {
	parts := t.split.feed(t.text)
	rest := t.split.rest(t.text)
	if t.done {
		parts, rest = append(slices.Clone(parts), rest...), nil
	}
	before := len(t.finished)
	for _, part := range parts {
		b := t.prose.block(part, part.code != nil && !t.has(part.code), false)
		t.finished = append(t.finished, b.withGap(part.gap || len(t.finished) == 0))
	}
	fresh := t.finished[before:]
	if t.open == nil {
		t.pane.add(t.inset, fresh...)
		if len(rest) > 0 {
			t.open, t.colors = &Block{live: true, until: t.isOver, text: t.unfinished}, &draw.OpenCode{}
			t.show(rest)
			t.pane.add(t.inset, t.open)
		}
		return
	}
	t.pane.insert(t.pane.placeOf(t.open), t.inset, fresh...)
	if len(rest) > 0 {
		t.show(rest)
		return
	}
	t.pane.remove(t.open)
	t.open = nil
}

// has reports whether that code starts in a finished part of the turn.
func (t *turn) has(c *draw.Code) bool {
	return slices.ContainsFunc(t.finished, func(b *Block) bool { return b.begins(c) })
}

// unfinished returns the text of the open part.
func (t *turn) unfinished() string { return t.split.unfinished(t.text) }

// show shows the pieces of the open part in its block.
func (t *turn) show(rest []piece) {
	var codes []*draw.Code
	for _, p := range rest {
		if p.code != nil && !t.has(p.code) && !slices.Contains(codes, p.code) {
			codes = append(codes, p.code)
		}
	}
	colors := t.colors
	t.pane.rewrite(t.open, len(t.finished) == 0 || rest[0].gap, codes, func(width int) []draw.TextLine {
		return t.prose.open(rest, colors, width)
	})
}
