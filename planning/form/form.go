package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// MaxFields is the maximum number of fields of a form.
const MaxFields = 50

// Kind is the kind of value that a field takes.
type Kind string

// The kinds of fields.
const (
	Text    Kind = "text"
	Number  Kind = "number"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
	Choice  Kind = "choice"  // one of Options
	Choices Kind = "choices" // some of Options
)

// Field is one field of a form. Its texts come from the server.
type Field struct {
	Name        string
	Title       untrusted.Text // "" is the name
	Description untrusted.Text
	Kind        Kind
	Required    bool
	Options     []Option
	Format      string // email, uri, date or date-time; "" and others are not checked
	Default     any    // nil is none
	Secret      bool   // it seems to ask for a password or a key, which servers must not

	min, max *float64 // of the value, of the runes of a text, or of the number of choices
}

// Option is a value that a choice accepts.
type Option struct {
	Value string
	Title untrusted.Text // "" is the value
}

// property is a field in a JSON schema. Old servers name the titles of an enum in
// enumNames.
type property struct {
	Type        string          `json:"type"`
	Title       untrusted.Text  `json:"title"`
	Description untrusted.Text  `json:"description"`
	Format      string          `json:"format"`
	Default     json.RawMessage `json:"default"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []option        `json:"oneOf"`
	AnyOf       []option        `json:"anyOf"` // of items
	Items       *property       `json:"items"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	MinLength   *float64        `json:"minLength"`
	MaxLength   *float64        `json:"maxLength"`
	MinItems    *float64        `json:"minItems"`
	MaxItems    *float64        `json:"maxItems"`
}

type option struct {
	Const string         `json:"const"`
	Title untrusted.Text `json:"title"`
}

// Parse reads the fields of a schema. It takes the required ones in the order in which
// they are required, then the others in the order of the schema. A form without fields
// only asks for consent.
func Parse(schema json.RawMessage) ([]Field, error) {
	var object struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(schema, &object); err != nil {
		return nil, fmt.Errorf("read the form: %w", err)
	}
	var properties map[string]property
	if len(object.Properties) > 0 {
		if err := json.Unmarshal(object.Properties, &properties); err != nil {
			return nil, fmt.Errorf("read the fields of the form: %w", err)
		}
	}
	if len(properties) > MaxFields {
		return nil, fmt.Errorf("the form has %d fields, at most %d are shown", len(properties), MaxFields)
	}
	var fields []Field
	for _, name := range names(object.Properties) {
		f, err := properties[name].field(name)
		if err != nil {
			return nil, err
		}
		f.Required = slices.Contains(object.Required, name)
		fields = append(fields, f)
	}
	place := func(f Field) int {
		if f.Required {
			return slices.Index(object.Required, f.Name)
		}
		return len(object.Required)
	}
	slices.SortStableFunc(fields, func(a, b Field) int { return place(a) - place(b) })
	return fields, nil
}

// names returns the keys of a JSON object in their order, each once.
func names(object json.RawMessage) []string {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		return nil
	}
	var out []string
	for decoder.More() {
		key, err := decoder.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || decoder.Decode(&value) != nil {
			return out
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// secretWords are parts of the names, titles and formats of fields that ask for
// secrets, and of requests for them in descriptions.
var secretWords = lazyregexp.New(`(?i)pass(word|phrase|code)|secret|api[ _-]?key|access[ _-]?key|private[ _-]?key|credential|(access|auth|bearer|refresh|api)[ _-]?token|\btoken\b|\bpin\b|\bcvv\b|credit[ _-]?card`)

var (
	sentenceEnd  = lazyregexp.New(`[.:;!?]\s+|\n\s*[\n*-]`)
	requestStart = lazyregexp.New(`(?i)^\W*(please\s+)?(enter|type|give|provide|paste|insert|input|your)\b`)
	negation     = lazyregexp.New(`(?i)\b(no|not|never|without|except)\b|n['’]t\b`)
)

// asksForSecret reports whether a description asks for a secret. One that only
// mentions it, or asks not to give it, does not.
func asksForSecret(description string) bool {
	return slices.ContainsFunc(sentenceEnd.Split(description, -1), func(sentence string) bool {
		secret := secretWords.FindStringIndex(sentence)
		return secret != nil && requestStart.MatchString(sentence) && !negation.MatchString(sentence[:secret[0]])
	})
}

func (p property) field(name string) (Field, error) {
	f := Field{Name: name, Title: p.Title, Description: p.Description, Format: p.Format}
	if len(p.Default) > 0 {
		value, err := plan.DecodeValue(p.Default)
		if err != nil {
			return f, fmt.Errorf("read the default of the field %q: %w", name, err)
		}
		f.Default = value
	}
	switch {
	case p.Type == "array" && p.Items != nil:
		f.Kind, f.Options = Choices, p.Items.options()
		f.min, f.max = p.MinItems, p.MaxItems
		if len(f.Options) == 0 {
			return f, fmt.Errorf("the field %q is a list without options, which no form shows", name)
		}
	case len(p.options()) > 0:
		f.Kind, f.Options = Choice, p.options()
	case p.Type == "string":
		f.Kind, f.min, f.max = Text, p.MinLength, p.MaxLength
	case p.Type == "number", p.Type == "integer":
		f.Kind, f.min, f.max = Kind(p.Type), p.Minimum, p.Maximum
	case p.Type == "boolean":
		f.Kind = Boolean
	default:
		return f, fmt.Errorf("the field %q has the type %q, which no form shows", name, p.Type)
	}
	typed := f.Kind != Boolean && f.Kind != Choice && f.Kind != Choices
	f.Secret = typed && (secretWords.MatchString(strings.Join([]string{name, string(p.Title), p.Format}, "\n")) || asksForSecret(string(p.Description)))
	return f, nil
}

func (p property) options() []Option {
	var out []Option
	for i, value := range p.Enum {
		o := Option{Value: value}
		if i < len(p.EnumNames) {
			o.Title = untrusted.Text(p.EnumNames[i])
		}
		out = append(out, o)
	}
	for _, o := range slices.Concat(p.OneOf, p.AnyOf) {
		out = append(out, Option{Value: o.Const, Title: o.Title})
	}
	return out
}

// Label returns the title or the name of the field on one line.
func (f Field) Label() string {
	if title := f.Title.Line(); title != "" {
		return title
	}
	return untrusted.Line(f.Name)
}

// Hint says in a few words what the field takes.
func (f Field) Hint() string {
	var parts []string
	switch f.Kind {
	case Boolean:
		parts = append(parts, "yes or no")
	case Choice:
		parts = append(parts, f.optionWords("one of "))
	case Choices:
		parts = append(parts, f.optionWords("some of ")+", separated by commas")
	case Text:
		parts = append(parts, map[string]string{"email": "an email address", "uri": "an address such as https://example.com", "date": "a date such as 2026-07-28", "date-time": "a time such as 2026-07-28T12:00:00Z"}[f.Format])
	default:
		parts = append(parts, "a "+map[Kind]string{Number: "number", Integer: "whole number"}[f.Kind])
	}
	parts = append(parts, f.bounds())
	if !f.Required {
		parts = append(parts, "optional")
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

func (f Field) optionWords(before string) string {
	var all []string
	for _, o := range f.Options {
		words := untrusted.Line(o.Value)
		if title := o.Title.Line(); title != "" && title != words {
			words += " (" + title + ")"
		}
		all = append(all, words)
	}
	return before + strings.Join(all, ", ")
}

// bounds says how large a value may be, "" if it may be of any size.
func (f Field) bounds() string {
	unit := map[Kind]string{Text: " characters", Choices: " of them"}[f.Kind]
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	switch {
	case f.min != nil && f.max != nil:
		return number(*f.min) + " to " + number(*f.max) + unit
	case f.min != nil && *f.min > 0, f.min != nil && unit == "":
		return "at least " + number(*f.min) + unit
	case f.max != nil:
		return "at most " + number(*f.max) + unit
	}
	return ""
}

// DefaultText returns the default as a user types it; "" is none.
func (f Field) DefaultText() string {
	switch v := f.Default.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, fmt.Sprint(item))
		}
		return strings.Join(all, ", ")
	default:
		return fmt.Sprint(v)
	}
}

// Read returns the value that a typed text means. set is false for an empty text.
func (f Field) Read(text string) (value any, set bool, err error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return nil, false, nil
	}
	switch f.Kind {
	case Boolean:
		switch strings.ToLower(trimmed) {
		case "yes", "y", "true":
			return true, true, nil
		case "no", "n", "false":
			return false, true, nil
		}
		return nil, true, f.fault("takes yes or no")
	case Number, Integer:
		value, err := plan.DecodeValue([]byte(trimmed))
		number, ok := value.(json.Number)
		if err != nil || !ok {
			return nil, true, f.fault("takes " + f.Hint())
		}
		return number, true, f.check(number)
	case Choice:
		value, err := f.option(trimmed)
		return value, true, err
	case Choices:
		chosen, err := f.choices(trimmed)
		if err != nil {
			return nil, true, err
		}
		return chosen, true, f.check(chosen)
	default:
		return text, true, f.check(text)
	}
}

// choices returns the values of the options that a text names, separated by commas.
// Options may hold commas themselves: the longest that fits is meant.
func (f Field) choices(text string) (chosen []any, err error) {
	for parts := strings.Split(text, ","); len(parts) > 0; {
		if strings.TrimSpace(parts[0]) == "" {
			parts = parts[1:]
			continue
		}
		for taken := len(parts); taken > 0; taken-- {
			var value string
			if value, err = f.option(strings.TrimSpace(strings.Join(parts[:taken], ","))); err == nil {
				chosen, parts = append(chosen, value), parts[taken:]
				break
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// option returns the value of the option that a text names, by value or title.
func (f Field) option(text string) (string, error) {
	for _, same := range []func(Option) bool{
		func(o Option) bool { return o.Value == text },
		func(o Option) bool {
			return strings.EqualFold(o.Value, text) || strings.EqualFold(o.Title.Line(), text)
		},
	} {
		if i := slices.IndexFunc(f.Options, same); i >= 0 {
			return f.Options[i].Value, nil
		}
	}
	return "", f.fault("takes " + f.optionWords("one of "))
}

func (f Field) fault(words string) error { return errors.New(f.Label() + " " + words) }

// check returns an error if a value is not one of the field.
func (f Field) check(value any) error {
	size := 0.0
	switch v := value.(type) {
	case string:
		if f.Kind == Choice {
			_, err := f.option(v)
			return err
		}
		if f.Kind != Text {
			return f.fault("takes " + f.Hint())
		}
		if err := f.checkFormat(v); err != nil {
			return err
		}
		size = float64(utf8.RuneCountInString(v))
	case bool:
		if f.Kind != Boolean {
			return f.fault("takes " + f.Hint())
		}
		return nil
	case json.Number:
		n, err := v.Float64()
		if err != nil || f.Kind != Number && f.Kind != Integer || f.Kind == Integer && strings.ContainsAny(string(v), ".eE") {
			return f.fault("takes " + f.Hint())
		}
		size = n
	case []any:
		if f.Kind != Choices {
			return f.fault("takes " + f.Hint())
		}
		for _, item := range v {
			text, _ := item.(string)
			if _, err := f.option(text); err != nil {
				return err
			}
		}
		size = float64(len(v))
	default:
		return f.fault("takes " + f.Hint())
	}
	if f.min != nil && size < *f.min || f.max != nil && size > *f.max {
		return f.fault("takes " + f.bounds())
	}
	return nil
}

// checkFormat returns an error if a text does not have the format of the field.
func (f Field) checkFormat(text string) error {
	var err error
	switch f.Format {
	case "email":
		var address *mail.Address
		if address, err = mail.ParseAddress(text); err == nil && address.Address != text {
			err = errors.New("it has more than the address")
		}
	case "uri":
		var u *url.URL
		if u, err = url.Parse(text); err == nil && u.Scheme == "" {
			err = errors.New("it has no scheme")
		}
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	}
	if err != nil {
		return f.fault("takes " + f.Hint())
	}
	return nil
}

// ReadAll returns the answer that typed texts mean, by the names of fields. The error
// names the first field that is wrong or missing.
func ReadAll(fields []Field, texts map[string]string) (map[string]any, error) {
	content := map[string]any{}
	for _, f := range fields {
		value, set, err := f.Read(texts[f.Name])
		if err != nil {
			return nil, err
		}
		if set {
			content[f.Name] = value
		}
	}
	return content, Check(fields, content)
}

// Check returns an error if an answer does not fit the fields.
func Check(fields []Field, content map[string]any) error {
	for name, value := range content {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		if i < 0 {
			return fmt.Errorf("the form has no field %q", name)
		}
		if err := fields[i].check(value); err != nil {
			return err
		}
	}
	for _, f := range fields {
		if _, given := content[f.Name]; f.Required && !given {
			return errors.New(f.Label() + " is required")
		}
	}
	return nil
}

// Warning warns of fields that seem to ask for secrets, "" if there are none.
func Warning(fields []Field) string {
	var secret []string
	for _, f := range fields {
		if f.Secret {
			secret = append(secret, f.Label())
		}
	}
	if len(secret) == 0 {
		return ""
	}
	return "never give a password or key to a form: " + english.List(secret, "and") + " may ask for one"
}
