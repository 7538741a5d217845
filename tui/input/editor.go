package input

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/tui/keymap"
)

// draftMsg reports that the typed text is in a file for the editor.
type draftMsg struct {
	path string
	err  error
}

// EditedMsg holds the text that the editor left.
type EditedMsg struct {
	text string
	err  error
}

// noEditor returns why no editor can be opened.
func (p *Pane) noEditor() string {
	switch {
	case len(p.options.Editor) == 0:
		return "No editor is set: set VISUAL or EDITOR, such as EDITOR=vim."
	case !p.Focused:
		return "The editor edits the input: " + p.keys.Name("pane.next") + " leads there."
	default:
		return ""
	}
}

// editDraft writes the typed text to a private file for the editor. The text
// stays in the input until the editor is done.
func (p *Pane) editDraft() tea.Cmd {
	text := p.expanded()
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
func (p *Pane) openEditor(d draftMsg) keymap.Request {
	if d.err != nil {
		return keymap.ShowFooter("The editor cannot be opened: " + d.err.Error() + ".")
	}
	args := append(append([]string{}, p.options.Editor[1:]...), d.path)
	return keymap.Request{Cmd: tea.ExecProcess(exec.Command(p.options.Editor[0], args...), func(err error) tea.Msg { //nolint:gosec,noctx // the user's own editor, for as long as it is open
		return readDraft(d.path, err)
	})}
}

// readDraft reads the file that the editor left, and removes it.
func readDraft(path string, failed error) (out EditedMsg) {
	defer func() { _ = os.RemoveAll(filepath.Dir(path)) }() // it is a temporary folder
	if failed != nil {
		return EditedMsg{err: failed}
	}
	text, err := os.ReadFile(path) //nolint:gosec // our own
	return EditedMsg{text: strings.TrimRight(string(text), "\r\n"), err: err}
}

// edited puts the edited text into the input. If the editor failed, the text
// stays unchanged.
func (p *Pane) edited(d EditedMsg) keymap.Request {
	if d.err != nil {
		return keymap.ShowFooter(fmt.Sprintf("%s failed (%v): your text is unchanged.", filepath.Base(p.options.Editor[0]), d.err))
	}
	p.replace(cleaned(d.text))
	return keymap.Request{Focus: keymap.PlaceChat}
}
