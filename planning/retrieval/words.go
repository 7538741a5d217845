package retrieval

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitter takes texts apart into terms: their words in small letters without
// their endings. A word such as createIssue is its parts, and the whole.
type splitter struct {
	do     func(term []byte) // a term is valid during the call alone
	only   *starts           // do gets no terms that start otherwise; nil for all
	terms  int               // in the texts so far, with those that do did not get
	word   func(word string)
	buffer []byte
}

// starts holds the first two letters of terms. It rules out most words of a text
// before they are copied.
type starts [1 << 10]bool

// start is where the first two letters are, in capitals or not.
func start(first, second byte) int {
	return (int(first|0x20)<<5 ^ int(second|0x20)) & (1<<10 - 1)
}

func (s *starts) add(term []byte) {
	if len(term) < 2 {
		s[0] = true
		return
	}
	s[start(term[0], term[1])] = true
	if len(term) == 2 && term[1] == 'y' {
		s[start(term[0], 'i')] = true // the only second letter that stem changes, as of "dies"
	}
}

// has reports whether the term of a word may be known.
func (s *starts) has(word string) bool {
	if len(word) < 2 {
		return s[0] || word[0] >= utf8.RuneSelf
	}
	return s[start(word[0], word[1])] || word[0] >= utf8.RuneSelf || word[1] >= utf8.RuneSelf
}

// newSplitter returns a splitter that passes each term to do.
func newSplitter(do func(term []byte)) *splitter { return newSplitterOf(nil, do) }

// newSplitterOf returns a splitter that passes to do the terms that start so.
func newSplitterOf(only *starts, do func(term []byte)) *splitter {
	s := &splitter{do: do, only: only}
	s.word = s.parts // once, and not for each text
	return s
}

// split takes a text apart. It returns how many terms the text has.
func (s *splitter) split(text string) (terms int) {
	before := s.terms
	eachWord(text, s.word)
	return s.terms - before
}

func (s *splitter) parts(word string) {
	start := 0
	for i := 1; i < len(word); i++ {
		if !isUpper(word[i]) {
			continue
		}
		lower := i+1 < len(word) && isLower(word[i+1])
		if isLower(word[i-1]) || isUpper(word[i-1]) && lower {
			s.emit(word[start:i])
			start = i
		}
	}
	if start > 0 {
		s.emit(word[start:])
	}
	s.emit(word)
}

func (s *splitter) emit(word string) {
	s.terms++
	if s.only != nil && !s.only.has(word) {
		return
	}
	s.buffer = append(s.buffer[:0], word...)
	for i, b := range s.buffer {
		if b >= utf8.RuneSelf {
			s.buffer = append(s.buffer[:0], strings.ToLower(word)...)
			break
		}
		if isUpper(b) {
			s.buffer[i] += 'a' - 'A'
		}
	}
	s.do(stem(s.buffer))
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func isLower(b byte) bool { return 'a' <= b && b <= 'z' }

// eachWord calls do with the runs of letters and digits in a text. Scripts written
// without blanks end a run of Latin letters, so that a name inside them is found.
func eachWord(text string, do func(word string)) {
	start, before := -1, false // of the word, and whether its last letter is of such a script
	for i := 0; i < len(text); {
		if start < 0 { // most texts are ASCII
			for i < len(text) && text[i] < utf8.RuneSelf && !isLatin(text[i]) {
				i++
			}
			end := i
			for end < len(text) && isLatin(text[end]) {
				end++
			}
			if end == len(text) || text[end] < utf8.RuneSelf {
				if end > i {
					do(text[i:end])
				}
				i = end
				continue
			}
		}
		inside, dense, size := isLatin(text[i]), false, 1
		if text[i] >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(text[i:])
			inside = isWord(r)
			dense = inside && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
		}
		if start >= 0 && (!inside || dense != before) {
			do(text[start:i])
			start = -1
		}
		if inside && start < 0 {
			start = i
		}
		before = dense
		i += size
	}
	if start >= 0 {
		do(text[start:])
	}
}

// isLatin reports whether a byte is an ASCII letter or digit.
func isLatin(b byte) bool { return (b|0x20)-'a' < 26 || b-'0' < 10 }

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// stem takes the endings of plurals, of -ing and of -ed from an English word, in place. So
// the forms of a verb and of a noun meet. Its results are no words: only equal forms
// matter.
func stem(w []byte) []byte {
	if len(w) <= 3 || w[0] >= utf8.RuneSelf {
		return w
	}
	switch {
	case ends(w, "ies") || ends(w, "ied"):
		return append(w[:len(w)-3], 'y')
	case ends(w, "sses") || ends(w, "ches") || ends(w, "shes") || ends(w, "xes"):
		w = w[:len(w)-2]
	case ends(w, "ss") || ends(w, "us") || ends(w, "is"):
	case ends(w, "s"):
		w = w[:len(w)-1]
	}
	switch {
	case ends(w, "ing") && verbal(w[:len(w)-3]):
		w = undouble(w[:len(w)-3])
	case ends(w, "ed") && !ends(w, "eed") && verbal(w[:len(w)-2]):
		w = undouble(w[:len(w)-2])
	}
	if len(w) > 3 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	return w
}

func ends(w []byte, ending string) bool {
	return len(w) >= len(ending) && string(w[len(w)-len(ending):]) == ending
}

// verbal reports whether a word without its ending can be a verb: "runn" can, the
// "str" of "string" cannot.
func verbal(w []byte) bool {
	if len(w) < 3 {
		return false
	}
	for _, b := range w {
		switch b {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			return true
		}
	}
	return false
}

// undouble takes one of two equal consonants from the end, as of "runn".
func undouble(w []byte) []byte {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] {
		switch w[n-1] {
		case 'l', 's', 'z', 'e', 'o':
		default:
			return w[:n-1]
		}
	}
	return w
}

// stopTerms are the terms of words that tell no tools apart.
var stopTerms = func() map[string]bool {
	terms := map[string]bool{}
	newSplitter(func(term []byte) { terms[string(term)] = true }).split(`a about above after again all also am an and any are as at be because been before being below between both but by
		can could did do does doing done down during each every few for from further get gets give had has have having he her here
		hers him his how i if in into is it its itself just like make me more most my myself no nor not now of off on once one only
		or other our ours out over own please same she should so some such tell than that the their them then there these they
		thing things this those through to too under until up us use used using very want was we were what when where which while
		who whom why will with without would yes yet you your yours let lets show need needs way`)
	return terms
}()

// Words lists the words of a text in small letters.
func Words(text string) (words []string) {
	eachWord(text, func(word string) { words = append(words, strings.ToLower(word)) })
	return words
}

// spelledNames are the words of a text as names of tools are written: with dots,
// colons, hyphens and underscores in them.
func spelledNames(text string) map[string]bool {
	names := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !isWord(r) && !strings.ContainsRune("._-:/", r)
	}) {
		names[strings.Trim(word, "._-:/")] = true
	}
	return names
}

// eachSchemaText calls do with the words in a JSON Schema: the names of arguments,
// and what is said about them. It reads on where a decoder would stop.
func eachSchemaText(raw string, do func(text string, argument bool)) {
	var names []bool // whether the keys of each open object are names of arguments
	key := ""
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{':
			names, key = append(names, key == "properties"), ""
		case '}':
			names, key = names[:max(len(names)-1, 0)], ""
		case '"':
			text, end := quoted(raw, i)
			if end < 0 {
				return
			}
			i = end
			switch isKey := nextByte(raw, end+1) == ':'; {
			case isKey && len(names) > 0 && names[len(names)-1]:
				do(text, true)
				key = ""
			case isKey:
				key = text
			case key == "description" || key == "enum":
				do(text, false)
			}
		}
	}
}

// quoted reads the string of JSON that starts at a place. end is the place of its
// last quote, -1 if there is none.
func quoted(raw string, at int) (text string, end int) {
	escaped := false
	for end = at + 1; end < len(raw) && raw[end] != '"'; end++ {
		if raw[end] == '\\' {
			escaped = true
			end++
		}
	}
	switch {
	case end >= len(raw):
		return "", -1
	case escaped:
		return unescaped(raw[at : end+1]), end
	default:
		return raw[at+1 : end], end
	}
}

// unescaped reads a string of JSON, "" if it is none.
func unescaped(quoted string) (text string) {
	if json.Unmarshal([]byte(quoted), &text) != nil {
		return ""
	}
	return text
}

// nextByte is the first byte from a place that is no white space.
func nextByte(raw string, at int) byte {
	for ; at < len(raw); at++ {
		switch raw[at] {
		case ' ', '\t', '\n', '\r':
		default:
			return raw[at]
		}
	}
	return 0
}
