package plan

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

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
	f := fitter{signature: s, unknown: unknown, args: known, changed: make(map[string]bool)}
	f.take()
	f.fitAll()
	f.fitEach()
	f.fitChoices()
	if holdsUnusualNumber(f.args) {
		r := newFormReader()
		forms, known := r.of(s.schema)
		if whole := wholeNumbers(r, nil, f.args, forms, known, nil); len(whole) > 0 {
			f.taken = append(f.taken, whole)
		}
	}
	for _, readings := range f.taken {
		args, _ = applied(args, readings, 0).(map[string]any)
	}
	taken := slices.Concat(f.taken...)
	slices.SortStableFunc(taken, func(a, b reading) int { return slices.Compare(a.at, b.at) })
	var coercions []Coercion
	for _, r := range taken {
		coercions = append(coercions, Coercion{Arg: JSONPointer("", r.at...), From: r.from, To: r.to, Dropped: r.dropped})
	}
	return args, coercions
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

// wholeNumbers adds the whole numbers in a value that stand where all forms of a value
// that may be a number take integers alone, to be written as such. A schema accepts
// 3.0 as an integer, but many programs behind one refuse to read it.
func wholeNumbers(r formReader, found []reading, v any, forms []form, known bool, at []string) []reading {
	if !known {
		return found
	}
	switch v := v.(type) {
	case json.Number:
		if whole, ok := wholeNumber(v); ok && takeIntegers(forms) {
			found = append(found, reading{at: slices.Clone(at), from: v, to: whole})
		}
	case []any:
		forms = slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return !f.maybe("array") })
		for i, item := range v {
			if holdsUnusualNumber(item) {
				next, known := r.field(forms, strconv.Itoa(i))
				found = wholeNumbers(r, found, item, next, known, append(at, strconv.Itoa(i)))
			}
		}
	case map[string]any:
		forms = slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return !f.maybe("object") })
		for _, key := range SortedKeys(v) {
			if holdsUnusualNumber(v[key]) {
				next, known := r.field(forms, key)
				found = wholeNumbers(r, found, v[key], next, known, append(at, key))
			}
		}
	}
	return found
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
