package jsontype_test

import (
	"encoding/json"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/plan/jsontype"
)

func TestSeenHoldsNamesAndTypesOfFieldsAlone(t *testing.T) {
	wide := `{"f":0`
	for _, c := range "abcdeghijklmnopqrstuvwxyz" {
		wide += `,"` + string(c) + `":1`
	}
	wide += "}"
	for name, tt := range map[string]struct {
		results []string
		want    string
	}{
		"an object":                            {[]string{`{"id":7,"title":"secret words","ok":true}`}, `{"properties":{"id":{"type":["number"]},"ok":{"type":["boolean"]},"title":{"type":["string"]}},"type":["object"]}`},
		"a text":                               {[]string{`"secret words"`}, `{"type":["string"]}`},
		"a list":                               {[]string{`[{"a":1},{"b":"x"}]`}, `{"items":{"properties":{"a":{"type":["number"]},"b":{"type":["string"]}},"type":["object"]},"type":["array"]}`},
		"an empty list may hold anything":      {[]string{`[]`}, `{"type":["array"]}`},
		"null may stand for anything":          {[]string{`{"a":null}`}, `{"properties":{"a":{}},"type":["object"]}`},
		"what null stood for is seen later":    {[]string{`{"a":null}`, `{"a":"x"}`}, `{"properties":{"a":{"type":["string"]}},"type":["object"]}`},
		"fields of several results":            {[]string{`{"a":1}`, `{"b":1}`, `{"a":"x"}`}, `{"properties":{"a":{"type":["number","string"]},"b":{"type":["number"]}},"type":["object"]}`},
		"a text or an object":                  {[]string{`"none"`, `{"a":1}`}, `{"properties":{"a":{"type":["number"]}},"type":["object","string"]}`},
		"names that are data are left out":     {[]string{`{"ana@example.org":{"age":7}}`}, `{"additionalProperties":true,"type":["object"]}`},
		"ids as names are left out":            {[]string{`{"u83921":1}`}, `{"additionalProperties":true,"type":["object"]}`},
		"too many fields are left out":         {[]string{wide}, `{"additionalProperties":true,"type":["object"]}`},
		"once any field, always any field":     {[]string{`{"a/b":1}`, `{"a":1}`}, `{"additionalProperties":true,"type":["object"]}`},
		"a depth that says nothing is cut off": {[]string{`{"a":{"b":{"c":{"d":{"e":1}}}}}`}, `{"properties":{"a":{"properties":{"b":{"properties":{"c":{"properties":{"d":{"additionalProperties":true,"type":["object"]}},"type":["object"]}},"type":["object"]}},"type":["object"]}},"type":["object"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			var schema json.RawMessage
			for _, text := range tt.results {
				result, err := plan.DecodeValue([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				schema = jsontype.Seen(schema, result)
			}
			got, err := plan.DecodeValue(schema)
			if err != nil || plan.CanonicalJSON(got) != tt.want {
				t.Errorf("got  %s\nwant %s", schema, tt.want)
			}
		})
	}
}

func TestSeenStaysSmall(t *testing.T) {
	var object func(depth int) map[string]any
	object = func(depth int) map[string]any {
		out := map[string]any{}
		for _, c := range "abcdefghijklmnopqrst" {
			name := strings.Repeat(string(c), 20)
			if out[name] = "x"; depth > 0 {
				out[name] = object(depth - 1)
			}
		}
		return out
	}
	if schema := jsontype.Seen(nil, object(3)); len(schema) > 2048 || !strings.Contains(string(schema), strings.Repeat("t", 20)) {
		t.Errorf("%d bytes: %.200s", len(schema), schema)
	}
}

func TestSeenReadsNoDeeperThanItKeeps(t *testing.T) {
	var result any = "x"
	for range 100 {
		result = []any{map[string]any{"a": result, "b": result}}
	}
	// The result has 2¹⁰⁰ texts.
	schema := string(jsontype.Seen(nil, result))
	if levels := strings.Count(schema, `"array"`); levels == 0 || levels > 8 {
		t.Errorf("got %s", schema)
	}
}
