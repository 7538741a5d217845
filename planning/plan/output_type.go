package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"replan/planning/expression"
)

// The bounds of the type of a value. Nothing is known of the parts beyond them.
const (
	mostTypes   = 500 // in a type, itself included
	deepestType = 8
)

// Type returns what an expression may rely on in the results, nil if nothing is known.
func (o *Output) Type() *expression.Type {
	if o == nil {
		return nil
	}
	r := typeReader{newFormReader(), mostTypes}
	forms, known := r.of(o.schema)
	return r.read(forms, known, 0)
}

// typeReader makes types of schemas.
type typeReader struct {
	formReader
	left int // types that may still be made
}

// read returns the type of a value that has one of these forms. Whether it may also be
// null makes no difference: an expression may compare anything with null.
func (r *typeReader) read(forms []form, known bool, depth int) *expression.Type {
	forms = slices.DeleteFunc(slices.Clone(forms), form.isNull)
	if r.left--; !known || len(forms) == 0 || depth > deepestType || r.left < 0 {
		return nil
	}
	t := &expression.Type{Kind: forms[0].kind()}
	for _, f := range forms[1:] {
		if t.Kind = sameKind(t.Kind, f.kind()); t.Kind == expression.Any {
			break
		}
	}
	switch t.Kind {
	case expression.Any:
		return nil
	case expression.Object:
		r.fields(t, forms, depth)
	case expression.List:
		if !slices.ContainsFunc(forms, form.hasPlaces) {
			items, known := r.field(forms, "0")
			t.Item = r.read(items, known, depth+1)
		}
	}
	return t
}

// fields adds the fields of an object, unless it may have others.
func (r *typeReader) fields(t *expression.Type, forms []form, depth int) {
	var names []string
	for _, f := range forms {
		for _, s := range f {
			if len(s.PatternProperties) > 0 {
				return
			}
			names = append(names, s.Required...)
			for name := range s.Properties {
				names = append(names, name)
			}
		}
	}
	const unlisted = "\x00"
	if more, known := r.field(forms, unlisted); !known || len(more) > 0 {
		return
	}
	slices.Sort(names)
	t.Fields = map[string]*expression.Type{}
	for _, name := range slices.Compact(names) {
		if parts, known := r.field(forms, name); !known || len(parts) > 0 { // else it is refused
			t.Fields[name] = r.read(parts, known, depth+1)
		}
	}
}

// kinds are the types of JSON Schema.
var kinds = map[string]expression.Kind{
	"string": expression.Text, "integer": expression.Whole, "number": expression.Number,
	"boolean": expression.Truth, "array": expression.List, "object": expression.Object,
}

// kind returns the kind of all values of a form, Any if there may be several.
func (f form) kind() expression.Kind {
	kind, typed := expression.Any, false
	for _, s := range f {
		names := typesBesidesNull(s)
		if len(names) != 1 {
			continue
		}
		also := kinds[names[0]]
		switch {
		case !typed:
			kind, typed = also, true
		case kind == expression.Number && also == expression.Whole:
			kind = also
		case kind == expression.Whole && also == expression.Number:
		case kind != also:
			return expression.Any // no value at all
		}
	}
	return kind
}

// isNull reports whether null is the only value of a form.
func (f form) isNull() bool {
	return slices.ContainsFunc(f, func(s *jsonschema.Schema) bool {
		return s.Types != nil && !s.Types.IsEmpty() && len(typesBesidesNull(s)) == 0
	})
}

// typesBesidesNull lists the types that a schema names.
func typesBesidesNull(s *jsonschema.Schema) []string {
	if s.Types == nil {
		return nil
	}
	return slices.DeleteFunc(s.Types.ToStrings(), func(name string) bool { return name == "null" })
}

// sameKind returns the kind of values that are of one or of the other, Any if they
// have nothing in common.
func sameKind(a, b expression.Kind) expression.Kind {
	isNumber := func(k expression.Kind) bool { return k == expression.Whole || k == expression.Number }
	switch {
	case a == b:
		return a
	case isNumber(a) && isNumber(b):
		return expression.Number
	default:
		return expression.Any
	}
}

// hasPlaces reports whether the first items of a list have schemas of their own.
func (f form) hasPlaces() bool {
	for _, s := range f {
		if _, tuple := s.Items.([]*jsonschema.Schema); tuple || len(s.PrefixItems) > 0 {
			return true
		}
	}
	return false
}

// typeOfValue is the type of a known value; left is how many types it may still have.
func typeOfValue(v any, left *int, depth int) *expression.Type {
	if *left--; depth > deepestType || *left < 0 {
		return nil
	}
	switch v := v.(type) {
	case string:
		return &expression.Type{Kind: expression.Text}
	case bool:
		return &expression.Type{Kind: expression.Truth}
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return &expression.Type{Kind: expression.Number}
		}
		return &expression.Type{Kind: expression.Whole}
	case []any:
		return &expression.Type{Kind: expression.List}
	case map[string]any:
		t := &expression.Type{Kind: expression.Object}
		if len(v) <= *left {
			t.Fields = map[string]*expression.Type{}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				t.Fields[name] = typeOfValue(v[name], left, depth+1)
			}
		}
		return t
	default:
		return nil
	}
}
