package prompt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/prompttest"
)

// TestCallFormatHasOnlyGrammarKeywords checks how a tool's schema is reduced: a
// server rejects other keywords in a format.
func TestCallFormatHasOnlyGrammarKeywords(t *testing.T) {
	for name, tt := range map[string]struct{ schema, want string }{
		"required first, without descriptions": {`{"type":"object","description":"d","additionalProperties":false,"properties":{"a":{"type":"integer","minimum":1},"b":{"type":"string","description":"x","pattern":"^a"}},"required":["b"]}`, `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}},"required":["b"]}`},
		"one of several groups":                {`{"type":"object","properties":{"p":{"type":"string"},"d":{"type":"string"}},"anyOf":[{"required":["p"]},{"required":["d"]}]}`, `{"anyOf":[{"type":"object","properties":{"p":{"type":"string"},"d":{"type":"string"}},"required":["p"]},{"type":"object","properties":{"d":{"type":"string"},"p":{"type":"string"}},"required":["d"]}]}`},
		"nested lists and objects":             {`{"type":"object","properties":{"l":{"type":"array","maxItems":2,"items":{"type":"object","properties":{"k":{"type":"number"}},"required":["k"]}}}}`, `{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"k":{"type":"number"}},"required":["k"]},"maxItems":2}}}`},
		"choices":                              {`{"type":"object","properties":{"e":{"type":"string","enum":["x","y"]},"c":{"const":3}}}`, `{"type":"object","properties":{"c":{"enum":[3]},"e":{"enum":["x","y"]}}}`},
		"null beside a type":                   {`{"type":"object","properties":{"n":{"type":["string","null"]},"two":{"type":["string","integer"]}}}`, `{"type":"object","properties":{"n":{"type":"string"},"two":{"type":["string","integer"]}}}`},
		"a reference to nothing is any value":  {`{"type":"object","properties":{"r":{"$ref":"#/$defs/r"}}}`, `{"type":"object","properties":{"r":{"type":["string","number","boolean","object","array"]}}}`},
		"models by reference":                  {`{"type":"object","properties":{"r":{"anyOf":[{"$ref":"#/$defs/r"},{"type":"null"}]}},"$defs":{"r":{"type":"object","properties":{"k":{"type":"string"}},"required":["k"]}}}`, `{"type":"object","properties":{"r":{"type":"object","properties":{"k":{"type":"string"}},"required":["k"]}}}`},
		"null where the argument is required":  {`{"type":"object","properties":{"n":{"type":["string","null"]},"o":{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]}},"required":["n","o"]}`, `{"type":"object","properties":{"n":{"type":["string","null"]},"o":{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]}},"required":["n","o"]}`},
		"a tuple":                              {`{"type":"object","properties":{"at":{"type":"array","prefixItems":[{"type":"number"},{"type":"string"}]}}}`, `{"type":"object","properties":{"at":{"type":"array","prefixItems":[{"type":"number"},{"type":"string"}]}}}`},
		"long lists have no bound":             {`{"type":"object","properties":{"l":{"type":"array","maxItems":5000,"items":{"type":"string"}}}}`, `{"type":"object","properties":{"l":{"type":"array","items":{"type":"string"}}}}`},
		"no arguments":                         {`{"type":"object","properties":{}}`, `{"type":"object","properties":{}}`},
		"arguments without names":              {`{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object"}`},
		"no schema":                            {``, `{"type":"object"}`},
		"broken schema":                        {`{"type":[`, `{"type":"object"}`},
		"schema of a list":                     {`{"type":"array"}`, `{"type":"object"}`},
	} {
		t.Run(name, func(t *testing.T) {
			tool := plan.Tool{Name: "t", Server: "s", InputSchema: json.RawMessage(tt.schema)}
			req := prompt.ArgsRequest(prompttest.Brief(), plan.Plan{}, plan.Step{Index: "1", Title: "x"}, tool, nil, "")
			if string(req.Format) != tt.want {
				t.Errorf("got  %s\nwant %s", req.Format, tt.want)
			}
			compile(t, req.Format)
		})
	}
}

// TestReferencesReplaceAnyValueButChoices checks a tool's arguments in the
// format of a plan.
func TestReferencesReplaceAnyValueButChoices(t *testing.T) {
	tool := plan.Tool{Name: "t", Server: "s", InputSchema: json.RawMessage(`{"type":"object","required":["n"],"properties":{
		"n":{"type":"integer"},"b":{"type":"boolean"},"l":{"type":"array","items":{"type":"integer"}},"o":{"type":"object","properties":{"k":{"type":"integer"}},"required":["k"]},
		"e":{"enum":["x"]},"u":{"oneOf":[{"type":"integer"},{"type":"boolean"}]},"m":{"type":["integer","boolean"]},"f":{"enum":[1,2]}}}`)}
	b := prompttest.Brief()
	b.Catalog = plan.Catalog{tool}
	format := compile(t, planRequest(b).Format)
	for args, fits := range map[string]bool{
		`{}`: true, `{"n":1,"b":true,"l":[1],"o":{"k":1},"e":"x","u":1,"m":false,"f":2}`: true,
		`{"n":"${v}","b":"${v}","l":"${v}","o":"${v}","u":"${v}","m":"${v}","f":"${v}"}`: true,
		`{"o":{"k":"${v}"}}`: true, `{"o":{}}`: false, `{"e":"${v}"}`: false, `{"l":[true]}`: false, `{"n":true}`: false, `{"f":3}`: false,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"title":"t","steps":[{"index":"1","title":"x","executor":"tool","tool":"t","args":` + args + `,"depends_on":[],"expected_outcome":"x"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := format.Validate(value); (err == nil) != fits {
			t.Errorf("%s fits: %v, want %v", args, err, fits)
		}
	}
}
