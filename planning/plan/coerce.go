package plan

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"replan/internal/lazyregexp"
)

// Coercion is a scalar of the args fitted to the type in the tool's schema,
// without a loss.
type Coercion struct {
	Arg  string `json:"arg"` // JSON Pointer into the args
	From any    `json:"from"`
	To   any    `json:"to"`
}

// String says which value became which.
func (c Coercion) String() string {
	return strings.TrimPrefix(c.Arg, "/") + ": " + CanonicalJSON(c.From) + " is taken as " + CanonicalJSON(c.To)
}

// Fit returns args with scalars refused by the schema converted to its type, if
// the other type says just the same: 7 for "7", "7" for 7, true for "true" and
// "true" for true. Each has one other reading at most, and is left as it is if
// that does not fit either. args are not changed; a nil Signature fits nothing.
func (s *Signature) Fit(args map[string]any) (map[string]any, []Coercion) {
	if s == nil || len(args) == 0 {
		return args, nil
	}
	known, _ := withoutPlaceholders(args).(map[string]any)
	var misfits []misfit
	for _, at := range s.refused(known) {
		from, _ := valueAt(known, at)
		if to, ok := otherReading(from); ok {
			misfits = append(misfits, misfit{at, from, to})
		}
	}
	var coercions []Coercion
	for _, m := range s.fitting(known, misfits) {
		args, _ = replacedAt(args, m.at, m.to).(map[string]any)
		coercions = append(coercions, Coercion{Arg: JSONPointer("", m.at...), From: m.from, To: m.to})
	}
	return args, coercions
}

// misfit is a scalar refused by a schema, and its other reading.
type misfit struct {
	at       []string
	from, to any
}

// fitting returns the misfits with an accepted other reading: all of them if they
// fit the args together, else those that fit by themselves.
func (s *Signature) fitting(args any, misfits []misfit) []misfit {
	all := args
	for _, m := range misfits {
		all = replacedAt(all, m.at, m.to)
	}
	whole := len(misfits) > 0 && len(s.refused(all)) == 0
	return slices.DeleteFunc(misfits, func(m misfit) bool {
		if whole {
			without := replacedAt(all, m.at, m.from)
			needless := len(s.refused(without)) == 0
			if needless {
				all = without
			}
			return needless
		}
		tried := replacedAt(args, m.at, m.to)
		refused := slices.ContainsFunc(s.refused(tried), func(at []string) bool { return slices.Equal(at, m.at) })
		if !refused {
			args = tried
		}
		return refused
	})
}

// refused lists the places of scalars refused by the schema, sorted, and of all
// other faults.
func (s *Signature) refused(args any) [][]string {
	var invalid *jsonschema.ValidationError
	if !errors.As(s.schema.Validate(args), &invalid) {
		return nil
	}
	var places [][]string
	var collect func(e *jsonschema.ValidationError)
	collect = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			collect(cause)
		}
		if len(e.Causes) == 0 {
			places = append(places, e.InstanceLocation)
		}
	}
	collect(invalid)
	slices.SortFunc(places, slices.Compare)
	return slices.CompactFunc(places, slices.Equal)
}

// shortNumber is a number in the one form that loses nothing for any reader:
// without an exponent, and without superfluous zeros.
var shortNumber = lazyregexp.New(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?$`)

// otherReading is a scalar in another type; ok is false if it has no equal one.
func otherReading(v any) (other any, ok bool) {
	switch v := v.(type) {
	case string:
		switch {
		case v == "true", v == "false":
			return v == "true", true
		case v != "-0" && shortNumber.MatchString(v):
			return json.Number(v), true
		}
	case bool:
		return strconv.FormatBool(v), true
	case json.Number, float64, int, int64:
		text := CanonicalJSON(v)
		return text, text != "-0" && shortNumber.MatchString(text)
	}
	return nil, false
}

// replacedAt is v with another value at an existing place. It changes neither v
// nor the values in it.
func replacedAt(v any, at []string, value any) any {
	if len(at) == 0 {
		return value
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		maps.Copy(out, v)
		out[at[0]] = replacedAt(v[at[0]], at[1:], value)
		return out
	case []any:
		i, err := strconv.Atoi(at[0])
		if err != nil || i < 0 || i >= len(v) {
			return v
		}
		out := slices.Clone(v)
		out[i] = replacedAt(v[i], at[1:], value)
		return out
	default:
		return v
	}
}

// withoutPlaceholders is a value as a schema can check it: an unknown value
// becomes a text unlike any other scalar, and so does a number too large to
// compute with.
func withoutPlaceholders(v any) any {
	return mapLeaves(v, func(leaf any) any {
		switch leaf := leaf.(type) {
		case Placeholder:
			return standIn
		case json.Number:
			if !reckonable(leaf) {
				return standIn
			}
		}
		return leaf
	})
}
