package prompt

import (
	"slices"

	"replan/planning/plan"
	"replan/planning/plan/jsontype"
)

// argsSchema reduces the input schema of a tool to the part a grammar can enforce
// in a plan. No argument is required, since a plan may leave some for later. Every
// value may be a text as well, since a reference is one. A tool without a useful
// schema takes any object; the error says why one that it has cannot be read.
func argsSchema(t plan.Tool) (args schema, err error) {
	read, err := jsontype.Read(t.InputSchema)
	if err != nil {
		return objectSchema, err
	}
	args = grammar{references: true}.object(read.Flat())
	args.Required = nil
	return args, nil
}

// callFormat reduces the input schema of a tool in the same way for the arguments of a
// call. Required ones are required, and there are no references. If one of several groups
// of arguments is required, each is a form.
func callFormat(t plan.Tool) schema {
	args, err := jsontype.Read(t.InputSchema)
	if err != nil {
		return objectSchema
	}
	return grammar{}.value(args, false)
}

// grammar makes schemas that a server can turn into a grammar.
type grammar struct {
	references bool // a reference may replace any value
}

// maxListed is the largest bound of a list in a grammar. Servers write such a list
// out item by item, and refuse long ones.
const maxListed = 100

// anything is a value of any type.
var anything = schema{Type: []string{jsontype.Text, jsontype.Number, jsontype.Boolean, jsontype.Object, jsontype.List}}

// value is the schema of a value, which may be null where null is allowed. An
// optional field is left out instead.
func (g grammar) value(t jsontype.Type, null bool) schema {
	var out schema
	switch {
	case len(t.Enum) > 0:
		out.Enum = t.Enum
		if null {
			out.Enum = append(slices.Clone(t.Enum), nil)
		}
		return out
	case len(t.Any) > 0:
		for _, alternative := range t.Any {
			out.AnyOf = append(out.AnyOf, g.value(alternative, false))
		}
	case len(t.Kinds) == 0:
		out = anything
	case len(t.Kinds) > 1:
		out.Type = t.Kinds
	case t.Kinds[0] == jsontype.Object:
		out = g.object(t)
	case t.Kinds[0] == jsontype.List:
		out = g.list(t)
	default:
		out.Type = t.Kinds[0]
	}
	if null {
		out = or(out, "null")
	}
	return out
}

// object has the fields of an object.
func (g grammar) object(t jsontype.Type) schema {
	if !t.Closed {
		return objectSchema
	}
	out := schema{Type: jsontype.Object, Properties: properties{}}
	for _, field := range t.Fields {
		value := g.value(field.Type, field.Required && field.Nullable)
		if g.references {
			value = orText(value)
		}
		out.Properties = append(out.Properties, property{field.Name, value})
		if field.Required {
			out.Required = append(out.Required, field.Name)
		}
	}
	return out
}

func (g grammar) list(t jsontype.Type) schema {
	out := schema{Type: jsontype.List}
	if t.MaxItems <= maxListed {
		out.MaxItems = t.MaxItems
	}
	for _, place := range t.Places {
		out.Places = append(out.Places, g.value(place, place.Nullable))
	}
	if t.Items != nil {
		items := g.value(*t.Items, t.Items.Nullable)
		out.Items = &items
	}
	return out
}

// orText lets a value be a text as well. A choice among texts stays one: it is
// seldom a reference, and worth more as a choice.
func orText(s schema) schema {
	if slices.ContainsFunc(s.Enum, func(v any) bool { _, ok := v.(string); return ok }) {
		return s
	}
	return or(s, jsontype.Text)
}

// or lets a value be of another kind as well.
func or(s schema, kind string) schema {
	switch is := s.Type.(type) {
	case string:
		switch {
		case is == kind:
			return s
		case is != jsontype.Object && is != jsontype.List:
			s.Type = []string{is, kind}
			return s
		}
	case []string:
		if !slices.Contains(is, kind) {
			s.Type = append(slices.Clone(is), kind)
		}
		return s
	}
	if len(s.AnyOf) > 0 {
		if slices.ContainsFunc(s.AnyOf, func(a schema) bool { return a.Type == kind && len(a.Enum) == 0 }) {
			return s
		}
		s.AnyOf = append(slices.Clone(s.AnyOf), schema{Type: kind})
		return s
	}
	return schema{AnyOf: []schema{s, {Type: kind}}}
}
