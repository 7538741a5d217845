package pin

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Tool is what a server says of a tool.
type Tool struct {
	Description  string
	InputSchema  json.RawMessage // JSON Schema of the arguments; empty if there is none
	OutputSchema json.RawMessage // JSON Schema of the result; empty if there is none
	Annotations  json.RawMessage // hints on its effects
}

// longestPart is how many bytes of a description or schema a text holds. A longer one
// is there as its hash.
const longestPart = 128 << 10

// Text returns everything in lines that people can compare. Tools that differ in
// more than the order of keys and blanks in JSON have different texts.
func (t Tool) Text() string {
	var b strings.Builder
	b.WriteString("description\n")
	description := t.Description
	if len(description) > longestPart {
		description = hashed(description)
	}
	for line := range strings.Lines(description) {
		b.WriteString("| " + strings.TrimSuffix(line, "\n") + "\n") // no line of it can pose as a heading
	}
	for _, part := range []struct {
		name  string
		value json.RawMessage
	}{{"arguments", t.InputSchema}, {"result", t.OutputSchema}, {"hints", t.Annotations}} {
		if text := indented(part.value); text != "" {
			b.WriteString(part.name + "\n" + text + "\n")
		}
	}
	return b.String()
}

// indented returns JSON with sorted keys, a line for each value. JSON that repeats
// a key is returned as it came, since readers disagree about its meaning.
func indented(value json.RawMessage) string {
	switch {
	case len(value) == 0 || string(value) == "null" || string(value) == "{}":
		return ""
	case len(value) > longestPart:
		return hashed(string(value))
	}
	v := jsontext.Value(value).Clone()
	if v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil || v.Indent(jsontext.WithIndent("  ")) != nil {
		return string(value)
	}
	return string(v)
}

// hashed stands for a part that is too long.
func hashed(text string) string { return fmt.Sprintf("%d KB, SHA-256 %s", len(text)>>10, Sum(text)) }
