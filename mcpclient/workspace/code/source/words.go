package source

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"replan/internal/lazyregexp"
)

// Name is a parsed symbol as a person writes it.
type Name struct {
	Given  string // as written, without surrounding text
	Word   string // the part that occurs in the text: Apply
	Parent string // the part before it: Run; may be ""
}

// declarator matches the word before a name where it is declared.
var declarator = lazyregexp.New(`^(?:func|function|fn|def|class|struct|interface|type|const|var|let|method)\s+(\S+)$`)

// ParseName parses a symbol like Apply, Run.Apply, (*Run).Apply(), A::b, A#b
// or `$name`.
func ParseName(symbol string) Name {
	s := declarator.ReplaceAllString(strings.Trim(strings.TrimSpace(symbol), "`'\""), "$1")
	for {
		open := strings.LastIndexByte(s, '(')
		if open <= 0 || !strings.HasSuffix(s, ")") {
			break
		}
		s = strings.TrimSpace(s[:open])
	}
	given := s
	s = strings.NewReplacer("(*", "", "(", "", ")", "", "::", ".", "#", ".", "->", ".", "$", "", "@", "").Replace(s)
	s = strings.Trim(s, ".: ")
	if i := strings.LastIndexAny(s, "/"); i >= 0 && !strings.Contains(s[i:], " ") {
		s = s[i+1:]
	}
	n := Name{Given: given, Word: s}
	if i := strings.LastIndexByte(s, '.'); i >= 0 {
		n.Word, n.Parent = s[i+1:], s[:i]
	}
	return n
}

// declaring matches the words before a name where most languages declare it.
var declaring = lazyregexp.New(`\b(?:func|function|fn|fun|def|class|struct|interface|trait|type|enum|const|var|let|val|module|object|record|impl)\s+$`)

// LikelyDeclaration returns the first line of a text that seems to declare a word, or
// else the first with the word. It returns the number of the line, from 1, and its
// text; 0 if there is none. It knows nothing of the language.
func LikelyDeclaration(text []byte, word string) (number int, line string, declares bool) {
	for at := wordIndex(text, word, 0); at >= 0 && !declares; at = wordIndex(text, word, at+len(word)) {
		start := bytes.LastIndexByte(text[:at], '\n') + 1
		declares = declaring.Match(text[start:at])
		if number == 0 || declares {
			rest, _, _ := bytes.Cut(text[start:], []byte("\n"))
			number, line = 1+bytes.Count(text[:start], []byte("\n")), clip(strings.TrimSpace(string(rest)), maxLineText)
		}
	}
	return number, line, declares
}

// Names reports whether the name refers to the symbol.
func (n Name) Names(s Symbol) bool {
	last, parent := s.Name, ""
	if s.Kind != "heading" {
		if i := strings.LastIndexByte(s.Name, '.'); i >= 0 {
			last, parent = s.Name[i+1:], s.Name[:i]
		}
	}
	if last != n.Word {
		return s.Kind == "heading" && strings.EqualFold(s.Name, n.Given)
	}
	return n.Parent == "" || parent == n.Parent || strings.HasSuffix(parent, "."+n.Parent) || strings.HasSuffix(n.Parent, "."+parent) && parent != ""
}

// Holds reports whether a word occurs in a text with no letter or digit on
// either side. Use it to decide whether to lex a file.
func Holds(src []byte, word string) bool { return wordIndex(src, word, 0) >= 0 }

// wordIndex returns the first whole occurrence of word at or after from, or
// -1.
func wordIndex(src []byte, word string, from int) int {
	if word == "" {
		return -1
	}
	w := []byte(word)
	for from < len(src) {
		i := bytes.Index(src[from:], w)
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRune(src[:i])
		after, _ := utf8.DecodeRune(src[i+len(w):])
		if (i == 0 || !isIdentifier(before)) && (i+len(w) == len(src) || !isIdentifier(after)) {
			return i
		}
		_, size := utf8.DecodeRune(src[i:])
		from = i + size
	}
	return -1
}

// Uses lists the occurrences of a word in a file.
type Uses struct {
	References []Reference
	offsets    []int   // of the references
	Quoted     []Place // whole words in strings and comments, which are not uses
}

// Uses finds a word as an identifier of the file, and its occurrences in
// strings and comments.
func (f *File) Uses(name string) Uses {
	f.declare()
	declaredAt := map[int]bool{}
	for _, d := range f.outline {
		_, embeds := d.Embeds() // the name of such a field is a use of its type
		declaredAt[d.at] = !embeds
	}
	var u Uses
	for i, l := range f.lexemes {
		switch l.kind {
		case word, symbol:
			if f.at(i) != name {
				continue
			}
			place := f.place(l.start)
			u.References = append(u.References, Reference{Place: place, In: f.enclosing(place.Line, l.start), Definition: declaredAt[l.start]})
			u.offsets = append(u.offsets, l.start)
		case text, comment:
			src := []byte(f.Text[l.start:l.end])
			for at := wordIndex(src, name, 0); at >= 0; at = wordIndex(src, name, at+len(name)) {
				u.Quoted = append(u.Quoted, f.place(l.start+at))
			}
		}
	}
	return u
}

// Mentions counts the whole words in a text that is not lexed: a document, or
// a file in an unknown language.
func Mentions(src []byte, word string) int {
	n := 0
	for at := wordIndex(src, word, 0); at >= 0; at = wordIndex(src, word, at+len(word)) {
		n++
	}
	return n
}

// Words adds the words of a text to a set, wherever they occur.
func Words(src []byte, into map[string]bool) {
	for w := range bytes.FieldsFuncSeq(src, func(r rune) bool { return !isIdentifier(r) }) {
		if len(w) > 1 && (w[0] < '0' || w[0] > '9') && !into[string(w)] {
			into[string(w)] = true
		}
	}
}

// IsIdentifier reports whether a name is an identifier in most languages.
func IsIdentifier(name string) bool {
	for i, r := range name {
		if r != '$' && (!isIdentifier(r) || i == 0 && !unicode.IsLetter(r) && r != '_') {
			return false
		}
	}
	return name != ""
}

// Near returns the names spelled most like a word, nearest first.
func Near(word string, names []string) []string {
	const most = 3
	type scored struct {
		name string
		far  int
	}
	var best []scored
	seen := map[string]bool{}
	lower := strings.ToLower(word)
	for _, name := range names {
		last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
		far := levenshtein.ComputeDistance(lower, last)
		if len(lower) >= 4 && (strings.Contains(last, lower) || len(last) >= 4 && strings.Contains(lower, last)) {
			far = min(far, 1)
		}
		if far > max(1, len(lower)/3) || seen[name] {
			continue
		}
		seen[name] = true
		at := len(best)
		for at > 0 && (best[at-1].far > far || best[at-1].far == far && best[at-1].name > name) {
			at--
		}
		best = append(best[:at], append([]scored{{name, far}}, best[at:]...)...)
		best = best[:min(len(best), most)]
	}
	var out []string
	for _, b := range best {
		out = append(out, b.name)
	}
	return out
}
