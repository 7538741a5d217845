package ask

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/internal/untrusted"
)

// CheckMsg says that a pause has passed since the change numbered count.
type CheckMsg struct{ Count int }

// Edit gives a message to the arguments that are being edited, and has them held
// against the schema when nothing more comes for a while.
func (g *Dialog) Edit(msg tea.Msg) tea.Cmd {
	cmd := g.Editor.Update(msg)
	return tea.Batch(cmd, g.checkSoon())
}

// checkSoon has the arguments held against the schema after a pause. One wait at
// a time is under way, however fast one types.
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

// Check holds the arguments against the schema, unless they have changed since:
// then it waits on.
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
