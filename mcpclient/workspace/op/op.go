package op

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"replan/mcpclient/builtin"
	"replan/planning/plan"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/mark3labs/mcp-go/mcp"
)

// Op is one operator: the words and hints that a client is shown, and the function
// that does the work. The schema of its arguments is made from Args: a field
// without omitempty is required, and its tag jsonschema is what it is for. The
// schema of its structured result is made from Result.
type Op[Args, Result any] struct {
	Name        string
	Description string
	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	OpenWorld   bool                // it reaches beyond the workspace
	Previews    bool                // it understands builtin.MetaPreview and builtin.MetaHashes
	Commands    bool                // it answers builtin.MetaPreview with the command it would run
	OneOf       [][]string          // argument sets of which one must be given whole
	Enum        map[string][]string // the texts that an argument may be
	Run         func(context.Context, Call, Args) (*Answer[Result], error)
}

// None is the Result of an operator that answers text only.
type None struct{}

// Answer is the result of a call of an operator.
type Answer[Result any] struct {
	Data    Result
	Text    string   // the same for a reader of text
	Failed  bool     // the answer is that it failed, and Data says how
	Preview *Preview // in place of Data, for a call that asked for one
}

// Preview shows the change or the command of a call before it is made. See [builtin.MetaPreview].
type Preview struct {
	Diff    string            `json:"diff"`
	Hashes  map[string]string `json:"hashes"`
	Nothing bool              `json:"nothing,omitempty"` // the call would change nothing at all
	Removes string            `json:"removes,omitempty"` // says that most of a file goes, and how much
	Command *plan.Command     `json:"command,omitempty"`
	File    *plan.FileChange  `json:"file,omitempty"`
}

// Reply returns an answer of data, and of text that says the same.
func Reply[Result any](data Result, text string) *Answer[Result] {
	return &Answer[Result]{Data: data, Text: text}
}

// Text returns an answer of text only.
func Text(text string) *Answer[None] { return &Answer[None]{Text: text} }

// named returns hashes by the names of their paths.
func named(hashes map[string]string) map[string]string {
	if hashes == nil {
		return nil
	}
	out := make(map[string]string, len(hashes))
	for path, hash := range hashes {
		out[Name(path)] = hash
	}
	return out
}

// result is the answer as it is sent.
func (a *Answer[Result]) result() *mcp.CallToolResult {
	var result *mcp.CallToolResult
	switch {
	case a.Preview != nil:
		preview := *a.Preview
		preview.Hashes = named(preview.Hashes)
		result = mcp.NewToolResultStructured(preview, a.Text)
	case reflect.TypeFor[Result]() == reflect.TypeFor[None]():
		result = mcp.NewToolResultText(a.Text)
	default:
		result = mcp.NewToolResultStructured(a.Data, a.Text)
	}
	result.IsError = a.Failed
	return result
}

// Tool is an operator with its types erased.
type Tool struct {
	Name     string
	readOnly bool
	previews bool
	args     []argument
	shown    mcp.Tool
	run      func(context.Context, Call) (*mcp.CallToolResult, error)
}

// Shown returns the tool as tools/list shows it.
func (t Tool) Shown() mcp.Tool { return t.shown }

// Tool returns the operator with its types erased. It panics if no schema can be
// made from its types, which is a bug of this program.
func (o Op[Args, Result]) Tool() Tool {
	t := Tool{Name: o.Name, readOnly: o.ReadOnly, previews: o.Previews || o.Commands, args: arguments(reflect.TypeFor[Args](), o.Enum)}
	t.shown = mcp.NewToolWithRawSchema(o.Name, o.Description, inputSchema(t.args, o.OneOf))
	if reflect.TypeFor[Result]() != reflect.TypeFor[None]() {
		t.shown.RawOutputSchema = quote(schemaOf(reflect.TypeFor[Result]()))
	}
	t.shown.Annotations = mcp.ToolAnnotation{
		ReadOnlyHint:    &o.ReadOnly,
		DestructiveHint: &o.Destructive,
		IdempotentHint:  &o.Idempotent,
		OpenWorldHint:   &o.OpenWorld,
	}
	switch {
	case o.Previews:
		t.shown.Meta = mcp.NewMetaFromMap(map[string]any{builtin.MetaPreviews: true})
	case o.Commands:
		t.shown.Meta = mcp.NewMetaFromMap(map[string]any{builtin.MetaCommands: true})
	}
	t.run = func(ctx context.Context, c Call) (*mcp.CallToolResult, error) {
		var args Args
		if err := c.decode(&args); err != nil {
			return nil, err
		}
		answer, err := o.Run(ctx, c, args)
		if err != nil {
			return nil, err
		}
		return answer.result(), nil
	}
	return t
}

// argument is one argument of an operator.
type argument struct {
	name        string
	kind        string // JSON Schema type
	description string
	required    bool
	items       string   // JSON Schema type of the items of an array
	values      string   // JSON Schema type of the values of an object
	enum        []string // the texts that it may be; nil means any
}

// arguments are the fields of a struct, in their order.
func arguments(t reflect.Type, enum map[string][]string) []argument {
	schema := schemaOf(t)
	args := make([]argument, 0, len(schema.PropertyOrder))
	for _, name := range schema.PropertyOrder {
		p := schema.Properties[name]
		a := argument{
			name: name, kind: kindOf(p), description: p.Description,
			required: slices.Contains(schema.Required, name), enum: enum[name],
		}
		if p.Items != nil {
			a.items = kindOf(p.Items)
		}
		if p.AdditionalProperties != nil {
			a.values = kindOf(p.AdditionalProperties)
		}
		args = append(args, a)
	}
	return args
}

// kindOf is the type of a value that is there; a pointer may be null, too.
func kindOf(s *jsonschema.Schema) string {
	for _, kind := range s.Types {
		if kind != "null" {
			return kind
		}
	}
	return s.Type
}

// objectSchema describes arguments that are read as they come.
var objectSchema = map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): {Type: "object"}}

func schemaOf(t reflect.Type) *jsonschema.Schema {
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: objectSchema})
	if err != nil {
		panic(fmt.Sprintf("the schema of %s: %v", t, err)) // the types are our own
	}
	return schema
}

// inputSchema is the JSON Schema of arguments, in the order they are declared,
// because small models follow the order they read.
func inputSchema(args []argument, oneOf [][]string) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	for i, a := range args {
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
	if len(oneOf) > 0 {
		b.WriteString(`,"anyOf":[`)
		for i, set := range oneOf {
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
