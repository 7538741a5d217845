package toolschema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"replan/internal/untrusted"
)

// Field is a property of an object in a schema.
type Field struct {
	Name, Type, Default, Description string
	Required                         bool

	example any
}

// schema is the part of a JSON Schema that is shown.
type schema struct {
	Type        any               `json:"type"` // a name or a list of names
	Properties  map[string]schema `json:"properties"`
	Required    []string          `json:"required"`
	Items       *schema           `json:"items"`
	Enum        []any             `json:"enum"`
	Default     any               `json:"default"`
	Examples    []any             `json:"examples"`
	Description string            `json:"description"`
}

// UnmarshalJSON also accepts true and false, which are schemas without fields.
func (s *schema) UnmarshalJSON(data []byte) error {
	type plain schema
	var p plain
	if err := json.Unmarshal(data, &p); err == nil {
		*s = schema(p)
	}
	return nil
}

// Fields returns the properties of a schema, required ones first, then by name.
func Fields(text json.RawMessage) []Field {
	var s schema
	if json.Unmarshal(text, &s) != nil {
		return nil
	}
	fields := make([]Field, 0, len(s.Properties))
	for name, p := range s.Properties {
		f := Field{
			Name: untrusted.Line(name), Type: p.kind(), Description: untrusted.Line(p.Description),
			Required: slices.Contains(s.Required, name), example: p.example(),
		}
		if p.Default != nil {
			f.Default = untrusted.Line(fmt.Sprint(p.Default))
		}
		fields = append(fields, f)
	}
	slices.SortFunc(fields, func(a, b Field) int {
		if a.Required != b.Required {
			return map[bool]int{true: -1, false: 1}[a.Required]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return fields
}

// kind names the type of a value.
func (s schema) kind() string {
	if len(s.Enum) > 0 {
		words := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			words[i] = fmt.Sprint(v)
		}
		return untrusted.Line(strings.Join(words, "|"))
	}
	name := "any"
	switch t := s.Type.(type) {
	case string:
		name = t
	case []any:
		var names []string
		for _, one := range t {
			if one != "null" {
				names = append(names, fmt.Sprint(one))
			}
		}
		name = strings.Join(names, "|")
	}
	if name == "array" && s.Items != nil {
		name = "[" + s.Items.kind() + "]"
	}
	return untrusted.Line(name)
}

// example returns a value that fits.
func (s schema) example() any {
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Default != nil:
		return s.Default
	}
	switch kind := s.kind(); {
	case kind == "integer" || kind == "number":
		return 1
	case kind == "boolean":
		return true
	case strings.HasPrefix(kind, "["):
		return []any{}
	case kind == "object":
		return map[string]any{}
	default:
		return "…"
	}
}

// Results returns the properties of a result, by name.
func Results(text json.RawMessage) []Field {
	fields := Fields(text)
	for i := range fields {
		fields[i].Required = false // of a result it says nothing that helps
	}
	slices.SortFunc(fields, func(a, b Field) int { return cmp.Compare(a.Name, b.Name) })
	return fields
}

// Example returns the arguments of the example in a description of the tool, else
// values for the required fields.
func Example(fields []Field, description string) map[string]any {
	given := map[string]any{}
	if _, text, ok := strings.Cut(description, "Example: "); ok {
		if json.NewDecoder(strings.NewReader(text)).Decode(&given) == nil {
			return given
		}
		given = map[string]any{}
	}
	for _, f := range fields {
		if f.Required {
			given[f.Name] = f.example
		}
	}
	return given
}

// Need says whether a field is required, or its default.
func (f Field) Need() string {
	switch {
	case f.Required:
		return "required"
	case f.Default != "":
		return "default " + f.Default
	default:
		return ""
	}
}

// Table lists fields: name, type, whether they are required or their default, and
// what they are.
func Table(fields []Field) string {
	if len(fields) == 0 {
		return "  none\n"
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	for _, f := range fields {
		_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", f.Name, f.Type, f.Need(), f.Description)
	}
	_ = table.Flush() // to memory
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}
