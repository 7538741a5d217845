package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"

	"replan/agent"
)

// footer draws the last line: a question, a word on the last key, or the keys
// that do something now.
func (m *Model) footer() string {
	l, width := m.look, m.layout.width
	switch {
	case m.quitting:
		return l.fit(" "+l.Warning.Render("A run is going on. Stop it and quit?")+"  "+m.hint(m.keys.Yes, "")+"  "+m.hint(m.keys.No, ""), width)
	case m.word != "":
		return l.fit(" "+l.Warning.Render(m.word), width)
	}
	line := ""
	for _, h := range m.hints() {
		next := line + " " + h + " "
		if visibleWidth(next) > width {
			break
		}
		line = next
	}
	return l.fit(line, width)
}

// hint is one key of the footer.
func (m *Model) hint(k key.Binding, does string) string {
	h := k.Help()
	if does == "" {
		does = h.Desc
	}
	return m.look.Key.Render(h.Key) + " " + m.look.Faint.Render(does)
}

// hints are the keys that do something now, the most useful first.
func (m *Model) hints() []string {
	k := &m.keys
	var hints []string
	add := func(b key.Binding, does string) { hints = append(hints, m.hint(b, does)) }
	arrows := key.NewBinding(key.WithHelp("up/down", ""))
	if m.help.open {
		add(k.Stop, "close")
		add(arrows, "scroll")
		return hints
	}
	switch {
	case m.runs.open:
		if len(m.runs.runs) > 0 {
			add(k.Send, "resume")
		}
		add(k.Away, "close")
		add(arrows, "choose")
		return hints
	case m.ask.editing():
		add(k.SendArgs, "send")
		add(k.Away, "leave as it was")
		return hints
	case m.ask.showing():
		add(arrows, "scroll")
		add(k.Away, "look around")
		add(k.Quit, "quit")
		return hints
	}
	if m.ask.waiting() > 0 {
		add(k.Gate, m.waiting())
	}
	switch m.focus {
	case paneChat:
		add(k.Send, "send")
		switch {
		case m.running():
			add(k.Stop, "stop")
		case m.run != nil && m.run.Resumable():
			add(k.Runs, "resume")
		}
	case panePlan:
		add(arrows, "move")
		s := m.chosenStep()
		if s != nil && s.Status == agent.StepBroken && m.resumable() {
			add(k.Open, "go on from here")
		} else {
			add(k.Open, "look in")
		}
		if s != nil && s.Status == agent.StepActive && m.going() != "" {
			add(k.Cancel, "cancel")
		}
		if !m.dag.follow {
			add(k.Follow, "follow")
		}
		if m.running() {
			add(k.Stop, "stop")
		}
	case paneStep:
		add(key.NewBinding(key.WithHelp("left/right", "")), "tabs")
		add(arrows, "scroll")
		if m.running() {
			add(k.Stop, "stop")
		}
	}
	add(k.NextPane, "pane")
	if m.focus == paneChat && !m.input.empty() {
		add(key.NewBinding(key.WithHelp("F1", "help")), "help")
		add(k.Newline, "new line")
		add(k.Quit, "clear")
		return hints
	}
	add(k.Help, "help")
	add(k.Quit, "quit")
	return hints
}

// say puts a word about the last key into the footer; the next key takes it
// away.
func (m *Model) say(parts ...string) { m.word = strings.Join(parts, " ") }

// waiting names what waits for the user's word.
func (m *Model) waiting() string {
	if _, gate := m.ask.queue[0].(openGate); gate {
		return "gate"
	}
	return "question"
}

// chosenStep is the step that is chosen in the plan as it is now, or nil.
func (m *Model) chosenStep() *agent.StepState {
	if r := m.dag.chosen(); r != nil && r.kind == rowStep {
		return r.step
	}
	return nil
}

// resumable reports whether the run that is shown has ended and can be taken up.
func (m *Model) resumable() bool {
	return m.run != nil && m.run.Result != nil && m.run.Resumable() && !m.running()
}
