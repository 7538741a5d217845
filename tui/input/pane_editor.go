package input

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/tui/editor"
	"replan/tui/keymap"
)

// messageName is the name of the file with the message.
const messageName = "message.md"

// EditedMsg holds the text that the editor left.
type EditedMsg struct {
	text string
	err  error
}

// noEditor returns why no editor can be opened.
func (p *Pane) noEditor() string {
	switch {
	case len(p.options.Editor) == 0:
		return editor.Unset
	case !p.Focused:
		return "The editor edits the input: " + p.keys.Name("pane.next") + " leads there."
	default:
		return ""
	}
}

// editMessage opens the editor on the typed text. The text stays in the input until
// the editor is done.
func (p *Pane) editMessage() tea.Cmd {
	return editor.Open(p.options.Editor, messageName, p.expanded(), 1, func(text string, err error) tea.Msg {
		return EditedMsg{text: strings.TrimRight(text, "\r\n"), err: err}
	})
}

// edited puts the edited text into the input. If the editor failed, the text
// stays unchanged, and another that it saved is left in a file.
func (p *Pane) edited(d EditedMsg) keymap.Requests {
	if d.err != nil {
		words := "Your text is unchanged: " + d.err.Error() + "."
		if d.text == "" || d.text == strings.TrimRight(p.expanded(), "\r\n") {
			return keymap.ShowFooter(words)
		}
		kept, err := editor.Save(messageName, d.text+"\n")
		if err != nil {
			return keymap.ShowFooter(words + " The saved text could not be kept: " + err.Error() + ".")
		}
		return keymap.ShowFooter("The saved text is in " + kept + ". " + words) // the path first: the end may be cut
	}
	p.replace(cleaned(d.text))
	return keymap.Requests{keymap.Focus(keymap.PlaceChat)}
}
