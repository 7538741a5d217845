package answerguard

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/tui/keymap"
)

// Letters are what the user has just typed at a dialog that opened by itself. It may
// begin a text for the input.
type Letters struct{ pressed []tea.KeyPressMsg }

// Scene is what has the keys when one is pressed.
type Scene struct {
	Guard      *Guard // of the dialog that has the keys; nil if none did open by itself
	Covered    bool   // a dialog covers the panes
	Small      bool   // the screen is too small for dialogs
	TakesText  bool   // the user may be typing for the input
	InputEmpty bool
}

// guard returns the guard if letters may be meant for the input, nil otherwise.
func (s Scene) guard() *Guard {
	if s.Guard == nil || !s.Guard.watches(s.Small) {
		return nil
	}
	return s.Guard
}

// New returns the guard of a dialog that has just opened by itself, nil for none.
func (s Scene) New() *Guard {
	if g := s.guard(); g != nil && g.Ignores() {
		return g
	}
	return nil
}

// Key is a pressed key.
type Key struct {
	tea.KeyPressMsg
	// Means returns the action of the dialog that the key does, "" for none. It also
	// returns whether the key opens a dialog over this one, as help does.
	Means func() (action string, opens bool)
}

// Fate is what becomes of a key.
type Fate int

// The fates of a key.
const (
	Passes  Fate = iota // it does what it does
	Held                // it does nothing now
	Unknown             // it does nothing, and it is no answer
	Text                // the letters are a text for the input
	Acts                // the letters that waited answer the dialog now
)

// Verdict says what becomes of a key and of the letters before it.
type Verdict struct {
	Fate    Fate
	Letters []tea.KeyPressMsg // for Text and Acts
	Cmd     tea.Cmd           // times the guard
}

// Press decides what becomes of a key.
func (l *Letters) Press(s Scene, k Key) Verdict {
	g := s.guard()
	switch {
	case g != nil && !g.Ignores():
		return l.holdLetter(g, s, k)
	case g == nil && len(l.pressed) > 0 && k.Text != "" && s.Covered:
		l.pressed = append(l.pressed, k.KeyPressMsg) // a letter has opened help, which this one may close
		return Verdict{}
	case g == nil || !s.TakesText:
		l.pressed = nil
		return Verdict{}
	}
	// The dialog has just opened, and the key answers nothing yet. The first key of an
	// empty input may have been an answer, so it is typed together with the second.
	switch {
	case k.Text == "" && (k.Code != tea.KeyBackspace || s.InputEmpty):
		return Verdict{}
	case s.InputEmpty && (len(l.pressed) == 0 || l.pressed[0].Text == k.Text):
		l.pressed = []tea.KeyPressMsg{k.KeyPressMsg}
		return Verdict{}
	}
	l.pressed = append(l.pressed, k.KeyPressMsg)
	return l.becomeText(g)
}

// holdLetter decides about a key at a dialog that takes keys. A letter that is an answer
// acts after a pause, or at enter. If another letter comes first, both are a text.
func (l *Letters) holdLetter(g *Guard, s Scene, k Key) Verdict {
	before, waiting := l.pressed, g.Waiting()
	if k.Text == "" {
		l.pressed = nil
		g.Disarm()
		if waiting == "" || k.Code != tea.KeyEnter || k.Mod != 0 {
			return Verdict{}
		}
		return Verdict{Fate: Acts, Letters: before}
	}
	action, opens := k.Means()
	found := action != ""
	harmless := found && !answers(action) || !found && opens
	other := slices.ContainsFunc(before, func(b tea.KeyPressMsg) bool { return b.Text != k.Text })
	n := len(before)
	held := waiting == "" && n > 1 && before[n-1].Text == before[n-2].Text // as j is to scroll
	l.pressed = append(before, k.KeyPressMsg)
	switch {
	case harmless && waiting == "":
		return Verdict{Fate: Passes, Cmd: g.await("")}
	case found && !other:
		return Verdict{Fate: Held, Cmd: g.await(action)}
	case other && !held && s.TakesText:
		return l.becomeText(g)
	}
	l.pressed = []tea.KeyPressMsg{k.KeyPressMsg}
	v := Verdict{Fate: Unknown, Cmd: g.Start()}
	if !s.TakesText {
		v.Cmd = g.StartStage()
	}
	if found {
		v = Verdict{Fate: Held, Cmd: g.TooEarly(keymap.NameOf(k.KeyPressMsg))}
	}
	return v
}

// Paste decides what becomes of a paste: it is a text, with the letters before it. It
// passes if no dialog that opened by itself has the keys.
func (l *Letters) Paste(s Scene) Verdict {
	g := s.guard()
	if g == nil || !s.TakesText {
		return Verdict{}
	}
	return l.becomeText(g)
}

// Over decides what becomes of the letters when a time of a guard is over.
func (l *Letters) Over(s Scene, msg OverMsg) Verdict {
	if msg.stale() {
		return Verdict{}
	}
	waited := msg.of.Waiting() != ""
	msg.of.Disarm()
	letters, g := l.pressed, s.guard()
	if g == msg.of || g == nil {
		l.pressed = nil
	}
	if g == msg.of && waited {
		return Verdict{Fate: Acts, Letters: letters}
	}
	return Verdict{Fate: Held, Cmd: msg.end()}
}

// Forget drops the letters, because the user clicked.
func (l *Letters) Forget() { l.pressed = nil }

// becomeText hands the letters over as a text for the input. The dialog ignores keys for
// a while.
func (l *Letters) becomeText(g *Guard) Verdict {
	letters := l.pressed
	l.pressed = nil
	return Verdict{Fate: Text, Letters: letters, Cmd: g.StartTyping()}
}

// answers reports whether an action of a question or a review answers it or changes what
// it is about. Others only show more of it.
func answers(id string) bool {
	switch id {
	case "dialog.leave", "gate.details", "gate.sides", "gate.next", "gate.previous", "gate.next_hunk", "gate.previous_hunk", "gate.next_file", "gate.previous_file", "review.move_up", "review.move_down":
		return false
	default:
		return !strings.HasPrefix(id, "move.")
	}
}
