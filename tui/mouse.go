package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/tui/draw"
)

// paste passes pasted text to the input with the text cursor.
func (m *Model) paste(p tea.PasteMsg) tea.Cmd {
	if m.ask.Editing() && m.over() == nil && !m.quitting {
		return m.ask.Edit(p)
	}
	if m.over() == overlay(m.review) && m.review.Editor != nil && !m.quitting {
		return m.review.Editor.Update(p)
	}
	if m.searching() {
		m.chat.Seek(m.chat.Find.Query + p.Content)
		return nil
	}
	if m.covered() || m.quitting {
		m.say("Nothing is pasted into a dialog.")
		return nil
	}
	if !m.input.TakesText() {
		m.say(m.nothingSent())
		return nil
	}
	m.focus = paneChat
	m.input.SetFocus(true)
	if m.recall.Open {
		m.recall.Typed(p.Content)
		return nil
	}
	warm := m.warm(p.Content)
	m.input.Paste(p.Content)
	return tea.Batch(warm, m.suggest())
}

// takeMouse handles mouse messages.
func (m *Model) takeMouse(msg tea.MouseMsg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		return m.pressButton(tea.Mouse(msg))
	case tea.MouseMotionMsg:
		m.selected.drag(tea.Mouse(msg))
	case tea.MouseReleaseMsg:
		return m.copySelected()
	case tea.MouseWheelMsg:
		m.wheel(tea.Mouse(msg))
	}
	return nil
}

// pressButton handles a click: on a hint in the footer it presses that key;
// elsewhere it chooses the entry there and begins a selection.
func (m *Model) pressButton(at tea.Mouse) tea.Cmd {
	if at.Button != tea.MouseLeft || at.Mod.Contains(tea.ModShift) {
		return nil
	}
	m.word = ""
	if at.Y == m.layout.height-1 && !m.layout.small {
		return m.clickHint(at.X)
	}
	if cmd, taken := m.clickList(at); taken {
		return cmd
	}
	if cmd, taken := m.clickAnswer(at); taken {
		return cmd
	}
	area, inChat := m.selectable(at.X, at.Y)
	m.selected.start(at, m.options.Now(), area, inChat)
	if over := m.over(); over != nil && !m.quitting && !m.layout.small {
		return m.clickOver(over, at)
	}
	if m.selected.clicks > 1 {
		return nil
	}
	cmd := m.clickSheet(at)
	m.click(at)
	return cmd
}

// click focuses the pane under the pointer and chooses the entry there.
func (m *Model) click(at tea.Mouse) {
	if m.layout.small || at.Button != tea.MouseLeft {
		return
	}
	if m.ask.Open && m.over() == nil && !m.quitting && m.layout.plan.Contains(at.X, at.Y) {
		m.dag.Clicked(at.X-m.layout.plan.X, at.Y-m.layout.plan.Y) // the dialog keeps the keys
		m.refresh()
		return
	}
	if m.covered() {
		return
	}
	if m.layout.tabs.Contains(at.X, at.Y) {
		for p, r := range m.tabAt {
			if r.Contains(at.X, at.Y) {
				m.focus = pane(p)
			}
		}
		return
	}
	if m.clickTab(at) {
		return
	}
	p, ok := m.layout.at(at.X, at.Y)
	if !ok {
		return
	}
	m.focus = p
	if p == panePlan {
		m.dag.Clicked(at.X-m.layout.plan.X, at.Y-m.layout.plan.Y)
		m.refresh()
	}
	m.clickInput(at)
}

// wheel scrolls the part under the pointer.
func (m *Model) wheel(at tea.Mouse) {
	if m.wheelGraph(at) {
		return
	}
	lines := draw.WheelStep
	if at.Button == tea.MouseWheelUp {
		lines = -draw.WheelStep
	} else if at.Button != tea.MouseWheelDown {
		return
	}
	if !m.selected.inChat {
		m.selected.unselect() // it is tied to screen lines
	}
	if over := m.over(); over != nil {
		over.Wheeled(lines)
		return
	}
	if l := m.listUnder(at); l != nil {
		l.Move(lines/draw.WheelStep, l.Count)
		return
	}
	if m.ask.Open {
		m.ask.Scroll(lines)
		return
	}
	switch p, _ := m.layout.at(at.X, at.Y); p {
	case panePlan:
		m.dag.Scrolled(lines)
	case paneStep:
		m.detail.Scroll(lines)
	default:
		m.chat.Scroll(-lines)
	}
}

// copySelected copies the text selected with the mouse.
func (m *Model) copySelected() tea.Cmd {
	text := m.selected.release()
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
	l := m.layout
	switch {
	case m.over() != nil:
		return m.selected.framed(x, y), false
	case l.sheet.H > 2 && l.sheet.Contains(x, y):
		return draw.Rect{X: l.sheet.X + 2, Y: l.sheet.Y + 1, W: l.sheet.W - 4, H: l.sheet.H - 2}, false
	case l.chat.Contains(x, y):
		return l.chat, true
	case l.plan.Contains(x, y):
		return l.plan, false
	case l.step.Contains(x, y):
		return l.step, false
	}
	return draw.Rect{}, false
}
