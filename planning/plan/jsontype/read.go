package jsontype

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"replan/planning/plan"
)

// reader reads the parts of one schema.
type reader struct {
	root any
	left int      // parts that may still be read in full
	open []string // references whose schemas are being read
	lost bool     // a reference leads nowhere
}

// readRoot reads a whole schema. lost says that a reference leads nowhere.
func readRoot(root any) (t Type, lost bool) {
	r := &reader{root: root, left: maxParts}
	t = r.read(root, 0)
	return t, r.lost
}

// read returns the type of a schema.
func (r *reader) read(schema any, depth int) Type {
	open := len(r.open)
	defer func() { r.open = r.open[:open] }()
	s, whole := r.resolved(schema, 0)
	t := Type{Description: cmp.Or(plain(s["description"]), plain(s["title"])), Limits: limits(s)}
	t.Kinds, t.Nullable = kinds(s["type"])
	t.Nullable = t.Nullable || s["nullable"] == true
	if values, ok := values(s); ok {
		t.Nullable = t.Nullable || slices.Contains(values, nil)
		t.Enum = slices.DeleteFunc(values, func(v any) bool { return v == nil })
		return t
	}
	properties, _ := s["properties"].(map[string]any)
	if len(t.Kinds) == 0 {
		switch {
		case properties != nil:
			t.Kinds = []string{Object}
		case s["items"] != nil || s["prefixItems"] != nil:
			t.Kinds = []string{List}
		}
	}
	if !whole || depth >= maxDepth || r.left <= 0 {
		return t
	}
	r.left--
	if forms := alternatives(s); len(forms) > 0 {
		return r.union(t, s, forms, depth)
	}
	if slices.Contains(t.Kinds, Object) && properties != nil {
		t.Closed, t.Fields = true, r.fields(s, depth)
	}
	if slices.Contains(t.Kinds, List) {
		r.items(&t, s, depth)
	}
	return t
}

// resolved follows the references of a schema and joins its allOf. whole is false
// for a schema too deep within itself.
func (r *reader) resolved(schema any, depth int) (s map[string]any, whole bool) {
	s, _ = schema.(map[string]any)
	if depth > maxDepth {
		return s, false
	}
	whole = true
	if ref, ok := s["$ref"].(string); ok {
		rest := maps.Clone(s)
		delete(rest, "$ref")
		if count(r.open, ref) >= maxRecursion {
			target, _ := r.find(ref).(map[string]any)
			return map[string]any{"type": target["type"], "description": s["description"]}, false
		}
		r.open = append(r.open, ref)
		target := r.find(ref)
		r.lost = r.lost || target == nil
		s, whole = r.resolved(target, depth+1)
		s = joined(s, rest)
	}
	parts, _ := s["allOf"].([]any)
	if len(parts) == 0 {
		return s, whole
	}
	var all map[string]any
	for _, part := range parts {
		joint, _ := r.resolved(part, depth+1) // a part too deep adds nothing
		all = joined(all, joint)
	}
	rest := maps.Clone(s)
	delete(rest, "allOf")
	return joined(all, rest), whole
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// find returns the part of the schema that a JSON Pointer leads to, nil if there is
// none.
func (r *reader) find(ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := r.root
	if path == "" {
		return at
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if decoded, err := url.PathUnescape(name); err == nil {
			name = decoded
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch value := at.(type) {
		case map[string]any:
			at = value[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(value) {
				return nil
			}
			at = value[i]
		default:
			return nil
		}
	}
	return at
}

// joined is a schema overridden by another, with the properties and the required
// names of both.
func joined(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = make(map[string]any, len(b))
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

// alternatives are the schemas of which a value fits one.
func alternatives(s map[string]any) []any {
	one, _ := s["anyOf"].([]any)
	other, _ := s["oneOf"].([]any)
	return slices.Concat(one, other)
}

// union is a type with alternatives. Alternatives that differ in kind or in their
// values alone become one type, and null becomes a mark.
func (r *reader) union(t Type, s map[string]any, forms []any, depth int) Type {
	common := maps.Clone(s)
	for _, key := range []string{"anyOf", "oneOf", "description", "title", "default"} {
		delete(common, key)
	}
	var all []Type
	for _, form := range forms {
		if form, ok := form.(map[string]any); ok && (form["type"] == null || len(form) == 1 && form["not"] != nil) {
			t.Nullable = t.Nullable || form["type"] == null // else no value fits, which stands for a field left out
			continue
		}
		open := len(r.open)
		resolved, whole := r.resolved(form, 0)
		if whole {
			resolved = joined(common, resolved)
		}
		read := r.read(resolved, depth+1)
		r.open = r.open[:open]
		if read.matchesAll() {
			return Type{Kinds: t.Kinds, Nullable: t.Nullable, Description: t.Description, Limits: t.Limits}
		}
		t.Nullable = t.Nullable || read.Nullable
		read.Nullable = false
		if len(read.Any) == 0 {
			all = append(all, read)
		}
		for _, a := range read.Any {
			a.Description, a.Limits = cmp.Or(a.Description, read.Description), cmp.Or(a.Limits, read.Limits)
			all = append(all, a)
		}
	}
	switch {
	case len(all) == 1:
		only := all[0]
		only.Nullable = t.Nullable
		only.Description, only.Limits = cmp.Or(t.Description, only.Description), cmp.Or(t.Limits, only.Limits)
		return only
	case every(all, Type.isBare):
		t.Kinds = nil
		for _, a := range all {
			for _, kind := range a.Kinds {
				if !slices.Contains(t.Kinds, kind) {
					t.Kinds = append(t.Kinds, kind)
				}
			}
		}
	case every(all, func(a Type) bool { return len(a.Enum) > 0 }):
		for _, a := range all {
			t.Enum = append(t.Enum, a.Enum...)
		}
	default:
		t.Kinds, t.Any = nil, all
	}
	return t
}

func every(all []Type, is func(Type) bool) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(t Type) bool { return !is(t) })
}

// matchesAll reports whether every value fits.
func (t Type) matchesAll() bool { return len(t.Kinds) == 0 && len(t.Enum) == 0 && len(t.Any) == 0 }

// isBare reports whether a type is its kinds alone.
func (t Type) isBare() bool {
	return len(t.Kinds) > 0 && len(t.Enum) == 0 && len(t.Any) == 0 && !t.Closed && t.Items == nil && t.Places == nil
}

// fields are the fields of an object, the required ones in the order in which the
// schema lists them.
func (r *reader) fields(s map[string]any, depth int) []Field {
	named, _ := s["properties"].(map[string]any)
	list, _ := s["required"].([]any)
	var fields []Field
	added := make(map[string]bool, len(named))
	add := func(name string, required bool) {
		value, known := named[name]
		if value == false || !known && !required || added[name] {
			return
		}
		added[name] = true
		fields = append(fields, Field{name, required, r.read(value, depth+1)})
	}
	for _, entry := range list {
		if name, ok := entry.(string); ok {
			add(name, true)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		add(name, false)
	}
	return fields
}

// items reads what a list holds.
func (r *reader) items(t *Type, s map[string]any, depth int) {
	if n, ok := s["maxItems"].(json.Number); ok {
		t.MaxItems, _ = strconv.Atoi(n.String())
	}
	places, tuple := s["prefixItems"].([]any)
	if !tuple {
		places, tuple = s["items"].([]any)
	}
	if tuple {
		for _, place := range places {
			t.Places = append(t.Places, r.read(place, depth+1))
		}
		return
	}
	if items, ok := s["items"].(map[string]any); ok && len(items) > 0 {
		of := r.read(items, depth+1)
		t.Items = &of
	}
}

// kinds are the types that a schema names.
func kinds(value any) (out []string, nullable bool) {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	known := []string{Text, Integer, Number, Boolean, Object, List}
	for _, entry := range list {
		name, _ := entry.(string)
		nullable = nullable || name == null
		if slices.Contains(known, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nullable
}

// values are the only values there may be.
func values(s map[string]any) ([]any, bool) {
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return slices.Clone(list), true
	}
	only, ok := s["const"]
	return []any{only}, ok
}

// plain is a text on one line, "" for any other value.
func plain(value any) string {
	text, _ := value.(string)
	return strings.Join(strings.Fields(text), " ")
}

// limits says what a type does not.
func limits(s map[string]any) string {
	var all []string
	for _, limit := range []struct{ key, words string }{
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
		if value, ok := s[limit.key]; ok && value != nil {
			all = append(all, limit.words+" "+plan.OneLine(plan.CanonicalJSON(value), 100))
		}
	}
	return strings.Join(all, ", ")
}
