package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"replan/planning/plan"
)

func TestSignatureChecksArgsAsResolved(t *testing.T) {
	counted := plan.Tool{Name: "count", Server: "web", InputSchema: json.RawMessage(`{
		"type": "object", "required": ["n"],
		"properties": {"n": {"type": "integer", "maximum": 10, "exclusiveMinimum": 0}, "word": {"type": "string", "maxLength": 4}, "kind": {"enum": ["a", "$${b}"]}}
	}`)}
	catalog := append(plan.Catalog{counted}, someTools...)
	for _, tt := range []struct{ name, tool, args, want string }{
		{"valid args", "fs.read", `{"path":"a.go","lines":3}`, ""},
		{"text that looks like a reference", "fs.read", `{"path":"${x}","lines":"${n}"}`, "lines: got string, want integer"},
		{"length of text that looks like a reference", "count", `{"n":1,"word":"${x}!"}`, "word: maxLength: got 5, want 4"},
		{"a bound that is not allowed itself", "count", `{"n":0}`, "n: exclusiveMinimum: got 0, want more than 0"},
		{"escape", "count", `{"n":1,"kind":"$${b}"}`, ""},
		{"all faults at once, with the known names", "fs.read", `{"lines":0,"file":"a"}`, "missing property 'path'; additional properties 'file' not allowed; lines: minimum: got 0, want 1; its args are lines and path"},
		{"null args", "fs.read", `null`, "missing property 'path'; its args are lines and path"},
		{"no choice matches", "fs.patch", `{"path":"p"}`, "none of the forms it may have fits: missing properties 'old', 'new', or missing property 'diff'; its args are diff, new, old and path"},
		{"huge number is not checked", "count", `{"n":1e999999999}`, ""},
		{"tool without a schema", "web:search", `{"x":1}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool, err := catalog.Find(tt.tool)
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
		{name: "no schema", none: true},
		{name: "blank schema", schema: " \n", none: true},
		{name: "empty schema", schema: `{}`},
		{name: "invalid schema", schema: `{"type":5}`, fails: true},
		{name: "invalid JSON", schema: `{`, fails: true},
		{name: "external reference", schema: `{"$ref":"file:///etc/passwd"}`, fails: true},
		{name: "parts of few parts", schema: chain("allOf", 3, 3)},
		{name: "parts of many parts", schema: chain("allOf", 60, 3), fails: true},
		{name: "choices of many choices in an arg", schema: `{"properties":{"a":` + strings.ReplaceAll(chain("anyOf", 60, 3), "#/", "#/properties/a/") + `}}`, fails: true},
		{name: "itself in an arg", schema: `{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			signature, err := plan.NewSignature(plan.Tool{Name: "t", Server: "s", InputSchema: json.RawMessage(tt.schema)})
			if (err != nil) != tt.fails || (signature == nil) != (tt.none || tt.fails) {
				t.Errorf("got %v, %v", signature, err)
			}
		})
	}
}
