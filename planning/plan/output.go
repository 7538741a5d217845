package plan

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Output says which fields the results of one tool have, by its output schema,
// which is compiled once. A nil Output knows nothing.
type Output struct{ schema *jsonschema.Schema }

// NewOutput compiles the output schema of a tool, or else what earlier runs have
// seen. It returns nil and no error for a tool without either, and fails as
// [NewSignature] does.
func NewOutput(t Tool) (*Output, error) {
	text := t.OutputSchema
	if len(text) == 0 {
		text = t.SeenSchema
	}
	schema, err := compileSchema(t, "output", text)
	if schema == nil {
		return nil, err
	}
	return &Output{schema}, nil
}

// Check checks the structured content of a result. It returns nil, or one error with
// every fault in a clause each.
func (o *Output) Check(content any) error {
	c := argsCheck{resolved: true}
	var invalid *jsonschema.ValidationError
	if o == nil || c.alters(content) || !errors.As(o.schema.Validate(content), &invalid) {
		return nil
	}
	var clauses []string
	for _, f := range c.collect(invalid) {
		clauses = append(clauses, f.message)
	}
	slices.Sort(clauses)
	return errors.New(strings.Join(clauses, "; "))
}

// absence is a part of a reference that leads nowhere.
type absence struct {
	at     int      // its position in the path
	there  []string // the fields there are, sorted; nil if there are none, or nothing is known of them
	within string   // the type of the value that lacks it, as typeName has it
	seen   bool     // by what earlier runs have seen alone
}

// absent returns the first part of a path that no result can have, or nil if there
// may be a value.
func (o *Output) absent(path []string) *absence {
	if o == nil {
		return nil
	}
	r := newFormReader()
	forms, known := r.of(o.schema)
	for i, field := range path {
		if !known || len(forms) == 0 {
			return nil // nothing is known, or the schema allows no value at all
		}
		next, known := r.field(forms, field)
		if !known {
			return nil
		}
		if len(next) == 0 {
			there, within := describeForms(forms)
			return &absence{at: i, there: there, within: within}
		}
		forms = next
	}
	return nil
}

// absentFrom is [Output.absent] for a known value.
func absentFrom(v any, path []string) *absence {
	for i, field := range path {
		if _, unknown := v.(Placeholder); unknown {
			return nil
		}
		next, there, ok := descend(v, field)
		if !ok {
			if _, list := v.([]any); list {
				there = nil
			}
			return &absence{at: i, there: there, within: typeName(v)}
		}
		v = next
	}
	return nil
}

// form is one form that a value may have: the schemas that hold for it at once.
type form []*jsonschema.Schema

// The bounds on the work on the schema of a foreign server.
const (
	mostForms   = 64   // of a value
	longestForm = 256  // schemas that hold at once
	mostSchemas = 2000 // whose forms are listed for one check
)

// formReader lists the forms of the values of one schema, for one check.
type formReader struct {
	read map[*jsonschema.Schema]readForms // also those that are being read, of which nothing is known
}

type readForms struct {
	forms []form
	known bool
}

func newFormReader() formReader { return formReader{map[*jsonschema.Schema]readForms{}} }

// of lists the forms a value may have, with references followed. known is false if that is
// too much, or depends on more than the schema. No form at all means that there is no such
// value.
func (r formReader) of(s *jsonschema.Schema) (forms []form, known bool) {
	if done, ok := r.read[s]; ok {
		return done.forms, done.known
	}
	if len(r.read) >= mostSchemas {
		return nil, false
	}
	r.read[s] = readForms{} // a schema that is part of itself has no end
	forms, known = r.list(s)
	r.read[s] = readForms{forms, known}
	return forms, known
}

// list is [formReader.of] for a schema that is not read yet.
func (r formReader) list(s *jsonschema.Schema) (forms []form, known bool) {
	if s.DynamicRef != nil || s.RecursiveRef != nil {
		return nil, false
	}
	if s.Bool != nil && !*s.Bool {
		return nil, true
	}
	all := s.AllOf
	if s.Ref != nil {
		all = append([]*jsonschema.Schema{s.Ref}, all...)
	}
	if forms, known = r.all([]form{{s}}, all); !known {
		return nil, false
	}
	for _, choice := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if len(choice) == 0 {
			continue
		}
		var either []form
		for _, part := range choice {
			more, known := r.of(part)
			if either = append(either, more...); !known || len(either) > mostForms {
				return nil, false
			}
		}
		if forms, known = both(forms, either); !known {
			return nil, false
		}
	}
	return forms, true
}

// all lists the forms that meet one of the given forms and all of the schemas.
func (r formReader) all(forms []form, schemas []*jsonschema.Schema) (_ []form, known bool) {
	for _, s := range schemas {
		more, known := r.of(s)
		if !known {
			return nil, false
		}
		if forms, known = both(forms, more); !known {
			return nil, false
		}
	}
	return forms, true
}

// both returns the forms that meet one of a and one of b; known is false if that is
// too much.
func both(a, b []form) (forms []form, known bool) {
	if len(a)*len(b) > mostForms {
		return nil, false
	}
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > longestForm {
				return nil, false
			}
			forms = append(forms, slices.Concat(x, y))
		}
	}
	return forms, true
}

// field lists the forms of a field or list position of a value; known is false if
// anything may be there. No form at all means that the value has no such field.
func (r formReader) field(forms []form, field string) (next []form, known bool) {
	for _, f := range forms {
		parts, there := f.field(field)
		if !there {
			continue
		}
		if len(parts) == 0 {
			return nil, false
		}
		of, known := r.all([]form{{}}, parts)
		if next = append(next, of...); !known || len(next) > mostForms {
			return nil, false
		}
	}
	return next, true
}

// field returns the schemas that hold for a field or list position; there is false
// if the value has none.
func (f form) field(name string) (parts []*jsonschema.Schema, there bool) {
	if position, err := strconv.Atoi(name); err == nil && position >= 0 && strconv.Itoa(position) == name && f.maybe("array") {
		if parts, there = f.item(position); there {
			return parts, true
		}
	}
	if f.maybe("object") {
		return f.property(name)
	}
	return nil, false
}

// maybe reports whether the value may be an object, or may be a list. A schema without
// a type means the type that its keywords are about.
func (f form) maybe(kind string) bool {
	typed, object, list := false, false, false
	for _, s := range f {
		if s.Types != nil && !s.Types.IsEmpty() {
			if typed = true; !slices.Contains(s.Types.ToStrings(), kind) {
				return false
			}
		}
		object = object || len(s.Properties) > 0
		list = list || s.Items != nil || s.Items2020 != nil || len(s.PrefixItems) > 0
	}
	return typed || object == list || object == (kind == "object")
}

// property returns the schemas of a field of an object.
//
// JSON Schema allows a field that is not listed unless additionalProperties is false.
// Servers generate their schemas from the types that they return, and most generators
// write no additionalProperties for types that are closed. A list of
// fields is therefore taken as complete, unless the schema says otherwise.
func (f form) property(name string) (parts []*jsonschema.Schema, there bool) {
	var open, lists bool
	for _, s := range f {
		lists = lists || len(s.Properties) > 0
		open = open || s.Then != nil || s.Else != nil || len(s.DependentSchemas) > 0 || len(s.Dependencies) > 0
		there = there || slices.Contains(s.Required, name)
		own := false
		if p, ok := s.Properties[name]; ok {
			parts, own = append(parts, p), true
		}
		for pattern, p := range s.PatternProperties {
			if pattern.MatchString(name) {
				parts, own = append(parts, p), true
			}
		}
		if there = there || own; own {
			continue
		}
		more := s.AdditionalProperties
		if more == nil && s.UnevaluatedProperties != nil {
			more = s.UnevaluatedProperties
		}
		switch more := more.(type) {
		case bool:
			if !more {
				return nil, false
			}
			open = true
		case *jsonschema.Schema:
			switch refused := more.Bool != nil && !*more.Bool; {
			case refused && s.AdditionalProperties != nil:
				return nil, false
			case refused:
				lists = true // the whole list of all the schemas together
			case s.AdditionalProperties != nil:
				parts, open = append(parts, more), true
			default:
				open = true
			}
		}
	}
	return parts, there || open || !lists
}

// item returns the schemas of an item of a list.
func (f form) item(position int) (parts []*jsonschema.Schema, there bool) {
	for _, s := range f {
		if s.MaxItems != nil && position >= *s.MaxItems {
			return nil, false
		}
		first, rest := s.PrefixItems, any(s.Items2020)
		if s.Items2020 == nil {
			rest = nil
		}
		switch items := s.Items.(type) { // before draft 2020-12
		case []*jsonschema.Schema:
			first, rest = items, s.AdditionalItems
		case *jsonschema.Schema:
			rest = items
		}
		if position < len(first) {
			parts = append(parts, first[position])
			continue
		}
		switch rest := rest.(type) {
		case bool:
			if !rest {
				return nil, false
			}
		case *jsonschema.Schema:
			parts = append(parts, rest)
		}
	}
	return parts, true
}

// describeForms names the fields that a value may have, and its type. That is an object if
// it may be one, else a list if it may be one.
func describeForms(forms []form) (there []string, within string) {
	for _, f := range forms {
		switch {
		case f.maybe("object"):
			within = typeName(map[string]any{})
			for _, s := range f {
				for name := range s.Properties {
					there = append(there, name)
				}
			}
		case f.maybe("array") && within != typeName(map[string]any{}):
			within = typeName([]any{})
		case within == "" && len(f) > 0:
			within = f.scalar()
		}
	}
	slices.Sort(there)
	return slices.Compact(there), within
}

// scalar names the type of a value that is neither object nor list; "" for null.
func (f form) scalar() string {
	for _, s := range f {
		if s.Types == nil {
			continue
		}
		for _, kind := range s.Types.ToStrings() {
			switch kind {
			case "string":
				return typeName("")
			case "number", "integer":
				return typeName(0)
			case "boolean":
				return typeName(false)
			}
		}
	}
	return ""
}
