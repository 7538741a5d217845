package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unique"

	"github.com/go-json-experiment/json/jsontext"

	"replan/internal/jsonsize"
	"replan/internal/nesting"
	"replan/internal/untrusted"
)

// DecodePlan reads a plan file, in UTF-8, and returns every fault of its form at once. These are
// bad_json, duplicate_key, bad_id, bad_type, bad_index, bad_timeout, and unknown_tool for a name
// that no tool can have. Validate judges its meaning; CheckPlan does both.
//
// It is tolerant if a file leaves no doubt:
//   - a whole number stands for text in index and depends_on;
//   - a missing index is the step's position from 1;
//   - a repeated dependency counts once;
//   - the first of tool_calls stands for a missing tool and its args;
//   - null is the same as absent;
//   - a timeout may be a number of seconds;
//   - there may be comments and trailing commas.
//
// A plan with faults holds the readable parts, its steps at their own positions.
func DecodePlan(data []byte) (Plan, []Fault) {
	p, faults, _ := decodePlan(data)
	return p, faults
}

// decodePlan is DecodePlan for a caller with messages about the file.
func decodePlan(data []byte) (Plan, []Fault, origin) {
	var d planDecoder
	p := d.decode(data)
	return p, append(d.faults, d.from.duplicates(p)...), d.from
}

// decode reads a plan and collects its faults.
func (d *planDecoder) decode(data []byte) Plan {
	if at, ok := invalidUTF8(data); ok {
		d.fault(CodeBadJSON, "", "the text is not UTF-8: byte %d, counted from 0, begins no character", at)
		return Plan{}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	v, duplicates, err := readValue(data)
	if err != nil {
		text, unread := Standard(data)
		if v, duplicates, err = readValue(text); err != nil {
			if err = jsonsize.Check(text); err == nil {
				v, err = DecodeValue(text)
			}
		}
		if err != nil {
			if unread != nil && (bytes.Contains(data, []byte("//")) || bytes.Contains(data, []byte("/*"))) {
				err = unread // the other error may be about a comment
			}
			d.fault(CodeBadJSON, "", "%v", err)
			return Plan{}
		}
	}
	d.from = origin{twice: duplicates}
	return d.plan(v)
}

// Standard returns a plan file as plain JSON: comments and trailing commas become
// blanks, so that every place in it stays the same. A text that is not JSON even
// so is returned unchanged.
func Standard(data []byte) ([]byte, error) {
	if err := nesting.Check(data); err != nil {
		return data, fmt.Errorf("decode JSON: %w", err)
	}
	if json.Valid(data) {
		return data, nil
	}
	plain := withoutComments(data)
	var valid json.RawMessage
	if err := json.Unmarshal(plain, &valid); err != nil {
		return data, fmt.Errorf("decode JSON%s: %w", placeOf(plain, err), err)
	}
	return plain, nil
}

// withoutComments returns a copy of a text with blanks for comments, and for commas
// between a value and the end of its list or object. It reads the text once.
func withoutComments(text []byte) []byte {
	text = bytes.Clone(text)
	last, trailing := byte('['), -1 // the last byte of JSON, and the place of a comma that may be the last one
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '/':
			length := commentLength(text[i:])
			for j := i; j < i+length; j++ {
				if !bytes.Contains([]byte("\t\r\n"), text[j:j+1]) {
					text[j] = ' '
				}
			}
			if i += length - 1; length > 0 {
				continue
			}
			return text // the slash is an error
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '}', ']':
			if trailing >= 0 {
				text[trailing] = ' '
			}
		}
		trailing = -1
		if c == ',' && !bytes.Contains([]byte("[{:,"), []byte{last}) {
			trailing = i
		}
		last = c
	}
	return text
}

// commentLength returns the length of the comment that a text begins with, 0 if it has
// no end. One of a single line may not hold other line separators, which hide text.
func commentLength(text []byte) int {
	opening, end := []byte("//"), []byte("\n")
	if bytes.HasPrefix(text, []byte("/*")) {
		opening, end = []byte("/*"), []byte("*/")
	}
	body, _, ended := bytes.Cut(bytes.TrimPrefix(text, opening), end)
	if !ended || !bytes.HasPrefix(text, opening) || end[0] == '\n' && bytes.ContainsAny(body, "\u2028\u2029") {
		return 0
	}
	return len(opening) + len(body) + len(end)
}

// invalidUTF8 returns the offset of the first byte outside UTF-8, and whether
// there is one.
func invalidUTF8(data []byte) (at int, found bool) {
	if utf8.Valid(data) {
		return 0, false
	}
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at, true
}

// planDecoder turns decoded JSON into a plan and collects faults. A value of the
// wrong type leaves a field that causes no second fault.
type planDecoder struct {
	faults  []Fault
	from    origin
	at      string // the name of the current step
	journal bool   // the plan is in a journal, where older programs allowed any index and any tool name
}

func (d *planDecoder) fault(code, path, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if d.at != "" {
		message = "step " + d.at + ": " + message
	}
	d.faults = append(d.faults, Fault{Code: code, Path: path, Step: d.at, Message: message})
}

func (d *planDecoder) badType(path, name, want string, got any) {
	d.fault(CodeBadType, path, "%s must be %s, not %s", name, want, typeName(got))
}

// invalid returns the error about the first fault, nil if there is none.
func (d *planDecoder) invalid() error { return FaultError(d.faults[:min(len(d.faults), 1)]) }

// take removes a field from an object. A null counts as absent.
func take(object map[string]any, name string) (any, bool) {
	v, there := object[name]
	if there {
		delete(object, name)
	}
	return v, v != nil
}

func (d *planDecoder) plan(v any) Plan {
	object, ok := v.(map[string]any)
	if !ok {
		d.badType("", "a plan", "an object", v)
		return Plan{}
	}
	id, hasID := object["id"]
	p := Plan{
		ID:        d.text(object, "", "id"),
		Title:     untrusted.Text(d.text(object, "", "title")),
		Goal:      untrusted.Text(d.text(object, "", "goal")),
		DoneWhen:  untrusted.Text(d.text(object, "", "done_when")),
		Variables: d.object(object, "", "variables"),
		OnFailure: OnFailure(d.text(object, "", "on_failure")),
	}
	if hasID && id == "" {
		d.fault(CodeBadID, "/id", "id is empty; leave it out or name the plan")
	}
	if p.Goal == "" {
		p.Goal = p.Title
	}
	p.Steps = d.steps(object)
	p.Acceptance = d.checks(object, "", "acceptance")
	p.Milestones = d.milestones(object)
	p.Risks = d.texts(object, "", "risks")
	p.PlannedBy = d.text(object, "", "planned_by")
	p.Provenance = d.provenance(object)
	p.Extra = rest(object)
	return p
}

// rest is the fields that were not read, nil if there are none.
func rest(object map[string]any) map[string]any {
	if len(object) == 0 {
		return nil
	}
	return object
}

func (d *planDecoder) text(object map[string]any, path, name string) string {
	v, ok := take(object, name)
	if !ok {
		return ""
	}
	text, ok := v.(string)
	if !ok {
		d.badType(JSONPointer(path, name), name, "text", v)
		return CanonicalJSON(v)
	}
	return text
}

func (d *planDecoder) object(object map[string]any, path, name string) map[string]any {
	v, ok := take(object, name)
	if !ok {
		return nil
	}
	inner, ok := v.(map[string]any)
	if !ok {
		d.badType(JSONPointer(path, name), name, "an object", v)
		return map[string]any{}
	}
	return inner
}

func (d *planDecoder) list(object map[string]any, path, name string) []any {
	v, ok := take(object, name)
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		d.badType(JSONPointer(path, name), name, "a list", v)
		return nil
	}
	return list
}

func (d *planDecoder) texts(object map[string]any, path, name string) []string {
	var texts []string
	for i, v := range d.list(object, path, name) {
		text, ok := v.(string)
		if !ok {
			d.badType(JSONPointer(path, name, strconv.Itoa(i)), "an entry of "+name, "text", v)
			continue
		}
		texts = append(texts, text)
	}
	return texts
}

// indices reads a list of step indices, each once.
func (d *planDecoder) indices(object map[string]any, path, name string) []string {
	var indices []string
	list := d.list(object, path, name)
	seen := make(map[string]bool, len(list))
	at := func(i int) string { return JSONPointer(path, name, strconv.Itoa(i)) }
	for i, v := range list {
		index, ok := IndexText(v)
		if !ok {
			d.fault(CodeBadIndex, at(i),
				"an entry of %s must be the index of a step, not %s", name, describe(v))
			continue
		}
		if why := d.indexProblem(index); why != "" {
			d.fault(CodeBadIndex, at(i),
				"an entry of %s must be the index of a step; it %s", name, why)
			continue
		}
		if seen[index] {
			continue
		}
		if len(indices) != i {
			d.from.move(at(len(indices)), at(i))
		}
		seen[index] = true
		index = unique.Make(index).Value() // many steps may name the same one
		indices = append(slices.Grow(indices, len(list)-i), index)
	}
	return indices
}

// IndexText reads a step's index: text, not blank, or a whole number.
func IndexText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, strings.TrimSpace(v) != ""
	case json.Number:
		return WholeNumber(v)
	default:
		return "", false
	}
}

// Bounds of names that are shown everywhere, in characters. A server and its tool
// have 128 characters each.
const (
	maxIndex    = 64
	maxToolName = 257
)

// indexProblem describes the fault in the index of a new plan, "" if there is none.
func indexProblem(index string) string {
	switch {
	case strings.TrimSpace(index) == "":
		return "is empty"
	case strings.ContainsFunc(index, isBlank):
		return "holds blanks"
	default:
		return nameProblem(index, maxIndex)
	}
}

// isBlank reports whether a rune is a blank of any width, but no control character.
func isBlank(r rune) bool { return unicode.Is(unicode.Zs, r) }

// nameProblem describes why no step and no tool of a new plan may have a name, ""
// if one may. Screens show an allowed name as it is.
func nameProblem(name string, most int) string {
	switch n := utf8.RuneCountInString(name); {
	case n > most:
		return fmt.Sprintf("has %d characters, %d are the most", n, most)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "holds control characters"
	case untrusted.Visible(name) != name:
		return "holds characters that cannot be seen"
	default:
		return ""
	}
}

// indexProblem describes the fault in an index, "" if there is none. Any index of
// a journal will do.
func (d *planDecoder) indexProblem(index string) string {
	if d.journal {
		return ""
	}
	return indexProblem(index)
}

// typeName names the JSON type of a value.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "text"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	default:
		return "a number"
	}
}

// describe shows a small value as it is and names the type of any other.
func describe(v any) string {
	switch v := v.(type) {
	case string, json.Number, bool, nil:
		if text := CanonicalJSON(v); len(text) <= 60 {
			return text
		}
	}
	return typeName(v)
}

// valueReader reads a JSON value and notes the names that stand twice in an
// object, of which encoding/json tells nothing.
type valueReader struct {
	decoder    *jsontext.Decoder
	values     int      // and names of fields so far
	duplicates []string // JSON Pointers to the names that stood in their object before
}

// readValue reads a text with one value. Numbers become json.Number; of two fields
// of one name the last counts. DecodeValue explains why a text is refused.
func readValue(text []byte) (value any, duplicates []string, err error) {
	r := valueReader{decoder: jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	value, err = r.value()
	if err != nil {
		return nil, nil, err
	}
	if _, err := r.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("something follows the value")
	}
	return value, r.duplicates, nil
}

// token reads a token that begins a value or is a name. It fails if there are too many.
func (r *valueReader) token() (jsontext.Token, error) {
	if r.values++; r.values > jsonsize.Most {
		return jsontext.Token{}, errors.New("too many values")
	}
	return r.decoder.ReadToken()
}

func (r *valueReader) value() (any, error) {
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		return r.object()
	case '[':
		return r.list()
	case '"':
		return token.String(), nil
	case '0':
		return json.Number(token.String()), nil
	case 'n':
		return nil, nil
	default:
		return token.Bool(), nil
	}
}

func (r *valueReader) object() (any, error) {
	object := map[string]any{}
	for r.decoder.PeekKind() != '}' {
		token, err := r.token()
		if err != nil {
			return nil, err
		}
		name := token.String()
		if _, there := object[name]; there {
			r.duplicates = append(r.duplicates, string(r.decoder.StackPointer()))
		}
		if object[name], err = r.value(); err != nil {
			return nil, err
		}
	}
	_, err := r.decoder.ReadToken()
	return object, err
}

func (r *valueReader) list() (any, error) {
	list := []any{}
	for r.decoder.PeekKind() != ']' {
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.decoder.ReadToken()
	return list, err
}
