package workspace

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"replan/planning/plan"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/mark3labs/mcp-go/mcp"
)

// operator is one tool: what it is called, what it takes and what runs it.
type operator struct {
	name        string
	description string
	args        []arg
	oneOf       [][]string // argument sets of which one must be given whole
	readOnly    bool
	destructive bool
	idempotent  bool
	openWorld   bool // it reaches beyond the workspace
	previews    bool
	result      any // zero value of the structured result; nil where the result is text
	run         func(context.Context, call) (*mcp.CallToolResult, error)
}

// arg is one argument of an operator.
type arg struct {
	name        string
	kind        string // JSON Schema type
	description string
	required    bool
	items       string   // JSON Schema type of the items of an array
	values      string   // JSON Schema type of the values of an object
	enum        []string // the texts that it may be; nil means any
}

// tool is the operator as tools/list shows it.
func (op operator) tool() mcp.Tool {
	t := mcp.NewToolWithRawSchema(op.name, op.description, op.schema())
	if op.result != nil {
		t.RawOutputSchema = outputSchema(op.result)
	}
	t.Annotations = mcp.ToolAnnotation{
		ReadOnlyHint:    &op.readOnly,
		DestructiveHint: &op.destructive,
		IdempotentHint:  &op.idempotent,
		OpenWorldHint:   &op.openWorld,
	}
	if op.previews {
		t.Meta = mcp.NewMetaFromMap(map[string]any{MetaPreviews: true})
	}
	return t
}

// schema is the JSON Schema of the arguments, in the order they are declared,
// because small models follow the order they read.
func (op operator) schema() json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	for i, a := range op.args {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%q:{"type":%q,`, a.name, a.kind)
		if a.items != "" {
			fmt.Fprintf(&b, `"items":{"type":%q},`, a.items)
		}
		if a.values != "" {
			fmt.Fprintf(&b, `"additionalProperties":{"type":%q},`, a.values)
		}
		if a.enum != nil {
			fmt.Fprintf(&b, `"enum":%s,`, quote(a.enum))
		}
		fmt.Fprintf(&b, `"description":%s}`, quote(a.description))
		if a.required {
			required = append(required, a.name)
		}
	}
	b.WriteString(`},"additionalProperties":false`)
	if len(required) > 0 {
		fmt.Fprintf(&b, `,"required":%s`, quote(required))
	}
	if len(op.oneOf) > 0 {
		b.WriteString(`,"anyOf":[`)
		for i, set := range op.oneOf {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"required":%s}`, quote(set))
		}
		b.WriteByte(']')
	}
	b.WriteByte('}')
	return b.Bytes()
}

// quote writes a value as JSON.
func quote(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // what is quoted here can always be encoded
	}
	return bytes.TrimSpace(b.Bytes())
}

// outputSchema is the JSON Schema of a structured result.
func outputSchema(result any) json.RawMessage {
	schema, err := jsonschema.ForType(reflect.TypeOf(result), &jsonschema.ForOptions{})
	if err != nil {
		panic(fmt.Sprintf("the schema of %T: %v", result, err)) // the types are our own
	}
	return quote(schema)
}

// call is one tools/call as an operator sees it.
type call struct {
	op       operator
	raw      json.RawMessage
	preview  bool
	hashes   map[string]string // nil where the call was not approved against anything
	diff     string            // the DiffHash of what it was approved with
	progress mcp.ProgressToken // nil where nobody listens
	run      string            // that it belongs to, "" for none
	hold     bool              // it may not remove most of a file
}

func newCall(op operator, req mcp.CallToolRequest) (call, error) {
	c := call{op: op, raw: req.Params.RawArguments}
	if len(c.raw) == 0 && req.Params.Arguments != nil {
		raw, err := json.Marshal(req.Params.Arguments)
		if err != nil {
			return call{}, fmt.Errorf("reading the arguments of %s: %w", op.name, err)
		}
		c.raw = raw
	}
	if req.Params.Meta == nil {
		return c, nil
	}
	c.progress = req.Params.Meta.ProgressToken
	c.preview, _ = req.Params.Meta.AdditionalFields[MetaPreview].(bool)
	if c.preview && !op.previews && !op.readOnly {
		return call{}, fmt.Errorf("%s cannot say beforehand what it would change", op.name)
	}
	c.hold, _ = req.Params.Meta.AdditionalFields[MetaHold].(bool)
	if run, of := req.Params.Meta.AdditionalFields[MetaRun]; of {
		c.run, _ = run.(string)
		if err := plan.CheckID(c.run); err != nil {
			return call{}, fmt.Errorf("%s of the call must be the id of a run: %w", MetaRun, err)
		}
	}
	c.diff, _ = req.Params.Meta.AdditionalFields[MetaDiff].(string)
	approved, ok := req.Params.Meta.AdditionalFields[MetaHashes]
	if !ok || approved == nil {
		return c, nil
	}
	hashes, ok := approved.(map[string]any)
	if !ok {
		return call{}, fmt.Errorf("%s of the call must be an object of file names and hashes", MetaHashes)
	}
	c.hashes = make(map[string]string, len(hashes))
	for name, v := range hashes {
		hash, ok := v.(string)
		if !ok {
			return call{}, fmt.Errorf("%s of the call has no text for %q", MetaHashes, name)
		}
		c.hashes[name] = hash
	}
	return c, nil
}

// decode reads the arguments into a struct. Every mistake is one sentence that
// names the argument, because a model reads it and tries again.
func (c call) decode(into any) error {
	raw := bytes.TrimSpace(c.raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		raw = []byte("{}")
	}
	if err := c.exact(raw); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields() // an argument that is declared and not taken
	err := dec.Decode(into)
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		field, within, _ := strings.Cut(wrong.Field, ".")
		if i := slices.IndexFunc(c.op.args, func(a arg) bool { return a.name == field }); i >= 0 {
			kind := c.op.args[i].kind
			if inner := cmp.Or(c.op.args[i].items, c.op.args[i].values); inner != "" && (within != "" || kind != wrong.Value) {
				kind += " of " + inner
			}
			return fmt.Errorf("the argument %s of %s must be of type %s, not %s", wrong.Field, c.op.name, kind, wrong.Value)
		}
		return fmt.Errorf("the arguments of %s must be an object, not %s", c.op.name, wrong.Value)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the arguments of %s cannot be read: %w", c.op.name, err)
	}
	return c.missing(raw)
}

// exact checks the names of the arguments: the decoder would take PATH for path,
// and the last of two, where whoever approved the call may have read the first.
func (c call) exact(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil //nolint:nilerr // the decoder says what is wrong with it
	}
	given := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil //nolint:nilerr // as above
		}
		switch {
		case !slices.ContainsFunc(c.op.args, func(a arg) bool { return a.name == name }):
			return fmt.Errorf("%s has no argument %q; it takes %s", c.op.name, name, c.op.argNames())
		case given[name]:
			return fmt.Errorf("%s was given the argument %s twice; say it once", c.op.name, name)
		}
		given[name] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil //nolint:nilerr // as above
		}
	}
	return nil
}

// missing names the first required argument that is not there.
func (c call) missing(raw []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return fmt.Errorf("the arguments of %s cannot be read: %w", c.op.name, err)
	}
	for _, a := range c.op.args {
		if v, ok := given[a.name]; a.required && (!ok || string(v) == "null") {
			return fmt.Errorf("%s needs the argument %s: %s", c.op.name, a.name, a.description)
		}
	}
	return nil
}

func (op operator) argNames() string {
	names := make([]string, len(op.args))
	for i, a := range op.args {
		names[i] = a.name
	}
	return strings.Join(names, ", ")
}

// structured is a result that is data, with words for a reader of text.
func structured(data any, text string) *mcp.CallToolResult {
	return mcp.NewToolResultStructured(data, text)
}
