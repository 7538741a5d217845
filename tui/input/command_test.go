package input

import (
	"reflect"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/panetest"
)

// firstLine returns the first line of the text field.
func firstLine(p *Pane) string { return ansi.Strip(p.View(draw.Rect{W: 60, H: 3})[0]) }

func TestMarkOfACommandTakesThePlaceOfThePrompt(t *testing.T) {
	now := time.Unix(1000, 0)
	backspace := tea.KeyPressMsg{Code: tea.KeyBackspace}
	p := newPane(&now)
	p.Height(60, 6, 3)
	if w := types(p, "!"); len(panetest.Sent(w)) > 0 {
		t.Errorf("typing the mark sends %v", panetest.Sent(w))
	}
	if got := firstLine(p); got[:24] != "! Type a command for the" || p.Empty() || !p.IsCommand() {
		t.Errorf("after the mark: %q", got)
	}
	if why := p.Actions()["chat.send"].Refuse(); why != "Type a command first." {
		t.Errorf("without a command: %q", why)
	}
	types(p, "ls @a")
	if got := firstLine(p); got[:8] != "! ls @a " || p.Listing() {
		t.Errorf("with a command: %q, listing %v", got, p.Listing())
	}
	w := p.Actions()["chat.send"].Do()
	if want := []session.Command{session.Submit{Text: "!ls @a"}}; !reflect.DeepEqual(panetest.Sent(w), want) || p.IsCommand() || !p.Empty() {
		t.Errorf("sent %v, then %q", panetest.Sent(w), p.Text())
	}

	p.Remember("!ls @a")
	p.Actions()["chat.before"].Do()
	if !p.IsCommand() || p.Text() != "!ls @a" || firstLine(p)[:8] != "! ls @a " {
		t.Errorf("the history shows %q", firstLine(p))
	}
	p.Actions()["chat.after"].Do()
	if p.IsCommand() || !p.Empty() {
		t.Errorf("after it: %q", p.Text())
	}

	types(p, "!")
	p.Update(backspace)
	if p.IsCommand() || !p.Empty() {
		t.Errorf("backspace leaves %q", p.Text())
	}
	types(p, "!l")
	p.Update(tea.KeyPressMsg{Code: tea.KeyHome})
	p.Update(backspace)
	if p.IsCommand() || p.Text() != "l" {
		t.Errorf("backspace before a command leaves %q", p.Text())
	}
	p.Update(tea.KeyPressMsg{Code: tea.KeyHome})
	types(p, "!")
	if !p.IsCommand() || p.Text() != "!l" {
		t.Errorf("the mark before a text makes %q", p.Text())
	}
	p.Clear()
	types(p, "a!")
	if p.IsCommand() || p.Text() != "a!" {
		t.Errorf("a mark behind a letter makes %q", p.Text())
	}
	p.Clear()
	p.Update(tea.PasteMsg{Content: "!make x"})
	if !p.IsCommand() || p.Text() != "!make x" || firstLine(p)[:9] != "! make x " {
		t.Errorf("a paste makes %q", firstLine(p))
	}
}

func TestCommandIsNoRemarkToARun(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPane(&now)
	p.State = State{Focused: true, Running: true, Busy: true, Steerable: true}
	types(p, "!ls")
	if why := p.Actions()["run.steer"].Refuse(); why != "A command is no remark; enter queues it." {
		t.Errorf("got %q", why)
	}
	if hints := p.Hints(); len(hints) != 1 || hints[0].Does != "queue" {
		t.Errorf("the footer offers %+v", hints)
	}
}
