package plan

import (
	"encoding/json"
	"errors"
	"maps"
	"math/big"
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
	Name    string `json:"name,omitempty"`    // the argument of the schema that it is taken as; "" for its own name
}

// String says which value became which.
func (c Coercion) String() string {
	name := strings.TrimPrefix(c.Arg, "/") + ": " + CanonicalJSON(c.From)
	if c.Name != "" && EqualValues(c.From, c.To) {
		return strings.TrimPrefix(c.Arg, "/") + " is taken as " + c.Name
	}
	if c.Name != "" {
		return name + " is taken as " + c.Name + ": " + CanonicalJSON(c.To)
	}
	if c.Dropped {
		return name + " is left out"
	}
	return name + " is taken as " + CanonicalJSON(c.To)
}

// Differs says what of the argument is not as the tool asks for it: its type, its
// name, or its spelling.
func (c Coercion) Differs() string {
	_, from := c.From.(string)
	_, to := c.To.(string)
	switch {
	case c.Name != "":
		return "name"
	case from && to:
		return "spelling"
	}
	return "type"
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
	_, coercions := s.Coerce(args)
	for _, c := range coercions {
		clauses = append(clauses, c.refusal())
	}
	if len(clauses) > 0 {
		return errors.New(strings.Join(clauses, "; "))
	}
	return nil
}

// Coerce converts args that the schema refuses if exactly one equivalent form is accepted:
//   - a scalar of another type: 7 for "7" and "7.0", "7" for 7, true for "true" and
//     "True", "true" for true;
//   - a sum or a product of numbers, as text: 7 for "3 + 2 * 2";
//   - a word of a list in capital or small letters, as it is listed: "asc" for "ASC";
//   - a value where a list is wanted: the list of it alone; for the words of a command
//     that needs no shell, the list of its words;
//   - a list of one scalar where no list is wanted: that scalar;
//   - a list or an object in JSON, as text, where one is wanted: that list or object;
//   - null for an argument that may be left out: nothing;
//   - a whole number where integers are wanted, written in another way: 3 for 3.0.
//
// An argument that the schema does not list is taken under the one name that means the
// same, such as path for file_path. That holds if that one is not given. The schema must
// refuse args with the unknown name or without the other.
//
// A value with several readings that fit, or none, stays as it is. So does a text
// that holds one of the placeholders. args are not changed; a nil Signature fits
// nothing.
func (s *Signature) Coerce(args map[string]any, unknown ...Placeholder) (map[string]any, []Coercion) {
	return s.coerce(args, coercer{signature: s, unknown: func(text string) bool {
		return slices.ContainsFunc(unknown, func(p Placeholder) bool { return strings.Contains(text, string(p)) })
	}})
}

// coercePlanned is Coerce for args with references: what one reference alone stands for is
// coerced when it is known. Text from a result never becomes a part of JSON.
func (s *Signature) coercePlanned(args map[string]any) (map[string]any, []Coercion) {
	return s.coerce(args, coercer{signature: s, unknown: isUnknown})
}

func isUnknown(text string) bool {
	return hasReference(text) && (len(splitText(text)) == 1 || isJSONText(text))
}

// Settle returns args that a model planned by the names of the schema, and with lists and
// objects where it takes such. That is all of Coerce but the types of scalars.
func (s *Signature) Settle(args map[string]any) map[string]any {
	args, _ = s.coerce(args, coercer{signature: s, unknown: isUnknown, shapes: true})
	return args
}

// coerce is Coerce with a coercer to start from.
func (s *Signature) coerce(args map[string]any, f coercer) (map[string]any, []Coercion) {
	if s == nil || len(args) == 0 {
		return args, nil
	}
	args, coercions := s.renamed(args)
	all := f.coerce(withoutPlaceholders(args))
	for _, readings := range all {
		args, _ = applied(args, readings, 0).(map[string]any)
	}
	taken := slices.Concat(all...)
	slices.SortStableFunc(taken, func(a, b alternative) int { return slices.Compare(a.at, b.at) })
	for _, r := range taken {
		coercions = append(coercions, Coercion{Arg: JSONPointer("", r.at...), From: r.from, To: r.to, Dropped: r.dropped})
	}
	return args, coercions
}

// wholeNumbers returns the readings of numbers in args that the schema takes as whole ones.
func (s *Signature) wholeNumbers(args any) []alternative {
	r := newFormReader()
	forms, known := r.of(s.schema)
	return wholeNumbers(r, nil, args, forms, known, nil)
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

// wholeNumbers adds the whole numbers in a value, to be written as such. They stand where
// all forms of a value that may be a number take integers alone. A schema accepts 3.0 as
// an integer, but many programs behind one refuse to read it.
func wholeNumbers(r formReader, found []alternative, v any, forms []form, known bool, at []string) []alternative {
	if !known {
		return found
	}
	switch v := v.(type) {
	case json.Number:
		if whole, ok := wholeNumber(v); ok && takeIntegers(forms) {
			found = append(found, alternative{at: slices.Clone(at), from: v, to: whole})
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
		for _, key := range slices.Sorted(maps.Keys(v)) {
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

// paddedNumber is a number whose fraction may end with superfluous zeros, as many
// programs write one.
var paddedNumber = lazyregexp.New(`^-?(?:0|[1-9][0-9]*)\.[0-9]+$`)

// otherReading is a scalar in another type; ok is false if it has no equal one.
func otherReading(v any) (other any, ok bool) {
	switch v := v.(type) {
	case string:
		switch {
		case strings.EqualFold(v, "true"), strings.EqualFold(v, "false"):
			return strings.EqualFold(v, "true"), true
		case v != "-0" && shortNumber.MatchString(v):
			return json.Number(v), true
		case paddedNumber.MatchString(v) && strings.ContainsAny(v, "123456789"):
			plain, ok := PlainNumber(json.Number(v))
			return json.Number(plain), ok
		default:
			return calculated(v)
		}
	case bool:
		return strconv.FormatBool(v), true
	case json.Number, float64, int, int64:
		text := CanonicalJSON(v)
		return text, text != "-0" && !strings.ContainsAny(text, "eE") // every digit as it stands
	}
	return nil, false
}

// longestSum bounds sums that are calculated, in bytes.
const longestSum = 200

// calculated is the exact value of a sum or product of numbers such as "3 + 2 * 2.5". A
// difference or a quotient may also be a range or a date, and has none; nor has one number.
func calculated(text string) (value any, ok bool) {
	if len(text) > longestSum || !strings.Contains(text, " + ") && !strings.Contains(text, " * ") {
		return nil, false
	}
	sum := new(big.Rat)
	for term := range strings.SplitSeq(text, " + ") {
		product := big.NewRat(1, 1)
		for number := range strings.SplitSeq(term, " * ") {
			factor, read := new(big.Rat).SetString(number)
			if !read || !shortNumber.MatchString(number) && !paddedNumber.MatchString(number) {
				return nil, false
			}
			product.Mul(product, factor)
		}
		sum.Add(sum, product)
	}
	plain, ok := PlainNumber(json.Number(sum.FloatString(len(text)))) // it has fewer decimals
	return json.Number(plain), ok
}

// isCalculation reports whether a text with references is a sum or a product if numbers
// come in.
func isCalculation(text string) bool {
	var b strings.Builder
	for _, part := range splitText(text) {
		if part.reference != nil {
			b.WriteByte('1')
		} else {
			b.WriteString(part.plain)
		}
	}
	_, ok := calculated(b.String())
	return ok
}

// withoutPlaceholders is a value as a schema can check it. An unknown value becomes a text
// unlike any other scalar, and so does a number too large to compute with.
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

// insideOf is what a value holds that may be meant in its place; nil for nothing.
// That is the scalar in a list of one, or the list or object that a text is in JSON.
func insideOf(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) != 1 {
			return nil
		}
		switch v[0].(type) {
		case string, bool, json.Number:
			return v[0]
		}
	case string:
		if isJSONText(v) {
			inside, _ := DecodeValue([]byte(v)) // checked
			return inside
		}
	}
	return nil
}
