package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/internal/english"
	"replan/themes"
	"replan/tui/ask"
	"replan/tui/chat"
	"replan/tui/dag"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/step"
)

var (
	_ Pane = (*ask.Dialog)(nil)
	_ Pane = (*chat.Pane)(nil)
	_ Pane = (*dag.Pane)(nil)
	_ Pane = (*input.Pane)(nil)
	_ Pane = (*step.Pane)(nil)
)

// Pane is a part of the screen: it handles messages, draws itself and lists its
// actions. The size of a pane is in its state, that of a dialog comes with each View.
type Pane interface {
	// Update handles a message addressed to the pane. It is a key that no action takes,
	// pasted text, a click or a wheel in the pane's own cells, an answer of the session.
	// What it asks of the root is the returned value.
	Update(msg tea.Msg) keymap.Requests
	// Actions returns the pane's actions with their handlers.
	Actions() keymap.Handlers
}

// carryOut carries out what a pane requests. Afterwards the other panes show what
// has changed.
func (m *Model) carryOut(rs keymap.Requests) tea.Cmd {
	cmds := []tea.Cmd{m.waiting.withdraw(rs)}
	for _, r := range rs {
		cmds = append(cmds, m.route(r))
	}
	m.refresh()
	return tea.Batch(append(cmds, m.animation.start())...)
}

// route gives a request to the part that carries it out.
func (m *Model) route(r keymap.Request) tea.Cmd {
	switch r := r.(type) {
	case tea.Cmd:
		return r
	case session.Command:
		return m.send(r)
	case keymap.Query:
		return m.outbox.ask(r)
	case keymap.Quit:
		return m.exits.leave()
	case keymap.DoAction:
		return m.do(m.offered().Find(string(r)))
	case keymap.Copy:
		return m.clipboard.copy(r.What, r.Text)
	case keymap.PreviewUndo:
		return m.outbox.ask(m.dialogs.openUndo(r.Run, r.Redo))
	case keymap.ReopenFailure:
		return m.waiting.reopenFailure(r.Step, m.situation.state().Model() != "" || m.options.Planners != nil)
	case keymap.LookBack:
		return m.waiting.lookBack(m.input.Empty())
	case keymap.Continue:
		m.options.GoOn(string(r))
		return tea.Quit
	default:
		m.show(r)
		return nil
	}
}

// show carries out a request that only changes what is shown.
func (m *Model) show(r keymap.Request) {
	switch r := r.(type) {
	case keymap.Focus:
		m.panes.FocusPlace(keymap.Place(r))
	case keymap.ShowGate:
		m.ask.Reopen()
	case keymap.LookAround:
		m.waiting.makeWay()
	case keymap.ShowStep:
		if r != "" {
			m.dag.Reveal(string(r))
			m.panes.SetFocus(panes.Step)
		}
	case keymap.ShowCited:
		if run := m.live.Shown().State; run == nil || run.ID != r.Run {
			m.toasts.Show("info", "this answer is of another run; "+m.keys.Shown("runs")+" shows the runs")
			return
		}
		m.show(keymap.ShowStep(r.Step))
	case keymap.ScrollToEnd:
		m.chat.ToEnd()
	case keymap.Recall:
		m.playback.want(r)
	case keymap.Footer:
		if r != "" {
			m.message.Set(string(r))
		}
	case keymap.FooterUntilEvent:
		m.message.SetUntilEvent(string(r))
	case keymap.ShowTheme:
		if r != "" {
			m.appearance.choose(themes.Name(r))
			m.redraw()
		}
	case keymap.Answered, keymap.Clicked, nil: // they say how the others came about
	default:
		panic(fmt.Sprintf("no part carries out %T", r))
	}
}

// send sends a command to the session and shows that its work begins.
func (m *Model) send(command session.Command) tea.Cmd {
	switch c := command.(type) {
	case session.Submit:
		return m.submit(c)
	case session.Resume:
		m.panes.SetFocus(panes.Chat)
		m.chat.ToEnd()
		m.live.Prepare()
	case session.Choose:
		m.dialogs.sent(c)
	case session.SaveSetting:
		m.applySetting(c)
	case session.Recheck:
		m.session.rechecks()
		m.message.SetUntilEvent("Looking for the model and the servers again" + m.styles.Glyphs.Ellipsis)
	case session.Stop:
		m.live.Stop()
	}
	return m.outbox.send(command)
}

// submit sends what the user typed. An answer to a hidden question is not a goal: it
// shows the question instead. A question of the session holds up every goal, so it
// is shown again.
func (m *Model) submit(c session.Submit) tea.Cmd {
	if m.ask.IsAnswer(strings.TrimSpace(c.Text)) {
		m.ask.Reopen()
		m.message.Set("The " + m.ask.WaitsFor() + " waits here: press " + strings.TrimSpace(c.Text) + " again to answer it.")
		return nil
	}
	if id := keymap.Typed(strings.TrimSpace(c.Text)); id != "" {
		return m.do(m.offered().Find(id))
	}
	if name, ok := strings.CutPrefix(strings.TrimSpace(c.Text), themeCommand+" "); ok {
		return m.chooseTheme(strings.TrimSpace(name))
	}
	cmd := m.outbox.send(c)
	if m.situation.holdsGoals() && !m.ask.Open() {
		m.ask.Reopen()
		m.message.Set("Your goal waits for this answer.")
		return tea.Batch(cmd, m.ask.Guard().StartStage())
	}
	return cmd
}

// themeCommand chooses a theme by its name, and opens the list of themes without one.
const themeCommand = "/theme"

// chooseTheme shows the theme with this name, and keeps it for later starts.
func (m *Model) chooseTheme(name string) tea.Cmd {
	set, _ := m.appearance.chosenTheme()
	chosen, err := set.Parse(name)
	if err != nil {
		m.message.Set(english.Capital(err.Error()) + ".")
		return nil
	}
	value := string(chosen)
	return m.carryOut(keymap.Requests{keymap.ShowTheme(chosen), session.SaveSetting{Key: "screen.theme", Value: &value}})
}

// themeCommands returns the command that chooses a theme, with the names that it takes.
func themeCommands(set *themes.Set) []session.Completion {
	all := []session.Completion{{Text: themeCommand, Usage: "[NAME]", Detail: "Switch theme; lists them without a name"}}
	for _, name := range set.Names() {
		all = append(all, session.Completion{Text: themeCommand + " " + string(name)})
	}
	return all
}

// gated reports whether the gate of the chosen step is on the screen.
func (m *Model) gated() bool {
	chosen, run := m.dag.ChosenStep(), m.live.Shown().State
	return chosen != nil && run != nil && m.ask.Showing() && m.ask.AtGate() && m.ask.StepOf(run.ID) == chosen.Step.Index
}

// applySetting puts a setting into effect that the user saves.
func (m *Model) applySetting(k session.SaveSetting) {
	on := k.Value != nil && *k.Value == "true"
	switch k.Key {
	case settingReducedMotion:
		m.animation.calm(on)
	case chat.KeyShowThinking:
		m.chat.ShowThinking(on)
	case panes.ChatWidth, panes.PlanHeight:
		m.panes.Set(k.Key, k.Value)
	}
	m.appearance.apply(k.Key, on)
	m.redraw()
}
