package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/tui/untrusted"
)

// checkMsg says that a pause has passed since the change numbered count.
type checkMsg struct{ count int }

// edit gives a message to the arguments that are being edited, and has them held
// against the schema when nothing more comes for a while.
func (g *askDialog) edit(msg tea.Msg) tea.Cmd {
	cmd := g.editor.update(msg)
	return tea.Batch(cmd, g.checkSoon())
}

// checkSoon has the arguments held against the schema after a pause. One wait at
// a time is under way, however fast one types.
func (g *askDialog) checkSoon() tea.Cmd {
	g.edits++
	if g.pausing {
		return nil
	}
	return g.pause()
}

func (g *askDialog) pause() tea.Cmd {
	g.pausing = true
	count := g.edits
	return tea.Tick(g.pauses.Check, func(time.Time) tea.Msg { return checkMsg{count} })
}

// check holds the arguments against the schema, unless they have changed since:
// then it waits on.
func (g *askDialog) check(m checkMsg) tea.Cmd {
	g.pausing = false
	if g.editor == nil || !g.showing() {
		return nil
	}
	if m.count != g.edits {
		return g.pause()
	}
	g.checkArgs()
	return nil
}

func (g *askDialog) checkArgs() {
	args := g.editor.args()
	if args == nil {
		return
	}
	if _, err := g.current().with(args); err != nil {
		g.editor.fault = untrusted.Line(err.Error())
	}
}
