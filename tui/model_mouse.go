package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/tui/answerguard"
	"replan/tui/chat"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panes"
)

// handleMouse handles mouse messages.
func (m *Model) handleMouse(msg tea.MouseMsg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		return m.pressButton(tea.Mouse(msg))
	case tea.MouseMotionMsg:
		if m.panes.Drag(msg.X, msg.Y) {
			return nil
		}
		m.selected.Drag(tea.Mouse(msg))
	case tea.MouseReleaseMsg:
		m.panes.Release()
		return m.copySelected()
	case tea.MouseWheelMsg:
		return m.wheel(tea.Mouse(msg))
	}
	return nil
}

// pressButton handles a click: on a hint in the footer it presses that key;
// elsewhere it chooses the entry there and begins a selection.
func (m *Model) pressButton(at tea.Mouse) tea.Cmd {
	if at.Button != tea.MouseLeft || at.Mod.Contains(tea.ModShift) {
		return nil
	}
	m.message.Clear()
	for _, guard := range []*answerguard.Guard{m.ask.Guard(), m.review.Guard()} {
		guard.ClearMessage()
		guard.Disarm()
	}
	m.letters.Forget()
	if at.Y == m.panes.Layout().Height-1 && !m.panes.Layout().Small {
		if id, ok := m.frame.FooterAction(m.edges.footer(), at.X, m.panes.Layout().Width); ok {
			return m.doHere(id)
		}
		return nil
	}
	if m.panes.Layout().Chat.Contains(at.X, at.Y) && !m.focus.quitting() {
		if w, taken := m.input.ClickList(at.Y - m.panes.Layout().Chat.Y); taken {
			return m.carryOut(w)
		}
	}
	m.panes.Release()
	if !m.focus.covered() && !m.focus.quitting() {
		switch held, clicks := m.panes.Grab(at.X, at.Y); {
		case clicks:
			return m.click(at)
		case held:
			return nil
		}
	}
	area, inChat := m.view.selectable(at.X, at.Y)
	var screen []string
	if area.W > 0 && !inChat {
		screen = m.view.lines()
	}
	if dialog, place := m.dialogAt(at); dialog != nil {
		w := dialog.Update(clickIn(place, at))
		if keymap.Has[keymap.Clicked](w) {
			m.forget("")
		} else {
			m.selected.Start(at, m.options.Now(), area, inChat, screen)
		}
		return m.carryOut(w)
	}
	m.selected.Start(at, m.options.Now(), area, inChat, screen)
	if m.selected.SeveralClicks() {
		return nil
	}
	return m.click(at)
}

// dialogAt returns the dialog that takes a click at a cell and its place on the
// screen, nil for none.
func (m *Model) dialogAt(at tea.Mouse) (dialog Pane, place draw.Rect) {
	over := m.dialogs.front()
	switch {
	case m.focus.quitting() || m.panes.Layout().Small:
		return nil, draw.Rect{}
	case over != nil:
		return over, draw.Rect{Y: 1, W: m.panes.Layout().Width, H: m.panes.Layout().Height - 2}
	case m.ask.Showing() && m.panes.Layout().Sheet.Contains(at.X, at.Y):
		return m.ask, m.panes.Layout().Sheet
	default:
		return nil, draw.Rect{}
	}
}

// click focuses the pane under the pointer and passes the click to it.
func (m *Model) click(at tea.Mouse) tea.Cmd {
	if m.panes.Layout().Small || at.Button != tea.MouseLeft {
		return nil
	}
	if m.ask.Open() && m.dialogs.front() == nil && !m.focus.quitting() && m.panes.Layout().Plan.Contains(at.X, at.Y) {
		return m.carryOut(m.dag.Update(clickIn(m.panes.Layout().Plan, at))) // the dialog keeps the keys
	}
	if m.focus.covered() {
		return nil
	}
	if m.panes.Layout().Tabs.Contains(at.X, at.Y) {
		if p, ok := m.frame.TabAt(m.view.tabs(), at.X, m.panes.Layout().Width); ok {
			m.panes.SetFocus(p)
		}
		return nil
	}
	if step := m.panes.Layout().Step; m.panes.Layout().Wide && step.H > 0 && at.Y == step.Y-1 && m.panes.Layout().Right.Contains(at.X, at.Y) {
		return m.carryOut(m.detail.Update(clickIn(step, at))) // the tabs are drawn in the edge above
	}
	p, ok := m.panes.Layout().At(at.X, at.Y)
	if !ok {
		return nil
	}
	m.panes.SetFocus(p)
	switch in := m.panes.Layout().Input; {
	case p == panes.Plan:
		return m.carryOut(m.dag.Update(clickIn(m.panes.Layout().Plan, at)))
	case p == panes.Step:
		return m.carryOut(m.detail.Update(clickIn(m.panes.Layout().Step, at)))
	case in.Contains(at.X, at.Y) && !m.focus.searching():
		return m.carryOut(m.input.Update(clickIn(in, at)))
	default:
		return nil
	}
}

// clickIn returns a click in the cells of a part of the screen.
func clickIn(r draw.Rect, at tea.Mouse) tea.MouseClickMsg {
	at.X, at.Y = at.X-r.X, at.Y-r.Y
	return tea.MouseClickMsg(at)
}

// wheel scrolls the part under the pointer.
func (m *Model) wheel(at tea.Mouse) tea.Cmd {
	p, _ := m.panes.Layout().At(at.X, at.Y)
	if p == panes.Plan && m.dialogs.front() == nil && draw.WheelCells(at) != 0 && m.dag.ShowsGraph() {
		return m.carryOut(m.dag.Update(tea.MouseWheelMsg(at)))
	}
	lines := draw.WheelLines(at)
	if lines == 0 {
		return nil
	}
	m.selected.ScreenScrolled()
	if over := m.dialogs.front(); over != nil {
		return m.carryOut(over.Update(tea.MouseWheelMsg(at)))
	}
	if m.panes.Layout().Chat.Contains(at.X, at.Y) && !m.focus.quitting() && m.input.WheelList(at.Y-m.panes.Layout().Chat.Y, lines/draw.WheelStep) {
		return nil
	}
	if m.ask.Open() {
		return m.carryOut(m.ask.Update(tea.MouseWheelMsg(at)))
	}
	return m.carryOut(m.focus.pane(p).Update(tea.MouseWheelMsg(at)))
}

// copySelected copies the text selected with the mouse.
func (m *Model) copySelected() tea.Cmd {
	if !m.selected.Dragging() {
		return nil
	}
	if line, column, clicked := m.selected.Clicked(); clicked {
		run, step := m.live.Shown().State, chat.CitedStep(line, column)
		switch {
		case step == "" || line.Run == "" || run == nil:
		case line.Run != run.ID:
			m.selected.Clear()
			m.toasts.Show("info", "this answer is of another run; "+m.keys.Shown("runs")+" shows the runs")
			return nil
		case run.Step(step) != nil:
			m.selected.Clear()
			return m.carryOut(keymap.Requests{keymap.ShowStep(step)})
		}
	}
	text := m.selected.Release(m.view.lines())
	if text == "" {
		return nil
	}
	what := english.Count(len([]rune(text)), "character")
	if n := strings.Count(text, "\n"); n > 0 {
		what = english.Count(n+1, "line")
	}
	return m.clipboard.copy(what, text)
}
