package input

import (
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"replan/internal/picture"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/wording"
)

// Picture is a picture file that a message can attach.
type Picture struct {
	Name          string // to write after an @
	Width, Height int    // in pixels
}

// longestPictureName bounds the name of a picture in its token, in cells.
const longestPictureName = 32

// pastedPicture returns the path of the picture that a pasted text names, and false if
// the text may be anything else than one path. Terminals paste a file that is dropped on
// them as its path: plain, in quotes, with escaped blanks, or as an address.
func pastedPicture(text string) (path string, ok bool) {
	path = strings.TrimSpace(text)
	for _, quote := range []string{`"`, `'`} {
		if inner, quoted := strings.CutPrefix(path, quote); quoted && strings.HasSuffix(inner, quote) {
			return named(strings.TrimSuffix(inner, quote))
		}
	}
	if strings.HasPrefix(path, "file:") {
		address, err := url.Parse(path)
		if err != nil || address.Host != "" && address.Host != "localhost" {
			return "", false
		}
		path = address.Path
		if runtime.GOOS == "windows" {
			path = strings.TrimPrefix(path, "/") // before the drive
		}
		return named(path)
	}
	if runtime.GOOS != "windows" {
		path = unescaped(path)
	}
	return named(path)
}

// named returns a path if it is a whole one and has the name of a picture that a message
// can name.
func named(path string) (string, bool) {
	whole := filepath.IsAbs(path) || strings.HasPrefix(path, "~/")
	return path, whole && picture.Named(path) && !strings.ContainsAny(path, "\"\r\n")
}

// unescaped returns a path without the backslashes of a shell.
func unescaped(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+1 < len(path) {
			i++
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// newPicture returns a token for a picture, which is new to the input.
func (f *field) newPicture(p Picture) string {
	name := f.styles.Cut(untrusted.Line(filepath.Base(p.Name)), longestPictureName)
	token := f.newToken("picture " + name + " " + wording.Pixels(p.Width, p.Height, f.styles.Theme.Mode.ASCII))
	f.pastes = append(f.pastes, pastedText{token: token, text: prompt.NameOf(p.Name), word: true})
	return token
}

// insertPicture attaches a picture at the cursor.
func (f *field) insertPicture(p Picture) {
	before, after := f.split()
	f.attach(before, p, after)
}

// replaceByPicture attaches a picture in place of a pasted text, if that is still there.
func (f *field) replaceByPicture(text string, p Picture) {
	before, after := f.split()
	whole := before + after
	at := strings.LastIndex(whole, text)
	if at < 0 {
		return
	}
	end := at + len(text)
	if len(before) > end { // the user typed on
		token := f.newPicture(p)
		f.setSplit(whole[:at]+token+whole[end:len(before)], after)
		return
	}
	f.attach(whole[:at], p, whole[end:])
}

// attach puts the token of a picture between two parts of the text, as a word.
func (f *field) attach(before string, p Picture, after string) {
	token := f.newPicture(p)
	if !strings.HasPrefix(after, " ") {
		token += " "
	}
	if before != "" && !strings.HasSuffix(before, " ") && !strings.HasSuffix(before, "\n") {
		token = " " + token
	}
	f.setSplit(before+token, after)
}

// apart returns the text of a token between the texts before and after it, with blanks
// where it would not stand as a word.
func (p *pastedText) apart(before, after string) string {
	text := p.text
	if !p.word {
		return text
	}
	if before != "" && !strings.ContainsAny(before[len(before)-1:], " \t\n([{") {
		text = " " + text
	}
	if after != "" && !strings.ContainsAny(after[:1], " \t\n.,;:!?)]}") {
		text += " "
	}
	return text
}

// hasPicture reports whether a picture was pasted into the text.
func (f *field) hasPicture() bool {
	text := f.Text()
	return slices.ContainsFunc(f.pastes, func(p pastedText) bool { return p.word && strings.Contains(text, p.token) })
}
