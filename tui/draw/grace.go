package draw

import (
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/internal/untrusted"
)

// Grace is the first moment of a question. A key pressed then answers nothing,
// since the user may have meant it for the input. After it, a letter that is an
// answer waits in case another letter follows.
type Grace struct {
	Length time.Duration // how long no key may be pressed
	Wait   time.Duration // how long an answer waits for another letter; 0 means that it acts at once
	On     bool          // keys answer nothing yet
	Early  string        // says that a key came too early, "" if none did
	Later  bool          // it follows a key for the question, so that what is typed is no text of the input
	Typing bool          // it follows letters that went to the input
	Asked  bool          // the user opened the question by a key, so its answers do not wait
	Armed  string        // the action of the answer that waits, "" for none
	Count  int           // starts so far
}

// NewGrace returns the grace time of a dialog, not started.
func NewGrace(p Pauses) Grace { return Grace{Length: p.Grace, Wait: p.Answer} }

// GraceMsg reports that start number Count of a grace time is over, and later that its
// message about an early key has been shown long enough.
type GraceMsg struct {
	Of    *Grace
	Count int
}

// Start starts the grace time, or restarts it.
func (g *Grace) Start() tea.Cmd {
	g.On, g.Early, g.Later, g.Typing, g.Asked, g.Armed = true, "", false, false, false, ""
	g.Count++
	return GraceMsg{g, g.Count}.after(g.Length)
}

// StartLater starts the grace time of a stage that a key of the question opened, or
// of a question at which the user types.
func (g *Grace) StartLater() tea.Cmd {
	asked := g.Asked
	cmd := g.Start()
	g.Later, g.Asked = true, asked
	return cmd
}

func (m GraceMsg) after(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return m })
}

// Stop ends the grace time, because the user asked for the question.
func (g *Grace) Stop() { g.On, g.Early, g.Asked, g.Armed, g.Count = false, "", true, "", g.Count+1 }

// Await starts the wait for another letter after one whose action is answer. An empty
// answer means that the letter has acted or has no action.
func (g *Grace) Await(answer string) tea.Cmd {
	g.Armed = answer
	g.Count++
	return GraceMsg{g, g.Count}.after(g.Wait)
}

// StartTyping starts a longer grace time: people pause between the words of a text.
func (g *Grace) StartTyping() tea.Cmd {
	usual := g.Length
	g.Length *= 3
	cmd := g.Start()
	g.Length, g.Typing = usual, true
	return cmd
}

// Prolong restarts the grace time after a key that would have answered nothing.
func (g *Grace) Prolong() tea.Cmd {
	later, typing, asked := g.Later, g.Typing, g.Asked
	cmd := g.Start()
	g.Later, g.Typing, g.Asked = later, typing, asked
	return cmd
}

// ArmedKey draws the key of an answer that waits for another letter: as wide as
// otherwise, since it is only for a moment.
func (l *Look) ArmedKey(name, does string) string {
	return l.Selected(l.Key.Bold(true)).Render(name) + l.Selected(l.Accent).Render(l.Glyphs.Cursor) + l.Selected(l.Text).Render(does)
}

// TooEarly restarts the grace time after a key that would have acted, and says so for
// a while.
func (g *Grace) TooEarly(key string) tea.Cmd {
	cmd := g.Prolong()
	if utf8.RuneCountInString(key) > 1 {
		key = english.Capital(key)
	}
	why := " came too early; press it again."
	if g.Typing {
		why = " did nothing, because you were typing; press it again."
	}
	g.Early = untrusted.Line(key) + why
	return cmd
}

// End ends the grace time, or the message about an early key, unless the grace time
// has been restarted since.
func (m GraceMsg) End() tea.Cmd {
	const shown = 6 // lengths of the grace time that the message stays
	switch {
	case m.Count != m.Of.Count:
	case m.Of.On:
		m.Of.On = false
		if m.Of.Early != "" {
			return m.after(shown * m.Of.Length)
		}
	default:
		m.Of.Early = ""
	}
	return nil
}
