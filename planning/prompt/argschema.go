package prompt

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"replan/planning/plan"
)

// maxSchemaDepth is how deep the arguments of a tool are described; deeper values
// may be anything of their type.
const maxSchemaDepth = 4

// argsSchema reduces the input schema of a tool to the part a grammar can enforce
// in a plan. No argument is required, since a plan may leave some for later. Every
// value may be a text as well, since a reference is one. A tool without a useful
// schema takes any object.
func argsSchema(t plan.Tool) schema {
	s, ok := readArgSchema(t.InputSchema)
	if !ok || !s.describes("object") || s.Properties == nil {
		return objectSchema
	}
	args := reducer{references: true}.object(s, 1)
	args.Required = nil
	return args
}

// callFormat reduces the input schema of a tool in the same way for the arguments
// of a call: required ones are required, and there are no references. If one of
// several groups of arguments is required, each is a form.
func callFormat(t plan.Tool) schema {
	s, ok := readArgSchema(t.InputSchema)
	if !ok || !s.describes("object") || s.Properties == nil {
		return objectSchema
	}
	return reducer{}.reduced(s, 0)
}

// toolSchema is as much of a tool's JSON Schema as a grammar can follow.
type toolSchema struct {
	Type       any                        `json:"type"`
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	Items      json.RawMessage            `json:"items"`
	Enum       []any                      `json:"enum"`
	Const      json.RawMessage            `json:"const"`
	MaxItems   int                        `json:"maxItems"`
	AnyOf      []json.RawMessage          `json:"anyOf"`
	OneOf      []json.RawMessage          `json:"oneOf"`
}

type toolField struct {
	name   string
	schema toolSchema
}

func readArgSchema(raw json.RawMessage) (toolSchema, bool) {
	var s toolSchema
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return s, len(raw) > 0 && decoder.Decode(&s) == nil
}

// describes reports whether a schema is about values of a type, or does not say.
func (s toolSchema) describes(kind string) bool { return s.Type == nil || s.Type == kind }

// fieldsInOrder lists the properties that can be read, the required ones first,
// each group by name: the order in which the list of tools has them too.
func (s toolSchema) fieldsInOrder() []toolField {
	names := slices.Sorted(maps.Keys(s.Properties))
	slices.SortStableFunc(names, func(x, y string) int {
		switch a, b := slices.Contains(s.Required, x), slices.Contains(s.Required, y); {
		case a == b:
			return 0
		case a:
			return -1
		default:
			return 1
		}
	})
	fields := make([]toolField, 0, len(names))
	for _, name := range names {
		field, _ := readArgSchema(s.Properties[name])
		fields = append(fields, toolField{name, field})
	}
	return fields
}

// anything is a value of any type.
var anything = schema{Type: []string{"string", "number", "boolean", "object", "array"}}

// reducer makes schemas that a grammar can follow.
type reducer struct {
	references bool // a reference may replace any value
}

// reduced is the schema of a value, without the parts unknown to a grammar.
func (r reducer) reduced(s toolSchema, depth int) schema {
	if values := s.values(); len(values) > 0 {
		return schema{Enum: values}
	}
	if forms := append(slices.Clone(s.AnyOf), s.OneOf...); len(forms) > 0 && depth < maxSchemaDepth {
		out := schema{}
		for _, raw := range forms {
			form, ok := readArgSchema(raw)
			if !ok {
				return anything
			}
			out.AnyOf = append(out.AnyOf, r.reduced(s.with(form), depth+1))
		}
		return out
	}
	switch kind := s.Type.(type) {
	case string:
		return r.ofType(s, kind, depth)
	case []any:
		kinds := make([]string, 0, len(kind))
		for _, k := range kind {
			if k, ok := k.(string); ok && k != "null" {
				kinds = append(kinds, k)
			}
		}
		if len(kinds) == 1 {
			return r.ofType(s, kinds[0], depth)
		}
		if len(kinds) > 1 {
			return schema{Type: kinds}
		}
	case nil:
		if s.Properties != nil {
			return r.ofType(s, "object", depth)
		}
	}
	return anything
}

// with is one of the forms of a schema: the common part, and the part of the form.
func (s toolSchema) with(form toolSchema) toolSchema {
	if s.Properties == nil {
		return form
	}
	if form.Properties == nil {
		form.Properties = s.Properties
	} else {
		all := maps.Clone(s.Properties)
		maps.Copy(all, form.Properties)
		form.Properties = all
	}
	form.Required = append(slices.Clone(s.Required), form.Required...)
	if form.Type == nil {
		form.Type = s.Type
	}
	return form
}

// values are the only values there may be, nil where others may be too.
func (s toolSchema) values() []any {
	if len(s.Enum) > 0 {
		return s.Enum
	}
	if len(s.Const) == 0 {
		return nil
	}
	value, err := plan.DecodeValue(s.Const)
	if err != nil {
		return nil
	}
	return []any{value}
}

func (r reducer) ofType(s toolSchema, kind string, depth int) schema {
	out := schema{Type: kind}
	switch {
	case kind == "array" && len(s.Items) > 0 && depth < maxSchemaDepth:
		if item, ok := readArgSchema(s.Items); ok {
			items := r.reduced(item, depth+1)
			out.Items, out.MaxItems = &items, s.MaxItems
		}
	case kind == "object" && s.Properties != nil && depth < maxSchemaDepth:
		return r.object(s, depth+1)
	case !slices.Contains([]string{"string", "number", "integer", "boolean", "array", "object"}, kind):
		return anything
	}
	return out
}

// object has the properties of an object, at the depth of their values.
func (r reducer) object(s toolSchema, depth int) schema {
	out := schema{Type: "object", Properties: properties{}}
	for _, field := range s.fieldsInOrder() {
		value := r.reduced(field.schema, depth)
		if r.references {
			value = orText(value)
		}
		out.Properties = append(out.Properties, property{field.name, value})
		if slices.Contains(s.Required, field.name) {
			out.Required = append(out.Required, field.name)
		}
	}
	return out
}

// orText lets a value be a text as well. A choice among texts stays one: it is
// seldom a reference, and worth more as a choice.
func orText(s schema) schema {
	isText := func(v any) bool { _, ok := v.(string); return ok }
	switch kind := s.Type.(type) {
	case string:
		switch kind {
		case "string":
			return s
		case "integer", "number", "boolean":
			s.Type = []string{kind, "string"}
			return s
		}
	case []string:
		if !slices.Contains(kind, "string") {
			s.Type = append(slices.Clone(kind), "string")
		}
		return s
	}
	switch {
	case len(s.Enum) > 0 && slices.ContainsFunc(s.Enum, isText):
		return s
	case len(s.AnyOf) > 0:
		s.AnyOf = append(slices.Clone(s.AnyOf), textSchema)
		return s
	}
	return schema{AnyOf: []schema{s, textSchema}}
}
