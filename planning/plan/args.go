package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"replan/internal/english"
)

// argsFault is one thing wrong with the args of a call.
type argsFault struct {
	path    []string // where in the args
	message string
	missing []string // the missing names, if that is the fault
}

// Signature checks the args of calls of one tool against its input schema,
// which is compiled once. A nil Signature checks nothing. It does not change
// and may be used by several goroutines.
type Signature struct {
	schema *jsonschema.Schema
	names  []string // the args known to the schema, sorted; nil if it lists none
}

// closedLoader refuses every schema outside of the document: a server's schema
// must not cause a fetch or a read.
type closedLoader struct{}

func (closedLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("the schema refers to %s; references outside of it are not read", url)
}

// NewSignature compiles the input schema of a tool. It returns nil and no error for
// a tool without one. It fails where the schema cannot be used: it is no JSON
// Schema, refers to something outside itself, or would take too long to check.
func NewSignature(t Tool) (*Signature, error) {
	schema, err := compileSchema(t, "input", t.InputSchema)
	if schema == nil {
		return nil, err
	}
	return &Signature{schema: schema, names: argNames(t)}, nil
}

// compileSchema compiles a schema of a tool; which is input or output. It returns
// nil and no error for an empty one.
func compileSchema(t Tool, which string, text json.RawMessage) (*jsonschema.Schema, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	doc, err := DecodeValue(text)
	if err != nil {
		return nil, fmt.Errorf("read the %s schema of %s: %w", which, t.QualifiedName(), err)
	}
	address := "tool:///" + which + ".json"
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(closedLoader{})
	if err := compiler.AddResource(address, doc); err != nil {
		return nil, fmt.Errorf("use the %s schema of %s: %w", which, t.QualifiedName(), err)
	}
	schema, err := compiler.Compile(address)
	if err != nil {
		return nil, fmt.Errorf("use the %s schema of %s: %w", which, t.QualifiedName(), err)
	}
	if appliesTooMany(schema) {
		return nil, fmt.Errorf("use the %s schema of %s: it applies more than %d schemas to one value", which, t.QualifiedName(), mostApplied)
	}
	return schema, nil
}

// mostApplied is how many schemas may apply to one value. A check applies a schema
// once for each path to it: a few parts of parts of parts would stop the program.
const mostApplied = 5000

// appliesTooMany reports whether there are more than mostApplied for a value.
func appliesTooMany(root *jsonschema.Schema) bool {
	applied := map[*jsonschema.Schema]int{} // with itself; 0 while it is counted
	todo := []*jsonschema.Schema{root}
	var count func(s *jsonschema.Schema) int
	count = func(s *jsonschema.Schema) int {
		if n, done := applied[s]; s == nil || done {
			return n
		}
		applied[s] = 0
		same, below := parts(s)
		todo = append(todo, below...)
		n := 1
		for _, part := range same {
			n = min(n+count(part), mostApplied+1)
		}
		applied[s] = n
		return n
	}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if count(next) > mostApplied {
			return true
		}
	}
	return false
}

// parts are the schemas in a schema: for the same value, and for the values in it.
// Some may be nil.
func parts(s *jsonschema.Schema) (same, below []*jsonschema.Schema) {
	same = slices.Concat([]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf)
	if s.DynamicRef != nil {
		same = append(same, s.DynamicRef.Ref)
	}
	same = slices.AppendSeq(same, maps.Values(s.DependentSchemas))
	for _, dependency := range s.Dependencies {
		if part, ok := dependency.(*jsonschema.Schema); ok {
			same = append(same, part)
		}
	}
	below = slices.Concat([]*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems}, s.PrefixItems)
	below = slices.AppendSeq(below, maps.Values(s.Properties))
	below = slices.AppendSeq(below, maps.Values(s.PatternProperties))
	for _, value := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch value := value.(type) {
		case *jsonschema.Schema:
			below = append(below, value)
		case []*jsonschema.Schema:
			below = append(below, value...)
		}
	}
	return same, below
}

// Missing returns the names of required args without a value, sorted. If the
// schema offers alternatives, they are those of the nearest one. An arg under
// another name that [Signature.Coerce] understands is not missing. It returns nil if
// nothing is.
func (s *Signature) Missing(args map[string]any) []string {
	args, _ = s.renamed(args)
	return s.missing(args)
}

// missing is Missing for args by the names of the schema.
func (s *Signature) missing(args map[string]any) []string {
	var missing []string
	for _, f := range s.check(args, argsCheck{}) {
		if len(f.path) == 0 {
			missing = append(missing, f.missing...)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// accepts reports whether args are valid as they stand, references and escapes
// included: nothing is wrong, missing or to be fitted.
func (s *Signature) accepts(args map[string]any) bool {
	if s == nil {
		return true
	}
	if args == nil {
		args = map[string]any{}
	}
	return !argsCheck{}.alters(args) && !holdsUnusualNumber(args) && s.schema.Validate(args) == nil
}

// Names returns the args known to the schema, sorted.
func (s *Signature) Names() []string {
	if s == nil {
		return nil
	}
	return slices.Clone(s.names)
}

// Check checks resolved args against the schema: they hold no references any more,
// and a text like one is plain text. It returns nil, or one error with every fault
// in a clause each. If a name is wrong, it lists the known args.
func (s *Signature) Check(args map[string]any) error {
	faults := s.check(args, argsCheck{resolved: true})
	if len(faults) == 0 {
		return nil
	}
	clauses := make([]string, len(faults))
	for i, f := range faults {
		clauses[i] = f.message
	}
	return errors.New(s.clause(strings.Join(clauses, "; "), faults[0]))
}

// clause adds the names of the schema's args to a fault, if the fault is about a
// name.
func (s *Signature) clause(message string, f argsFault) string {
	if len(f.path) > 0 || len(s.names) == 0 {
		return message
	}
	return message + "; its args are " + english.List(s.names, "and")
}

// check returns the faults of args, sorted by place.
func (s *Signature) check(args map[string]any, c argsCheck) []argsFault {
	if s == nil {
		return nil
	}
	if args == nil {
		args = map[string]any{}
	}
	c.args = args
	var instance any = args
	if c.alters(args) {
		instance = c.literal(args)
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(s.schema.Validate(instance), &invalid) {
		return nil
	}
	c.open = c.isOpen(args)
	faults := c.collect(invalid)
	slices.SortStableFunc(faults, func(x, y argsFault) int { return slices.Compare(x.path, y.path) })
	return faults
}

// MissingArgs is [Signature.Missing] for a single call. It returns nil where
// the schema cannot be used.
func MissingArgs(t Tool, args map[string]any) []string {
	signature, err := NewSignature(t)
	if err != nil {
		return nil
	}
	return signature.Missing(args)
}

// argsCheck sorts out which of the schema's complaints hold whatever the
// references in args come to.
type argsCheck struct {
	args     map[string]any
	resolved bool // texts are plain: they hold neither references nor escapes
	partial  bool // missing names at the top are no fault
	strict   bool // nothing is fitted when the references are filled in
	open     bool // something in args is not known yet
}

// standIn stands for a value still unknown, as the schema sees it.
const standIn = "${?}"

// literal returns a value as the tool would see it, references left as they
// are and numbers too large to reckon with made unknown.
func (c argsCheck) literal(v any) any {
	switch v := v.(type) {
	case string:
		if !c.alters(v) {
			return v
		}
		return splitText(v)[0].plain
	case json.Number:
		if c.alters(v) {
			return standIn
		}
		return v
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = c.literal(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, item := range v {
			object[key] = c.literal(item)
		}
		return object
	default:
		return v
	}
}

// alters reports whether literal changes a value. Most values stay as they are,
// and need no copy.
func (c argsCheck) alters(v any) bool {
	switch v := v.(type) {
	case string:
		return !c.resolved && strings.Contains(v, "$${") && !hasReference(v)
	case json.Number:
		return !reckonable(v)
	case []any:
		return slices.ContainsFunc(v, c.alters)
	case map[string]any:
		for _, item := range v {
			if c.alters(item) {
				return true
			}
		}
	}
	return false
}

// isOpen reports whether a value is unknown, even in part, when it is checked. Then it
// holds a reference, or a number too large for the checker.
func (c argsCheck) isOpen(v any) bool {
	switch v := v.(type) {
	case string:
		return !c.resolved && hasReference(v)
	case json.Number:
		return !reckonable(v)
	case []any:
		return slices.ContainsFunc(v, c.isOpen)
	case map[string]any:
		for _, item := range v {
			if c.isOpen(item) {
				return true
			}
		}
	}
	return false
}

// reckonable reports whether a number's exponent is small enough to expand it.
func reckonable(n json.Number) bool {
	i := strings.IndexAny(n.String(), "eE")
	if i < 0 {
		return true
	}
	exponent, err := strconv.Atoi(strings.TrimPrefix(n.String()[i+1:], "+"))
	return err == nil && -1000 < exponent && exponent < 1000
}

func (c argsCheck) collect(e *jsonschema.ValidationError) []argsFault {
	switch e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		var faults []argsFault
		for _, cause := range e.Causes {
			faults = append(faults, c.collect(cause)...)
		}
		return faults
	case *kind.AnyOf, *kind.OneOf:
		if len(e.Causes) > 0 {
			return c.collectChoice(e)
		}
	}
	if c.inTheWay(e) {
		return nil
	}
	f := argsFault{path: e.InstanceLocation, message: complaint(e)}
	if required, ok := e.ErrorKind.(*kind.Required); ok {
		if c.partial && len(f.path) == 0 {
			return nil
		}
		f.missing = slices.Clone(required.Missing)
	}
	return []argsFault{f}
}

// collectChoice makes one fault of alternatives none of which fits. If one may
// still fit, there is none.
func (c argsCheck) collectChoice(e *jsonschema.ValidationError) []argsFault {
	f := argsFault{path: e.InstanceLocation}
	var reasons []string
	nearest := -1
	for _, alternative := range e.Causes {
		faults := c.collect(alternative)
		if len(faults) == 0 {
			return nil
		}
		var missing []string
		lacking := true // missing parts are the only faults
		for _, fault := range faults {
			if !slices.Contains(reasons, fault.message) {
				reasons = append(reasons, fault.message)
			}
			lacking = lacking && len(fault.missing) > 0 && slices.Equal(fault.path, f.path)
			missing = append(missing, fault.missing...)
		}
		if lacking && (nearest < 0 || len(missing) < nearest) {
			nearest = len(missing)
			f.missing = missing
		}
	}
	f.message = "none of the forms it may have fits: " + strings.Join(reasons, ", or ")
	return []argsFault{f}
}

// inTheWay reports whether a complaint might vanish once the references are
// filled in.
func (c argsCheck) inTheWay(e *jsonschema.ValidationError) bool {
	if c.open && (strings.Contains(e.SchemaURL, "/then") || strings.Contains(e.SchemaURL, "/else")) {
		return true // the condition may depend on a reference
	}
	value, ok := valueAt(c.args, e.InstanceLocation)
	if !ok || !c.isOpen(value) {
		return false
	}
	switch value := value.(type) {
	case string:
		// Text around a reference stays text, whatever comes in, unless it can be calculated.
		of, isType := e.ErrorKind.(*kind.Type)
		return !isType || len(splitText(value)) == 1 || !c.strict && takesNumbers(of) && isCalculation(value)
	case []any, map[string]any:
		switch e.ErrorKind.(type) {
		case *kind.Type, *kind.Required, *kind.DependentRequired, *kind.AdditionalProperties, *kind.PropertyNames,
			*kind.MinItems, *kind.MaxItems, *kind.AdditionalItems, *kind.MinProperties, *kind.MaxProperties:
			return false // references change neither keys nor lengths
		}
	}
	return true
}

// takesNumbers reports whether a value of another type should have been a number.
func takesNumbers(of *kind.Type) bool {
	return slices.Contains(of.Want, "number") || slices.Contains(of.Want, "integer")
}

// valueAt follows a location into a value.
func valueAt(v any, location []string) (any, bool) {
	for _, token := range location {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[token]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// complaint describes a fault of args.
func complaint(e *jsonschema.ValidationError) string {
	bare := jsonschema.ValidationError{ErrorKind: e.ErrorKind}
	words := strings.TrimPrefix(bare.Error(), "at '': ")
	switch e.ErrorKind.(type) {
	case *kind.ExclusiveMinimum:
		words = strings.Replace(words, "want ", "want more than ", 1)
	case *kind.ExclusiveMaximum:
		words = strings.Replace(words, "want ", "want less than ", 1)
	}
	if len(e.InstanceLocation) == 0 {
		return words
	}
	return strings.Join(e.InstanceLocation, ".") + ": " + words
}

// argNames lists the args known to a schema, sorted; nil if it lists none.
func argNames(t Tool) []string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(t.InputSchema, &schema) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(schema.Properties))
}

// complaint returns what the schema says about args, nil for nothing.
func (s *Signature) complaint(args any) *jsonschema.ValidationError {
	var invalid *jsonschema.ValidationError
	errors.As(s.schema.Validate(args), &invalid)
	return invalid
}
