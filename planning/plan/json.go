package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// DecodeValue reads one JSON value. Numbers become json.Number, and keep every
// digit. Anything after the value is an error.
func DecodeValue(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("decode JSON: the text is empty")
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("decode JSON: the text ends in the middle of a value")
		}
		return nil, fmt.Errorf("decode JSON%s: %w", placeOf(data, err), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("decode JSON: something follows the value that begins the text, from byte %d", dec.InputOffset())
	}
	return v, nil
}

// placeOf says where a syntax error lies, for people.
func placeOf(data []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return ""
	}
	before := data[:min(int(syntax.Offset), len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Sprintf(" at line %d, column %d", line, max(column, 1))
}

// EncodeJSON writes v as compact JSON with sorted object keys and without HTML
// escapes. Use it in place of json.Marshal, which escapes <, > and & even in the
// output of a MarshalJSON method.
func EncodeJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// CanonicalJSON is v as compact JSON with sorted object keys and without HTML
// escapes; numbers keep their digits as they are. For a value JSON cannot hold it
// is a text describing the value.
func CanonicalJSON(v any) string {
	data, err := EncodeJSON(v)
	if err != nil {
		return strconv.Quote(fmt.Sprint(v))
	}
	return string(data)
}

// EqualValues reports whether two JSON values are equal. The order of object keys does not
// count, nor does the spelling of a number. 1, 1.0 and 10e-1 are equal, exactly and at any
// size.
func EqualValues(a, b any) bool {
	switch x := a.(type) {
	case nil:
		return b == nil
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case string:
		y, ok := b.(string)
		return ok && x == y
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && (x == nil) == (y == nil) && maps.EqualFunc(x, y, EqualValues)
	case []any:
		y, ok := b.([]any)
		return ok && (x == nil) == (y == nil) && slices.EqualFunc(x, y, EqualValues)
	}
	if x, ok := numberText(a); ok {
		y, ok := numberText(b)
		return ok && equalNumbers(x, y)
	}
	return equalEncoded(a, b)
}

// equalEncoded compares values of Go types unknown to a JSON decoder.
func equalEncoded(a, b any) bool {
	x, errA := EncodeJSON(a)
	y, errB := EncodeJSON(b)
	if errA != nil || errB != nil {
		return false
	}
	return bytes.Equal(x, y)
}

// numberText is the JSON text of a number of any numeric Go type.
func numberText(v any) (string, bool) {
	switch v.(type) {
	case json.Number, float32, float64,
		int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		data, err := EncodeJSON(v)
		return string(data), err == nil
	default:
		return "", false
	}
}

// equalNumbers compares two JSON numbers by value. It never expands an
// exponent: 1e999999999 would fill the memory.
func equalNumbers(a, b string) bool {
	if a == b {
		return true
	}
	digitsA, exponentA := normalNumber(a)
	digitsB, exponentB := normalNumber(b)
	return digitsA == digitsB && exponentA.Cmp(exponentB) == 0
}

// normalNumber splits a JSON number into its significant digits, with the sign,
// and their power of ten.
func normalNumber(text string) (digits string, exponent *big.Int) {
	exponent = new(big.Int)
	digits, negative := strings.CutPrefix(text, "-")
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		exponent.SetString(strings.TrimPrefix(digits[i+1:], "+"), 10)
		digits = digits[:i]
	}
	if whole, fraction, ok := strings.Cut(digits, "."); ok {
		exponent.Sub(exponent, big.NewInt(int64(len(fraction))))
		digits = whole + fraction
	}
	digits = strings.TrimLeft(digits, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0", new(big.Int)
	}
	exponent.Add(exponent, big.NewInt(int64(len(digits)-len(trimmed))))
	if negative {
		trimmed = "-" + trimmed
	}
	return trimmed, exponent
}

// mostPlain bounds how many places of a number are written out.
const mostPlain = 40

// PlainNumber writes a JSON number without an exponent and superfluous zeros, and
// keeps its value to the last digit. ok is false if that is long.
func PlainNumber(n json.Number) (plain string, ok bool) {
	if n != "-0" && shortNumber.MatchString(n.String()) {
		return n.String(), true
	}
	significant, power := normalNumber(n.String())
	if power.CmpAbs(big.NewInt(mostPlain)) > 0 {
		return "", false
	}
	digits, negative := strings.CutPrefix(significant, "-")
	if places := int(power.Int64()); places >= 0 {
		digits += strings.Repeat("0", places)
	} else {
		digits = strings.Repeat("0", max(1-places-len(digits), 0)) + digits
		digits = digits[:len(digits)+places] + "." + digits[len(digits)+places:]
	}
	if negative {
		digits = "-" + digits
	}
	return digits, len(digits) <= mostPlain
}

// WholeNumber returns the plain decimal text of a whole JSON number.
func WholeNumber(n json.Number) (string, bool) {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return strconv.FormatInt(i, 10), true
	}
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}

// ObjectWriter writes a JSON object with its fields in the order they are
// added.
type ObjectWriter struct {
	buf  bytes.Buffer
	seen map[string]bool
	err  error
}

// Add writes one field. A name written before is left out.
func (w *ObjectWriter) Add(name string, value any) {
	if w.err != nil || w.seen[name] {
		return
	}
	w.begin(name)
	w.value(name, value)
}

// begin writes the name of a field.
func (w *ObjectWriter) begin(name string) {
	if w.seen == nil {
		w.seen = make(map[string]bool)
		w.buf.WriteByte('{')
	} else {
		w.buf.WriteByte(',')
	}
	w.seen[name] = true
	w.buf.WriteString(CanonicalJSON(name))
	w.buf.WriteByte(':')
}

// value writes a value of a field.
func (w *ObjectWriter) value(name string, value any) {
	enc := json.NewEncoder(&w.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		w.err = cmp.Or(w.err, fmt.Errorf("field %q: encode JSON: %w", name, err))
		return
	}
	w.buf.Truncate(w.buf.Len() - len("\n"))
}

// addSteps writes the field steps. It encodes one at a time, because there may be
// thousands.
func (w *ObjectWriter) addSteps(steps []Step) {
	w.begin("steps")
	w.buf.WriteByte('[')
	for i, s := range steps {
		if i > 0 {
			w.buf.WriteByte(',')
		}
		w.value("steps", s)
	}
	w.buf.WriteByte(']')
}

func (w *ObjectWriter) addText(name, value string) {
	if value != "" {
		w.Add(name, value)
	}
}

// addExtra writes the kept fields, sorted by name, after the known ones.
func (w *ObjectWriter) addExtra(extra map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		w.Add(name, extra[name])
	}
}

// Bytes returns the object, or the first error of a field.
func (w *ObjectWriter) Bytes() ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	if w.seen == nil {
		return []byte("{}"), nil
	}
	w.buf.WriteByte('}')
	return w.buf.Bytes(), nil
}

// MarshalJSON writes the plan in the form of the plan file. It writes title and steps
// always, other fields where they say something, and unknown fields as they were read.
// Numbers keep every digit and text is not HTML-escaped; see EncodeJSON for how to keep it
// so.
func (p Plan) MarshalJSON() ([]byte, error) {
	var w ObjectWriter
	w.addText("id", p.ID)
	w.Add("title", string(p.Title))
	w.addText("goal", string(p.Goal))
	w.addText("done_when", string(p.DoneWhen))
	if len(p.Variables) > 0 {
		w.Add("variables", p.Variables)
	}
	w.addText("on_failure", string(p.OnFailure))
	w.addSteps(p.Steps)
	if len(p.Acceptance) > 0 {
		w.Add("acceptance", p.Acceptance)
	}
	if len(p.Milestones) > 0 {
		w.Add("milestones", p.Milestones)
	}
	if len(p.Risks) > 0 {
		w.Add("risks", p.Risks)
	}
	w.addText("planned_by", p.PlannedBy)
	if len(p.Provenance) > 0 {
		w.Add("provenance", p.Provenance)
	}
	w.addExtra(p.Extra)
	data, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("encode plan %q: %w", p.Title, err)
	}
	return data, nil
}

// UnmarshalJSON reads a plan of a journal. It does as DecodePlan, but takes every
// index, as older programs did. It fails with an *InvalidPlanError with the first
// fault.
func (p *Plan) UnmarshalJSON(data []byte) error {
	d := planDecoder{journal: true}
	plan := d.decode(data)
	if err := d.invalid(); err != nil {
		return err
	}
	*p = plan
	return nil
}

// MarshalJSON writes the step in the form of the plan file. It writes index, title,
// executor and depends_on always, other fields if they are set, and unknown fields as they
// were read. A step without an index yet is written without one.
func (s Step) MarshalJSON() ([]byte, error) {
	var w ObjectWriter
	w.addText("index", s.Index)
	w.Add("title", string(s.Title))
	executor := s.Executor
	if executor == "" {
		executor = ExecutorTool
	}
	w.Add("executor", executor)
	w.addText("tool", s.Tool)
	w.addText("profile", s.Profile)
	if s.Args != nil {
		w.Add("args", s.Args)
	}
	dependsOn := s.DependsOn
	if dependsOn == nil {
		dependsOn = []string{}
	}
	w.Add("depends_on", dependsOn)
	w.addText("when", s.When)
	w.addText("result_variable", s.ResultVariable)
	w.addText("expected_outcome", string(s.ExpectedOutcome))
	if f := s.ForEach; f != nil {
		w.Add("for_each", f.Items)
		if f.As != DefaultAs {
			w.Add("as", f.As)
		}
		if f.Max != DefaultMax {
			w.Add("max", f.Max)
		}
		if f.AtOnce != 0 {
			w.Add("at_once", f.AtOnce)
		}
	}
	if s.Until != nil {
		w.Add("until", s.Until)
	}
	if len(s.Checks) > 0 {
		w.Add("check", s.Checks)
	}
	w.addText("on_failure", string(s.OnFailure))
	if s.Timeout != 0 {
		w.Add("timeout", s.Timeout.String())
	}
	if s.Retries != 0 {
		w.Add("retries", s.Retries)
	}
	if s.Gate {
		w.Add("gate", true)
	}
	if s.Synthesize {
		w.Add("synthesize", true)
	}
	w.addExtra(s.Extra)
	data, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("encode step %s: %w", s.Index, err)
	}
	return data, nil
}

// UnmarshalJSON reads one step of a journal as a plan of a journal. A missing index stays empty: only a plan
// knows the step's position.
func (s *Step) UnmarshalJSON(data []byte) error {
	v, err := DecodeValue(data)
	if err != nil {
		return fmt.Errorf("read step: %w", err)
	}
	d := planDecoder{journal: true}
	step := d.step(v, "", "", "")
	if err := d.invalid(); err != nil {
		return err
	}
	*s = step
	return nil
}

// MarshalJSON writes the check with its unknown fields.
func (c Check) MarshalJSON() ([]byte, error) {
	var w ObjectWriter
	w.addText("title", string(c.Title))
	w.addText("tool", c.Tool)
	if c.Args != nil {
		w.Add("args", c.Args)
	}
	w.addText("expect", c.Expect)
	w.addExtra(c.Extra)
	data, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("encode check %q: %w", c.Name(), err)
	}
	return data, nil
}

// MarshalJSON writes the milestone with its unknown fields.
func (m Milestone) MarshalJSON() ([]byte, error) {
	var w ObjectWriter
	w.Add("title", string(m.Title))
	if len(m.Steps) > 0 {
		w.Add("steps", m.Steps)
	}
	w.addExtra(m.Extra)
	data, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("encode milestone %q: %w", m.Title, err)
	}
	return data, nil
}
