package plan_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"replan/planning/plan"

	"pgregory.net/rapid"
)

// referring returns a plan whose second step refers to the result of the first.
func referring(first, reference string) []byte {
	text, _ := json.Marshal(reference)
	return []byte(`{"title":"T","variables":{"cfg":{"name":"a","sizes":[1,2]}},"steps":[` + first + `,{"title":"Use it","tool":"use","args":{"it":[` + string(text) + `]}}]}`)
}

// unknownFields checks a plan whose tool get has an output schema, and returns the
// faults.
func unknownFields(t interface{ Fatal(...any) }, data []byte, output string) []plan.Fault {
	_, faults, _ := plan.CheckPlan(data, plan.Rules{CheckTools: true, Catalog: plan.Catalog{
		{Name: "get", Server: "s", OutputSchema: json.RawMessage(output)}, {Name: "use", Server: "s"},
	}})
	for _, f := range faults {
		if f.Code != plan.CodeUnknownField {
			t.Fatal(f.Message)
		}
	}
	return faults
}

func TestReferencesAreHeldAgainstOutputSchema(t *testing.T) {
	const (
		get     = `{"title":"Get","tool":"get","args":{},"result_variable":"x"}`
		page    = `{"type":"object","properties":{"items":{"type":"array","items":{"$ref":"#/$defs/item"}},"total":{"type":"integer"},"next":{"anyOf":[{"$ref":"#/$defs/item"},{"type":"null"}]}},"$defs":{"item":{"type":"object","properties":{"id":{"type":"string"},"owner":{"type":"object","properties":{"name":{"type":"string"}}},"parent":{"$ref":"#/$defs/item"}}}}}`
		choice  = `{"oneOf":[{"type":"object","properties":{"file":{"type":"string"}}},{"type":"object","properties":{"folder":{"type":"string"}}}]}`
		parts   = `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}},{"$ref":"#/definitions/b"}],"definitions":{"b":{"properties":{"b":{"type":"string"}}}}}`
		result  = "step 2 refers to %s, but the result of step 1 "
		onlyABC = `{"type":"object","properties":{"a":{},"b":{},"c":{}}%s}`
	)
	for name, c := range map[string]struct{ output, reference, want string }{
		"whole result":               {page, "${x}", ""},
		"field":                      {page, "${x.total}", ""},
		"item by dot":                {page, "${x.items.0.id}", ""},
		"item by bracket":            {page, "${x.items[12].owner.name}", ""},
		"reference to itself":        {page, "${x.items[0].parent.parent.id}", ""},
		"anyOf with null":            {page, "${x.next.id}", ""},
		"tool without output schema": {"", "${x.anything}", ""},
		"unusable output schema":     {`{"$ref":"http://example.com/x.json"}`, "${x.anything}", ""},
		"schema of nothing":          {`{}`, "${x.anything[0]}", ""},
		"object of no fields":        {`{"type":"object"}`, "${x.anything}", ""},
		"empty list of fields":       {`{"type":"object","properties":{}}`, "${x.anything}", ""},
		"more fields are allowed":    {fmt.Sprintf(onlyABC, `,"additionalProperties":true`), "${x.d}", ""},
		"more fields have a schema":  {fmt.Sprintf(onlyABC, `,"additionalProperties":{"type":"object","properties":{"e":{}}}`), "${x.d.e}", ""},
		"pattern of fields":          {fmt.Sprintf(onlyABC, `,"patternProperties":{"^d":{}}`), "${x.dd}", ""},
		"required but not listed":    {fmt.Sprintf(onlyABC, `,"required":["d"]`), "${x.d.e}", ""},
		"field under a condition":    {fmt.Sprintf(onlyABC, `,"if":{"required":["a"]},"then":{"properties":{"d":{}}}`), "${x.d}", ""},
		"field of one form":          {choice, "${x.folder}", ""},
		"field of one part":          {parts, "${x.b}", ""},
		"field of any type":          {fmt.Sprintf(onlyABC, ``), "${x.a.b.c[1]}", ""},
		"tuple":                      {`{"type":"object","properties":{"p":{"type":"array","prefixItems":[{"type":"object","properties":{"q":{}}}]}}}`, "${x.p[0].q} ${x.p[1].z}", ""},
		"recursion without end":      {`{"$ref":"#"}`, "${x.a}", ""},

		"mistyped field":             {page, "see ${x.totl}", result + `has no field "totl", only items, next and total; did you mean total?`},
		"unknown field":              {fmt.Sprintf(onlyABC, ``), "${x.width}", result + `has no field "width", only a, b and c`},
		"closed object":              {fmt.Sprintf(onlyABC, `,"additionalProperties":false`), "${x.width}", result + `has no field "width", only a, b and c`},
		"closed object that is any":  {`{"type":"object","additionalProperties":false}`, "${x.width}", result + `is an object without any, which has no field "width"`},
		"unevaluated fields":         {fmt.Sprintf(onlyABC, `,"unevaluatedProperties":false`), "${x.width}", result + `has no field "width", only a, b and c`},
		"object below":               {page, "${x.items[0].owner.nam}", `step 2 refers to %s, but items.0.owner in the result of step 1 has no field "nam", only name; did you mean name?`},
		"object that may be null":    {page, "${x.next.owner.id}", `step 2 refers to %s, but next.owner in the result of step 1 has no field "id", only name`},
		"list without a position":    {page, "${x.items.id}", `step 2 refers to %s, but items in the result of step 1 is a list, and "id" is no position in it; did you mean ${x.items.0.id}?`},
		"negative position":          {page, "${x.items[-1]}", `step 2 refers to %s, but items in the result of step 1 is a list, and "-1" is no position in it`},
		"position beyond the bound":  {`{"type":"object","properties":{"p":{"type":"array","maxItems":2}}}`, "${x.p[2]}", `step 2 refers to %s, but p in the result of step 1 is a list, and "2" is no position in it`},
		"position beyond the tuple":  {`{"type":"object","properties":{"p":{"type":"array","prefixItems":[{}],"items":false}}}`, "${x.p[1]}", `step 2 refers to %s, but p in the result of step 1 is a list, and "1" is no position in it`},
		"position in an object":      {page, "${x[0]}", result + `has no field "0", only items, next and total`},
		"field of text":              {page, "${x.items[0].id.hex}", `step 2 refers to %s, but items.0.id in the result of step 1 is text, which has no field "hex"`},
		"field of a number":          {page, "${x.total.n}", `step 2 refers to %s, but total in the result of step 1 is a number, which has no field "n"`},
		"no form has it":             {choice, "${x.path}", result + `has no field "path", only file and folder`},
		"no part has it":             {parts, "${x.width}", result + `has no field "width", only a and b`},
		"one part is closed":         {`{"allOf":[{"type":"object","properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}}}]}`, "${x.b}", result + `has no field "b", only a and b`},
		"schema of an older draft":   {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"p":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}`, "${x.p[1]}", `step 2 refers to %s, but p in the result of step 1 is a list, and "1" is no position in it`},
		"value of a variable":        {page, "${cfg.sizes[1]}", ""},
		"field of a variable":        {page, "${cfg.nam}", `step 2 refers to %s, but the variable "cfg" has no field "nam", only name and sizes; did you mean name?`},
		"list of a variable":         {page, "${cfg.sizes[2]}", `step 2 refers to %s, but sizes in the variable "cfg" is a list, and "2" is no position in it`},
		"variable as text":           {page, "${cfg.name.first}", `step 2 refers to %s, but name in the variable "cfg" is text, which has no field "first"`},
		"many forms are not checked": {`{"allOf":[` + strings.Repeat(`{"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]},`, 7) + `{}]}`, "${x.c}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			faults := unknownFields(t, referring(get, c.reference), c.output)
			if c.want == "" {
				if len(faults) > 0 {
					t.Errorf("got %s", faults[0].Message)
				}
				return
			}
			want := strings.Replace(c.want, "%s", c.reference[strings.Index(c.reference, "$"):], 1)
			if len(faults) != 1 || faults[0].Message != want || faults[0].Path != "/steps/1/args/it/0" || faults[0].Step != "2" || faults[0].Advice == "" {
				t.Errorf("got %+v, want %s", faults, want)
			}
		})
	}
}

// chain has levels of schemas, each of which holds the next one k times.
func chain(keyword string, levels, k int) string {
	var defs []string
	for i := range levels {
		defs = append(defs, fmt.Sprintf(`"A%d":{%q:[%s]}`, i, keyword, strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"$ref":"#/$defs/A%d"},`, i+1), k), ",")))
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/A0","$defs":{%s,"A%d":{"type":"object","properties":{"a":{}}}}}`, strings.Join(defs, ","), levels)
}

func TestLargeOutputSchemasAreUnknown(t *testing.T) {
	const get = `{"title":"Get","tool":"get","args":{},"result_variable":"x"}`
	for name, c := range map[string]struct {
		output string
		faults int
	}{
		"parts of few parts":   {chain("allOf", 2, 3), 1},
		"parts of many parts":  {chain("allOf", 60, 3), 0},
		"long parts":           {chain("allOf", 6, 3), 0},
		"choices of choices":   {chain("anyOf", 60, 3), 0},
		"many choices":         {chain("anyOf", 6, 3), 0},
		"more than is checked": {chain("allOf", 2100, 1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			if faults := unknownFields(t, referring(get, "${x.zz}"), c.output); len(faults) != c.faults {
				t.Errorf("got %v, want %d faults", faults, c.faults)
			}
		})
	}
}

func TestResultsOfAModelHaveNoFields(t *testing.T) {
	for _, executor := range []string{"self", "agent"} {
		first := `{"title":"Sum up","executor":"` + executor + `","result_variable":"x"}`
		faults := unknownFields(t, referring(first, "${x.summary}"), "")
		if len(faults) != 1 || faults[0].Message != `step 2 refers to ${x.summary}, but the result of step 1 is text, which has no field "summary"` {
			t.Errorf("%s: got %+v", executor, faults)
		}
		if faults := unknownFields(t, referring(first, "${x}"), ""); len(faults) > 0 {
			t.Errorf("%s: got %s", executor, faults[0].Message)
		}
	}
}

func TestKnownResultsCountBeforeOutputSchema(t *testing.T) {
	p := plan.Plan{Title: "T", Steps: []plan.Step{
		{Index: "1", Title: "Get", Tool: "get", Args: map[string]any{}, ResultVariable: "x"},
		{Index: "2", Title: "Use it", Tool: "get", Args: map[string]any{"a": "${x.told}", "b": "${x.listed}", "c": "${x.listed}${x.listed}"}},
	}}
	rules := plan.Rules{CheckTools: true, Catalog: plan.Catalog{{Name: "get", Server: "s", OutputSchema: json.RawMessage(`{"type":"object","properties":{"listed":{}}}`)}}}
	for _, c := range []struct {
		known map[string]any
		want  string
	}{
		{nil, "/steps/1/args/a"},
		{map[string]any{"x": map[string]any{"told": "a"}}, "/steps/1/args/b /steps/1/args/c"},
		{map[string]any{"x": plan.Placeholder("<get result>")}, ""},
	} {
		rules.Known = c.known
		faults, _ := plan.Validate(p, rules)
		var paths []string
		for _, f := range faults {
			paths = append(paths, f.Path)
		}
		if got := strings.Join(paths, " "); got != c.want {
			t.Errorf("known %v: got faults at %q, want %q", c.known, got, c.want)
		}
	}
}

// drawResult draws a value and a schema of it that lists every field.
func drawResult(t *rapid.T, depth int, defs map[string]any) (value any, schema map[string]any) {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	switch {
	case kind < 2 && depth > 0: // an object
		object, properties := map[string]any{}, map[string]any{}
		for i := range rapid.IntRange(1, 3).Draw(t, "fields") {
			name := "f" + strconv.Itoa(i)
			object[name], properties[name] = drawResult(t, depth-1, defs)
		}
		value, schema = object, map[string]any{"type": "object", "properties": properties}
		if rapid.Bool().Draw(t, "closed") {
			schema["additionalProperties"] = false
		}
		if rapid.Bool().Draw(t, "in parts") && schema["additionalProperties"] == nil {
			schema = map[string]any{"type": "object", "allOf": []any{schema, map[string]any{"properties": map[string]any{"other": true}}}}
		}
	case kind == 2 && depth > 0: // a list
		item, of := drawResult(t, depth-1, defs)
		value, schema = []any{item, item}, map[string]any{"type": []any{"null", "array"}, "items": of}
	case kind == 3:
		value, schema = "a", map[string]any{"type": "string"}
	default:
		value, schema = true, map[string]any{"type": "boolean"}
	}
	switch rapid.IntRange(0, 4).Draw(t, "wrapped") {
	case 0:
		name := "d" + strconv.Itoa(len(defs))
		defs[name] = schema
		schema = map[string]any{"$ref": "#/$defs/" + name}
	case 1:
		schema = map[string]any{"anyOf": []any{map[string]any{"type": "null"}, schema}}
	case 2:
		schema = map[string]any{"oneOf": []any{map[string]any{"type": "integer"}, schema}}
	}
	return value, schema
}

func TestFieldsOfResultsAreNoFaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		defs := map[string]any{}
		value, schema := drawResult(t, 3, defs)
		schema["$defs"] = defs
		output := plan.CanonicalJSON(schema)
		path := ""
		for {
			switch v := value.(type) {
			case map[string]any:
				name := rapid.SampledFrom(slices.Sorted(maps.Keys(v))).Draw(t, "field")
				value, path = v[name], path+"."+name
			case []any:
				value, path = v[1], path+"[1]"
			default:
				get := `{"title":"Get","tool":"get","args":{},"result_variable":"x"}`
				if faults := unknownFields(t, referring(get, "${x"+path+"}"), output); len(faults) > 0 {
					t.Fatalf("%s, against %s", faults[0].Message, output)
				}
				if faults := unknownFields(t, referring(get, "${x"+path+".no}"), output); len(faults) != 1 {
					t.Fatalf("got %v for a field of %v, against %s", faults, value, output)
				}
				if before, _, deeper := strings.Cut(path, ".f"); deeper {
					if faults := unknownFields(t, referring(get, "${x"+before+".no}"), output); len(faults) != 1 {
						t.Fatalf("got %v for an unknown field, against %s", faults, output)
					}
				}
				return
			}
		}
	})
}

func TestReferenceToFieldThatWasNeverSeenIsWarnedOf(t *testing.T) {
	for name, c := range map[string]struct {
		seen, reference, want string
	}{
		"a field that was seen":     {`{"type":["object"],"properties":{"id":{"type":["number"]}}}`, "${x.id}", ""},
		"a field that was not seen": {`{"type":["object"],"properties":{"id":{"type":["number"]}}}`, "${x.ident}", `has no field "ident", only id`},
		"any field may be there":    {`{"type":["object"],"additionalProperties":true}`, "${x.id}", ""},
		"a text, which may be JSON": {`{"type":["string"]}`, "${x.id}", ""},
		"a text in an object":       {`{"type":["object"],"properties":{"id":{"type":["string"]}}}`, "${x.id.no}", `is text, which has no field "no"`},
		"nothing is known":          {``, "${x.id}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			rules := plan.Rules{CheckTools: true, Strict: true, Catalog: plan.Catalog{
				{Name: "get", Server: "s", SeenSchema: json.RawMessage(c.seen)}, {Name: "put", Server: "s"},
			}}
			data := fmt.Sprintf(`{"title":"T","steps":[{"index":"1","title":"G","tool":"get","args":{},"result_variable":"x"},{"index":"2","title":"P","tool":"put","args":{"v":%q}}]}`, c.reference)
			_, faults, warnings := plan.CheckPlan([]byte(data), rules)
			if len(faults) > 0 {
				t.Errorf("it is a fault: %v", faults)
			}
			at := slices.IndexFunc(warnings, func(w plan.Fault) bool { return w.Code == plan.CodeUnknownField })
			if c.want == "" {
				if at >= 0 {
					t.Errorf("a warning: %s", warnings[at].Message)
				}
				return
			}
			if at < 0 || !strings.Contains(warnings[at].Message, c.want) || !strings.Contains(warnings[at].Message, "earlier runs") {
				t.Errorf("got the warnings %v, want %q", warnings, c.want)
			}
		})
	}
}
