package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/runner"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// overlay is a dialog that replaces the panes until the user leaves it.
type overlay interface {
	// Shown reports whether the dialog is on the screen.
	Shown() bool
	// Handlers returns its actions.
	Handlers() keymap.Handlers
	// Draw returns the dialog, centered on exactly height lines of width cells.
	Draw(width, height int) []string
	// Clicked chooses the entry at a line; Wheeled scrolls by lines.
	Clicked(line int)
	Wheeled(lines int)
	// Hints returns its keys for the footer, the most useful first.
	Hints() []keymap.Hint
}

// typist is a dialog that may accept letters.
type typist interface {
	Types() bool // now
}

// taker is a dialog that accepts keys without an action.
type taker interface {
	Typed(k tea.KeyPressMsg) keymap.Wanted
}

// forgetter is a dialog with a message about the last key, shown until the
// next.
type forgetter interface {
	Forget()
}

// over returns the dialog that replaces the panes, nil for none.
func (m *Model) over() overlay {
	for _, o := range m.overlays {
		if o.Shown() {
			return o
		}
	}
	return nil
}

// listRuns opens the list of runs and chooses the run on the screen if that can
// continue.
func (m *Model) listRuns() tea.Cmd {
	shown := ""
	if m.run != nil {
		shown = m.run.ID
	}
	m.runs.Folder = m.status.Workspace
	return m.outbox.ask(m.runs.Ask(shown))
}

// pressOver passes a key to the dialog and carries out its request. Help and
// the palette open over it.
func (m *Model) pressOver(k tea.KeyPressMsg) tea.Cmd {
	typed := false // the dialog takes letters
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

// nextKey clears what a dialog keeps about the last key.
func (m *Model) nextKey(over overlay) {
	if l, ok := over.(draw.Listed); ok {
		l.Unpick()
	}
	if f, ok := over.(forgetter); ok {
		f.Forget()
	}
}

// actOver runs an action of a dialog, or says why it cannot.
func (m *Model) actOver(over overlay, id string) tea.Cmd {
	w, why := over.Handlers().Act(id)
	if why != "" {
		m.say(why)
	}
	return m.carryOut(w)
}

// behind returns the dialog below help or the palette, nil for none.
func (m *Model) behind() overlay {
	for _, o := range m.overlays {
		if o != overlay(m.help) && o != overlay(m.palette) && o.Shown() {
			return o
		}
	}
	return nil
}

// inDialog returns a handler for an action of dialogs. The dialog below help or
// the palette carries it out.
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

// carryOut carries out what a pane requests.
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

// warmEvery is the minimum time between two model loads triggered by typing.
const warmEvery = time.Minute

// warm loads the model when the user begins to type, since the next request
// needs it.
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
