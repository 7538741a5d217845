package jsontype

import (
	"encoding/json"
	"slices"

	"replan/planning/plan"
)

// The bounds of what is kept of results. Beyond them an object may have any fields,
// and a list any items.
const (
	seenDepth  = 4
	seenFields = 24   // of an object
	seenItems  = 16   // of a list, that are looked at
	seenBytes  = 2048 // of a schema
)

// seen is the type of values that were seen, as a JSON Schema. The zero value is
// any value.
type seen struct {
	Types  []string         `json:"type,omitempty"`
	Fields map[string]*seen `json:"properties,omitempty"`
	Items  *seen            `json:"items,omitempty"`
	Open   bool             `json:"additionalProperties,omitempty"` // other fields may be there
}

// Seen returns the JSON Schema of the results of a tool, by what its calls returned. These
// are before, the schema of earlier results, and one more result. It holds the names and
// types of fields, and no values. An object with names that look like data may have any
// fields.
func Seen(before json.RawMessage, result any) json.RawMessage {
	var known seen
	if json.Unmarshal(before, &known) != nil {
		known = seen{}
	}
	all := join(&known, seenIn(result, seenDepth))
	for depth := seenDepth; ; depth-- {
		shallow(all, depth)
		if text := plan.CanonicalJSON(all); len(text) <= seenBytes || depth == 0 {
			return json.RawMessage(text)
		}
	}
}

// seenIn is the type of one value down to a depth. Nothing is known of what may stand
// for null.
func seenIn(v any, depth int) *seen {
	switch v := v.(type) {
	case nil:
		return &seen{}
	case bool:
		return &seen{Types: []string{Boolean}}
	case string:
		return &seen{Types: []string{Text}}
	case []any:
		out := &seen{Types: []string{List}}
		if depth == 0 {
			return out
		}
		for _, item := range v[:min(len(v), seenItems)] {
			out.Items = join(out.Items, seenIn(item, depth-1))
		}
		return out
	case map[string]any:
		out := &seen{Types: []string{Object}}
		for name, value := range v {
			if depth == 0 || len(v) > seenFields || !isFieldName(name) {
				return &seen{Types: []string{Object}, Open: true}
			}
			if out.Fields == nil {
				out.Fields = map[string]*seen{}
			}
			out.Fields[name] = seenIn(value, depth-1)
		}
		return out
	default: // json.Number
		return &seen{Types: []string{Number}}
	}
}

// isFieldName reports whether a name is one that a programmer gave a field, rather
// than data: a path, an address, an id.
func isFieldName(name string) bool {
	digits := 0
	for _, r := range name {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r != '_' && r != '-' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z'):
			return false
		}
	}
	return name != "" && len(name) <= 40 && digits <= 3
}

// join is the type of the values of both types.
func join(a, b *seen) *seen {
	switch {
	case a == nil || len(a.Types) == 0:
		return b
	case b == nil || len(b.Types) == 0:
		return a
	}
	out := &seen{Types: slices.Concat(a.Types, b.Types), Open: a.Open || b.Open, Items: join(a.Items, b.Items)}
	slices.Sort(out.Types)
	out.Types = slices.Compact(out.Types)
	if out.Open {
		return out
	}
	out.Fields = map[string]*seen{}
	for _, fields := range []map[string]*seen{a.Fields, b.Fields} {
		for name, field := range fields {
			out.Fields[name] = join(out.Fields[name], field)
		}
	}
	if len(out.Fields) > seenFields {
		out.Fields, out.Open = nil, true
	}
	return out
}

// shallow cuts a type below a depth.
func shallow(s *seen, depth int) {
	if s == nil {
		return
	}
	if depth == 0 {
		s.Fields, s.Items, s.Open = nil, nil, slices.Contains(s.Types, Object)
		return
	}
	shallow(s.Items, depth-1)
	for _, field := range s.Fields {
		shallow(field, depth-1)
	}
}

// Result reads the schema of the results of a tool: its output schema, or else what
// earlier runs have seen. It returns false if nothing is known of them.
func Result(t plan.Tool) (Type, bool) {
	if len(t.OutputSchema) > 0 {
		result, err := Read(t.OutputSchema)
		return result.Flat(), err == nil && len(result.Flat().Fields) > 0
	}
	if len(t.SeenSchema) == 0 {
		return Type{}, false
	}
	// Unlike a declared one, it may be of any type.
	within, err := Read(json.RawMessage(`{"type":"object","properties":{"result":` + string(t.SeenSchema) + `}}`))
	if err != nil || len(within.Fields) != 1 {
		return Type{}, false
	}
	result := within.Fields[0].Type
	return result, len(result.Kinds) > 0
}
