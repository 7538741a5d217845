package input

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/keymap"
)

// Larger pastes appear in the input as a token.
const (
	foldedLines      = 20
	foldedCharacters = 2000
)

// pasted is the text that a token in the input stands for.
type pasted struct{ token, text string }

// Cleaned returns pasted text in a form safe to send: colour sequences removed,
// other control characters made visible, tabs kept.
func Cleaned(text string) string {
	text = ansi.Strip(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
	parts := strings.Split(text, "\t")
	for i, part := range parts {
		parts[i] = untrusted.Visible(part)
	}
	return strings.Join(parts, "\t")
}

// Paste inserts text at the cursor, as a token if it is long.
func (i *Input) Paste(text string) {
	text = Cleaned(text)
	lines, characters := strings.Count(strings.TrimRight(text, "\n"), "\n")+1, utf8.RuneCountInString(text)
	what := ""
	switch {
	case lines > foldedLines:
		what = english.Count(lines, "line")
	case characters > foldedCharacters:
		what = english.Count(characters, "character")
	default:
		i.Area.InsertString(text)
		return
	}
	token := "[pasted " + what + "]"
	for n := 2; slices.ContainsFunc(i.pastes, func(p pasted) bool { return p.token == token }) || strings.Contains(i.Area.Value(), token); n++ {
		token = fmt.Sprintf("[pasted %s, %d]", what, n)
	}
	i.pastes = append(i.pastes, pasted{token, text})
	i.Area.InsertString(token)
}

// Expanded returns the text of the input with its tokens expanded.
func (i *Input) Expanded() string {
	text := i.Area.Value()
	if len(i.pastes) == 0 {
		return text
	}
	var b strings.Builder
	for text != "" {
		at, p := i.nextToken(text)
		if p == nil {
			break
		}
		b.WriteString(text[:at] + p.text)
		text = text[at+len(p.token):]
	}
	return b.String() + text
}

// nextToken returns the first token in a text, or nil if there is none.
func (i *Input) nextToken(text string) (at int, first *pasted) {
	for n := range i.pastes {
		if found := strings.Index(text, i.pastes[n].token); found >= 0 && (first == nil || found < at) {
			at, first = found, &i.pastes[n]
		}
	}
	return at, first
}

// erased removes a whole token if a key would delete its first or last character.
// It reports whether it did.
func (i *Input) erased(k tea.KeyPressMsg) bool {
	if len(i.pastes) == 0 {
		return false
	}
	keys := &i.Area.KeyMap
	word := keymap.Matches(k, keys.DeleteWordBackward, keys.DeleteWordForward)
	before, after := i.Split()
	for _, p := range i.pastes {
		switch {
		case keymap.Matches(k, keys.DeleteCharacterBackward, keys.DeleteWordBackward):
			rest := before
			if word {
				rest = strings.TrimRight(before, " ")
			}
			if rest, found := strings.CutSuffix(rest, p.token); found {
				i.SetSplit(rest, after)
				return true
			}
		case keymap.Matches(k, keys.DeleteCharacterForward, keys.DeleteWordForward):
			rest := after
			if word {
				rest = strings.TrimLeft(after, " ")
			}
			if rest, found := strings.CutPrefix(rest, p.token); found {
				i.SetSplit(before, rest)
				return true
			}
		}
	}
	return false
}

// stepOver moves the cursor out of a token that a key has moved it into. A cursor
// that came from before the token moves to its end, otherwise to its start.
func (i *Input) stepOver(was string) {
	if len(i.pastes) == 0 {
		return
	}
	before, after := i.Split()
	text := before + after
	for _, p := range i.pastes {
		at := strings.Index(text, p.token)
		if at < 0 || len(before) <= at || len(before) >= at+len(p.token) {
			continue
		}
		if len(was) <= at {
			at += len(p.token)
		}
		i.SetSplit(text[:at], text[at:])
		return
	}
}

// OpenPaste expands the token at the cursor, or else the last one.
func (i *Input) OpenPaste() {
	before, after := i.Split()
	var last *pasted
	for n := range i.pastes {
		p := &i.pastes[n]
		if strings.HasSuffix(before, p.token) || strings.HasPrefix(after, p.token) {
			last = p
			break
		}
		if strings.Contains(before+after, p.token) {
			last = p
		}
	}
	if last == nil {
		return
	}
	text := before + after
	at := strings.Index(text, last.token)
	i.SetSplit(text[:at]+last.text, text[at+len(last.token):])
}

// HasPaste reports whether the input contains a token.
func (i *Input) HasPaste() bool {
	_, p := i.nextToken(i.Area.Value())
	return p != nil
}
