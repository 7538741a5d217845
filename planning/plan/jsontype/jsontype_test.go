package jsontype_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/plan/jsontype"
)

// shown writes a type in one line: `?` after a field that may be left out, `~` after
// a type that may be null.
func shown(t jsontype.Type) string {
	var all []string
	for _, v := range t.Enum {
		all = append(all, plan.CanonicalJSON(v))
	}
	for _, a := range t.Any {
		all = append(all, shown(a))
	}
	for _, kind := range t.Kinds {
		switch {
		case len(t.Enum) > 0 || len(t.Any) > 0:
		case kind == jsontype.Object && t.Closed:
			var fields []string
			for _, f := range t.Fields {
				mark := "?"
				if f.Required {
					mark = ""
				}
				fields = append(fields, f.Name+mark+" "+shown(f.Type))
			}
			all = append(all, "{"+strings.Join(fields, ", ")+"}")
		case kind == jsontype.List && t.Items != nil:
			all = append(all, "["+shown(*t.Items)+"]")
		case kind == jsontype.List && t.Places != nil:
			var places []string
			for _, place := range t.Places {
				places = append(places, shown(place))
			}
			all = append(all, "["+strings.Join(places, ", ")+"]")
		default:
			all = append(all, kind)
		}
	}
	if len(all) == 0 {
		all = []string{"any"}
	}
	text := strings.Join(all, "|")
	if t.Nullable {
		text += "~"
	}
	return text
}

func TestSchemasAsServersGenerateThem(t *testing.T) {
	for name, tt := range map[string]struct{ schema, want string }{
		"pydantic: models in $defs, optional by anyOf and null": {
			`{"$defs":{"Color":{"enum":["red","green"],"title":"Color","type":"string"},"Item":{"properties":{"name":{"title":"Name","type":"string"},"color":{"anyOf":[{"$ref":"#/$defs/Color"},{"type":"null"}],"default":null}},"required":["name"],"title":"Item","type":"object"}},
			"properties":{"items":{"items":{"$ref":"#/$defs/Item"},"title":"Items","type":"array"},"limit":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null,"title":"Limit"}},"required":["items"],"title":"addArguments","type":"object"}`,
			`{items [{name string, color? "red"|"green"~}], limit? integer~}`,
		},
		"pydantic: union of models by a discriminator": {
			`{"$defs":{"Cat":{"properties":{"kind":{"const":"cat","type":"string"},"meow":{"type":"integer"}},"required":["kind","meow"],"type":"object"},"Dog":{"properties":{"kind":{"const":"dog","type":"string"}},"required":["kind"],"type":"object"}},
			"properties":{"pet":{"discriminator":{"mapping":{"cat":"#/$defs/Cat","dog":"#/$defs/Dog"},"propertyName":"kind"},"oneOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}]}},"required":["pet"],"type":"object"}`,
			`{pet {kind "cat", meow integer}|{kind "dog"}}`,
		},
		"FastMCP: literals, dictionaries and tuples": {
			`{"properties":{"mode":{"anyOf":[{"const":"r"},{"const":"w"}]},"env":{"additionalProperties":{"type":"string"},"type":"object"},"at":{"maxItems":2,"minItems":2,"prefixItems":[{"type":"number"},{"type":"number"}],"type":"array"}},"required":["at"],"type":"object"}`,
			`{at [number, number], env? object, mode? "r"|"w"}`,
		},
		"zod: nullable and required, optional unions, literal unions": {
			`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"not":{}},{"type":"string"}]},"c":{"anyOf":[{"type":"string","const":"x"},{"type":"string","const":"y"}]},"d":{"type":"string","enum":["p","q"]},"e":{"anyOf":[{"type":"string"},{"type":"number"}]}},"required":["a"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}`,
			`{a string~, b? string, c? "x"|"y", d? "p"|"q", e? string|number}`,
		},
		"zod: references to places in the schema": {
			`{"type":"object","properties":{"from":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]},"to":{"$ref":"#/properties/from"},"via":{"type":"array","items":{"$ref":"#/properties/from/properties/x"}}}}`,
			`{from? {x number}, to? {x number}, via? [number]}`,
		},
		"jsonschema-go: lists that may be null": {
			`{"type":"object","required":["edits"],"properties":{"edits":{"type":["null","array"],"items":{"type":"object","required":["old"],"properties":{"old":{"type":"string"}},"additionalProperties":false}},"dry":{"type":"boolean"}},"additionalProperties":false}`,
			`{edits [{old string}]~, dry? boolean}`,
		},
		"OpenAPI: allOf, nullable, definitions with odd names": {
			`{"type":"object","properties":{"pet":{"allOf":[{"$ref":"#/definitions/Base%3CPet%3E"},{"type":"object","properties":{"tag":{"type":"string","nullable":true}},"required":["tag"]}],"nullable":true}},"definitions":{"Base<Pet>":{"allOf":[{"$ref":"#/definitions/a~1b"}],"properties":{"name":{"type":"string"}},"required":["name"]},"a/b":{"type":"object","properties":{"id":{"type":"integer","format":"int64"}},"required":["id"]}}}`,
			`{pet? {id integer, name string, tag string~}~}`,
		},
		"allOf around one reference, with words of its own": {
			`{"type":"object","properties":{"c":{"allOf":[{"$ref":"#/$defs/C"}],"description":"which","default":"red"}},"$defs":{"C":{"enum":["red"]}}}`,
			`{c? "red"}`,
		},
		"the whole schema by reference": {`{"$ref":"#/$defs/In","$defs":{"In":{"type":"object","properties":{"a":{"type":"string"}}}}}`, `{a? string}`},
		"a tree": {
			`{"type":"object","properties":{"root":{"$ref":"#/$defs/Node"}},"$defs":{"Node":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/Node"}}},"required":["v"]}}}`,
			`{root? {v integer, kids? [{v integer, kids? [object]}]}}`,
		},
		"a schema that holds itself":      {`{"type":"object","properties":{"me":{"$ref":"#"}}}`, `{me? {me? {me? object}}}`},
		"a reference to itself":           {`{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`, `{a? any}`},
		"allOf of itself":                 {`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"allOf":[{"$ref":"#/$defs/A"},{"properties":{"b":{"type":"string"}}}]}}}`, `{a? {b? string}}`},
		"references elsewhere":            {`{"type":"object","properties":{"a":{"$ref":"https://x/y.json"},"b":{"$ref":"#/none/at/all"},"c":{"type":"integer"}}}`, `{a? any, b? any, c? integer}`},
		"one of several groups":           {`{"type":"object","properties":{"p":{"type":"string"},"d":{"type":"string"}},"required":["p"],"anyOf":[{"required":["d"]},{"required":[]}]}`, `{p string, d string}|{p string, d? string}`},
		"alternatives at the top":         {`{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}}}]}`, `{a string}|{b? string}`},
		"boolean schemas":                 {`{"type":"object","properties":{"any":true,"never":false,"list":{"type":"array","items":true}}}`, `{any? any, list? array}`},
		"no types, only what they hold":   {`{"properties":{"o":{"properties":{"k":{}}},"l":{"items":{"type":"string"}}}}`, `{l? [string], o? {k? any}}`},
		"kinds that JSON does not know":   {`{"type":"object","properties":{"d":{"type":"date"},"m":{"type":["int","string"]}}}`, `{d? any, m? string}`},
		"choices with null":               {`{"type":"object","properties":{"e":{"enum":["a",null]},"n":{"enum":[null]}}}`, `{e? "a"~, n? any~}`},
		"an argument known by name alone": {`{"type":"object","properties":{"a":{"type":"string"}},"required":["gone","a"]}`, `{gone any, a string}`},
		"malformed parts":                 {`{"type":["object"],"required":"a","properties":{"a":7,"b":{"type":7,"enum":"x","required":null,"anyOf":{}},"c":{"type":"array","items":"string","maxItems":-1}}}`, `{a? any, b? any, c? array}`},
		"an alternative that is anything": {`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{}]}}}`, `{a? any}`},
		"no fields":                       {`{"type":"object","properties":{}}`, `{}`},
		"fields without names":            {`{"type":"object","additionalProperties":{"type":"string"}}`, `object`},
		"no schema":                       {``, `object`},
		"true":                            {`true`, `object`},
		"nothing in it":                   {`{}`, `object`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := jsontype.Read(json.RawMessage(tt.schema))
			if err != nil || shown(got) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", shown(got), err, tt.want)
			}
		})
	}
}

func TestSchemasOfNoObjectAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ schema, why string }{
		"a list":              {`{"type":"array"}`, "no object"},
		"a choice of a text":  {`{"anyOf":[{"type":"string"},{"type":"object"}]}`, "no object"},
		"false":               {`false`, "no object"},
		"text":                {`"object"`, "no object"},
		"broken JSON":         {`{"type":[`, "JSON Schema"},
		"a reference outside": {`{"$ref":"https://x/y.json"}`, "not in it"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := jsontype.Read(json.RawMessage(tt.schema))
			if err == nil || !strings.Contains(err.Error(), tt.why) || shown(got) != "object" {
				t.Errorf("got %s, %v; want any object, and an error with %q", shown(got), err, tt.why)
			}
		})
	}
	if _, err := jsontype.Read(json.RawMessage(`[]`)); !errors.Is(err, jsontype.ErrNoObject) {
		t.Errorf("got %v, want %v", err, jsontype.ErrNoObject)
	}
}

func TestLargeSchemasAreBounded(t *testing.T) {
	var wide, deep strings.Builder
	wide.WriteString(`{"type":"object","properties":{"a0":{"type":"string"}`)
	for i := range 2000 {
		fmt.Fprintf(&wide, `,"a%d":{"type":"object","properties":{"b":{"type":"string"}}}`, i+1)
	}
	wide.WriteString(`}}`)
	deep.WriteString(strings.Repeat(`{"type":"object","properties":{"a":`, 500) + `{}` + strings.Repeat(`}}`, 500))
	fan := `{"type":"object","properties":{"r":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{`
	for i := range 20 {
		fan += fmt.Sprintf(`"k%d":{"$ref":"#/$defs/n"},`, i)
	}
	fan += `"z":{"type":"string"}}}}}`
	fields := func(level, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"l%df%d":{"type":"string"}`, level, i))
		}
		return `"type":"object","properties":{` + strings.Join(all, ",") + `}`
	}
	choice := func(levels, n int) string {
		schema := `{` + fields(0, n) + `}`
		for level := range levels {
			schema = fmt.Sprintf(`{%s,"anyOf":[%s,{%s}]}`, fields(level+1, n), schema, fields(level+1, 1))
		}
		return schema
	}
	for name, tt := range map[string]struct {
		schema string
		flat   int // fields of the flat object at most
	}{
		"wide":                          {wide.String(), 2001},
		"deep":                          {deep.String(), 1},
		"a tree of twenty children":     {fan, 1},
		"choices of twenty fields":      {choice(5, 20), 120},
		"choices of hundreds of fields": {choice(5, 300), 1800},
		"choices in many choices":       {choice(40, 20), 820},
	} {
		got, err := jsontype.Read(json.RawMessage(tt.schema))
		if err != nil || strings.Count(shown(got), "{") > 201 || len(got.Flat().Fields) > tt.flat {
			t.Errorf("%s: %d objects, %d fields, error %v", name, strings.Count(shown(got), "{"), len(got.Flat().Fields), err)
		}
	}
}

func TestFlatRequiresWhatAllAlternativesRequire(t *testing.T) {
	got, err := jsontype.Read(json.RawMessage(`{"properties":{"p":{"type":"string"},"d":{"type":"string"},"c":{"type":"string"}},"required":["c"],"anyOf":[{"required":["p"]},{"required":["d"],"properties":{"x":{"type":"integer"}}}]}`))
	if want := `{c string, d? string, p? string, x? integer}`; err != nil || shown(got.Flat()) != want {
		t.Errorf("got  %s, %v\nwant %s", shown(got.Flat()), err, want)
	}
}

func TestAlternativesOfAlternativesAreOneList(t *testing.T) {
	got, err := jsontype.Read(json.RawMessage(`{"properties":{"a":{"type":"string"}},"anyOf":[
		{"description":"either","anyOf":[{"properties":{"b":{"type":"string"}},"required":["b"]},{"properties":{"c":{"type":"string"}},"required":["c"],"description":"c"}]},
		{"required":["a"]}]}`))
	if want := `{b string, a? string}|{c string, a? string}|{a string}`; err != nil || shown(got) != want {
		t.Fatalf("got  %s, %v\nwant %s", shown(got), err, want)
	}
	if got := []string{got.Any[0].Description, got.Any[1].Description, got.Any[2].Description}; !slices.Equal(got, []string{"either", "c", ""}) {
		t.Errorf("got the descriptions %q", got)
	}
}

func TestLimitsAndWordsAreKept(t *testing.T) {
	got, err := jsontype.Read(json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/$defs/n","description":"how\n many"},"b":{"anyOf":[{"type":"string","format":"date"},{"type":"null"}],"title":"Day","default":null}},"$defs":{"n":{"type":"integer","description":"a count","minimum":1,"default":5}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"how many/at least 1, default 5", `Day/format "date"`} {
		if f := got.Fields[i]; f.Description+"/"+f.Limits != want {
			t.Errorf("%s: got %s/%s, want %s", f.Name, f.Description, f.Limits, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"$ref":"#","allOf":[{"$ref":"#"}],"anyOf":[{"$ref":"#"},{"type":"null"}]}`)
	f.Add(`{"properties":{"a":{"items":[{"$ref":"#/properties/a"}],"oneOf":[true,false,null]}},"required":["a","a",1]}`)
	f.Fuzz(func(t *testing.T, schema string) {
		got, err := jsontype.Read(json.RawMessage(schema))
		if flat := got.Flat(); err == nil && !got.Nullable && len(flat.Kinds) != 1 {
			t.Errorf("%s: the flat form is %s", schema, shown(flat))
		}
	})
}
