package jsontype

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"replan/planning/plan"
)

// Type describes values in the detail that a grammar and a prompt can use. The zero
// value is any value.
type Type struct {
	Kinds    []string // of JSON, without null; empty for any
	Nullable bool     // null will do as well
	Enum     []any    // the only values, null apart; nil for others too
	Closed   bool     // an object whose fields are known, though there may be none
	Fields   []Field  // of an object: the required ones first, the others by name
	Items    *Type    // of a list; nil for any
	Places   []Type   // of a list whose items have a type each
	MaxItems int      // of a list; 0 for any number
	Any      []Type   // alternatives without alternatives of their own, each with the fields that all have; no field above is set then

	Description string // untrusted
	Limits      string // what the other fields cannot say: "at least 1, default 5"
}

// Field is a field of an object.
type Field struct {
	Name     string
	Required bool
	Type
}

// The bounds of a schema. A part beyond them keeps its kind and description.
const (
	maxDepth     = 6   // of schemas in schemas
	maxParts     = 200 // schemas in total
	maxRecursion = 2   // schemas within themselves
)

// Kinds of JSON values.
const (
	Text    = "string"
	Integer = "integer"
	Number  = "number"
	Boolean = "boolean"
	Object  = "object"
	List    = "array"
	null    = "null"
)

// ErrNoObject reports a schema of values other than objects.
var ErrNoObject = errors.New("it describes no object")

// Read reads the schema of the arguments or of the result of a tool. Without a
// schema the type is any object. It fails where nothing can be made of the schema
// as a whole; parts that cannot be read are any value.
func Read(schema json.RawMessage) (Type, error) {
	anyObject := Type{Kinds: []string{Object}}
	if len(schema) == 0 {
		return anyObject, nil
	}
	root, err := plan.DecodeValue(schema)
	if err != nil {
		return anyObject, fmt.Errorf("read a JSON Schema: %w", err)
	}
	if yes, isBool := root.(bool); isBool && yes {
		return anyObject, nil
	}
	if _, isSchema := root.(map[string]any); !isSchema {
		return anyObject, ErrNoObject
	}
	t, lost := readRoot(root)
	if len(t.Kinds) == 0 && len(t.Any) == 0 && len(t.Enum) == 0 && !lost {
		return anyObject, nil
	}
	if t.isObject() {
		return t, nil
	}
	if lost {
		return anyObject, errors.New("it refers to a schema that is not in it")
	}
	return anyObject, ErrNoObject
}

// isObject reports whether all values are objects.
func (t Type) isObject() bool {
	return slices.Equal(t.Kinds, []string{Object}) ||
		len(t.Any) > 0 && len(t.Kinds) == 0 && !slices.ContainsFunc(t.Any, func(a Type) bool { return !a.isObject() })
}

// Flat is an object with the fields of all its alternatives. It requires those that
// all of them require.
func (t Type) Flat() Type {
	if len(t.Any) == 0 {
		return t
	}
	flat := Type{Kinds: []string{Object}, Closed: true, Description: t.Description}
	known, requiredBy := map[string]bool{}, map[string]int{}
	for _, alternative := range t.Any {
		flat.Closed = flat.Closed && alternative.Closed
		for _, f := range alternative.Fields {
			if !known[f.Name] {
				known[f.Name] = true
				flat.Fields = append(flat.Fields, f)
			}
			if f.Required {
				requiredBy[f.Name]++
			}
		}
	}
	for i, f := range flat.Fields {
		flat.Fields[i].Required = requiredBy[f.Name] == len(t.Any)
	}
	slices.SortStableFunc(flat.Fields, requiredFirst)
	return flat
}

// requiredFirst orders fields, stable among the required ones.
func requiredFirst(a, b Field) int {
	switch {
	case a.Required && !b.Required:
		return -1
	case b.Required && !a.Required:
		return 1
	case a.Required:
		return 0
	default:
		return cmp.Compare(a.Name, b.Name)
	}
}
