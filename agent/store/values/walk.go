package values

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var errMalformed = errors.New("it is not JSON, or nested too deep")

// pointerEscapes escapes a name for a JSON Pointer (RFC 6901).
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// walk visits every value of a JSON text in text order, inner values before their
// containers.
type walk struct {
	decoder *jsontext.Decoder
	// pointer is the JSON Pointer to the current value. The decoder could return
	// it too, but would build it again for each value.
	pointer []byte
	visit   func(pointer []byte, start, end int)
}

// walkValues visits the values of a text, which may contain invalid UTF-8 because
// other programs may have written it.
func walkValues(text []byte, visit func(pointer []byte, start, end int)) error {
	w := walk{
		decoder: jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		visit:   visit,
	}
	if err := w.value(); err != nil {
		return errMalformed
	}
	if _, err := w.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return errMalformed
	}
	return nil
}

func (w *walk) value() error {
	kind := w.decoder.PeekKind()
	if kind != '{' && kind != '[' {
		raw, err := w.decoder.ReadValue()
		if err == nil {
			end := int(w.decoder.InputOffset())
			w.visit(w.pointer, end-len(raw), end)
		}
		return err
	}
	if _, err := w.decoder.ReadToken(); err != nil {
		return err
	}
	start, outer := int(w.decoder.InputOffset())-1, len(w.pointer)
	for i := 0; w.decoder.PeekKind() != kind+2; i++ { // a closing bracket is the opening one plus two
		token := strconv.Itoa(i)
		if kind == '{' {
			name, err := w.decoder.ReadToken()
			if err != nil {
				return err
			}
			token = pointerEscapes.Replace(name.String())
		}
		w.pointer = append(append(w.pointer, '/'), token...)
		if err := w.value(); err != nil {
			return err
		}
		w.pointer = w.pointer[:outer]
	}
	if _, err := w.decoder.ReadToken(); err != nil {
		return err
	}
	w.visit(w.pointer, start, int(w.decoder.InputOffset()))
	return nil
}
