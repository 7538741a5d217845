package prompt

import (
	"encoding/json"
	"strings"
	"unicode"

	"replan/planning/plan"
	"replan/planning/plan/jsontype"
	"replan/planning/retrieval"
)

// maxShown is how deep values in values are shown.
const maxShown = 4

// call writes how a tool is called, and what it returns where that is known.
func call(name string, t plan.Tool) string {
	// The descriptions of operators say what their arguments mean.
	line := name + "(" + args(t.InputSchema, !plan.IsOperator(t.Name)) + ")"
	if returns := returned(t); returns != "" {
		line += " -> " + returns
	}
	return line
}

// args writes the arguments of a tool as a person would: required ones first, the
// others marked with a question mark.
func args(raw json.RawMessage, explained bool) string {
	t, err := jsontype.Read(raw)
	if err != nil || len(raw) == 0 {
		return "…"
	}
	return signature{explained: explained}.fields(t.Flat(), 1)
}

// maxReturned is how many fields of a result are shown, at each depth.
const maxReturned = 6

// returned names the fields of a tool's result, "" where they are not known.
func returned(t plan.Tool) string {
	if _, result := withoutResult(t); result != "" {
		return plan.OneLine(result, 160)
	}
	result, known := jsontype.Result(t)
	if !known {
		return ""
	}
	text := plan.OneLine(signature{result: true}.kind(result, false, 0), 160)
	if len(t.OutputSchema) == 0 {
		text += " (seen in earlier runs)"
	}
	return text
}

// withoutResult splits the description of a built-in operator: what it does, and
// the fields of its result, which are fewer than those of its schema.
func withoutResult(t plan.Tool) (words, result string) {
	before, after, found := strings.Cut(t.Description, "The result is {")
	end := strings.LastIndexByte(after, '}')
	if !found || end < 0 || !plan.IsOperator(t.Name) {
		return t.Description, ""
	}
	return before + strings.TrimPrefix(after[end+1:], "."), "{" + after[:end+1]
}

// signature writes the types of the arguments or of the result of a tool.
type signature struct {
	explained bool // with the meanings of the arguments
	// result means few fields. The list of tools shows all fields of a
	// result, because no other place says whether one may be missing.
	result bool
}

func (s signature) fields(t jsontype.Type, depth int) string {
	var all []string
	for i, f := range t.Fields {
		if s.result && i == maxReturned {
			all = append(all, "…")
			break
		}
		mark := "?: "
		if f.Required || s.result {
			mark = ": "
		}
		field := plan.OneLine(f.Name, 60) + mark + s.kind(f.Type, f.Required && f.Nullable && !s.result, depth)
		if words := meaning(f); s.explained && depth == 1 && words != "" {
			field += " (" + words + ")"
		}
		all = append(all, field)
	}
	return strings.Join(all, ", ")
}

// meaning is the description of an argument, "" if it says about the same as the
// name.
func meaning(f jsontype.Field) string {
	const (
		most  = 32 // characters
		least = 4  // words that the name does not hold
	)
	name, added := strings.ToLower(f.Name), 0
	for word := range strings.FieldsFuncSeq(strings.ToLower(f.Description), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(word) > 3 && !strings.Contains(name, word) {
			added++
		}
	}
	if added < least {
		return ""
	}
	return plan.OneLine(f.Description, most)
}

// serverNotes is how the servers of some tools want to be used, a line each, the
// server of the best tool first.
func serverNotes(p Prompting, tools []retrieval.Match) string {
	const (
		one = 400  // characters for a server
		all = 1200 // bytes
	)
	seen, taken := map[string]bool{}, 0
	var lines []string
	for _, m := range tools {
		note := p.Servers[m.Tool.Server]
		if note == "" || seen[m.Tool.Server] {
			continue
		}
		seen[m.Tool.Server] = true
		line := plan.OneLine(m.Tool.Server, 60) + ": " + plan.OneLine(string(note), one)
		if taken += len(line); taken <= all {
			lines = append(lines, line)
		}
	}
	return named("how the servers of these tools want to be used", strings.Join(lines, "\n"))
}

// notesOn is serverNotes for tools that a model may call. It is the same in all turns
// of a loop.
func notesOn(b Brief, tools plan.Catalog) string {
	if len(b.Prompting.Servers) == 0 {
		return ""
	}
	b.Catalog = tools
	return serverNotes(b.Prompting, ranked(b, "", ""))
}

// kind names the type of a value, with null where null is allowed.
func (s signature) kind(t jsontype.Type, null bool, depth int) string {
	var kinds []string
	switch {
	case len(t.Enum) > 0 && len(t.Enum) <= 12:
		for _, v := range t.Enum {
			kinds = append(kinds, plan.OneLine(plan.CanonicalJSON(v), 40))
		}
	case len(t.Any) > 0 && depth < maxShown:
		for _, alternative := range t.Any {
			kinds = append(kinds, s.kind(alternative, false, depth+1))
		}
	}
	if len(kinds) == 0 {
		for _, name := range t.Kinds {
			kinds = append(kinds, s.ofKind(t, name, depth))
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

func (s signature) ofKind(t jsontype.Type, name string, depth int) string {
	switch {
	case depth >= maxShown:
	case name == jsontype.List && t.Items != nil:
		return "[" + s.kind(*t.Items, t.Items.Nullable, depth+1) + "]"
	case name == jsontype.List && len(t.Places) > 0:
		places := make([]string, len(t.Places))
		for i, place := range t.Places {
			places[i] = s.kind(place, place.Nullable, depth+1)
		}
		return "[" + strings.Join(places, ", ") + "]"
	case name == jsontype.Object && len(t.Fields) > 0:
		return "{" + s.fields(t, depth+1) + "}"
	}
	return name
}
