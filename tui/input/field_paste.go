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
	"replan/planning/intent"
	"replan/tui/keymap"
)

// Larger pastes appear in the input as a token.
const (
	foldedLines      = 20
	foldedCharacters = 2000
)

// pastedText is the text that a token in the input stands for.
type pastedText struct {
	token, text string
	word        bool // the text has to stand apart, as a word
}

// cleaned returns text from outside in a form safe to send: color sequences removed,
// other control characters made visible, tabs kept.
func cleaned(text string) string {
	text = ansi.Strip(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
	parts := strings.Split(text, "\t")
	for i, part := range parts {
		parts[i] = untrusted.Visible(part)
	}
	return strings.Join(parts, "\t")
}

// paste inserts text at the cursor, as a token if it is long.
func (f *field) paste(text string) {
	text = cleaned(text)
	lines, characters := strings.Count(strings.TrimRight(text, "\n"), "\n")+1, utf8.RuneCountInString(text)
	what := ""
	switch {
	case lines > foldedLines:
		what = english.Count(lines, "line")
	case characters > foldedCharacters:
		what = english.Count(characters, "character")
	default:
		f.area.InsertString(text)
		f.findMark()
		return
	}
	token := f.newToken("pasted " + what)
	f.pastes = append(f.pastes, pastedText{token: token, text: text})
	f.area.InsertString(token)
}

// newToken returns a token with these words that is not in use.
func (f *field) newToken(words string) string {
	token := "[" + words + "]"
	for n := 2; slices.ContainsFunc(f.pastes, func(p pastedText) bool { return p.token == token }) || strings.Contains(f.Text(), token); n++ {
		token = fmt.Sprintf("[%s, %d]", words, n)
	}
	return token
}

// findMark makes a pasted mark before all other text one of a command.
func (f *field) findMark() {
	if before, after := f.split(); strings.HasPrefix(before, intent.CommandMark) && !f.command {
		f.setSplit(before, after)
	}
}

// expanded returns the text of the input with its tokens expanded.
func (f *field) expanded() string {
	text := f.Text()
	if len(f.pastes) == 0 {
		return text
	}
	var b strings.Builder
	for text != "" {
		at, p := f.nextToken(text)
		if p == nil {
			break
		}
		b.WriteString(text[:at])
		text = text[at+len(p.token):]
		b.WriteString(p.apart(b.String(), text))
	}
	return b.String() + text
}

// nextToken returns the first token in a text, or nil if there is none.
func (f *field) nextToken(text string) (at int, first *pastedText) {
	for n := range f.pastes {
		if found := strings.Index(text, f.pastes[n].token); found >= 0 && (first == nil || found < at) {
			at, first = found, &f.pastes[n]
		}
	}
	return at, first
}

// erased removes a whole token if a key would delete its first or last character.
// It reports whether it did.
func (f *field) erased(k tea.KeyPressMsg) bool {
	if len(f.pastes) == 0 {
		return false
	}
	keys := &f.area.KeyMap
	word := keymap.Matches(k, keys.DeleteWordBackward, keys.DeleteWordForward)
	before, after := f.split()
	for _, p := range f.pastes {
		switch {
		case keymap.Matches(k, keys.DeleteCharacterBackward, keys.DeleteWordBackward):
			rest := before
			if word {
				rest = strings.TrimRight(before, " ")
			}
			if rest, found := strings.CutSuffix(rest, p.token); found {
				f.setSplit(rest, after)
				return true
			}
		case keymap.Matches(k, keys.DeleteCharacterForward, keys.DeleteWordForward):
			rest := after
			if word {
				rest = strings.TrimLeft(after, " ")
			}
			if rest, found := strings.CutPrefix(rest, p.token); found {
				f.setSplit(before, rest)
				return true
			}
		}
	}
	return false
}

// stepOver moves the cursor out of a token that a key has moved it into. A cursor
// that came from before the token moves to its end, otherwise to its start.
func (f *field) stepOver(was string) {
	if len(f.pastes) == 0 {
		return
	}
	before, after := f.split()
	text := before + after
	for _, p := range f.pastes {
		at := strings.Index(text, p.token)
		if at < 0 || len(before) <= at || len(before) >= at+len(p.token) {
			continue
		}
		if len(was) <= at {
			at += len(p.token)
		}
		f.setSplit(text[:at], text[at:])
		return
	}
}

// openPaste expands the token at the cursor, or else the last one.
func (f *field) openPaste() {
	before, after := f.split()
	var last *pastedText
	for n := range f.pastes {
		p := &f.pastes[n]
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
	f.setSplit(text[:at]+last.text, text[at+len(last.token):])
}

// hasPaste reports whether the input contains a token.
func (f *field) hasPaste() bool {
	_, p := f.nextToken(f.Text())
	return p != nil
}
