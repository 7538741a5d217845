package input

import (
	"strings"

	"replan/agent/session"
	"replan/tui/keymap"
)

// sideStart is what a side question begins with in the input.
const sideStart = session.SideCommand + " "

// sideRow is the row of the action that makes the text a side question.
func sideRow() keymap.Row[*Pane] {
	return keymap.Row[*Pane]{
		ID: "run.ask", Keys: "alt+i", Does: "ask about the run; it goes on", Opens: true, Refuse: (*Pane).noSideQuestion, Do: (*Pane).askSide,
	}
}

// noSideQuestion returns why no side question can be asked.
func (p *Pane) noSideQuestion() string {
	if !p.TakesText() {
		return p.NoText()
	}
	return p.Can.NoSideQuestions
}

// AsksSide reports whether the text is a side question.
func (p *Pane) AsksSide() bool { return strings.HasPrefix(p.Text(), sideStart) }

// askSide makes the text a side question, or takes that back. An open gate makes way until then.
func (p *Pane) askSide() keymap.Requests {
	before, after := p.split()
	if text, asks := strings.CutPrefix(before, sideStart); asks {
		p.setSplit(text, after)
		return append(keymap.Requests{keymap.LookBack{}, keymap.Focus(keymap.PlaceChat)}, p.suggestAgain()...)
	}
	if !p.AsksSide() {
		p.setSplit(sideStart+before, after)
	}
	return append(keymap.Requests{keymap.LookAround{}, keymap.Focus(keymap.PlaceChat)}, p.suggestAgain()...)
}
