package plan_test

import (
	"encoding/json"
	"testing"

	"replan/planning/plan"
)

func TestSignatureChecksArgsAsResolved(t *testing.T) {
	counted := plan.Tool{Name: "count", Server: "web", InputSchema: json.RawMessage(`{
		"type": "object", "required": ["n"],
		"properties": {"n": {"type": "integer", "maximum": 10}, "word": {"type": "string", "maxLength": 4}, "kind": {"enum": ["a", "$${b}"]}}
	}`)}
	catalogue := append(plan.Catalogue{counted}, someTools...)
	for _, tt := range []struct{ name, tool, args, want string }{
		{"what fits is no fault", "fs.read", `{"path":"a.go","lines":3}`, ""},
		{"a text that looks like a reference is plain text", "fs.read", `{"path":"${x}","lines":"${n}"}`, "lines: got string, want integer"},
		{"the length of such a text counts", "count", `{"n":1,"word":"${x}!"}`, "word: maxLength: got 5, want 4"},
		{"an escape is plain text too", "count", `{"n":1,"kind":"$${b}"}`, ""},
		{"all faults are told at once, those of names with the names there are", "fs.read", `{"lines":0,"file":"a"}`, "missing property 'path'; additional properties 'file' not allowed; lines: minimum: got 0, want 1; its args are lines and path"},
		{"null args are none", "fs.read", `null`, "missing property 'path'; its args are lines and path"},
		{"a choice that nothing meets is one fault", "fs.patch", `{"path":"p"}`, "none of the forms it may have fits: missing properties 'old', 'new', or missing property 'diff'; its args are diff, new, old and path"},
		{"a number too large to reckon with is let through", "count", `{"n":1e999999999}`, ""},
		{"a tool without a schema takes anything", "web:search", `{"x":1}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool, err := catalogue.Find(tt.tool)
			if err != nil {
				t.Fatal(err)
			}
			signature, err := plan.NewSignature(tool)
			if err != nil {
				t.Fatal(err)
			}
			args, _ := mustValue(t, tt.args).(map[string]any)
			got := ""
			if err := signature.Check(args); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestNewSignature(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		none, fails  bool
	}{
		{name: "a tool without a schema has none", none: true},
		{name: "blanks are no schema", schema: " \n", none: true},
		{name: "an empty schema is one", schema: `{}`},
		{name: "an invalid schema is refused", schema: `{"type":5}`, fails: true},
		{name: "invalid JSON is refused", schema: `{`, fails: true},
		{name: "nothing outside the schema is read", schema: `{"$ref":"file:///etc/passwd"}`, fails: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			signature, err := plan.NewSignature(plan.Tool{Name: "t", Server: "s", InputSchema: json.RawMessage(tt.schema)})
			if (err != nil) != tt.fails || (signature == nil) != (tt.none || tt.fails) {
				t.Errorf("got %v, %v", signature, err)
			}
		})
	}
}
