package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/tui/answerguard"
	"replan/tui/chat"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/selection"
)

// press routes a key to an open question or dialog, else to the action bound to
// it in the focused pane.
func (m *Model) press(k tea.KeyPressMsg) tea.Cmd {
	id := ""
	switch {
	case keymap.Matches(k, m.keys.Stop):
		id = "run.stop"
	case keymap.Matches(k, m.keys.CopyCode):
		id = "chat.copy"
	}
	m.forget(id)
	m.ask.Guard().ClearMessage()
	m.review.Guard().ClearMessage()
	cmd, done := m.pressLetters(k)
	if done {
		return cmd
	}
	return tea.Batch(cmd, pressFocused(m, k))
}

// pressFocused gives a key to what has the keys now.
func pressFocused(m *Model, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.quitting:
		cmd, _ := m.pressMode(k)
		return cmd
	case keymap.Matches(k, m.keys.Quit):
		a, _ := m.groups.Find("quit")
		return m.do(a, keymap.PlaceEverywhere)
	case m.panes.Layout().Small:
		return nil
	case m.dialogs.front() != nil:
		if a := m.groups.Bound(k, keymap.PlaceEverywhere); a != nil && m.dialogs.opensOver(a.ID, k) {
			return m.do(a, keymap.PlaceEverywhere)
		}
	case m.ask.Showing():
		if a := m.groups.Bound(k, keymap.PlaceEverywhere); a != nil && a.Opens && !m.ask.Guard().Ignores() && (!m.ask.Editing() || a.ID == "help" && k.Text == "") {
			return m.do(a, keymap.PlaceEverywhere)
		}
	case m.searching():
		if a := m.groups.Bound(k, keymap.PlaceEverywhere); a != nil && a.Opens && k.Text == "" {
			return m.do(a, keymap.PlaceEverywhere)
		}
	}
	if cmd, taken := m.pressMode(k); taken {
		return cmd
	}
	return m.pressPane(k)
}

// pressMode runs the key's action in the active mode, or types the key there.
// It reports whether the mode consumed the key.
func (m *Model) pressMode(k tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	mode := m.mode()
	if id, found := m.keys.Meant(k, mode.Actions); found {
		return m.carryOut(mode.Actions.Press(id)), true
	}
	if mode.Type == nil || mode.Letters && k.Text == "" {
		return nil, false
	}
	return m.carryOut(mode.Type(k)), true
}

// forget clears state that lasts until the next action; id names that action.
func (m *Model) forget(id string) {
	m.message.Clear()
	m.selected.Clear()
	if id != "chat.copy" {
		m.chat.Unmark()
	}
	m.confirmStop, m.stopWarned = m.stopWarned && id == "run.stop", false
}

// pressPane runs the key's action in the focused pane. Unbound keys are typed
// if the pane takes text.
func (m *Model) pressPane(k tea.KeyPressMsg) tea.Cmd {
	typing := k.Text != "" && m.panes.Focus() == panes.Chat && !m.input.Empty()
	for _, at := range []keymap.Place{keymap.PlaceReplay, keymap.PlaceEverywhere, m.here(), keymap.PlaceMoving} {
		if typing && at == keymap.PlaceEverywhere {
			continue
		}
		if a := m.groups.Bound(k, at); a != nil {
			return m.do(a, keymap.PlaceEverywhere)
		}
	}
	if m.panes.Focus() == panes.Chat && !m.input.TakesText() {
		// Without typing, a plan key is unambiguous here. But copying applies
		// to the focused pane.
		if a := m.groups.Bound(k, keymap.PlacePlan); a != nil && a.ID != "plan.copy" {
			return m.do(a, keymap.PlacePlan)
		}
	}
	if m.panes.Focus() == panes.Chat && m.input.TakesText() {
		return m.carryOut(m.input.Update(k))
	}
	m.elsewhere(k)
	return nil
}

// elsewhere explains why a key did nothing in a pane that takes no text.
func (m *Model) elsewhere(k tea.KeyPressMsg) {
	switch {
	case k.Text == "":
	case !m.input.TakesText():
		m.message.Set(m.input.NoText())
	default:
		m.message.Set(m.keys.LeadingName("pane.next") + " moves to the input, where you can type; " + m.keys.Name("help") + " shows the keys.")
	}
}

// paste passes pasted text to the input with the text cursor.
func (m *Model) paste(p tea.PasteMsg) tea.Cmd {
	if m.ask.Editing() && m.dialogs.front() == nil && !m.quitting {
		return m.carryOut(m.ask.Update(p))
	}
	if over := m.dialogs.front(); over != nil && over.Typing() && !m.quitting {
		return m.carryOut(over.Update(p))
	}
	if m.searching() {
		return m.carryOut(m.chat.Update(p))
	}
	if v := m.letters.Paste(m.scene()); v.Fate == answerguard.Text {
		return tea.Batch(m.sortLetters(v), m.carryOut(m.input.Update(p)))
	}
	if m.covered() || m.quitting {
		m.message.Set("You cannot paste into a dialog.")
		return nil
	}
	return m.carryOut(m.input.Update(p))
}

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
		if id, ok := m.frame.FooterAction(m.footer(), at.X, m.panes.Layout().Width); ok {
			return m.doHere(id)
		}
		return nil
	}
	if m.panes.Layout().Chat.Contains(at.X, at.Y) && !m.quitting {
		if w, taken := m.input.ClickList(at.Y - m.panes.Layout().Chat.Y); taken {
			return m.carryOut(w)
		}
	}
	m.panes.Release()
	if !m.covered() && !m.quitting {
		switch held, clicks := m.panes.Grab(at.X, at.Y); {
		case clicks:
			return m.click(at)
		case held:
			return nil
		}
	}
	area, inChat := m.selectable(at.X, at.Y)
	var screen []string
	if area.W > 0 && !inChat {
		screen = m.screen()
	}
	if dialog, place := m.dialogAt(at); dialog != nil {
		w := dialog.Update(clickIn(place, at))
		if w.ActionClicked {
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
	case m.quitting || m.panes.Layout().Small:
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
	if m.ask.Open && m.dialogs.front() == nil && !m.quitting && m.panes.Layout().Plan.Contains(at.X, at.Y) {
		return m.carryOut(m.dag.Update(clickIn(m.panes.Layout().Plan, at))) // the dialog keeps the keys
	}
	if m.covered() {
		return nil
	}
	if m.panes.Layout().Tabs.Contains(at.X, at.Y) {
		if p, ok := m.frame.TabAt(m.tabs(), at.X, m.panes.Layout().Width); ok {
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
	case in.Contains(at.X, at.Y) && !m.searching():
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
	if m.panes.Layout().Chat.Contains(at.X, at.Y) && !m.quitting && m.input.WheelList(at.Y-m.panes.Layout().Chat.Y, lines/draw.WheelStep) {
		return nil
	}
	if m.ask.Open {
		return m.carryOut(m.ask.Update(tea.MouseWheelMsg(at)))
	}
	return m.carryOut(m.paneOf(p).Update(tea.MouseWheelMsg(at)))
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
			m.toasts.Show("info", "this answer is of another run; "+m.keys.Runs.Help().Key+" shows the runs")
			return nil
		case run.Step(step) != nil:
			m.selected.Clear()
			return m.carryOut(keymap.Request{Step: step})
		}
	}
	text := m.selected.Release(m.screen())
	if text == "" {
		return nil
	}
	what := english.Count(len([]rune(text)), "character")
	if n := strings.Count(text, "\n"); n > 0 {
		what = english.Count(n+1, "line")
	}
	return m.copyText(what, text)
}

// selectable returns the area that bounds a selection from that cell, and
// whether that is the chat.
func (m *Model) selectable(x, y int) (area draw.Rect, chat bool) {
	l := m.panes.Layout()
	switch {
	case l.Small:
	case m.dialogs.front() != nil:
		alone := append(append([]string{""}, m.dialogs.front().View(m.dialogSize())...), "")
		return selection.Framed(alone, m.look.Glyphs.Border.Left, x, y), false
	case l.Sheet.H > 2 && l.Sheet.Contains(x, y):
		return draw.Rect{X: l.Sheet.X + 2, Y: l.Sheet.Y + 1, W: l.Sheet.W - 4, H: l.Sheet.H - 2}, false
	case l.Chat.Contains(x, y):
		return l.Chat, true
	case l.Plan.Contains(x, y):
		return l.Plan, false
	case l.Step.Contains(x, y):
		return l.Step, false
	}
	return draw.Rect{}, false
}

// copyLimit is the size, in bytes, above which some terminals reject text:
// xterm's limit for what a program writes to the clipboard.
const copyLimit = 74_994

// copyText sends a text to the terminal's clipboard. Terminals do not confirm
// the copy, so the notice only says that the text was sent.
func (m *Model) copyText(what, text string) tea.Cmd {
	m.toasts.Clear() // a mouse drag, unlike a key, has not cleared them
	m.toasts.Show("info", what+", sent to the clipboard")
	if len(text)*4/3 > copyLimit {
		m.toasts.Show("warn", fmt.Sprint(len(text)>>10)+" KB: too large for some terminals")
	}
	return m.clipboard(text)
}

// mode returns what has the keys before the actions of the screen: a question, a
// dialog, or the mode of the focused pane.
func (m *Model) mode() keymap.Mode {
	switch over := m.dialogs.front(); {
	case m.quitting:
		return keymap.Mode{
			Actions: keymap.Handlers{
				"quit.yes": {Do: keymap.Command(func() tea.Cmd { return tea.Quit })},
				"quit.no":  {Do: keymap.Just(func() { m.quitting = false })},
			},
			Type: func(tea.Msg) keymap.Request { return keymap.Request{} },
		}
	case over != nil:
		return keymap.Mode{Actions: over.Actions(), Type: over.Update}
	case m.ask.Showing():
		return keymap.Mode{Actions: m.ask.Actions(), Type: m.ask.Update}
	case m.panes.Focus() == panes.Plan:
		return m.dag.Mode()
	case m.searching():
		return m.chat.Mode()
	default:
		return m.input.Mode()
	}
}

// doHere runs an action as its key would in the current state.
func (m *Model) doHere(id string) tea.Cmd {
	m.forget(id)
	m.selected.Clear()
	if hs := m.mode().Actions; hs[id].Do != nil {
		return m.carryOut(hs.Press(id))
	}
	if m.quitting || m.dialogs.front() != nil {
		return nil
	}
	for _, at := range []keymap.Place{keymap.PlaceReplay, keymap.PlaceEverywhere, m.here(), keymap.PlaceMoving, keymap.PlacePlan} {
		if a := m.groups.At(id, at); a != nil {
			return m.do(a, keymap.PlaceEverywhere)
		}
	}
	return nil
}

// here returns the place whose keys are active.
func (m *Model) here() keymap.Place {
	if m.ask.Showing() {
		if m.ask.AtGate() {
			return keymap.PlaceGate
		}
		return keymap.PlaceQuestion
	}
	return m.panes.Place()
}

// paneOf returns the pane in a part of the screen.
func (m *Model) paneOf(p panes.Pane) Pane {
	switch p {
	case panes.Plan:
		return m.dag
	case panes.Step:
		return m.detail
	default:
		return m.chat
	}
}

// searching reports whether the search takes the keys.
func (m *Model) searching() bool {
	return m.chat.Searching() && m.panes.Focus() == panes.Chat && !m.covered() && !m.quitting
}
