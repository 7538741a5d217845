package journal

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// maxDepth is how deep values may be nested, as in encoding/json.
const maxDepth = 10000

var errMalformed = errors.New("it is not JSON, or nested too deep")

// pointerEscapes writes a name as a token of a JSON Pointer (RFC 6901).
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// walk goes over a JSON value and calls leave for every value in it, the inner
// ones before those that hold them, in the order of the text.
type walk struct {
	cursor
	pointer []byte // JSON Pointer to the value at hand
	leave   func(pointer []byte, start, end int)
}

// over walks over the whole text.
func (w *walk) over() error {
	if !w.value(0) || w.at != len(w.text) {
		return errMalformed
	}
	return nil
}

func (w *walk) value(depth int) bool {
	start := w.at
	if start >= len(w.text) || depth > maxDepth {
		return false
	}
	ok := false
	switch w.text[start] {
	case '{':
		ok = w.fields(w.name, func(name string) bool { return w.child(pointerEscapes.Replace(name), depth+1) })
	case '[':
		ok = w.items(func(i int) bool { return w.child(strconv.Itoa(i), depth+1) })
	case '"':
		_, _, ok = w.token()
	case 't':
		ok = w.literal("true")
	case 'f':
		ok = w.literal("false")
	case 'n':
		ok = w.literal("null")
	default:
		_, ok = w.number()
	}
	if ok {
		w.leave(w.pointer, start, w.at)
	}
	return ok
}

// name reads the name of a field. Raw JSON that somebody else wrote may not be
// UTF-8; what stands for it only has to be the same each time.
func (w *walk) name() (string, bool) {
	token, escaped, ok := w.token()
	if !ok {
		return "", false
	}
	name := token[1 : len(token)-1]
	if escaped && json.Unmarshal([]byte(token), &name) != nil {
		return "", false
	}
	return strings.ToValidUTF8(name, "\uFFFD"), true
}

// child walks over a value within another.
func (w *walk) child(token string, depth int) bool {
	outer := len(w.pointer)
	w.pointer = append(append(w.pointer, '/'), token...)
	ok := w.value(depth)
	w.pointer = w.pointer[:outer]
	return ok
}
