package ask

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/internal/untrusted"
	"replan/tui/keymap"
)

// CheckMsg reports that the pause after edit number Count is over.
type CheckMsg struct{ Count int }

// edit passes a message to the open argument editor and schedules a schema check
// for when typing pauses.
func (g *Dialog) edit(msg tea.Msg) keymap.Request {
	if g.editor == nil {
		return keymap.Request{}
	}
	return keymap.Request{Cmd: tea.Batch(g.editor.Update(msg), g.checkSoon())}
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

// check validates the arguments against the schema. If they have changed since m
// was sent, it waits for another pause.
func (g *Dialog) check(m CheckMsg) tea.Cmd {
	g.pausing = false
	if g.editor == nil || !g.Showing() {
		return nil
	}
	if m.Count != g.Edits {
		return g.pause()
	}
	g.checkArgs()
	return nil
}

func (g *Dialog) checkArgs() {
	args := g.editor.Args()
	if args == nil {
		return
	}
	if _, err := g.current().with(args); err != nil {
		g.editor.Fault = untrusted.Line(err.Error())
	}
}
