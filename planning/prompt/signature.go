package prompt

import (
	"encoding/json"
	"strings"

	"replan/planning/plan"
	"replan/planning/plan/jsontype"
)

// maxShown is how deep values in values are shown.
const maxShown = 4

// signature writes the arguments of a tool as a person would: required ones
// first, the others marked with a question mark.
func signature(raw json.RawMessage) string {
	t, err := jsontype.Read(raw)
	if err != nil || len(raw) == 0 {
		return "…"
	}
	return fields(t.Flat(), 1)
}

func fields(t jsontype.Type, depth int) string {
	all := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		mark := "?: "
		if f.Required {
			mark = ": "
		}
		all[i] = plan.OneLine(f.Name, 60) + mark + kind(f.Type, f.Required && f.Nullable, depth)
	}
	return strings.Join(all, ", ")
}

// kind names the type of a value, with null where null is allowed.
func kind(t jsontype.Type, null bool, depth int) string {
	var kinds []string
	switch {
	case len(t.Enum) > 0 && len(t.Enum) <= 12:
		for _, v := range t.Enum {
			kinds = append(kinds, plan.OneLine(plan.CanonicalJSON(v), 40))
		}
	case len(t.Any) > 0 && depth < maxShown:
		for _, alternative := range t.Any {
			kinds = append(kinds, kind(alternative, false, depth+1))
		}
	}
	if len(kinds) == 0 {
		for _, name := range t.Kinds {
			kinds = append(kinds, ofKind(t, name, depth))
		}
	}
	if len(kinds) == 0 {
		return "any"
	}
	if null {
		kinds = append(kinds, "null")
	}
	return strings.Join(kinds, "|")
}

func ofKind(t jsontype.Type, name string, depth int) string {
	switch {
	case depth >= maxShown:
	case name == jsontype.List && t.Items != nil:
		return "[" + kind(*t.Items, t.Items.Nullable, depth+1) + "]"
	case name == jsontype.List && len(t.Places) > 0:
		places := make([]string, len(t.Places))
		for i, place := range t.Places {
			places[i] = kind(place, place.Nullable, depth+1)
		}
		return "[" + strings.Join(places, ", ") + "]"
	case name == jsontype.Object && len(t.Fields) > 0:
		return "{" + fields(t, depth+1) + "}"
	}
	return name
}
