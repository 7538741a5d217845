package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// overlay is a dialog that stands in place of the panes until it is left.
type overlay interface {
	// Shown reports whether it is on the screen.
	Shown() bool
	// Handlers are its actions.
	Handlers() keymap.Handlers
	// Draw draws it in the middle of exactly height lines of width cells.
	Draw(width, height int) []string
	// Clicked chooses what is drawn at that line, wheeled moves by lines.
	Clicked(line int)
	Wheeled(lines int)
	// Hints are its keys, the most useful first, for the footer.
	Hints() []keymap.Hint
}

// typist is a dialog in which letters may be typed.
type typist interface {
	Types() bool // now
}

// taker is a dialog that takes keys which mean no action.
type taker interface {
	Typed(k tea.KeyPressMsg) keymap.Wanted
}

// forgetter is a dialog that says something about the last key until the next.
type forgetter interface {
	Forget()
}

// over is the dialog in place of the panes, nil where there is none.
func (m *Model) over() overlay {
	for _, o := range m.overlays {
		if o.Shown() {
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
	m.runs.Folder = m.status.Workspace
	return m.outbox.ask(m.runs.Ask(shown))
}

// pressOver gives a key to the dialog and does what it wants. Help and palette
// open over it.
func (m *Model) pressOver(k tea.KeyPressMsg) tea.Cmd {
	typed := false // letters are for the dialog
	if t, ok := m.over().(typist); ok {
		typed = t.Types()
	}
	if a := m.find(k, keymap.PlaceEverywhere); a != nil && (k.Text == "" || !typed) && (a.ID == "help" || a.ID == "palette") && !m.help.Open && !m.palette.Open {
		return m.do(a)
	}
	over := m.over()
	m.nextKey(over)
	if id, found := m.keys.Meant(k, over.Handlers()); found {
		return m.actOver(over, id)
	}
	if t, ok := over.(taker); ok {
		return m.carryOut(t.Typed(k))
	}
	return nil
}

// nextKey takes away what a dialog keeps of the last key.
func (m *Model) nextKey(over overlay) {
	if l, ok := over.(draw.Listed); ok {
		l.Unpick()
	}
	if f, ok := over.(forgetter); ok {
		f.Forget()
	}
}

// actOver does an action of a dialog, or says why not.
func (m *Model) actOver(over overlay, id string) tea.Cmd {
	w, why := over.Handlers().Act(id)
	if why != "" {
		m.say(why)
	}
	return m.carryOut(w)
}

// behind is the dialog that help or the palette was opened over, nil for none.
func (m *Model) behind() overlay {
	for _, o := range m.overlays {
		if o != overlay(m.help) && o != overlay(m.palette) && o.Shown() {
			return o
		}
	}
	return nil
}

// inDialog is how an action is done that belongs to dialogs: by the one that help
// or the palette was opened over.
func (m *Model) inDialog(id string) keymap.Handler {
	return keymap.Handler{
		Refuse: func() string {
			o := m.behind()
			if o == nil {
				return keymap.NotHere
			}
			h, ok := o.Handlers()[id]
			if !ok || h.When != nil && !h.When() {
				return keymap.NotHere
			}
			return h.Refusal()
		},
		Do: func() keymap.Wanted { return keymap.Wanted{Cmd: m.actOver(m.behind(), id)} },
	}
}

// carryOut does what a pane asks for.
func (m *Model) carryOut(w keymap.Wanted) tea.Cmd {
	cmds := []tea.Cmd{w.Cmd}
	if w.Say != "" {
		m.say(w.Say)
	}
	if w.Gate && m.ask.Waiting() > 0 {
		cmds = append(cmds, m.ask.Reopen())
	}
	if w.Told != "" {
		m.toasts.show("info", w.Told)
	}
	if w.Step != "" {
		m.lookInto(w.Step)
	}
	if w.Play != nil {
		m.again = *w.Play
	}
	if w.Do != nil {
		cmds = append(cmds, m.doFor(w.Do, w.At))
	}
	if w.Ask != nil {
		cmds = append(cmds, m.outbox.ask(w.Ask))
	}
	for _, command := range w.Send {
		switch c := command.(type) {
		case runner.Resume:
			m.focus = paneChat
			m.chat.ToEnd()
			m.preparing = m.going() == ""
		case runner.Choose:
			m.chosen = &c
		}
		cmds = append(cmds, m.outbox.send(command))
	}
	if len(w.Send) > 0 {
		cmds = append(cmds, m.Animate())
	}
	return tea.Batch(cmds...)
}

// warmEvery is how often typing has the model loaded at most.
const warmEvery = time.Minute

// warm has the model loaded as soon as the user begins to type, since it will be
// asked next.
func (m *Model) warm(typed string) tea.Cmd {
	if typed == "" || typed[0] == '/' || !m.input.Empty() || m.closed || m.running() || m.chat.Problem != "" {
		return nil
	}
	now := m.options.Now()
	if !m.warmed.IsZero() && now.Sub(m.warmed) < warmEvery {
		return nil
	}
	m.warmed = now
	return m.outbox.send(runner.Warm{})
}
