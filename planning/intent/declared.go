package intent

import (
	"bytes"
	"slices"
	"strings"
)

// DeclaredNames returns what the lines of a text declare, in lower case: a line break before
// and after each name. It is not ok if a letter outside of ASCII may stand for one in it.
// See [Survey.Wants].
func DeclaredNames(text []byte) (names string, ok bool) {
	if bytes.Contains(text, []byte("\u212A")) || bytes.Contains(text, []byte("\u017F")) { // the Kelvin sign, and the long s
		return "", false
	}
	r := nameReader{text: text, seen: map[string]bool{}}
	for at := 0; at < len(text); {
		end := wordEnd(text, at)
		if end == at {
			at++
			continue
		}
		if name := skipBlanks(text, end); name > end && r.kind(at, end) {
			r.declared(name)
		}
		at = end
	}
	return r.names.String(), true
}

// nameReader reads the names that a text declares.
type nameReader struct {
	text   []byte
	lower  []byte // scratch: a word in lower case
	seen   map[string]bool
	names  strings.Builder
	closed int // behind the parameters that were looked for last: the next parenthesis that closes, or the end of the line
}

// kind reports whether a word is a kind of declaration.
func (r *nameReader) kind(from, to int) bool {
	const longest = len("interface")
	return to-from <= longest && declarationKinds[string(r.lowered(from, to))] != ""
}

func (r *nameReader) lowered(from, to int) []byte {
	r.lower = append(r.lower[:0], r.text[from:to]...)
	for i, c := range r.lower {
		if 'A' <= c && c <= 'Z' {
			r.lower[i] = c | 0x20
		}
	}
	return r.lower
}

// declared takes the name at a place behind a kind of declaration: a name, mut and a name, or
// a receiver and a name.
func (r *nameReader) declared(at int) {
	end := wordEnd(r.text, at)
	r.add(at, end)
	switch {
	case at == len(r.text):
	case r.text[at] == '(' && r.closed <= at: // what closes is looked for once, however many open
		r.closed = len(r.text)
		if i := bytes.IndexAny(r.text[at:], ")\n"); i >= 0 {
			r.closed = at + i + 1
		}
		if name := skipBlanks(r.text, r.closed); r.text[r.closed-1] == ')' {
			r.add(name, wordEnd(r.text, name))
		}
	case string(r.lowered(at, end)) == "mut":
		if name := skipBlanks(r.text, end); name > end {
			r.add(name, wordEnd(r.text, name))
		}
	}
}

func (r *nameReader) add(from, to int) {
	if from == to {
		return
	}
	name := r.lowered(from, to)
	if r.seen[string(name)] {
		return
	}
	r.seen[string(name)] = true
	if r.names.Len() == 0 {
		r.names.WriteByte('\n')
	}
	r.names.Write(name)
	r.names.WriteByte('\n')
}

// wordEnd returns the end of the word at a place, as `\b` sees it.
func wordEnd(text []byte, at int) int {
	for at < len(text) && inWord(text[at]) {
		at++
	}
	return at
}

func inWord(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_'
}

// skipBlanks returns the place behind the blanks of a line.
func skipBlanks(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\f') {
		at++
	}
	return at
}

// Wants reports whether a file that declares these names may have a line for [Survey.Lines].
// names are of [DeclaredNames].
func (s *Survey) Wants(names string) bool {
	return s.matcher != nil && strings.Contains(names, "\ntest") && strings.Contains(names, s.tests) ||
		slices.ContainsFunc(s.wanted, func(name string) bool { return strings.Contains(names, name) })
}

// declaredName returns a name in lower case; "", which any names hold, if [DeclaredNames] may
// not have it as it stands.
func declaredName(name string) string {
	if wordEnd([]byte(name), 0) < len(name) {
		return ""
	}
	return strings.ToLower(name)
}
