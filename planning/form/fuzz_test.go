package form_test

import (
	"encoding/json"
	"testing"

	"replan/planning/form"
)

// FuzzParse checks that the fields of any form have distinct names, and that what was
// read from an answer is a content that the form takes.
func FuzzParse(f *testing.F) {
	for _, schema := range []string{
		`{"properties":{"a":{"type":"integer","minimum":1,"maximum":3,"default":2},"b":{"enum":["x","y,z"],"default":"y,z"}},"required":["b","b",1]}`,
		`{"properties":{"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]},"minItems":1,"default":["x"]},"a":{}}}`, `{"properties":{"a":{"type":"number","default":1e999}},"required":["a"]}`,
		`{"properties":{"\u001b[2J":{"type":"string","title":"\u202e","format":"email","default":"a@b.c","maxLength":1}}}`, `{"properties":null}`, `{"properties":{"a":7}}`, `{"properties":{"a":{"type":"boolean","default":true}}}`,
	} {
		f.Add([]byte(schema), "x, y")
	}
	f.Fuzz(func(t *testing.T, schema []byte, answer string) {
		fields, err := form.Parse(json.RawMessage(schema))
		if err != nil {
			return
		}
		seen := map[string]bool{}
		texts := map[string]string{}
		for _, field := range fields {
			if seen[field.Name] {
				t.Fatalf("%s has two fields %q", schema, field.Name)
			}
			seen[field.Name] = true
			texts[field.Name] = answer
			if _, _, err := field.Read(field.DefaultText()); err != nil && err.Error() == "" {
				t.Fatalf("%s: the default of %q is refused without words", schema, field.Name)
			}
			if value, set, err := field.Read(answer); err == nil && set && value == nil {
				t.Fatalf("%s: the field %q reads %q as nothing", schema, field.Name, answer)
			}
		}
		if content, err := form.ReadAll(fields, texts); err == nil {
			if err := form.Check(fields, content); err != nil {
				t.Fatalf("%s: read %v, which is refused: %v", schema, content, err)
			}
		}
	})
}
