package chat

import (
	"reflect"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui/story"
	"replan/tui/wording"
)

// answers are equal answers to gates of the items of one step that follow each other. One
// block tells of all of them.
type answers struct {
	block  *Block
	step   string
	tool   string
	answer event.GateResolved // without its gate
	count  int
	words  string
}

// drawAnswer draws how a gate was answered.
func (n *Narrator) drawAnswer(e story.Entry) {
	d := e.Event.(event.GateResolved)
	next := &answers{words: e.Words, count: 1}
	if e.Gate != nil {
		if s := n.run.Step(e.Gate.Step); s != nil {
			if _, item := s.Item(); item {
				next.step, next.tool = s.Parent, e.Gate.Tool
			}
		}
	}
	d.Gate = ""
	next.answer = d
	c := n.pane
	if a := n.answers; a != nil && next.step != "" && a.step == next.step && a.tool == next.tool && reflect.DeepEqual(a.answer, d) && len(c.Blocks) > 0 && c.Blocks[len(c.Blocks)-1] == a.block {
		a.count++
		a.words = wording.ResolvedItemsWords(a.count, a.tool, a.step, d)
		c.revive(a.block)
		c.Invalidate()
		return
	}
	sign, style := gateGlyph, warningStyle
	if e.Level == story.Declined {
		sign, style = declinedGlyph, textStyle
	}
	next.block = changingRemark(c.Styles, sign, style, func() string { return untrusted.Visible(next.words) })
	n.answers = next
	n.add(next.block)
}
