package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"replan/internal/english"
)

// Reference is one ${…} in the args of a step.
type Reference struct {
	Name string   // the variable
	Path []string // the fields and list positions below it
	Text string   // as it stands, braces included

	// Malformed says why nothing can ever fill the reference in, a clause; empty
	// where its path can be followed.
	Malformed string
}

// String is the reference as it stands.
func (r Reference) String() string { return r.Text }

// textPart is a piece of a text: plain words, or a reference.
type textPart struct {
	raw       string // as it stands
	plain     string // plain words without their escapes
	reference *Reference
}

// splitText splits a text into plain text and references. $${ is a literal ${; an
// unclosed ${, an empty ${} and $n are plain text.
func splitText(text string) []textPart {
	if !strings.Contains(text, "${") {
		return []textPart{{raw: text, plain: text}}
	}
	var parts []textPart
	words := func(raw string) {
		if raw != "" {
			parts = append(parts, textPart{raw: raw, plain: strings.ReplaceAll(raw, "$${", "${")})
		}
	}
	done := 0
	for start, end := nextReference(text, 0); start < end; start, end = nextReference(text, end) {
		words(text[done:start])
		reference := readReference(text[start:end])
		parts = append(parts, textPart{raw: reference.Text, reference: &reference})
		done = end
	}
	words(text[done:])
	return parts
}

// nextReference finds the first reference in a text at from or after; start and
// end are the same if there is none. It looks at each byte a fixed number of
// times. It searches for a closing brace only after an opening without an escape,
// and skips the text before it unless it is blank.
func nextReference(text string, from int) (start, end int) {
	for at := from; ; {
		opening := strings.Index(text[at:], "${")
		if opening < 0 {
			return len(text), len(text)
		}
		opening += at
		escaped := opening > at && text[opening-1] == '$'
		at = opening + 2
		if escaped {
			continue
		}
		closing := strings.IndexByte(text[at:], '}')
		if closing < 0 {
			return len(text), len(text)
		}
		closing += at
		if strings.TrimSpace(text[at:closing]) != "" {
			return opening, closing + 1
		}
		at = closing // the text before it is blank
	}
}

// hasReference reports whether a text holds a reference.
func hasReference(text string) bool {
	start, end := nextReference(text, 0)
	return start < end
}

// readReference reads ${name}, ${name.field}, ${name.0} and ${name[0]}.
func readReference(text string) Reference {
	inner := strings.TrimSpace(text[2 : len(text)-1])
	end := strings.IndexAny(inner, ".[")
	if end < 0 {
		return Reference{Name: inner, Text: text}
	}
	r := Reference{Name: inner[:end], Text: text}
	r.Path, r.Malformed = readPath(inner[end:])
	if r.Name == "" {
		r.Malformed = "it names no variable"
	}
	return r
}

// readPath reads the fields and list positions behind the name of a variable as far as it
// can. It says why nothing can follow them, "" where something can.
func readPath(rest string) (path []string, malformed string) {
	for rest != "" {
		var field string
		switch rest[0] {
		case '[':
			closing := strings.IndexByte(rest, ']')
			if closing < 0 {
				return path, "a bracket is not closed"
			}
			field, rest = strings.TrimSpace(rest[1:closing]), rest[closing+1:]
		case '.':
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			field, rest = rest[:end], rest[end:]
		default:
			return path, "something follows a closing bracket that is neither a dot nor a bracket"
		}
		if field == "" {
			return path, "it holds an empty field"
		}
		path = append(path, field)
	}
	return path, ""
}

// References returns the references in a JSON value, in a fixed order: lists from
// the front, objects by key. Object keys and escaped $${ hold none.
func References(v any) []Reference {
	var found []Reference
	walkReferences(v, func(_ []string, r Reference) { found = append(found, r) })
	return found
}

// walkReferences calls visit with each reference in a JSON value, in the order of
// References, and with its path of keys and positions. The next call overwrites
// the path.
func walkReferences(v any, visit func(path []string, r Reference)) {
	if holdsReference(v) { // most values hold none, and sorting keys is most of the work
		visitReferences(v, nil, visit)
	}
}

func visitReferences(v any, path []string, visit func(path []string, r Reference)) {
	switch v := v.(type) {
	case string:
		for start, end := nextReference(v, 0); start < end; start, end = nextReference(v, end) {
			visit(path, readReference(v[start:end]))
		}
	case []any:
		for i, item := range v {
			visitReferences(item, append(path, strconv.Itoa(i)), visit)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			visitReferences(v[key], append(path, key), visit)
		}
	}
}

// holdsReference reports whether a JSON value holds a reference.
func holdsReference(v any) bool {
	switch v := v.(type) {
	case string:
		return hasReference(v)
	case []any:
		return slices.ContainsFunc(v, holdsReference)
	case map[string]any:
		for _, item := range v {
			if holdsReference(item) {
				return true
			}
		}
	}
	return false
}

// MalformedReferenceError says that the path of a reference cannot be followed,
// whatever the variables hold.
type MalformedReferenceError struct {
	Reference Reference
}

func (e *MalformedReferenceError) Error() string {
	return fmt.Sprintf("%s cannot be filled in: its path is malformed: %s", e.Reference, e.Reference.Malformed)
}

// MissingVariableError says that a reference names a variable without a value.
type MissingVariableError struct {
	Reference Reference
	There     []string // the variables with a value that references can name, sorted
}

func (e *MissingVariableError) Error() string {
	if len(e.There) == 0 {
		return fmt.Sprintf("%s cannot be filled in: no variable has a value yet", e.Reference)
	}
	return fmt.Sprintf("%s cannot be filled in: there is no variable %q, only %s", e.Reference, e.Reference.Name, english.Some(e.There, mostNamed, ""))
}

// MissingFieldError says that the path of a reference leads nowhere.
type MissingFieldError struct {
	Reference Reference
	Field     string   // the field or list position that is not there
	There     []string // the fields or positions that are; nil where the value has none at all
	Within    string   // the type of the value searched, such as "an object" or "text"
}

func (e *MissingFieldError) Error() string {
	if len(e.There) == 0 {
		return fmt.Sprintf("%s cannot be filled in: there is no field %q, since the value is %s", e.Reference, e.Field, orEmpty(e.Within))
	}
	return fmt.Sprintf("%s cannot be filled in: there is no field %q, only %s", e.Reference, e.Field, english.Some(e.There, mostNamed, ""))
}

// orEmpty names the type of a value, adding that it has no fields if it could have
// some.
func orEmpty(what string) string {
	if what == "an object" || what == "a list" {
		return what + " without any"
	}
	return what
}

// mostNamed is how many names an error lists.
const mostNamed = 20

// Placeholder stands for an unknown value, as a result in a dry run. A reference
// to it, or to anything below it, resolves to its text.
type Placeholder string

// Resolve fills in the references of a JSON value from values. A text of one reference and
// nothing else becomes the value itself, whatever its type. Inside other text a string
// goes in as it is and everything else as compact JSON. Filled-in values are not expanded
// again. A [Placeholder] gives its text. It fails with a *MissingVariableError, a
// *MissingFieldError or a *MalformedReferenceError, and if the result would have more than
// MaxResolved bytes or [jsonsize.Most] values.
//
// The result shares the values it was given; neither may be changed after.
func Resolve(v any, values map[string]any) (any, error) {
	if holdsReference(v) {
		if err := checkRoom(v, values); err != nil {
			return nil, fmt.Errorf("with its references filled in it would have %w, or refer to fields", err)
		}
	}
	return resolve(v, values)
}

func resolve(v any, values map[string]any) (any, error) {
	switch v := v.(type) {
	case string:
		return resolveText(v, values)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			resolved, err := resolve(item, values)
			if err != nil {
				return nil, err
			}
			list[i] = resolved
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			resolved, err := resolve(v[key], values)
			if err != nil {
				return nil, err
			}
			object[key] = resolved
		}
		return object, nil
	default:
		return v, nil
	}
}

// ResolveArgs is Resolve for the args of a step; nil stays nil.
func ResolveArgs(args map[string]any, values map[string]any) (map[string]any, error) {
	if args == nil {
		return nil, nil
	}
	resolved, err := Resolve(args, values)
	if err != nil {
		return nil, err
	}
	return resolved.(map[string]any), nil
}

func resolveText(text string, values map[string]any) (any, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	parts := splitText(text)
	if len(parts) == 1 && parts[0].reference != nil {
		return lookUp(*parts[0].reference, values)
	}
	var b strings.Builder
	for _, part := range parts {
		if part.reference == nil {
			b.WriteString(part.plain)
			continue
		}
		v, err := lookUp(*part.reference, values)
		if err != nil {
			return nil, err
		}
		if s, ok := v.(string); ok {
			b.WriteString(s)
		} else {
			b.WriteString(CanonicalJSON(v))
		}
	}
	return b.String(), nil
}

func lookUp(r Reference, values map[string]any) (any, error) {
	if r.Malformed != "" {
		return nil, &MalformedReferenceError{Reference: r}
	}
	v, ok := values[r.Name]
	if !ok {
		there := slices.DeleteFunc(slices.Sorted(maps.Keys(values)), func(name string) bool { return !reachable(name) })
		return nil, &MissingVariableError{Reference: r, There: there}
	}
	for _, field := range r.Path {
		if p, ok := v.(Placeholder); ok {
			return string(p), nil
		}
		next, there, ok := descend(v, field)
		if !ok {
			return nil, &MissingFieldError{Reference: r, Field: field, There: there, Within: typeName(v)}
		}
		v = next
	}
	if p, ok := v.(Placeholder); ok {
		return string(p), nil
	}
	return v, nil
}

// descend takes one step into a value, or says which steps there are.
func descend(v any, field string) (next any, there []string, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		if next, ok := v[field]; ok {
			return next, nil, true
		}
		return nil, slices.Sorted(maps.Keys(v)), false
	case []any:
		// A position is written one way: 01 and +1 are none.
		if i, err := strconv.Atoi(field); err == nil && i >= 0 && i < len(v) && strconv.Itoa(i) == field {
			return v[i], nil, true
		}
		there = make([]string, len(v))
		for i := range v {
			there[i] = strconv.Itoa(i)
		}
		return nil, there, false
	default:
		return nil, nil, false
	}
}

// renameReferences returns v with every reference to from naming to.
func renameReferences(v any, from, to string) any {
	return mapLeaves(v, func(leaf any) any {
		text, ok := leaf.(string)
		if !ok {
			return leaf
		}
		var b strings.Builder
		for _, part := range splitText(text) {
			if part.reference == nil || part.reference.Name != from {
				b.WriteString(part.raw)
				continue
			}
			inner := strings.TrimSpace(part.raw[2 : len(part.raw)-1])
			b.WriteString("${" + to + inner[len(from):] + "}")
		}
		return b.String()
	})
}

// Literal escapes a JSON value, so that text resembling a reference stays as it is.
func Literal(v any) any {
	return mapLeaves(v, func(leaf any) any {
		if text, ok := leaf.(string); ok {
			return strings.ReplaceAll(text, "${", "$${")
		}
		return leaf
	})
}

// mapLeaves returns a copy of a JSON value with f applied to everything but lists
// and objects.
func mapLeaves(v any, f func(leaf any) any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = mapLeaves(item, f)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, item := range v {
			object[key] = mapLeaves(item, f)
		}
		return object
	default:
		return f(v)
	}
}

// refersTo reports whether a JSON value refers to a variable.
func refersTo(v any, name string) bool {
	return slices.ContainsFunc(References(v), func(r Reference) bool { return r.Name == name })
}
