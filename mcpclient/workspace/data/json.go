package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFormat is JSON, with comments and trailing commas.
type jsonFormat struct{}

func (jsonFormat) slots(document string) ([]slot, error) {
	root, err := hujson.Parse([]byte(document))
	if err != nil {
		return nil, err
	}
	var all []slot
	walkJSON(&root, "", func(key string, v *hujson.Value) {
		if key != "" {
			all = append(all, slot{key: key, start: v.StartOffset, end: v.EndOffset})
		}
	})
	return all, nil
}

// walkJSON visits a value and all in it, with their keys.
func walkJSON(v *hujson.Value, key string, visit func(key string, v *hujson.Value)) {
	visit(key, v)
	switch inner := v.Value.(type) {
	case *hujson.Object:
		for i := range inner.Members {
			name, _ := inner.Members[i].Name.Value.(hujson.Literal)
			walkJSON(&inner.Members[i].Value, below(key, name.String()), visit)
		}
	case *hujson.Array:
		for i := range inner.Elements {
			walkJSON(&inner.Elements[i], below(key, fmt.Sprint(i)), visit)
		}
	}
}

// below returns the key of a part of a value.
func below(key, part string) string {
	if key == "" {
		return part
	}
	return key + "." + part
}

func (jsonFormat) quote(old, text string) (string, error) {
	switch {
	case strings.HasPrefix(old, `"`):
		return quoted(text), nil
	case old == "null" && !json.Valid([]byte(text)):
		return quoted(text), nil
	case !json.Valid([]byte(text)) || old != "null" && text[:1] != old[:1]:
		return "", fmt.Errorf("the value there is %s; give a whole value of that kind as JSON, or set one of its parts", map[byte]string{'{': "an object", '[': "a list"}[old[0]])
	}
	return text, nil
}

// quoted writes a text as JSON.
func quoted(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // a text can always be written
	}
	return strings.TrimSpace(b.String())
}

func (jsonFormat) add(document, key, value string) (string, bool, error) {
	root, err := hujson.Parse([]byte(document))
	if err != nil {
		return "", false, err
	}
	parent, name := "", key
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		parent, name = key[:i], key[i+1:]
	}
	var within *hujson.Value
	walkJSON(&root, "", func(at string, v *hujson.Value) {
		if _, isObject := v.Value.(*hujson.Object); isObject && at == parent {
			within = v
		}
	})
	if within == nil {
		return "", false, nil
	}
	if !plainLiteral(value) || !json.Valid([]byte(value)) {
		value = quoted(value)
	}
	members := within.Value.(*hujson.Object).Members
	if len(members) == 0 {
		if strings.TrimSpace(document[within.StartOffset+1:within.EndOffset-1]) != "" {
			return "", false, errors.New("the object holds comments only")
		}
		return document[:within.StartOffset] + "{" + quoted(name) + ": " + value + "}" + document[within.EndOffset:], true, nil
	}
	last := members[len(members)-1]
	before := document[:last.Name.StartOffset]
	space := before[len(strings.TrimRight(before, " \t\r\n")):]
	colon := ":"
	if last.Name.EndOffset+1 < last.Value.StartOffset {
		colon = ": "
	}
	return document[:last.Value.EndOffset] + "," + space + quoted(name) + colon + value + document[last.Value.EndOffset:], true, nil
}
