package answerguard

import (
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/keymap"
)

// The usual times of a guard.
const (
	// QuietTime is how long no key may be pressed before a new dialog takes one.
	QuietTime = 400 * time.Millisecond
	// AnswerTime is how long a letter that is an answer waits for another letter.
	AnswerTime = 200 * time.Millisecond
)

// Guard protects a dialog that opens by itself. At first no key answers it, since the
// user may have meant the key for the input. Later, a letter that is an answer waits in
// case another letter follows.
type Guard struct {
	quiet   time.Duration // how long no key may be pressed
	wait    time.Duration // how long an answer waits for another letter; 0 or less means that it acts at once
	on      bool          // keys answer nothing yet
	message string        // says that a key came too early, "" if none did
	stage   bool          // a key of the dialog started it, so that what is typed is no text of the input
	typing  bool          // letters that went to the input started it
	asked   bool          // the user asked for the dialog, so its answers do not wait
	waiting string        // the action of the answer that waits, "" for none
	starts  int           // so far, with the waits
}

// New returns a guard that is off. No key may be pressed for quiet before keys count. A
// letter that answers waits for another one for wait, or not at all if that is 0 or less.
func New(quiet, wait time.Duration) *Guard { return &Guard{quiet: quiet, wait: wait} }

// OverMsg tells that a time of a guard is over: that no key counts, that an answer waits,
// or that a message is shown.
type OverMsg struct {
	of    *Guard
	start int
}

// Start ignores keys from now on, because the dialog opened by itself.
func (g *Guard) Start() tea.Cmd {
	g.on, g.message, g.stage, g.typing, g.asked, g.waiting = true, "", false, false, false, ""
	g.starts++
	return g.after(g.quiet)
}

// StartStage ignores keys from now on, because a key of the dialog opened a stage of it,
// or because the user types at the dialog.
func (g *Guard) StartStage() tea.Cmd {
	asked := g.asked
	cmd := g.Start()
	g.stage, g.asked = true, asked
	return cmd
}

// StartTyping ignores keys for longer, because the user types a text for the input: people
// pause between words.
func (g *Guard) StartTyping() tea.Cmd {
	g.Start()
	g.typing = true
	return g.after(3 * g.quiet)
}

// Prolong ignores keys from now on again, after a key that would have answered nothing.
func (g *Guard) Prolong() tea.Cmd {
	stage, typing, asked := g.stage, g.typing, g.asked
	cmd := g.Start()
	g.stage, g.typing, g.asked = stage, typing, asked
	return cmd
}

// TooEarly ignores keys from now on again, after a key that would have acted, and says so
// for a while.
func (g *Guard) TooEarly(key string) tea.Cmd {
	cmd := g.Prolong()
	if utf8.RuneCountInString(key) > 1 {
		key = english.Capital(key)
	}
	why := " came too early; press it again."
	if g.typing {
		why = " did nothing, because you were typing; press it again."
	}
	g.message = untrusted.Line(key) + why
	return cmd
}

// Ignore takes a key that no action of the dialog takes, while keys are ignored. It
// reports whether it has. typed tells that the dialog would have written the key.
func (g *Guard) Ignore(k tea.KeyPressMsg, typed bool) (cmd tea.Cmd, taken bool) {
	switch {
	case !g.on:
		return nil, false
	case typed:
		return g.TooEarly(keymap.NameOf(k)), true
	default:
		return g.Prolong(), true
	}
}

// Hold returns the actions of the dialog as they are now. While keys are ignored, each
// only says that its key came too early. The early ones act nevertheless, and so does
// leaving what a key of the dialog has opened.
func (g *Guard) Hold(hs keymap.Handlers, keys *keymap.Map) keymap.Handlers {
	if !g.on || hs == nil {
		return hs
	}
	for id, h := range hs {
		if !h.Early && (id != "dialog.leave" || !g.stage) {
			hs[id] = keymap.Handler{When: h.When, Do: func() keymap.Requests {
				return keymap.Requests{g.TooEarly(keys.Name(id))}
			}}
		}
	}
	return hs.With(waiting().For(g))
}

// waiting is the action that ends the wait. Its key is not typed by accident.
func waiting() keymap.Table[*Guard] {
	return keymap.Table[*Guard]{
		{ID: "gate", Do: keymap.Calls((*Guard).Stop)},
	}
}

// Stop lets keys count at once, because the user asked for the dialog.
func (g *Guard) Stop() {
	g.on, g.message, g.asked, g.waiting, g.starts = false, "", true, "", g.starts+1
}

// AskedFor lets answers act without waiting: a key of the user opened the dialog.
func (g *Guard) AskedFor() { g.asked = true }

// Reset turns the guard off for another question of the same dialog.
func (g *Guard) Reset() { *g = Guard{quiet: g.quiet, wait: g.wait, starts: g.starts} }

// Ignores reports whether keys answer nothing yet.
func (g *Guard) Ignores() bool { return g.on }

// InStage reports whether a key of the dialog turned it on, not the dialog itself.
func (g *Guard) InStage() bool { return g.stage }

// Message says that a key came too early, "" if none did.
func (g *Guard) Message() string { return g.message }

// ClearMessage takes back the message about an early key.
func (g *Guard) ClearMessage() { g.message = "" }

// Waiting returns the action of the answer that waits for another letter, "" for none.
func (g *Guard) Waiting() string { return g.waiting }

// Disarm drops the answer that waits for another letter.
func (g *Guard) Disarm() { g.waiting = "" }

// await starts the wait for another letter after one whose action is answer. An empty
// answer means that the letter has acted or has no action.
func (g *Guard) await(answer string) tea.Cmd {
	g.waiting = answer
	g.starts++
	return g.after(g.wait)
}

// watches reports whether letters at the dialog may be meant for the input. On a small
// screen the dialog cannot be seen, and nothing waits.
func (g *Guard) watches(small bool) bool {
	if g.on {
		return !g.stage
	}
	return !g.asked && g.wait > 0 && !small
}

// Over returns the end of the newest time of the guard, or of an earlier one: back is
// the number of starts since. Tests use it in place of a clock.
func (g *Guard) Over(back int) OverMsg { return OverMsg{g, g.starts - back} }

func (g *Guard) after(d time.Duration) tea.Cmd {
	msg := g.Over(0)
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// stale reports whether the guard has been started again since.
func (m OverMsg) stale() bool { return m.start != m.of.starts }

// end lets keys count, or takes the message about an early key back.
func (m OverMsg) end() tea.Cmd {
	const shown = 6 // quiet times that the message stays
	switch g := m.of; {
	case g.on:
		g.on = false
		if g.message != "" {
			return g.after(shown * g.quiet)
		}
	default:
		g.message = ""
	}
	return nil
}
