package jsonparts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"unicode/utf8"
)

// size is about how many bytes a part has.
const size = 64 << 10

// Write writes v as compact JSON with sorted object keys and without HTML escapes, as
// plan.EncodeJSON returns it, in parts. No part ends within a character.
func Write(to io.Writer, v any) (written int64, err error) {
	w := writer{to: to}
	w.encoder = json.NewEncoder(&w.encoded)
	w.encoder.SetEscapeHTML(false)
	w.value(v)
	w.flush()
	return w.written, w.err
}

type writer struct {
	to      io.Writer
	written int64
	part    bytes.Buffer
	encoder *json.Encoder
	encoded bytes.Buffer // what the encoder wrote last
	err     error
}

func (w *writer) value(v any) {
	list, _ := v.([]any)
	object, _ := v.(map[string]any)
	text, _ := v.(string)
	switch {
	case list != nil:
		w.part.WriteByte('[')
		for i, item := range list {
			w.comma(i)
			w.value(item)
		}
		w.part.WriteByte(']')
	case object != nil:
		w.part.WriteByte('{')
		for i, name := range slices.Sorted(maps.Keys(object)) {
			w.comma(i)
			w.value(name)
			w.part.WriteByte(':')
			w.value(object[name])
		}
		w.part.WriteByte('}')
	case len(text) > size:
		w.part.WriteByte('"')
		for text != "" {
			end := characterEnd(text, size)
			encoded := w.encode(text[:end])
			w.part.Write(encoded[1 : len(encoded)-1]) // without quotation marks
			w.flush()
			text = text[end:]
		}
		w.part.WriteByte('"')
	default:
		w.part.Write(w.encode(v))
	}
	if w.part.Len() >= size {
		w.flush()
	}
}

func (w *writer) comma(i int) {
	if i > 0 {
		w.part.WriteByte(',')
	}
}

// encode returns the JSON of a value, which holds until the next call.
func (w *writer) encode(v any) []byte {
	w.encoded.Reset()
	w.err = cmp.Or(w.err, w.encoder.Encode(v))
	return bytes.TrimSuffix(w.encoded.Bytes(), []byte("\n"))
}

// flush writes the part, unless there was an error.
func (w *writer) flush() {
	if w.err == nil {
		var n int
		n, w.err = w.to.Write(w.part.Bytes())
		w.written += int64(n)
	}
	w.part.Reset()
}

// characterEnd returns the last end of a character in the first most bytes of a text.
func characterEnd(text string, most int) int {
	if len(text) <= most {
		return len(text)
	}
	for end := most; end > most-utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return end
		}
	}
	return most // no character has so many bytes
}
