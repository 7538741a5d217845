package ollama

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"replan/planning/plan/jsontype"

	"github.com/ollama/ollama/api"
)

const (
	toolWords     = 1000 // characters of a tool's description
	propertyWords = 300  // characters of a property's description
)

// parameters converts what Ollama's own type can express of an input schema; the
// server rejects the whole request if a schema does not fit.
// Bounds and defaults move into the descriptions.
func parameters(raw json.RawMessage) api.ToolFunctionParameters {
	// A tool whose schema cannot be read takes any arguments.
	t, _ := jsontype.Read(raw)
	// The type has no alternatives at the top level.
	out := api.ToolFunctionParameters{Type: jsontype.Object}
	out.Properties, out.Required = fields(t.Flat())
	return out
}

// fields returns the properties of an object, and the names of the required ones.
func fields(t jsontype.Type) (*api.ToolPropertiesMap, []string) {
	out := api.NewToolPropertiesMap()
	var required []string
	for _, f := range t.Fields {
		out.Set(f.Name, value(f.Type, f.Required && f.Nullable))
		if f.Required {
			required = append(required, f.Name)
		}
	}
	return out, required
}

// value converts the type of a value, which may be null where null is allowed. An
// optional property is left out instead.
func value(t jsontype.Type, null bool) api.ToolProperty {
	out := api.ToolProperty{Type: api.PropertyType(t.Kinds), Enum: t.Enum, Description: described(t)}
	for _, alternative := range t.Any {
		out.AnyOf = append(out.AnyOf, value(alternative, false))
	}
	if len(t.Fields) > 0 {
		out.Properties, out.Required = fields(t)
	}
	if t.Items != nil {
		out.Items = value(*t.Items, t.Items.Nullable)
	}
	if len(t.Places) > 0 {
		var places api.ToolProperty
		for _, place := range t.Places {
			places.AnyOf = append(places.AnyOf, value(place, place.Nullable))
		}
		out.Items = places
	}
	if !null {
		return out
	}
	switch {
	case len(out.Enum) > 0:
		out.Enum = append(slices.Clone(out.Enum), nil)
	case len(out.AnyOf) > 0:
		out.AnyOf = append(out.AnyOf, api.ToolProperty{Type: api.PropertyType{"null"}})
	case len(out.Type) > 0:
		out.Type = append(slices.Clone(out.Type), "null")
	}
	return out
}

// described returns the description of a property, extended by what its type
// cannot express.
func described(t jsontype.Type) string {
	text := bounded(t.Description, propertyWords)
	if t.Limits == "" {
		return text
	}
	return strings.TrimSpace(fmt.Sprintf("%s (%s)", text, t.Limits))
}
