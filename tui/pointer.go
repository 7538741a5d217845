package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/selection"
)

// pointer is the mouse: it gives clicks and the wheel to the part below it, and selects text.
type pointer struct {
	now     func() time.Time
	focus   *keyFocus
	panes   *panes.Arrangement
	view    *view
	footer  *footer
	dialogs interface{ front() overlay }
	input   interface {
		Pane
		ClickList(line int) (keymap.Requests, bool)
		WheelList(line, rows int) bool
		ListWidth() int
	}
	plan  interface{ ShowsGraph() bool }
	sheet interface {
		Pane
		Showing() bool
		Open() bool
	}
	chat interface {
		Clicked(line draw.TextLine, column int) keymap.Request
	}

	selected *selection.Selection
}

// pointed is what has come of a message of the mouse.
type pointed struct {
	taken    bool            // by a part, so that the others show what has changed
	requests keymap.Requests // of that part
	ran      bool            // a click ran an action of a dialog
	key      string          // the action of the clicked key in the footer, "" for none
}

// takenBy returns that a part took a message, with what it requests.
func takenBy(rs keymap.Requests) pointed { return pointed{taken: true, requests: rs} }

// handle handles a message of the mouse.
func (p *pointer) handle(msg tea.MouseMsg) pointed {
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		if presses(msg) {
			return p.press(tea.Mouse(msg))
		}
	case tea.MouseMotionMsg:
		if !p.panes.Drag(msg.X, msg.Y) {
			p.selected.Drag(tea.Mouse(msg))
		}
	case tea.MouseReleaseMsg:
		p.panes.Release()
		return p.release()
	case tea.MouseWheelMsg:
		return p.wheel(tea.Mouse(msg))
	}
	return pointed{}
}

// unselect drops the selection.
func (p *pointer) unselect() { p.selected.Clear() }

// highlight marks the selected text on the screen.
func (p *pointer) highlight(screen []string) { p.selected.Highlight(screen) }

// presses reports whether a message presses the button that acts.
func presses(msg tea.MouseMsg) bool {
	click, is := msg.(tea.MouseClickMsg)
	return is && click.Button == tea.MouseLeft && !click.Mod.Contains(tea.ModShift)
}

// overList reports whether the pointer is where the list above the input may be.
func (p *pointer) overList(at tea.Mouse) bool {
	l := p.panes.Layout()
	return l.Chat.H > 0 && at.Y >= l.Chat.Y && at.Y < l.Chat.Y+l.Chat.H && at.X <= l.Chat.X+p.input.ListWidth()
}

// press handles a click: on a hint in the footer it presses that key;
// elsewhere it chooses the entry there and begins a selection.
func (p *pointer) press(at tea.Mouse) pointed {
	l := p.panes.Layout()
	if at.Y == l.Height-1 && !l.Small {
		return pointed{key: p.footer.action(at.X, l.Width)}
	}
	if p.overList(at) && !p.focus.quitting() {
		if rs, taken := p.input.ClickList(at.Y - l.Chat.Y); taken {
			return takenBy(rs)
		}
	}
	p.panes.Release()
	if !p.focus.covered() && !p.focus.quitting() {
		switch held, clicks := p.panes.Grab(at.X, at.Y); {
		case clicks:
			return p.click(at)
		case held:
			return pointed{}
		}
	}
	area, inChat, screen := p.selectable(at)
	if dialog, place := p.dialogAt(at); dialog != nil {
		done := takenBy(dialog.Update(clickIn(place, at)))
		if done.ran = keymap.Has[keymap.Clicked](done.requests); !done.ran {
			p.selected.Start(at, p.now(), area, inChat, screen)
		}
		return done
	}
	p.selected.Start(at, p.now(), area, inChat, screen)
	if p.selected.SeveralClicks() {
		return pointed{}
	}
	return p.click(at)
}

// selectable returns the area that bounds a selection from a cell, and whether that is the
// chat. If the area is another one, it returns the lines of the screen.
func (p *pointer) selectable(at tea.Mouse) (area draw.Rect, inChat bool, screen []string) {
	area, inChat = p.view.selectable(at.X, at.Y)
	if area.W > 0 && !inChat {
		screen = p.view.lines()
	}
	return area, inChat, screen
}

// dialogAt returns the dialog that takes a click at a cell and its place on the
// screen, nil for none.
func (p *pointer) dialogAt(at tea.Mouse) (dialog Pane, place draw.Rect) {
	over := p.dialogs.front()
	switch {
	case p.focus.quitting() || p.panes.Layout().Small:
		return nil, draw.Rect{}
	case over != nil:
		return over, draw.Rect{Y: 1, W: p.panes.Layout().Width, H: p.panes.Layout().Height - 2}
	case p.sheet.Showing() && p.panes.Layout().Sheet.Contains(at.X, at.Y):
		return p.sheet, p.panes.Layout().Sheet
	default:
		return nil, draw.Rect{}
	}
}

// click focuses the pane under the pointer and passes the click to it.
func (p *pointer) click(at tea.Mouse) pointed {
	l := p.panes.Layout()
	if l.Small || at.Button != tea.MouseLeft {
		return pointed{}
	}
	if p.sheet.Open() && p.dialogs.front() == nil && !p.focus.quitting() && l.Plan.Contains(at.X, at.Y) {
		return takenBy(p.focus.pane(panes.Plan).Update(clickIn(l.Plan, at))) // the dialog keeps the keys
	}
	if p.focus.covered() {
		return pointed{}
	}
	if l.Tabs.Contains(at.X, at.Y) {
		if tab, ok := p.view.tabAt(at.X, l.Width); ok {
			p.panes.SetFocus(tab)
		}
		return pointed{}
	}
	if l.Wide && l.Step.H > 0 && at.Y == l.Step.Y-1 && l.Right.Contains(at.X, at.Y) {
		return takenBy(p.focus.pane(panes.Step).Update(clickIn(l.Step, at))) // the tabs are drawn in the edge above
	}
	pane, ok := l.At(at.X, at.Y)
	if !ok {
		return pointed{}
	}
	p.panes.SetFocus(pane)
	switch {
	case pane == panes.Plan:
		return takenBy(p.focus.pane(pane).Update(clickIn(l.Plan, at)))
	case pane == panes.Step:
		return takenBy(p.focus.pane(pane).Update(clickIn(l.Step, at)))
	case l.Input.Contains(at.X, at.Y) && !p.focus.searching():
		return takenBy(p.input.Update(clickIn(l.Input, at)))
	default:
		return pointed{}
	}
}

// clickIn returns a click in the cells of a part of the screen.
func clickIn(r draw.Rect, at tea.Mouse) tea.MouseClickMsg {
	at.X, at.Y = at.X-r.X, at.Y-r.Y
	return tea.MouseClickMsg(at)
}

// wheel scrolls the part under the pointer.
func (p *pointer) wheel(at tea.Mouse) pointed {
	l, msg := p.panes.Layout(), tea.MouseWheelMsg(at)
	pane, _ := l.At(at.X, at.Y)
	over := p.dialogs.front()
	if pane == panes.Plan && over == nil && draw.WheelCells(at) != 0 && p.plan.ShowsGraph() {
		return takenBy(p.focus.pane(panes.Plan).Update(msg))
	}
	lines := draw.WheelLines(at)
	if lines == 0 {
		return pointed{}
	}
	p.selected.ScreenScrolled()
	switch {
	case over != nil:
		return takenBy(over.Update(msg))
	case p.overList(at) && !p.focus.quitting() && p.input.WheelList(at.Y-l.Chat.Y, lines/draw.WheelStep):
		return pointed{}
	case p.sheet.Open():
		return takenBy(p.sheet.Update(msg))
	default:
		return takenBy(p.focus.pane(pane).Update(msg))
	}
}

// release ends a selection and copies it. A click on a cited step shows the step, and
// one on an order that a refusal offers gives it.
func (p *pointer) release() pointed {
	if !p.selected.Dragging() {
		return pointed{}
	}
	if line, column, clicked := p.selected.Clicked(); clicked {
		if wanted := p.chat.Clicked(line, column); wanted != nil {
			p.selected.Clear()
			return takenBy(keymap.Requests{wanted})
		}
	}
	text := p.selected.Release(p.view.lines())
	if text == "" {
		return pointed{}
	}
	what := english.Count(len([]rune(text)), "character")
	if n := strings.Count(text, "\n"); n > 0 {
		what = english.Count(n+1, "line")
	}
	return takenBy(keymap.Requests{keymap.Copy{What: what, Text: text}})
}
