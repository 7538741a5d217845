package plan_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"replan/planning/plan"

	"pgregory.net/rapid"
)

// decodedArgs decodes JSON and keeps every digit.
func decodedArgs(t interface{ Fatal(...any) }, text string) map[string]any {
	v, err := plan.DecodeValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object, _ := v.(map[string]any)
	return object
}

const optionalIntegers = `{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]}`

func TestArgsAreCoercedWithoutLoss(t *testing.T) {
	for name, c := range map[string]struct{ schema, args, want string }{
		"text as integer":                 {`{"type":"integer"}`, `"7"`, `7`},
		"text as number":                  {`{"type":"number"}`, `"-1.5"`, `-1.5`},
		"text as boolean":                 {`{"type":"boolean"}`, `"true"`, `true`},
		"integer as text":                 {`{"type":"string"}`, `7`, `"7"`},
		"boolean as text":                 {`{"type":"string"}`, `false`, `"false"`},
		"every digit of a number is kept": {`{"type":"integer"}`, `"12345678901234567890"`, `12345678901234567890`},
		"every digit in text is kept":     {`{"type":"string"}`, `12345678901234567890`, `"12345678901234567890"`},
		"leading zeros":                   {`{"type":"integer"}`, `"007"`, ``},
		"trailing zeros":                  {`{"type":"number"}`, `"1.50"`, `1.5`},
		"text of a whole as number":       {`{"type":"number"}`, `"-25.0"`, `-25`},
		"text of zero with a fraction":    {`{"type":"number"}`, `"-0.0"`, ``},
		"fraction without a digit":        {`{"type":"number"}`, `"1."`, ``},
		"exponent":                        {`{"type":"number"}`, `"1e3"`, ``},
		"negative zero":                   {`{"type":"integer"}`, `"-0"`, ``},
		"plus sign":                       {`{"type":"integer"}`, `"+7"`, ``},
		"leading blank":                   {`{"type":"integer"}`, `" 7"`, ``},
		"capital letter":                  {`{"type":"boolean"}`, `"True"`, `true`},
		"word in capitals":                {`{"enum":["asc","desc"]}`, `"DESC"`, `"desc"`},
		"word in small letters":           {`{"type":"string","enum":["Music","Sports"]}`, `"music"`, `"Music"`},
		"words in a list":                 {`{"type":"array","items":{"enum":["a","b"]}}`, `["A","b"]`, `["a","b"]`},
		"word of two":                     {`{"enum":["a","A","b"]}`, `"B"`, `"b"`},
		"word that may be either":         {`{"enum":["ab","AB"]}`, `"Ab"`, ``},
		"word listed twice":               {`{"allOf":[{"enum":["ab"]},{"enum":["ab","c"]}]}`, `"AB"`, `"ab"`},
		"word that is not listed":         {`{"enum":["asc","desc"]}`, `"down"`, ``},
		"word and blanks":                 {`{"enum":["asc","desc"]}`, `" ASC"`, ``},
		"boolean as a listed word":        {`{"enum":["True","False"]}`, `true`, `"True"`},
		"word of one of two lists":        {`{"anyOf":[{"enum":["a"]},{"enum":["b"]}]}`, `"A"`, `"a"`},
		"word in another case elsewhere":  {`{"type":"string"}`, `"DESC"`, `"DESC"`},
		"one is not true":                 {`{"type":"boolean"}`, `1`, ``},
		"yes is not true":                 {`{"type":"boolean"}`, `"yes"`, ``},
		"fraction as integer":             {`{"type":"integer"}`, `"7.5"`, ``},
		"empty text":                      {`{"type":"integer"}`, `""`, ``},
		"null as text":                    {`{"type":"string"}`, `null`, `left out`},
		"null that is allowed":            {`{"type":["string","null"]}`, `null`, `null`},
		"null of any type":                {`{}`, `null`, `null`},
		"null in a list":                  {`{"type":"array","items":{"type":"string"}}`, `[null]`, ``},
		"null in a list of objects":       {`{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}}`, `[{"a":null}]`, `[{}]`},
		"null of a required field":        {`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{"a":null}`, ``},
		"null of an unknown field":        {`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, `{"b":null}`, ``},
		"whole number as integer":         {`{"type":"integer"}`, `3.0`, `3`},
		"exponent as integer":             {`{"type":"integer"}`, `-1.5e1`, `-15`},
		"whole number as number":          {`{"type":"number"}`, `3.0`, `3.0`},
		"whole number of either type":     {`{"type":["integer","number"]}`, `3.0`, `3.0`},
		"whole number of any type":        {`{}`, `3.0`, `3.0`},
		"whole number as text":            {`{"type":"string"}`, `3.0`, `"3.0"`},
		"text of a whole number":          {`{"type":"integer"}`, `"3.0"`, `3`},
		"whole numbers in a list":         {`{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"null"}]}}`, `[1.0,null,2]`, `[1,null,2]`},
		"long integer":                    {`{"type":"integer"}`, `1e30`, `1e30`},
		"text as list":                    {`{"type":"array","items":{"type":"string"}}`, `"a"`, `["a"]`},
		"object as list":                  {`{"type":"array","items":{"type":"object"}}`, `{"a":1}`, `[{"a":1}]`},
		"text as list of numbers":         {`{"type":"array","items":{"type":"integer"}}`, `"7"`, `[7]`},
		"number as list of texts":         {`{"type":"array","items":{"type":"string"}}`, `7`, `["7"]`},
		"digits as list of anything":      {`{"type":"array"}`, `"7"`, `["7"]`},
		"text as list of objects":         {`{"type":"array","items":{"type":"object"}}`, `"a"`, ``},
		"null as list":                    {`{"type":"array","items":{"type":"null"}}`, `null`, `left out`},
		"text where a list will do too":   {`{"type":["array","string"]}`, `"a"`, `"a"`},
		"text as list of two":             {`{"type":"array","minItems":2}`, `"a"`, ``},
		"list of lists":                   {`{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`, `[1,2]`, ``},
		"list as text":                    {`{"type":"array","items":{"type":"string"}}`, `"[\"a\"]"`, `["a"]`},
		"list of other items as text":     {`{"type":"array","items":{"type":"string"}}`, `"[7]"`, ``},
		"object as text":                  {`{"type":"object","properties":{"a":{"type":"integer"}}}`, `"{\"a\": 1}"`, `{"a":1}`},
		"object that is no JSON":          {`{"type":"object"}`, `"{a: 1}"`, ``},
		"JSON for text":                   {`{"type":"string"}`, `"[1]"`, `"[1]"`},
		"list as text that may be text":   {`{"anyOf":[{"type":"string","maxLength":3},{"type":"array"}]}`, `"[\"a\"]"`, `["a"]`},
		"list of a text for text":         {`{"type":"string"}`, `["a"]`, `"a"`},
		"list of a number for a number":   {`{"type":"integer"}`, `[7]`, `7`},
		"list of a text for a number":     {`{"type":"integer"}`, `["7"]`, ``},
		"list of a list for text":         {`{"type":"string"}`, `[["a"]]`, ``},
		"list of two for text":            {`{"type":"string"}`, `["a","b"]`, ``},
		"list of a word of an enum":       {`{"enum":["a","b"]}`, `["a"]`, `"a"`},
		"object without what it needs":    {`{"required":["k"]}`, `{}`, ``},
		"number or list of numbers":       {`{"anyOf":[{"type":"integer"},{"type":"array","items":{"type":"integer"}}]}`, `"7"`, ``},
		"boolean or list of texts":        {`{"anyOf":[{"type":"boolean"},{"type":"array","items":{"type":"integer"}}]}`, `"true"`, `true`},
		"either of two fields": {
			`{"anyOf":[{"properties":{"n":{"type":"integer"}}},{"properties":{"m":{"type":"integer"}}}]}`, `{"m":"8","n":"7"}`, ``,
		},
		"fields of two choices": {
			`{"properties":{"n":{"anyOf":[{"type":"integer"},{"type":"null"}]},"m":{"oneOf":[{"type":"boolean"},{"type":"integer"}]}}}`, `{"n":"7","m":"8"}`, `{"m":8,"n":7}`,
		},
		"list for text":          {`{"type":"string"}`, `[7]`, ``},
		"object for text":        {`{"type":"string"}`, `{"a":"b"}`, ``},
		"matching value stays":   {`{"type":["string","integer"]}`, `"7"`, `"7"`},
		"enum of numbers":        {`{"enum":[7,8]}`, `"7"`, `7`},
		"enum of texts":          {`{"type":"string","enum":["7","8"]}`, `7`, `"7"`},
		"value outside the enum": {`{"enum":[7,8]}`, `"9"`, ``},
		"constant":               {`{"const":true}`, `"true"`, `true`},
		"within the maximum":     {`{"type":"integer","maximum":9}`, `"7"`, `7`},
		"above the maximum":      {`{"type":"integer","maximum":5}`, `"7"`, ``},
		"matching pattern":       {`{"type":"string","pattern":"^[0-9]+$"}`, `7`, `"7"`},
		"other pattern":          {`{"type":"string","pattern":"^x"}`, `7`, ``},
		"list item":              {`{"type":"array","items":{"type":"integer"}}`, `["1",2,"3"]`, `[1,2,3]`},
		"object field":           {`{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":"7","m":"8"}`, `{"m":"8","n":7}`},
		"schema reference":       {`{"$ref":"#/$defs/n"}`, `"7"`, `7`},
		"anyOf with null":        {`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `"7"`, `7`},
		"anyOf with text":        {`{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `"7"`, `"7"`},
		"oneOf with both types":  {`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `"7"`, ``},
		"matching form of several": {
			`{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"},"k":{"const":"a"}},"required":["k"]},{"type":"object","properties":{"n":{"type":"boolean"},"k":{"const":"b"}},"required":["k"]}]}`,
			`{"k":"a","n":"7"}`, `{"k":"a","n":7}`,
		},
		"two fields of one form": {
			`{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"},"m":{"type":"integer"}}},{"type":"null"}]}`, `{"n":"7","m":"8"}`, `{"m":8,"n":7}`,
		},
		"null inside an object as list": {
			`{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"object","properties":{"y":{"type":"string"}},"additionalProperties":false}]}`, `{"y":null,"z":1}`, ``,
		},
		"number inside an object as list": {
			`{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"object","properties":{"0":{"type":"integer"}},"additionalProperties":false}]}`, `{"0":"7","z":1}`, ``,
		},
		"object as list after a field": {
			`{"allOf":[{"properties":{"y":{"type":"integer"}}},{"anyOf":[{"type":"array"},{"type":"object","additionalProperties":false,"properties":{"y":{}}}]}]}`, `{"y":"7","z":1}`, `{"y":7,"z":1} refused`,
		},
		"whole number in a list or an object": {
			`{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"object","properties":{"0":{"type":"integer"}}}]}`, `["a",1e9,[]]`, ``,
		},
		"optional list of five":            {optionalIntegers, `["1","2","3","4","5"]`, `[1,2,3,4,5]`},
		"optional list of six":             {optionalIntegers, `["1","2","3","4","5","6"]`, `[1,2,3,4,5,6]`},
		"optional list of six with a word": {optionalIntegers, `["1","2","3","4","5","x"]`, ``},
		"optional list of optional numbers": {
			`{"anyOf":[{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"null"}]}},{"type":"null"}]}`, `["1","2",null,"4","5","6","7"]`, `[1,2,null,4,5,6,7]`,
		},
		"six numbers of either of two lists": {
			`{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"array","items":{"type":"number"}}]}`, `["1","2","3","4","5","6"]`, `[1,2,3,4,5,6]`,
		},
		"six fields or six others": {
			`{"anyOf":[{"properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"integer"}}},{"properties":{"d":{"type":"integer"},"e":{"type":"integer"},"f":{"type":"integer"}}}]}`,
			`{"a":"1","b":"2","c":"3","d":"4","e":"5","f":"6"}`, ``,
		},
		"list item beside a bad one": {`{"items":{"type":"integer","maximum":5}}`, `["1","2","9","x"]`, `[1,2,"9","x"] refused`},
		"list of different items":    {`{"items":{"type":"integer"},"uniqueItems":true}`, `["7",7]`, ``},
		"reference to a variable":    {`{"type":"integer"}`, `"${v}"`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			signature, err := plan.NewSignature(plan.Tool{Name: "it", InputSchema: json.RawMessage(
				`{"type":"object","properties":{"v":` + c.schema + `},"$defs":{"n":{"type":"integer"}}}`,
			)})
			if err != nil {
				t.Fatal(err)
			}
			args := decodedArgs(t, `{"v":`+c.args+`}`)
			before := plan.CanonicalJSON(args)
			fitted, coercions := signature.Coerce(args)
			want := `{"v":` + cmp.Or(c.want, c.args) + `}`
			want = strings.Replace(want, " refused", "", 1)
			if c.want == "left out" {
				want = `{}`
			}
			if got := plan.CanonicalJSON(fitted); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if changed := plan.CanonicalJSON(fitted) != before; changed != (len(coercions) > 0) {
				t.Errorf("got the coercions %v", coercions)
			}
			if plan.CanonicalJSON(args) != before {
				t.Error("Fit changed its argument")
			}
			if err := signature.Check(fitted); (err == nil) != (c.want != "" && !strings.HasSuffix(c.want, " refused")) && !strings.Contains(c.args, "${") {
				t.Errorf("the check says %v", err)
			}
		})
	}
}

// drawSchema draws a schema of few types, so that values often nearly fit.
func drawSchema(t *rapid.T, depth int) map[string]any {
	kinds := []string{"string", "integer", "number", "boolean", "null", "any", "array", "object", "either", "list or object", "enum"}
	if depth == 0 {
		kinds = kinds[:6]
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "any":
		return map[string]any{}
	case "array":
		return map[string]any{"type": kind, "items": drawSchema(t, depth-1)}
	case "object":
		object := map[string]any{"type": kind, "properties": map[string]any{"a": drawSchema(t, depth-1), "b": drawSchema(t, depth-1)}}
		if rapid.Bool().Draw(t, "needs a") {
			object["required"] = []any{"a"}
		}
		if rapid.Bool().Draw(t, "closed") {
			object["additionalProperties"] = false
		}
		return object
	case "either":
		return map[string]any{rapid.SampledFrom([]string{"anyOf", "oneOf"}).Draw(t, "choice"): []any{drawSchema(t, depth-1), drawSchema(t, depth-1)}}
	case "list or object":
		return listOrObject(drawSchema(t, depth-1), drawSchema(t, depth-1))
	case "enum":
		return map[string]any{"enum": []any{"7", json.Number("1"), true, "x"}}
	default:
		return map[string]any{"type": kind}
	}
}

// listOrObject is a choice whose complaints are about a value and the values in it.
func listOrObject(items, field map[string]any) map[string]any {
	object := map[string]any{"type": "object", "properties": map[string]any{"a": field, "0": field}, "additionalProperties": false}
	return map[string]any{"anyOf": []any{map[string]any{"type": "array", "items": items}, object}}
}

// drawValue draws a value that a model might write.
func drawValue(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 5).Draw(t, "value"); {
	case kind == 0 && depth > 0:
		return []any{drawValue(t, depth-1)}
	case kind == 1 && depth > 0:
		object := map[string]any{}
		for _, name := range []string{"a", "b", "0"} {
			if rapid.Bool().Draw(t, "has "+name) {
				object[name] = drawValue(t, depth-1)
			}
		}
		return object
	default:
		text := rapid.SampledFrom([]string{`"7"`, `7`, `"true"`, `true`, `"x"`, `1.5`, `"1.5"`, `"007"`, `null`, `"1e9"`, `1e9`, `3.0`, `-0.0`, `1e99999`, `"[]"`, `"7.0"`, `"True"`, `"X"`}).Draw(t, "scalar")
		v, err := plan.DecodeValue([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// restored takes back coercions, the last first.
func restored(t *rapid.T, args map[string]any, coercions []plan.Coercion) any {
	var at func(v any, path []string, c plan.Coercion) any
	at = func(v any, path []string, c plan.Coercion) any {
		if len(path) == 0 {
			if !plan.EqualValues(v, c.To) {
				t.Fatalf("%s stands where %s should", plan.CanonicalJSON(v), c)
			}
			return c.From
		}
		switch v := v.(type) {
		case map[string]any:
			v = maps.Clone(v)
			v[path[0]] = at(v[path[0]], path[1:], c)
			return v
		case []any:
			v = slices.Clone(v)
			i, _ := strconv.Atoi(path[0])
			v[i] = at(v[i], path[1:], c)
			return v
		default:
			t.Fatalf("%s leads nowhere", c)
			return nil
		}
	}
	var v any = args
	for _, c := range slices.Backward(coercions) {
		v = at(v, strings.Split(c.Arg, "/")[1:], c)
	}
	return v
}

func TestCoercionsLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := plan.CanonicalJSON(map[string]any{"type": "object", "properties": map[string]any{"v": drawSchema(t, 2), "w": drawSchema(t, 1), "n": listOrObject(drawSchema(t, 0), drawSchema(t, 0))}})
		signature, err := plan.NewSignature(plan.Tool{Name: "it", InputSchema: json.RawMessage(schema)})
		if err != nil {
			t.Fatal(err)
		}
		scalar := rapid.SampledFrom([]any{nil, "7", json.Number("1")})
		nested := rapid.MapOf(rapid.SampledFrom([]string{"0", "a", "b"}), scalar).Draw(t, "nested")
		args := map[string]any{"v": drawValue(t, 2), "w": drawValue(t, 1), "n": nested}
		before := plan.CanonicalJSON(args)
		once, coercions := signature.Coerce(args)
		switch twice, more := signature.Coerce(once); {
		case plan.CanonicalJSON(args) != before:
			t.Fatal("Fit changed its argument")
		case signature.Check(args) == nil && !plan.EqualValues(once, args):
			t.Fatalf("%s is valid against %s, and became %s", before, schema, plan.CanonicalJSON(once))
		case len(coercions) == 0 && plan.CanonicalJSON(once) != before:
			t.Fatalf("%s became %s, which no coercion tells", before, plan.CanonicalJSON(once))
		case len(more) > 0 || !reflect.DeepEqual(once, twice):
			t.Fatalf("against %s, first %v, then %v", schema, coercions, more)
		case !plan.EqualValues(restored(t, once, coercions), args):
			t.Fatalf("%v of %s cannot be taken back", coercions, before)
		}
		for _, c := range coercions {
			if c.Dropped {
				continue
			}
			alone := func(v any) any {
				if list, ok := v.([]any); ok && len(list) == 1 {
					return list[0]
				}
				return v
			}
			from, to := alone(c.From), alone(c.To)
			if written, ok := c.From.(string); ok && json.Valid([]byte(written)) && !plan.EqualValues(from, to) {
				from, _ = plan.DecodeValue([]byte(written))
				from = alone(from)
			}
			if text := func(v any) string { return strings.Trim(plan.CanonicalJSON(v), `"`) }; !strings.EqualFold(text(from), text(to)) && !plan.EqualValues(from, to) {
				t.Fatalf("the coercion lost something: %s", c)
			}
		}
	})
}

func TestCoercedArgumentIsAWarning(t *testing.T) {
	tool := plan.Tool{Name: "list", Server: "w", InputSchema: json.RawMessage(`{"type":"object","properties":{"max":{"type":"integer"},"name":{"type":"string"}},"additionalProperties":false}`)}
	p := []byte(`{"title":"T","steps":[{"title":"List","tool":"list","args":{"max":"7","name":7}}]}`)
	rules := plan.Rules{CheckTools: true, Catalog: plan.Catalog{tool}}
	_, faults, warnings := plan.CheckPlan(p, rules)
	if len(faults) > 0 || len(warnings) != 2 || warnings[0].Code != plan.CodeCoerced || warnings[0].Path != "/steps/0/args/max" || warnings[0].Step != "1" ||
		warnings[0].Message != `step 1 calls list with another type than it asks for; max: "7" is taken as 7` {
		t.Errorf("faults %+v, warnings %+v", faults, warnings)
	}
	rules.Strict = true
	_, faults, warnings = plan.CheckPlan(p, rules)
	if len(faults) != 2 || faults[0].Code != plan.CodeBadArgs || len(warnings) > 0 {
		t.Errorf("strict: faults %+v, warnings %+v", faults, warnings)
	}
}
