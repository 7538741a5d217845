package draw

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Grace is the first moment of a question. A key pressed then answers nothing,
// since the user may have meant it for the input.
type Grace struct {
	Length time.Duration // how long no key may be pressed
	On     bool          // keys answer nothing yet
	Early  bool          // a key came too early
	Count  int           // starts so far
}

// GraceMsg reports that start number Count of a grace time is over.
type GraceMsg struct {
	Of    *Grace
	Count int
}

// Start starts the grace time, or restarts it.
func (g *Grace) Start() tea.Cmd {
	g.On = true
	g.Count++
	over := GraceMsg{g, g.Count}
	return tea.Tick(g.Length, func(time.Time) tea.Msg { return over })
}

// StartTyping starts a longer grace time: people pause between the words of a text.
func (g *Grace) StartTyping() tea.Cmd {
	usual := g.Length
	g.Length *= 3
	cmd := g.Start()
	g.Length = usual
	g.Early = false
	return cmd
}

// TooEarly restarts the grace time after a key.
func (g *Grace) TooEarly() tea.Cmd {
	g.Early = true
	return g.Start()
}

// End ends the grace time unless it has been restarted since.
func (m GraceMsg) End() {
	if m.Count == m.Of.Count {
		m.Of.On, m.Of.Early = false, false
	}
}
