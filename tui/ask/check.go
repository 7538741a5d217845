package ask

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/internal/untrusted"
)

// CheckMsg reports that the pause after edit number Count is over.
type CheckMsg struct{ Count int }

// Edit passes a message to the argument editor and schedules a schema check for
// when typing pauses.
func (g *Dialog) Edit(msg tea.Msg) tea.Cmd {
	cmd := g.Editor.Update(msg)
	return tea.Batch(cmd, g.checkSoon())
}

// checkSoon schedules a schema check after a pause. Only one timer runs at a time,
// however fast the user types.
func (g *Dialog) checkSoon() tea.Cmd {
	g.Edits++
	if g.pausing {
		return nil
	}
	return g.pause()
}

func (g *Dialog) pause() tea.Cmd {
	g.pausing = true
	count := g.Edits
	return tea.Tick(g.pauses.Check, func(time.Time) tea.Msg { return CheckMsg{count} })
}

// Check validates the arguments against the schema. If they have changed since m
// was sent, it waits for another pause.
func (g *Dialog) Check(m CheckMsg) tea.Cmd {
	g.pausing = false
	if g.Editor == nil || !g.Showing() {
		return nil
	}
	if m.Count != g.Edits {
		return g.pause()
	}
	g.checkArgs()
	return nil
}

func (g *Dialog) checkArgs() {
	args := g.Editor.Args()
	if args == nil {
		return
	}
	if _, err := g.Current().with(args); err != nil {
		g.Editor.Fault = untrusted.Line(err.Error())
	}
}
