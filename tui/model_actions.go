package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/tui/keymap"
	"replan/tui/panes"
)

// table returns the table of actions: key, words, who carries it out, and why not. Help,
// palette, footer and keys are made from it. The handlers in replaced take the place of
// others.
func (m *Model) table(replaced keymap.Handlers) keymap.Groups {
	ofRun := undoActions().For(m.dialogs).With(runActions().For(m.dialogs))
	opening := opener{m.dialogs, m.contents()}
	byPlace := map[keymap.Place]keymap.Handlers{
		keymap.PlaceEverywhere: waitingActions().For(m.waiting).With(
			m.panes.Actions(), exitActions().For(m.exits), holdActions().For(m.session), recheckActions().For(m.session),
			redoActions().For(m.dialogs), paletteActions().For(opening), openActions().For(opening), setupActions().For(opening), m.chat.Actions(), m.input.Actions(),
		),
		keymap.PlaceChat:     m.input.Actions().With(m.chat.OrderActions()),
		keymap.PlacePlan:     m.dag.Actions().With(m.detail.Actions(), ofRun),
		keymap.PlaceStep:     m.detail.Actions().With(ofRun),
		keymap.PlaceMoving:   movingActions().For(m),
		keymap.PlaceGate:     m.ask.Answers(),
		keymap.PlaceQuestion: m.ask.Answers(),
		keymap.PlaceReview:   m.review.Answers(),
		keymap.PlaceReplay:   m.playback.actions(m.keys),
	}
	for _, handlers := range byPlace {
		for id, h := range replaced {
			if _, ok := handlers[id]; ok {
				handlers[id] = h
			}
		}
	}
	return m.keys.Table(byPlace, m.dialogs.relayed)
}

// offered returns every action, and the chat commands, which have no keys.
func (m *Model) offered() keymap.Groups { return append(slices.Clip(m.groups), m.input.Commands()) }

// do runs an action, or says why it cannot. It first focuses the pane of a place,
// if at has one. Without an action, it does nothing.
func (m *Model) do(a *keymap.Action, at keymap.Place) tea.Cmd {
	if a == nil {
		return nil // a chat command that is gone by now
	}
	if why := a.Refusal(); why != "" {
		m.message.Set(why)
		return nil
	}
	m.panes.FocusPlace(at)
	return m.carryOut(a.Do())
}

// movingActions are the actions that move the focused pane.
func movingActions() keymap.Table[*Model] {
	return keymap.Table[*Model]{
		moves("move.up", (*Model).noText),
		moves("move.down", (*Model).noText),
		moves("move.first", (*Model).noText),
		moves("move.last", (*Model).noText),
		moves("move.page_up", nil),
		moves("move.page_down", nil),
		moves("move.half_up", func(m *Model) bool { return m.noText() || m.input.Empty() }),
		moves("move.half_down", (*Model).noText),
	}
}

// moves is the row of an action that the focused pane carries out.
func moves(id string, when func(*Model) bool) keymap.Row[*Model] {
	return keymap.Row[*Model]{ID: id, When: when, Do: func(m *Model) keymap.Requests { return m.focus.pane(m.panes.Focus()).Actions()[id].Do() }}
}

// noText reports whether letters and arrows edit no text.
func (m *Model) noText() bool { return m.panes.Focus() != panes.Chat || !m.input.TakesText() }

// contents returns what dialogs show of the screen when they open.
func (m *Model) contents() contents {
	return contents{
		help: m.helpPage, palette: m.palettePage, settings: m.settingValues, themes: m.appearance.chosenTheme,
		status: m.session.now,
	}
}
