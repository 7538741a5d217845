package journal

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// cursor reads compact JSON from the left, as encoding/json writes it. It is
// the quick way and not the judge: where anything is unusual, a method is not
// ok and encoding/json is asked about the whole line. The texts that it returns
// share memory with the line.
type cursor struct {
	text string
	at   int
}

// maxQuickDepth is how deep values may be nested that a cursor reads.
const maxQuickDepth = 200

// literal steps over s where it comes next.
func (c *cursor) literal(s string) bool {
	if !strings.HasPrefix(c.text[c.at:], s) {
		return false
	}
	c.at += len(s)
	return true
}

// next reports whether b comes next, and steps over it.
func (c *cursor) next(b byte) bool {
	if c.at < len(c.text) && c.text[c.at] == b {
		c.at++
		return true
	}
	return false
}

// token steps over a text with its quotation marks.
func (c *cursor) token() (token string, escaped, ok bool) {
	start := c.at
	if !c.next('"') {
		return "", false, false
	}
	for i := c.at; i < len(c.text); i++ {
		switch b := c.text[i]; {
		case b == '"':
			c.at = i + 1
			return c.text[start:c.at], escaped, true
		case b == '\\':
			escaped = true
			i++
		case b < ' ':
			return "", false, false
		}
	}
	return "", false, false
}

// str reads a text.
func (c *cursor) str() (string, bool) {
	token, escaped, ok := c.token()
	if !ok {
		return "", false
	}
	if escaped {
		var s string
		err := json.Unmarshal([]byte(token), &s)
		return s, err == nil
	}
	s := token[1 : len(token)-1]
	return s, utf8.ValidString(s)
}

// strings reads a list of texts, or null.
func (c *cursor) strings() ([]string, bool) {
	if c.literal("null") {
		return nil, true
	}
	out := []string{}
	ok := c.items(func(int) bool {
		s, ok := c.str()
		out = append(out, s)
		return ok
	})
	return out, ok
}

// digits steps over decimal digits and returns how many there were.
func (c *cursor) digits() int {
	start := c.at
	for c.at < len(c.text) && '0' <= c.text[c.at] && c.text[c.at] <= '9' {
		c.at++
	}
	return c.at - start
}

// number reads a number by the grammar of JSON.
func (c *cursor) number() (string, bool) {
	start := c.at
	c.next('-')
	if !c.next('0') && c.digits() == 0 {
		return "", false
	}
	if c.next('.') && c.digits() == 0 {
		return "", false
	}
	if c.next('e') || c.next('E') {
		if !c.next('+') {
			c.next('-')
		}
		if c.digits() == 0 {
			return "", false
		}
	}
	return c.text[start:c.at], true
}

// value reads any value; numbers become json.Number.
func (c *cursor) value(depth int) (any, bool) {
	if c.at >= len(c.text) || depth > maxQuickDepth {
		return nil, false
	}
	switch c.text[c.at] {
	case '{':
		return c.object(depth + 1)
	case '[':
		return c.list(depth + 1)
	case '"':
		return c.str()
	case 't':
		return true, c.literal("true")
	case 'f':
		return false, c.literal("false")
	case 'n':
		return nil, c.literal("null")
	default:
		n, ok := c.number()
		return json.Number(n), ok
	}
}

// object reads an object, or null.
func (c *cursor) object(depth int) (map[string]any, bool) {
	if c.literal("null") {
		return nil, true
	}
	out := map[string]any{}
	ok := c.fields(c.str, func(name string) bool {
		v, ok := c.value(depth)
		out[name] = v // of two fields of one name the last counts
		return ok
	})
	return out, ok
}

func (c *cursor) list(depth int) ([]any, bool) {
	out := []any{}
	ok := c.items(func(int) bool {
		v, ok := c.value(depth)
		out = append(out, v)
		return ok
	})
	return out, ok
}

// items reads the list that comes next: item reads the value at a position and
// says whether that went well.
func (c *cursor) items(item func(position int) bool) bool {
	if !c.next('[') {
		return false
	}
	if c.next(']') {
		return true
	}
	for i := 0; ; i++ {
		if !item(i) {
			return false
		}
		if c.next(']') {
			return true
		}
		if !c.next(',') {
			return false
		}
	}
}

// fields reads the object that comes next: its names by name, and its values
// by field, which says whether that went well.
func (c *cursor) fields(name func() (string, bool), field func(name string) bool) bool {
	if !c.next('{') {
		return false
	}
	if c.next('}') {
		return true
	}
	for {
		n, ok := name()
		if !ok || !c.next(':') || !field(n) {
			return false
		}
		if c.next('}') {
			return true
		}
		if !c.next(',') {
			return false
		}
	}
}
