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
	// handlers are its actions.
	handlers() handlers
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

// taker is a dialog that takes keys which mean no action.
type taker interface {
	typed(k tea.KeyPressMsg) wanted
}

// forgetter is a dialog that says something about the last key until the next.
type forgetter interface {
	forget()
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
	if a := m.find(k, placeEverywhere); a != nil && (k.Text == "" || !typed) && (a.id == "help" || a.id == "palette") && !m.help.open && !m.palette.open {
		return m.do(a)
	}
	over := m.over()
	m.nextKey(over)
	if id, found := m.keys.meant(k, over.handlers()); found {
		return m.actOver(over, id)
	}
	if t, ok := over.(taker); ok {
		return m.carryOut(t.typed(k))
	}
	return nil
}

// nextKey takes away what a dialog keeps of the last key.
func (m *Model) nextKey(over overlay) {
	if l, ok := over.(listed); ok {
		l.unpick()
	}
	if f, ok := over.(forgetter); ok {
		f.forget()
	}
}

// actOver does an action of a dialog, or says why not.
func (m *Model) actOver(over overlay, id string) tea.Cmd {
	w, why := over.handlers().act(id)
	if why != "" {
		m.say(why)
	}
	return m.carryOut(w)
}

// behind is the dialog that help or the palette was opened over, nil for none.
func (m *Model) behind() overlay {
	for _, o := range m.overlays {
		if o != overlay(m.help) && o != overlay(m.palette) && o.shown() {
			return o
		}
	}
	return nil
}

// inDialog is how an action is done that belongs to dialogs: by the one that help
// or the palette was opened over.
func (m *Model) inDialog(id string) handler {
	return handler{
		refuse: func() string {
			o := m.behind()
			if o == nil {
				return notHere
			}
			h, ok := o.handlers()[id]
			if !ok || h.when != nil && !h.when() {
				return notHere
			}
			return h.refusal()
		},
		do: func() wanted { return wanted{cmd: m.actOver(m.behind(), id)} },
	}
}

// carryOut does what a pane asks for.
func (m *Model) carryOut(w wanted) tea.Cmd {
	cmds := []tea.Cmd{w.cmd}
	if w.say != "" {
		m.say(w.say)
	}
	if w.gate && m.ask.waiting() > 0 {
		cmds = append(cmds, m.ask.reopen())
	}
	if w.told != "" {
		m.toast("info", w.told)
	}
	if w.step != "" {
		m.lookInto(w.step)
	}
	if w.play != nil {
		m.again = *w.play
	}
	if w.do != nil {
		cmds = append(cmds, m.doFor(w.do, w.at))
	}
	if w.ask != nil {
		cmds = append(cmds, m.outbox.ask(w.ask))
	}
	for _, command := range w.send {
		switch c := command.(type) {
		case runner.Resume:
			m.focus = paneChat
			m.chat.toEnd()
			m.preparing = m.going() == ""
		case runner.Choose:
			m.chosen = &c
		}
		cmds = append(cmds, m.outbox.send(command))
	}
	if len(w.send) > 0 {
		cmds = append(cmds, m.animate())
	}
	return tea.Batch(cmds...)
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
