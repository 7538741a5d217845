package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// valueReader reads a JSON value and notes the names that stand twice in an
// object, of which encoding/json tells nothing.
type valueReader struct {
	decoder    *jsontext.Decoder
	duplicates []string // JSON Pointers to the names that stood in their object before
}

// readValue reads a text with one value. Numbers become json.Number; of two fields
// of one name the last counts. DecodeValue explains why a text is refused.
func readValue(text []byte) (value any, duplicates []string, err error) {
	r := valueReader{decoder: jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	value, err = r.value()
	if err != nil {
		return nil, nil, err
	}
	if _, err := r.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("something follows the value")
	}
	return value, r.duplicates, nil
}

func (r *valueReader) value() (any, error) {
	token, err := r.decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		return r.object()
	case '[':
		return r.list()
	case '"':
		return token.String(), nil
	case '0':
		return json.Number(token.String()), nil
	case 'n':
		return nil, nil
	default:
		return token.Bool(), nil
	}
}

func (r *valueReader) object() (any, error) {
	object := map[string]any{}
	for r.decoder.PeekKind() != '}' {
		token, err := r.decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		if _, there := object[name]; there {
			r.duplicates = append(r.duplicates, string(r.decoder.StackPointer()))
		}
		if object[name], err = r.value(); err != nil {
			return nil, err
		}
	}
	_, err := r.decoder.ReadToken()
	return object, err
}

func (r *valueReader) list() (any, error) {
	list := []any{}
	for r.decoder.PeekKind() != ']' {
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.decoder.ReadToken()
	return list, err
}
