package tui

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"replan/tui/input"

	tea "charm.land/bubbletea/v2"
)

// draftMsg reports that the typed text is in a file for the editor.
type draftMsg struct {
	path string
	err  error
}

// editedMsg is the text that the editor left.
type editedMsg struct {
	text string
	err  error
}

// noEditor returns why no editor can be opened.
func (m *Model) noEditor() string {
	switch {
	case len(m.options.Editor) == 0:
		return "No editor is set: set VISUAL or EDITOR, as in EDITOR=vim."
	case m.focus != paneChat:
		return "The editor is for what you type: " + m.keys.Name("pane.next") + " leads to the input."
	default:
		return ""
	}
}

// editDraft writes the typed text to a private file for the editor. The text
// stays in the input until the editor is done.
func (m *Model) editDraft() tea.Cmd {
	text := m.input.Expanded()
	return func() tea.Msg {
		folder, err := os.MkdirTemp("", "replan-draft-")
		if err != nil {
			return draftMsg{err: err}
		}
		path := filepath.Join(folder, "message.md")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return draftMsg{err: errors.Join(err, os.RemoveAll(folder))}
		}
		return draftMsg{path: path}
	}
}

// openEditor runs the editor on the terminal.
func (m *Model) openEditor(d draftMsg) tea.Cmd {
	if d.err != nil {
		m.say("The editor cannot be opened: " + d.err.Error() + ".")
		return nil
	}
	args := append(append([]string{}, m.options.Editor[1:]...), d.path)
	return tea.ExecProcess(exec.Command(m.options.Editor[0], args...), func(err error) tea.Msg { //nolint:gosec,noctx // the user's own editor, for as long as it is open
		return readDraft(d.path, err)
	})
}

// readDraft reads the file that the editor left, and removes it.
func readDraft(path string, failed error) (out editedMsg) {
	defer func() { _ = os.RemoveAll(filepath.Dir(path)) }() // it is a temporary folder
	if failed != nil {
		return editedMsg{err: failed}
	}
	text, err := os.ReadFile(path) //nolint:gosec // our own
	return editedMsg{text: strings.TrimRight(string(text), "\r\n"), err: err}
}

// edited puts the edited text into the input. If the editor failed, the text
// stays unchanged.
func (m *Model) edited(d editedMsg) {
	if d.err != nil {
		m.say(fmt.Sprintf("%s failed (%v): your text is as it was.", filepath.Base(m.options.Editor[0]), d.err))
		return
	}
	m.focus = paneChat
	m.input.Clear()
	m.input.Set(input.Cleaned(d.text))
}
