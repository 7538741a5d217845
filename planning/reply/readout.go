package reply

import (
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"replan/internal/untrusted"
)

// Readout turns a reply that still streams into lines for people: Markdown as it
// is, and of JSON the texts, without its punctuation. Each named list or text, and
// each object of a list, is a line. Broken JSON yields the words that it can tell apart.
//
// It keeps only the newest lines, so a long reply costs no more than a short one.
// The zero value is ready.
type Readout struct {
	Verbatim bool // the text holds no JSON: it is a model's thinking

	done  []string // newest finished lines, oldest first
	line  []byte   // the open line
	value bool     // the open line holds a value already

	nesting  []byte // open brackets
	texts    stringScanner
	naming   bool   // the open text is a field's name, or the next one is
	key      []byte // the last field's name
	topKey   string // the last field's name in the outermost object
	label    string // goes before the next value
	omitting int    // depth of the field that is left out, 0 for none
	bare     bool   // within a number or a word without quotes
	escape   []byte // an escape sequence so far
	high     rune   // first half of a surrogate pair
}

const (
	readoutLines = 24  // kept
	readoutLine  = 320 // bytes, from which a line ends at the next blank; it ends anywhere at twice as many
)

// omitted are the fields that tell a person nothing.
var omitted = map[string]bool{
	"mode": true, "reflect": true, "executor": true, "depends_on": true, "result_variable": true, "on_failure": true,
	"timeout": true, "retries": true, "gate": true, "synthesize": true,
}

// Feed takes the next piece of the reply.
func (r *Readout) Feed(chunk string) {
	for i := 0; i < len(chunk); i++ {
		if len(r.nesting) == 0 {
			r.prose(chunk[i])
		} else {
			r.json(chunk[i])
		}
	}
}

// ReadVerbatim reads what follows as text that holds no JSON.
func (r *Readout) ReadVerbatim() { r.Verbatim = true }

// Lines returns the newest lines without control characters, at most n. If
// finished, it leaves out the line that may still grow.
func (r *Readout) Lines(n int, finished bool) []string {
	lines := r.done
	if text := r.openLine(); !finished && text != "" {
		lines = append(slices.Clone(lines), text)
	}
	lines = slices.Clone(lines[max(len(lines)-n, 0):])
	for i, line := range lines {
		lines[i] = untrusted.Line(line)
	}
	return lines
}

// prose takes a byte outside of JSON.
func (r *Readout) prose(c byte) {
	switch {
	case c == '\n':
		r.endLine()
	case (c == '{' || c == '[' && len(r.done) == 0) && !r.Verbatim && blank(r.line):
		r.line = r.line[:0]
		r.open(c)
	default:
		r.put(string([]byte{c}))
	}
}

// json takes a byte of JSON.
func (r *Readout) json(c byte) {
	inside := r.texts.within()
	if r.texts.outside(c) {
		r.structure(c)
		return
	}
	switch {
	case !inside: // the opening quote
		r.bare = false
		if r.naming {
			r.key = r.key[:0]
		} else {
			r.begin()
		}
	case !r.texts.within(): // the closing quote
		r.escape = r.escape[:0]
		if r.naming {
			r.name()
		}
	case len(r.escape) > 0 || c == '\\':
		r.unescape(c)
	default:
		r.write(string([]byte{c}))
	}
}

// structure takes a byte outside of texts.
func (r *Readout) structure(c byte) {
	top := r.nesting[len(r.nesting)-1]
	switch c {
	case '{', '[':
		if c == '{' && top == '[' && r.omitting == 0 {
			r.endLine()
			if r.label = ""; r.topKey != "steps" {
				r.label = r.topKey
			}
		}
		r.open(c)
	case '}', ']':
		r.nesting = r.nesting[:len(r.nesting)-1]
		r.naming, r.bare = false, false
		if len(r.nesting) < r.omitting {
			r.omitting = 0
		}
		if len(r.nesting) == 0 {
			r.endLine()
		}
	case ',':
		r.naming, r.bare = top == '{', false
		if r.omitting == len(r.nesting) {
			r.omitting = 0
		}
	case ':', ' ', '\t', '\r', '\n':
		r.bare = false
	default:
		if !r.bare && len(r.nesting) > 1 && string(r.key) != "index" {
			return // a number or a flag that means nothing without its name
		}
		if !r.bare {
			r.naming = false // a name without quotes reads as a value
			r.begin()
		}
		r.bare = true
		r.write(string([]byte{c}))
	}
}

// open opens an object or a list.
func (r *Readout) open(c byte) {
	r.nesting = append(r.nesting, c)
	r.naming, r.bare = c == '{', false
}

// name ends the name of a field.
func (r *Readout) name() {
	r.naming = false
	depth := len(r.nesting)
	if r.omitting != 0 && r.omitting < depth {
		return
	}
	r.omitting = 0
	if omitted[string(r.key)] {
		r.omitting = depth
		return
	}
	if depth == 1 {
		r.endLine()
		r.topKey = string(r.key)
		r.label = r.topKey
	}
}

// begin begins a value: it writes the label, or what separates the value from the
// one before.
func (r *Readout) begin() {
	switch {
	case r.omitting > 0:
	case r.label != "":
		r.put(strings.ReplaceAll(r.label, "_", " ") + ": ")
		r.label = ""
	case !r.value:
	case len(r.line) > readoutLine:
		r.endLine()
	case r.nesting[len(r.nesting)-1] == '[':
		r.put("; ")
	case strings.TrimRight(string(r.line), "0123456789.") == "": // the index of a step
		r.put(" ")
	default:
		r.put(", ")
	}
	r.value = r.value || r.omitting == 0
}

// write adds to the open text: a name or a value.
func (r *Readout) write(s string) {
	const longestName = 64
	switch {
	case r.naming:
		if len(r.key) < longestName {
			r.key = append(r.key, s...)
		}
	case r.omitting == 0 && (s != " " || len(r.line) > 0 && r.line[len(r.line)-1] != ' '):
		r.put(s)
	}
}

// unescape takes a byte of an escape sequence.
func (r *Readout) unescape(c byte) {
	r.escape = append(r.escape, c)
	switch {
	case len(r.escape) == 1:
		return
	case r.escape[1] != 'u':
		if strings.ContainsRune("bfnrt", rune(c)) {
			c = ' '
		}
		r.write(string([]byte{c}))
	case len(r.escape) < 6:
		return
	default:
		var code [2]byte
		if _, err := hex.Decode(code[:], r.escape[2:]); err == nil {
			r.sayRune(rune(code[0])<<8 | rune(code[1]))
		}
	}
	r.escape = r.escape[:0]
}

// sayRune adds an escaped character, whose halves may come one after the other.
func (r *Readout) sayRune(c rune) {
	whole := utf16.DecodeRune(r.high, c)
	switch {
	case whole != utf8.RuneError:
		r.write(string(whole))
	case !utf16.IsSurrogate(c):
		r.write(string(c))
	default:
		r.high = c
		return
	}
	r.high = 0
}

// put adds to the open line, and ends it if it is long.
func (r *Readout) put(s string) {
	r.line = append(r.line, s...)
	if n := len(r.line); n > readoutLine && r.line[n-1] == ' ' || n > 2*readoutLine && utf8.Valid(r.line) || n > 3*readoutLine {
		r.endLine()
	}
}

// openLine returns the open line without the marks of headings, "" if it is a fence of
// code.
func (r *Readout) openLine() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(r.line), ""))
	if !r.Verbatim {
		text = strings.TrimSpace(strings.TrimLeft(text, "#"))
	}
	if strings.HasPrefix(text, "```") {
		return ""
	}
	return text
}

// endLine ends the open line. A blank one is not shown.
func (r *Readout) endLine() {
	text := r.openLine()
	r.line, r.value = r.line[:0], false
	if text == "" {
		return
	}
	if len(r.done) == readoutLines {
		r.done = slices.Delete(r.done, 0, 1)
	}
	r.done = append(r.done, text)
}
