package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"replan/internal/lazyregexp"
)

// Coercion is an argument fitted to the tool's schema without a loss.
type Coercion struct {
	Arg     string `json:"arg"` // JSON Pointer into the args
	From    any    `json:"from"`
	To      any    `json:"to"`                // null for an argument that is left out
	Dropped bool   `json:"dropped,omitempty"` // the argument is left out
}

// String says which value became which.
func (c Coercion) String() string {
	name := strings.TrimPrefix(c.Arg, "/") + ": " + CanonicalJSON(c.From)
	if c.Dropped {
		return name + " is left out"
	}
	return name + " is taken as " + CanonicalJSON(c.To)
}

// onlyRespelled reports whether the value is the same number, spelled in another way.
func (c Coercion) onlyRespelled() bool {
	_, from := c.From.(json.Number)
	_, to := c.To.(json.Number)
	return from && to
}

// refusal says why a respelled number is refused if nothing may be fitted.
func (c Coercion) refusal() string {
	return strings.ReplaceAll(strings.TrimPrefix(c.Arg, "/"), "/", ".") + ": " + CanonicalJSON(c.From) + " is not written as an integer"
}

// CheckStrict is [Signature.Check] for a caller that fits nothing: it also refuses
// numbers that Fit would spell in another way.
func (s *Signature) CheckStrict(args map[string]any) error {
	if err := s.Check(args); err != nil {
		return err
	}
	var clauses []string
	_, coercions := s.Fit(args)
	for _, c := range coercions {
		clauses = append(clauses, c.refusal())
	}
	if len(clauses) > 0 {
		return errors.New(strings.Join(clauses, "; "))
	}
	return nil
}

// Fit returns args with values refused by the schema in their one other reading that
// says just the same and is accepted:
//   - a scalar of another type: 7 for "7", "7" for 7, true for "true", "true" for true;
//   - a value where a list is wanted: the list of it alone;
//   - null for an argument that may be left out: nothing;
//   - a whole number where integers are wanted, written in another way: 3 for 3.0.
//
// A value with several readings that fit, or none, stays as it is. So does a text
// that holds one of the placeholders. args are not changed; a nil Signature fits
// nothing.
func (s *Signature) Fit(args map[string]any, unknown ...Placeholder) (map[string]any, []Coercion) {
	return s.fit(args, func(text string) bool {
		return slices.ContainsFunc(unknown, func(p Placeholder) bool { return strings.Contains(text, string(p)) })
	})
}

// fitPlanned is Fit for args with references: what one reference alone stands for is
// fitted when it is known.
func (s *Signature) fitPlanned(args map[string]any) (map[string]any, []Coercion) {
	return s.fit(args, func(text string) bool { return hasReference(text) && len(splitText(text)) == 1 })
}

// fit is Fit with a function that reports whether a text stands for a value still
// unknown.
func (s *Signature) fit(args map[string]any, unknown func(text string) bool) (map[string]any, []Coercion) {
	if s == nil || len(args) == 0 {
		return args, nil
	}
	known := withoutPlaceholders(args)
	f := fitter{signature: s, unknown: unknown, args: known, refused: s.refusals(known)}
	f.fitEach()
	f.fitChoices()
	if holdsUnusualNumber(f.args) {
		r := newFormReader()
		forms, known := r.of(s.schema)
		f.writeWhole(r, f.args, forms, known, nil)
	}
	for _, r := range f.taken {
		args, _ = r.apply(args).(map[string]any)
	}
	slices.SortStableFunc(f.taken, func(a, b reading) int { return slices.Compare(a.at, b.at) })
	var coercions []Coercion
	for _, r := range f.taken {
		coercions = append(coercions, Coercion{Arg: JSONPointer("", r.at...), From: r.from, To: r.to, Dropped: r.dropped})
	}
	return args, coercions
}

// reading is another way to read a value of the args.
type reading struct {
	at       []string
	from, to any
	dropped  bool // it is left out
}

// apply returns args with the value read so.
func (r reading) apply(args any) any {
	if r.dropped {
		return without(args, r.at)
	}
	return replacedAt(args, r.at, r.to)
}

// refusal is a complaint of a schema about args.
type refusal struct {
	at     []string
	key    string // equal for equal complaints
	choice string // the outermost anyOf or oneOf that it is part of; "" for none
	list   bool   // it wants a list
}

// refusals lists the complaints of the schema, by place.
func (s *Signature) refusals(args any) []refusal {
	var invalid *jsonschema.ValidationError
	if !errors.As(s.schema.Validate(args), &invalid) {
		return nil
	}
	var all []refusal
	var collect func(e *jsonschema.ValidationError, choice string)
	collect = func(e *jsonschema.ValidationError, choice string) {
		key := JSONPointer("", e.InstanceLocation...) + " " + e.SchemaURL
		switch of := e.ErrorKind.(type) {
		case *kind.AnyOf, *kind.OneOf:
			choice = cmp.Or(choice, key)
		case *kind.Required:
			key += " " + strings.Join(of.Missing, " ")
		}
		for _, cause := range e.Causes {
			collect(cause, choice)
		}
		if len(e.Causes) == 0 {
			of, _ := e.ErrorKind.(*kind.Type)
			all = append(all, refusal{e.InstanceLocation, key, choice, of != nil && slices.Contains(of.Want, "array")})
		}
	}
	collect(invalid, "")
	slices.SortStableFunc(all, func(a, b refusal) int { return slices.Compare(a.at, b.at) })
	return all
}

// fitter looks for the readings of args that their schema accepts.
type fitter struct {
	signature *Signature
	unknown   func(text string) bool
	args      any
	refused   []refusal // of args
	taken     []reading
}

// take reads values in another way, from now on.
func (f *fitter) take(readings ...reading) {
	for _, r := range readings {
		f.args = r.apply(f.args)
		f.taken = append(f.taken, r)
	}
	f.refused = f.signature.refusals(f.args)
}

// accepted reports whether readings resolve all complaints about their places and of
// a choice, and cause no others.
func (f *fitter) accepted(choice string, readings ...reading) bool {
	args := f.args
	for _, r := range readings {
		args = r.apply(args)
	}
	return !slices.ContainsFunc(f.signature.refusals(args), func(now refusal) bool {
		return choice != "" && now.choice == choice ||
			slices.ContainsFunc(readings, func(r reading) bool { return isBelow(now.at, r.at) }) ||
			!slices.ContainsFunc(f.refused, func(before refusal) bool { return before.key == now.key })
	})
}

// isBelow reports whether a place is another one, or in the value there.
func isBelow(at, other []string) bool {
	return len(at) >= len(other) && slices.Equal(at[:len(other)], other)
}

// places lists the places that a choice, or "" for none, complains about, each once.
func (f *fitter) places(choice string) [][]string {
	var places [][]string
	for _, r := range f.refused {
		if r.choice == choice {
			places = append(places, r.at)
		}
	}
	return slices.CompactFunc(places, slices.Equal)
}

// fitEach fits the values that are refused whatever the others are.
func (f *fitter) fitEach() {
	for _, at := range f.places("") {
		readings := slices.DeleteFunc(f.readings(at), func(r reading) bool { return !f.accepted("", r) })
		if len(readings) == 1 {
			f.take(readings[0])
		}
	}
}

// fitChoices fits the values that make their part of the args one of the forms that it
// may have: as few of them as possible, in the one way there is.
func (f *fitter) fitChoices() {
	var choices []string
	for _, r := range f.refused {
		if r.choice != "" && !slices.Contains(choices, r.choice) {
			choices = append(choices, r.choice)
		}
	}
	for _, choice := range choices {
		found := f.combinations(choice)
		slices.SortStableFunc(found, func(a, b []reading) int { return len(a) - len(b) })
		if len(found) == 1 || len(found) > 1 && len(found[0]) < len(found[1]) {
			f.take(found[0]...)
		}
	}
}

// mostCombinations bounds how many combinations of readings are tried. Each checks
// all args, and a plan may be full of faults.
const mostCombinations = 32

// combinations lists the readings that together resolve a choice; none if they are
// too many to try.
func (f *fitter) combinations(choice string) (found [][]reading) {
	var places [][]reading
	count := 1
	for _, at := range f.places(choice) {
		if readings := f.readings(at); len(readings) > 0 {
			places = append(places, readings)
			count *= len(readings) + 1
		}
		if count > mostCombinations {
			return nil
		}
	}
	var try func(rest [][]reading, chosen []reading)
	try = func(rest [][]reading, chosen []reading) {
		if len(rest) == 0 {
			if len(chosen) > 0 && f.accepted(choice, chosen...) {
				found = append(found, chosen)
			}
			return
		}
		try(rest[1:], chosen)
		for _, r := range rest[0] {
			try(rest[1:], append(slices.Clone(chosen), r))
		}
	}
	try(places, nil)
	return found
}

// readings lists the other readings of the value at a place.
func (f *fitter) readings(at []string) []reading {
	value, there := valueAt(f.args, at)
	if text, ok := value.(string); !there || len(at) == 0 || ok && f.unknown(text) || holdsStandIn(value) {
		return nil
	}
	parent, _ := valueAt(f.args, at[:len(at)-1])
	_, inObject := parent.(map[string]any)
	if value == nil {
		if inObject {
			return []reading{{at: at, dropped: true}}
		}
		return nil
	}
	var all []reading
	other, ok := otherReading(value)
	if ok {
		all = append(all, reading{at: at, from: value, to: other})
	}
	wanted := slices.ContainsFunc(f.refused, func(r refusal) bool { return r.list && slices.Equal(r.at, at) })
	// An item of a list may also be a sign that the list itself is one of lists. A
	// list or object written as text could mean a list of that text, or itself.
	if !wanted || !inObject || isJSONText(value) {
		return all
	}
	alone := reading{at: at, from: value, to: []any{value}}
	if ok && !f.accepted("", alone) {
		alone.to = []any{other}
	}
	return append(all, alone)
}

// isJSONText reports whether a value is a text that is a list or an object in JSON.
func isJSONText(v any) bool {
	text, _ := v.(string)
	text = strings.TrimSpace(text)
	return (strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{")) && json.Valid([]byte(text))
}

// holdsUnusualNumber reports whether a value holds a number with a fraction or an
// exponent.
func holdsUnusualNumber(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return isUnusual(v)
	case []any:
		return slices.ContainsFunc(v, holdsUnusualNumber)
	case map[string]any:
		for _, item := range v {
			if holdsUnusualNumber(item) {
				return true
			}
		}
	}
	return false
}

func isUnusual(n json.Number) bool { return strings.ContainsAny(n.String(), ".eE") }

// writeWhole rewrites whole numbers that stand where all forms of a value that may be
// a number take integers alone. A schema accepts 3.0 as an integer, but many programs
// behind one refuse to read it.
func (f *fitter) writeWhole(r formReader, v any, forms []form, known bool, at []string) {
	if !known {
		return
	}
	switch v := v.(type) {
	case json.Number:
		if whole, ok := wholeNumber(v); ok && takeIntegers(forms) {
			f.args = replacedAt(f.args, at, whole)
			f.taken = append(f.taken, reading{at: slices.Clone(at), from: v, to: whole})
		}
	case []any:
		for i, item := range v {
			if holdsUnusualNumber(item) {
				next, known := r.field(forms, strconv.Itoa(i))
				f.writeWhole(r, item, next, known, append(at, strconv.Itoa(i)))
			}
		}
	case map[string]any:
		for _, key := range SortedKeys(v) {
			if holdsUnusualNumber(v[key]) {
				next, known := r.field(forms, key)
				f.writeWhole(r, v[key], next, known, append(at, key))
			}
		}
	}
}

// takeIntegers reports whether a number of these forms is an integer.
func takeIntegers(forms []form) bool {
	integers := false
	for _, f := range forms {
		if !f.maybe("number") && !f.maybe("integer") {
			continue
		}
		if !slices.ContainsFunc(f, func(s *jsonschema.Schema) bool {
			return s.Types != nil && slices.Contains(s.Types.ToStrings(), "integer") && !slices.Contains(s.Types.ToStrings(), "number")
		}) {
			return false
		}
		integers = true
	}
	return integers
}

// mostDigits bounds whole numbers that are written out.
const mostDigits = 20

// wholeNumber writes a number without a fraction or an exponent; ok is false if it is
// not whole, is written so already, or is long.
func wholeNumber(n json.Number) (whole json.Number, ok bool) {
	plain, ok := PlainNumber(n)
	return json.Number(plain), ok && isUnusual(n) && len(plain) <= mostDigits && !strings.Contains(plain, ".")
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
		return text, text != "-0" && !strings.ContainsAny(text, "eE") // every digit as it stands
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

// without is v without the field at an existing place. It changes neither v nor the
// values in it.
func without(v any, at []string) any {
	parent, _ := valueAt(v, at[:len(at)-1])
	object, _ := parent.(map[string]any)
	left := maps.Clone(object)
	delete(left, at[len(at)-1])
	return replacedAt(v, at[:len(at)-1], left)
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

// holdsStandIn reports whether a value holds one that is unknown.
func holdsStandIn(v any) bool {
	switch v := v.(type) {
	case string:
		return v == standIn
	case []any:
		return slices.ContainsFunc(v, holdsStandIn)
	case map[string]any:
		for _, item := range v {
			if holdsStandIn(item) {
				return true
			}
		}
	}
	return false
}
