package planning

import (
	"encoding/json"
	"strconv"
	"strings"
)

// maxDepth is how deep values may be nested, as in encoding/json.
const maxDepth = 10000

// valueReader reads JSON from the left. It is the quick way and not the judge:
// where a method is not ok, DecodeValue is asked what is wrong. Beyond what
// encoding/json tells it finds the names that stand twice in an object. The
// texts that it returns share memory with the text it reads, which must be
// UTF-8.
type valueReader struct {
	text  string
	at    int
	place []placeToken // of the value at hand
	twice []string     // JSON Pointers to the names that stood in their object before
}

// placeToken is a token of a JSON Pointer: a name, or a position in a list.
type placeToken struct {
	name     string
	position int
	inList   bool
}

// readValue reads a whole text that holds one value. Numbers become
// json.Number; of two fields of one name the last counts.
func (r *valueReader) readValue() (any, bool) {
	v, ok := r.value()
	r.blanks()
	return v, ok && r.at == len(r.text)
}

// blanks steps over white space.
func (r *valueReader) blanks() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\n', '\t', '\r':
			r.at++
		default:
			return
		}
	}
}

// next reports whether b comes next, and steps over it.
func (r *valueReader) next(b byte) bool {
	if r.at < len(r.text) && r.text[r.at] == b {
		r.at++
		return true
	}
	return false
}

// literal steps over word where it comes next.
func (r *valueReader) literal(word string) bool {
	if !strings.HasPrefix(r.text[r.at:], word) {
		return false
	}
	r.at += len(word)
	return true
}

func (r *valueReader) value() (any, bool) {
	r.blanks()
	if r.at >= len(r.text) {
		return nil, false
	}
	switch b := r.text[r.at]; {
	case (b == '{' || b == '[') && len(r.place) == maxDepth:
		return nil, false
	case b == '{':
		return r.object()
	case b == '[':
		return r.list()
	case b == '"':
		return r.str()
	case b == 't':
		return true, r.literal("true")
	case b == 'f':
		return false, r.literal("false")
	case b == 'n':
		return nil, r.literal("null")
	default:
		return r.number()
	}
}

func (r *valueReader) object() (any, bool) {
	r.at++ // the brace
	out := map[string]any{}
	r.blanks()
	if r.next('}') {
		return out, true
	}
	r.place = append(r.place, placeToken{})
	for {
		r.blanks()
		name, ok := r.str()
		r.blanks()
		if !ok || !r.next(':') {
			return nil, false
		}
		r.place[len(r.place)-1].name = name
		v, ok := r.value()
		if !ok {
			return nil, false
		}
		before := len(out)
		out[name] = v
		if len(out) == before {
			r.twice = append(r.twice, r.pointer())
		}
		r.blanks()
		if r.next('}') {
			break
		}
		if !r.next(',') {
			return nil, false
		}
	}
	r.place = r.place[:len(r.place)-1]
	return out, true
}

func (r *valueReader) list() (any, bool) {
	r.at++ // the bracket
	out := []any{}
	r.blanks()
	if r.next(']') {
		return out, true
	}
	r.place = append(r.place, placeToken{inList: true})
	for {
		r.place[len(r.place)-1].position = len(out)
		v, ok := r.value()
		if !ok {
			return nil, false
		}
		out = append(out, v)
		r.blanks()
		if r.next(']') {
			break
		}
		if !r.next(',') {
			return nil, false
		}
	}
	r.place = r.place[:len(r.place)-1]
	return out, true
}

// str reads a text.
func (r *valueReader) str() (string, bool) {
	start := r.at
	if !r.next('"') {
		return "", false
	}
	escaped := false
	for i := r.at; i < len(r.text); i++ {
		switch b := r.text[i]; {
		case b == '"':
			r.at = i + 1
			if !escaped {
				return r.text[start+1 : i], true
			}
			var s string
			err := json.Unmarshal([]byte(r.text[start:r.at]), &s)
			return s, err == nil
		case b == '\\':
			escaped = true
			i++
		case b < ' ':
			return "", false
		}
	}
	return "", false
}

// digits steps over decimal digits and returns how many there were.
func (r *valueReader) digits() int {
	start := r.at
	for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
		r.at++
	}
	return r.at - start
}

// number reads a number by the grammar of JSON.
func (r *valueReader) number() (any, bool) {
	start := r.at
	r.next('-')
	if !r.next('0') && r.digits() == 0 {
		return nil, false
	}
	if r.next('.') && r.digits() == 0 {
		return nil, false
	}
	if r.next('e') || r.next('E') {
		if !r.next('+') {
			r.next('-')
		}
		if r.digits() == 0 {
			return nil, false
		}
	}
	return json.Number(r.text[start:r.at]), true
}

// pointer is the place of the value at hand.
func (r *valueReader) pointer() string {
	tokens := make([]string, len(r.place))
	for i, t := range r.place {
		tokens[i] = t.name
		if t.inList {
			tokens[i] = strconv.Itoa(t.position)
		}
	}
	return jsonPointer("", tokens...)
}
