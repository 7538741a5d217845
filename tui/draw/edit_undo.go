package draw

import (
	tea "charm.land/bubbletea/v2"
)

// editState is the text of an editor before a change, and its cursor position.
type editState struct {
	text         string
	line, column int
}

// versionsMost is the maximum number of changes Undo can revert.
const versionsMost = 200

// now returns the current state.
func (e *Editor) now() editState {
	return editState{e.area.Value(), e.area.Line(), e.area.Column()}
}

// changed records the state before a message changed the text. Letters typed in
// a row are one change, up to the end of a word.
func (e *Editor) changed(before editState, msg tea.Msg) {
	k, press := msg.(tea.KeyPressMsg)
	typed := press && len(k.Text) == 1 && k.Text != " "
	if !typed || !e.typing {
		if len(e.versions) == versionsMost {
			e.versions = e.versions[1:]
		}
		e.versions = append(e.versions, before)
	}
	e.typing = typed
}

// Undo reverts the last change. If there is none, it returns a message.
func (e *Editor) Undo() (word string) {
	n := len(e.versions)
	if n == 0 {
		return "Nothing was changed here."
	}
	was := e.versions[n-1]
	e.versions, e.typing, e.fault = e.versions[:n-1], false, ""
	e.area.SetValue(was.text)
	e.area.MoveToBegin()
	for e.area.Line() < was.line {
		e.area.CursorDown()
	}
	e.area.SetCursorColumn(was.column)
	return ""
}
