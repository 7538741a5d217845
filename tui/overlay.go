package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
)

// overlay is a dialog that stands in place of the panes until it is left.
type overlay interface {
	// shown reports whether it is on the screen.
	shown() bool
	// press takes a key and returns what is wanted because of it.
	press(k tea.KeyPressMsg) wanted
	// draw draws it in the middle of exactly height lines of width cells.
	draw(width, height int) []string
	// clicked chooses what is drawn at that line, wheeled moves by lines.
	clicked(line int)
	wheeled(lines int)
	// hints are its keys, the most useful first, for the footer.
	hints() []hint
}

// typist is a dialog in which letters may be typed.
type typist interface {
	types() bool // now
}

// over is the dialog in place of the panes, nil where there is none.
func (m *Model) over() overlay {
	for _, o := range m.overlays {
		if o.shown() {
			return o
		}
	}
	return nil
}

// listRuns opens the list of runs with the run on the screen chosen, where that
// can go on.
func (m *Model) listRuns() tea.Cmd {
	shown := ""
	if m.run != nil {
		shown = m.run.ID
	}
	m.runs.folder = m.status.Workspace
	return m.outbox.ask(m.runs.ask(shown))
}

// pressOver gives a key to the dialog and does what it wants. Help and palette
// open over it.
func (m *Model) pressOver(k tea.KeyPressMsg) tea.Cmd {
	typed := false // letters are for the dialog
	if t, ok := m.over().(typist); ok {
		typed = t.types()
	}
	if a := m.find(k, placeEverywhere); a != nil && (k.Text == "" || !typed) && (a.key == &m.keys.Help || a.key == &m.keys.Palette) && !m.help.open && !m.palette.open {
		return m.do(a)
	}
	if l, ok := m.over().(listed); ok {
		l.unpick()
	}
	w := m.over().press(k)
	cmds := []tea.Cmd{w.cmd}
	if w.gate && m.ask.waiting() > 0 {
		cmds = append(cmds, m.ask.reopen())
	}
	if w.told != "" {
		m.toast("info", w.told)
	}
	if w.do != nil {
		cmds = append(cmds, m.doFor(w.do, w.at))
	}
	if w.ask != nil {
		cmds = append(cmds, m.outbox.ask(w.ask))
	}
	switch c := w.send.(type) {
	case nil:
		return tea.Batch(cmds...)
	case runner.Resume:
		m.focus = paneChat
		m.chat.toEnd()
		m.preparing = m.going() == ""
	case runner.Choose:
		m.chosen = &c
	}
	return tea.Batch(append(cmds, m.outbox.send(w.send), m.animate())...)
}

// warmEvery is how often typing has the model loaded at most.
const warmEvery = time.Minute

// warm has the model loaded as soon as the user begins to type, since it will be
// asked next.
func (m *Model) warm(typed string) tea.Cmd {
	if typed == "" || typed[0] == '/' || !m.input.empty() || m.closed || m.running() || m.chat.problem != "" {
		return nil
	}
	now := m.options.Now()
	if !m.warmed.IsZero() && now.Sub(m.warmed) < warmEvery {
		return nil
	}
	m.warmed = now
	return m.outbox.send(runner.Warm{})
}
