package input

import (
	"context"
	"errors"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"replan/tui/keymap"
)

// Pictures finds pictures that a message may attach. It is safe for concurrent use.
type Pictures interface {
	// Find looks for the picture file at a path, and reports whether it is one.
	Find(path string) (p Picture, ok bool)
	// Copied saves the picture in the clipboard, and returns its text if there is no
	// picture. The error is a sentence; it is [ErrNothingCopied] if there is neither.
	Copied(ctx context.Context) (p Picture, text string, err error)
}

// ErrNothingCopied reports that the clipboard has neither a picture nor text.
var ErrNothingCopied = errors.New("the clipboard has no picture")

// FoundMsg holds the picture that a pasted path names.
type FoundMsg struct {
	pasted  string // as it is in the input
	picture Picture
}

// CopiedMsg holds what was in the clipboard.
type CopiedMsg struct {
	picture Picture
	text    string
	err     error
}

// findPicture looks whether a pasted text is the path of a picture. The text stays in the
// input meanwhile.
func (p *Pane) findPicture(pasted string) tea.Cmd {
	path, ok := pastedPicture(pasted)
	if !ok || p.options.Pictures == nil {
		return nil
	}
	return func() tea.Msg {
		found, ok := p.options.Pictures.Find(path)
		if !ok {
			return nil
		}
		return FoundMsg{cleaned(pasted), found}
	}
}

// found attaches the picture that a pasted path names.
func (p *Pane) found(d FoundMsg) keymap.Requests {
	p.replaceByPicture(d.pasted, d.picture)
	return p.suggest()
}

// noClipboard returns why no picture can be pasted.
func (p *Pane) noClipboard() string {
	if p.options.Pictures == nil || p.Can.NoGoals != "" {
		return "This session takes no pictures."
	}
	return ""
}

// pasteCopied pastes the picture in the clipboard, or else its text.
func (p *Pane) pasteCopied() tea.Cmd {
	return func() tea.Msg {
		picture, text, err := p.options.Pictures.Copied(context.Background())
		return CopiedMsg{picture, text, err}
	}
}

// copied takes what was in the clipboard.
func (p *Pane) copied(d CopiedMsg) keymap.Requests {
	switch {
	case d.err != nil:
		first, size := utf8.DecodeRuneInString(d.err.Error())
		return keymap.ShowFooter(string(unicode.ToUpper(first)) + d.err.Error()[size:] + ".")
	case d.text != "":
		return p.pasted(d.text)
	case !p.TakesText():
		return keymap.ShowFooter(p.NoText())
	}
	return append(p.typed("", func() tea.Cmd { p.insertPicture(d.picture); return nil }), keymap.Focus(keymap.PlaceChat))
}
