package ollama

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/planning/plan"

	"github.com/ollama/ollama/api"
)

const (
	toolWords     = 1000 // characters of a tool's description
	propertyWords = 300  // characters of a property's description
	schemaDepth   = 8    // nesting of schemas; a schema may refer to itself
	schemaParts   = 200  // schemas within a schema in total; further ones keep only type and description
)

// parameters converts what Ollama's own type can express of an input schema; the
// server rejects the whole request if a schema does not fit.
// References are resolved, and bounds and defaults move into the descriptions.
func parameters(raw json.RawMessage) api.ToolFunctionParameters {
	out := api.ToolFunctionParameters{Type: "object", Properties: api.NewToolPropertiesMap()}
	value, err := plan.DecodeValue(raw)
	if err != nil {
		return out
	}
	root, _ := value.(map[string]any)
	s := &schema{root: root, left: schemaParts}
	top := s.plain(root)
	// The type has no alternatives at the top level. Offer the properties of all
	// of them, and require nothing that only some require.
	for _, alternative := range s.alternatives(top) {
		part, _ := alternative.(map[string]any)
		delete(part, "required")
		top = merged(top, part)
	}
	out.Properties, out.Required = s.properties(top, 0)
	return out
}

// schema converts the parts of a JSON Schema.
type schema struct {
	root map[string]any
	left int // budget of parts to convert in full
}

// plain resolves the references and allOf of a schema.
func (s *schema) plain(value any) map[string]any {
	object, _ := value.(map[string]any)
	for range schemaDepth { // a reference may lead to another one, or to itself
		ref, ok := object["$ref"].(string)
		if !ok {
			break
		}
		rest := maps.Clone(object)
		delete(rest, "$ref")
		object = merged(s.find(ref), rest)
	}
	parts, _ := object["allOf"].([]any)
	if len(parts) == 0 {
		return maps.Clone(object)
	}
	var all map[string]any
	for _, part := range parts {
		if nested, ok := part.(map[string]any); ok && nested["allOf"] == nil {
			all = merged(all, s.plain(nested))
		}
	}
	all = merged(all, object)
	delete(all, "allOf")
	return all
}

// find resolves a reference within the schema; any other reference yields
// nothing.
func (s *schema) find(ref string) map[string]any {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	var at any = s.root
	for name := range strings.SplitSeq(path, "/") {
		object, _ := at.(map[string]any)
		at = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	object, _ := at.(map[string]any)
	return object
}

// merged returns a overridden by b, with the properties and required names of
// both.
func merged(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = make(map[string]any)
	}
	for key, value := range b {
		of, isObject := out[key].(map[string]any)
		more, bothObjects := value.(map[string]any)
		list, isList := out[key].([]any)
		further, bothLists := value.([]any)
		switch {
		case key == "properties" && isObject && bothObjects:
			both := maps.Clone(of)
			maps.Copy(both, more)
			out[key] = both
		case key == "required" && isList && bothLists:
			out[key] = slices.Concat(list, further)
		default:
			out[key] = value
		}
	}
	return out
}

func (s *schema) alternatives(object map[string]any) []any {
	var out []any
	for _, key := range []string{"anyOf", "oneOf"} {
		list, _ := object[key].([]any)
		for _, value := range list {
			out = append(out, s.plain(value))
		}
	}
	return out
}

// properties returns the properties of an object: the required ones in schema
// order, then the others by name.
func (s *schema) properties(object map[string]any, depth int) (*api.ToolPropertiesMap, []string) {
	out := api.NewToolPropertiesMap()
	named, _ := object["properties"].(map[string]any)
	var required []string
	list, _ := object["required"].([]any)
	for _, entry := range list {
		if name, ok := entry.(string); ok && !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	for _, name := range slices.Concat(required, slices.Sorted(maps.Keys(named))) {
		if value, ok := named[name]; ok {
			out.Set(name, s.property(value, depth+1))
		}
	}
	return out, required
}

// property converts what the API's type for properties can express of a schema.
func (s *schema) property(value any, depth int) api.ToolProperty {
	object := s.plain(value)
	out := api.ToolProperty{Type: types(object["type"]), Description: described(object)}
	if list, ok := object["enum"].([]any); ok {
		out.Enum = list
	} else if only, ok := object["const"]; ok {
		out.Enum = []any{only}
	}
	if depth >= schemaDepth || s.left == 0 {
		return out
	}
	s.left--
	for _, alternative := range s.alternatives(object) {
		out.AnyOf = append(out.AnyOf, s.property(alternative, depth+1))
	}
	if named, ok := object["properties"].(map[string]any); ok && len(named) > 0 {
		out.Properties, out.Required = s.properties(object, depth)
	}
	switch items := object["items"].(type) {
	case map[string]any:
		out.Items = s.property(items, depth+1)
	case []any: // a tuple
		var places api.ToolProperty
		for _, item := range items {
			places.AnyOf = append(places.AnyOf, s.property(item, depth+1))
		}
		out.Items = places
	}
	if len(out.Type) == 0 && out.Properties != nil {
		out.Type = api.PropertyType{"object"}
	}
	return out
}

// types returns the type names of a schema.
func types(value any) api.PropertyType {
	if name, ok := value.(string); ok {
		return api.PropertyType{name}
	}
	var out api.PropertyType
	list, _ := value.([]any)
	for _, entry := range list {
		if name, ok := entry.(string); ok {
			out = append(out, name)
		}
	}
	return out
}

// described returns the description of a property, extended by what its type
// cannot express.
func described(object map[string]any) string {
	text, _ := object["description"].(string)
	if text == "" {
		text, _ = object["title"].(string)
	}
	text = bounded(text, propertyWords)
	var notes []string
	for _, n := range []struct{ key, words string }{
		{"format", "format"},
		{"pattern", "pattern"},
		{"minimum", "at least"},
		{"exclusiveMinimum", "more than"},
		{"maximum", "at most"},
		{"exclusiveMaximum", "less than"},
		{"minLength", "characters at least"},
		{"maxLength", "characters at most"},
		{"minItems", "items at least"},
		{"maxItems", "items at most"},
		{"default", "default"},
	} {
		if value, ok := object[n.key]; ok {
			notes = append(notes, n.words+" "+bounded(plan.CanonicalJSON(value), 100))
		}
	}
	if len(notes) == 0 {
		return text
	}
	return strings.TrimSpace(fmt.Sprintf("%s (%s)", text, strings.Join(notes, ", ")))
}
