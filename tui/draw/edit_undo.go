package draw

import (
	tea "charm.land/bubbletea/v2"
)

// editState is the text of an editor as it was before a change, and where the
// cursor stood.
type editState struct {
	text         string
	line, column int
}

// versionsMost is how many changes of a text can be taken back.
const versionsMost = 200

// now is the text as it is.
func (e *Editor) now() editState {
	return editState{e.area.Value(), e.area.Line(), e.area.Column()}
}

// changed keeps what stood in the editor before a message changed it. Letters
// that are typed in a row are one change up to the end of a word.
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

// Undo takes the last change back, and says why where there is none.
func (e *Editor) Undo() (word string) {
	n := len(e.versions)
	if n == 0 {
		return "Nothing was changed here."
	}
	was := e.versions[n-1]
	e.versions, e.typing, e.Fault = e.versions[:n-1], false, ""
	e.area.SetValue(was.text)
	e.area.MoveToBegin()
	for e.area.Line() < was.line {
		e.area.CursorDown()
	}
	e.area.SetCursorColumn(was.column)
	return ""
}
