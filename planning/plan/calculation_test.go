package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"replan/planning/plan"
)

func TestSumsAreCalculatedWhereANumberIsWanted(t *testing.T) {
	for name, c := range map[string]struct{ schema, value, want string }{
		"sum":                       {`{"type":"integer"}`, `"3 + 4"`, `7`},
		"product before sum":        {`{"type":"integer"}`, `"3 + 2 * 2 + 1"`, `8`},
		"every decimal is kept":     {`{"type":"number"}`, `"0.1 + 0.2 * 0.15"`, `0.13`},
		"zeros at the end":          {`{"type":"number"}`, `"12.50 * 2"`, `25`},
		"negative numbers":          {`{"type":"integer"}`, `"-3 + 5 * -1"`, `-8`},
		"sum of nothing":            {`{"type":"integer"}`, `"-1 + 1"`, `0`},
		"more digits than a float":  {`{"type":"integer"}`, `"12345678901234567890 + 1"`, `12345678901234567891`},
		"item of a list":            {`{"type":"array","items":{"type":"integer"}}`, `["1 + 1",3]`, `[2,3]`},
		"fraction as integer":       {`{"type":"integer"}`, `"0.5 * 3"`, ``},
		"text may be text":          {`{"type":["string","integer"]}`, `"3 + 4"`, `"3 + 4"`},
		"boolean":                   {`{"type":"boolean"}`, `"1 + 0"`, ``},
		"difference or a range":     {`{"type":"integer"}`, `"100 - 200"`, ``},
		"quotient or a date":        {`{"type":"integer"}`, `"6 / 3"`, ``},
		"version":                   {`{"type":"number"}`, `"1.2+3"`, ``},
		"number with a plus sign":   {`{"type":"integer"}`, `" + 3"`, ``},
		"words":                     {`{"type":"integer"}`, `"3 + four"`, ``},
		"exponent":                  {`{"type":"integer"}`, `"1e3 + 1"`, ``},
		"leading zeros":             {`{"type":"integer"}`, `"007 + 1"`, ``},
		"longer than two hundred":   {`{"type":"integer"}`, `"1` + strings.Repeat(" + 1", 50) + `"`, ``},
		"more digits than are kept": {`{"type":"integer"}`, `"1` + strings.Repeat(" * 1000000000", 5) + `"`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			signature, err := plan.NewSignature(plan.Tool{Name: "it", InputSchema: json.RawMessage(`{"type":"object","properties":{"v":` + c.schema + `}}`)})
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if want == "" {
				want = c.value
			}
			got, _ := signature.Coerce(decodedArgs(t, `{"v":`+c.value+`}`))
			if plan.CanonicalJSON(got) != `{"v":`+want+`}` || (signature.Check(got) == nil) != (c.want != "") {
				t.Errorf("got %s (%v), want %s", plan.CanonicalJSON(got), signature.Check(got), want)
			}
		})
	}
}

func TestSumsOfResultsMayBeNumbers(t *testing.T) {
	tool := func(schema string) plan.Tool {
		return plan.Tool{Name: "pay", Server: "w", InputSchema: json.RawMessage(`{"type":"object","properties":{"v":` + schema + `}}`)}
	}
	const number, text = `{"type":"number"}`, `{"type":"string"}`
	for _, c := range []struct {
		schema, value string
		strict, fits  bool
	}{
		{number, "${a} + ${a.tip} * 2", false, true},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, "${a} + 1", false, true},
		{text, "${a} + ${a}", false, true},
		{number, "${a} + ${a}", true, false},
		{number, "${a} and 1", false, false},
		{number, "${a} - 1", false, false},
		{number, "$${a} + 1", false, false},
		{`{"type":"boolean"}`, "${a} + 1", false, false},
	} {
		p := plan.CanonicalJSON(map[string]any{"title": "T", "steps": []any{
			map[string]any{"title": "Ask", "tool": "pay", "args": map[string]any{}, "result_variable": "a"},
			map[string]any{"title": "Pay", "tool": "pay", "args": map[string]any{"v": c.value}},
		}})
		_, faults, _ := plan.CheckPlan([]byte(p), plan.Rules{CheckTools: true, Strict: c.strict, Catalog: plan.Catalog{tool(c.schema)}})
		if (len(faults) == 0) != c.fits {
			t.Errorf("%s for %s, strict %v: %+v", c.value, c.schema, c.strict, faults)
		}
	}
}
