package plan_test

import (
	"encoding/json"
	"reflect"
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

func TestScalarsAreCoercedWithoutLoss(t *testing.T) {
	for name, c := range map[string]struct{ schema, args, want string }{
		"text as integer":                 {`{"type":"integer"}`, `"7"`, `7`},
		"text as number":                  {`{"type":"number"}`, `"-1.5"`, `-1.5`},
		"text as boolean":                 {`{"type":"boolean"}`, `"true"`, `true`},
		"integer as text":                 {`{"type":"string"}`, `7`, `"7"`},
		"boolean as text":                 {`{"type":"string"}`, `false`, `"false"`},
		"every digit of a number is kept": {`{"type":"integer"}`, `"12345678901234567890"`, `12345678901234567890`},
		"every digit in text is kept":     {`{"type":"string"}`, `12345678901234567890`, `"12345678901234567890"`},
		"leading zeros":                   {`{"type":"integer"}`, `"007"`, ``},
		"trailing zeros":                  {`{"type":"number"}`, `"1.50"`, ``},
		"exponent":                        {`{"type":"number"}`, `"1e3"`, ``},
		"negative zero":                   {`{"type":"integer"}`, `"-0"`, ``},
		"plus sign":                       {`{"type":"integer"}`, `"+7"`, ``},
		"leading blank":                   {`{"type":"integer"}`, `" 7"`, ``},
		"capital letter":                  {`{"type":"boolean"}`, `"True"`, ``},
		"one is not true":                 {`{"type":"boolean"}`, `1`, ``},
		"yes is not true":                 {`{"type":"boolean"}`, `"yes"`, ``},
		"fraction as integer":             {`{"type":"integer"}`, `"7.5"`, ``},
		"empty text":                      {`{"type":"integer"}`, `""`, ``},
		"null as text":                    {`{"type":"string"}`, `null`, ``},
		"list as text":                    {`{"type":"string"}`, `[7]`, ``},
		"matching value stays":            {`{"type":["string","integer"]}`, `"7"`, `"7"`},
		"enum of numbers":                 {`{"enum":[7,8]}`, `"7"`, `7`},
		"enum of texts":                   {`{"type":"string","enum":["7","8"]}`, `7`, `"7"`},
		"value outside the enum":          {`{"enum":[7,8]}`, `"9"`, ``},
		"constant":                        {`{"const":true}`, `"true"`, `true`},
		"within the maximum":              {`{"type":"integer","maximum":9}`, `"7"`, `7`},
		"above the maximum":               {`{"type":"integer","maximum":5}`, `"7"`, ``},
		"matching pattern":                {`{"type":"string","pattern":"^[0-9]+$"}`, `7`, `"7"`},
		"other pattern":                   {`{"type":"string","pattern":"^x"}`, `7`, ``},
		"list item":                       {`{"type":"array","items":{"type":"integer"}}`, `["1",2,"3"]`, `[1,2,3]`},
		"object field":                    {`{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":"7","m":"8"}`, `{"m":"8","n":7}`},
		"schema reference":                {`{"$ref":"#/$defs/n"}`, `"7"`, `7`},
		"anyOf with null":                 {`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `"7"`, `7`},
		"anyOf with text":                 {`{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `"7"`, `"7"`},
		"oneOf with both types":           {`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `"7"`, ``},
		"matching form of several": {
			`{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"},"k":{"const":"a"}},"required":["k"]},{"type":"object","properties":{"n":{"type":"boolean"},"k":{"const":"b"}},"required":["k"]}]}`,
			`{"k":"a","n":"7"}`, `{"k":"a","n":7}`,
		},
		"two fields of one form": {
			`{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"},"m":{"type":"integer"}}},{"type":"null"}]}`, `{"n":"7","m":"8"}`, `{"m":8,"n":7}`,
		},
		"reference to a variable": {`{"type":"integer"}`, `"${v}"`, ``},
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
			fitted, coercions := signature.Fit(args)
			want := c.want
			if want == "" {
				want = c.args
			}
			if got := plan.CanonicalJSON(fitted); got != `{"v":`+want+`}` {
				t.Errorf("got %s, want %s", got, want)
			}
			if changed := plan.CanonicalJSON(fitted) != before; changed != (len(coercions) > 0) {
				t.Errorf("got the coercions %v", coercions)
			}
			if plan.CanonicalJSON(args) != before {
				t.Error("Fit changed its argument")
			}
			if c.want == "" {
				return
			}
			if err := signature.Check(fitted); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFitIsIdempotent(t *testing.T) {
	types := []string{"string", "integer", "number", "boolean"}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(types).Draw(t, "type")
		value := rapid.SampledFrom([]string{`"7"`, `7`, `"true"`, `true`, `"x"`, `1.5`, `"1.5"`, `"007"`, `null`, `"1e9"`, `1e9`, `1e99999`}).Draw(t, "value")
		signature, err := plan.NewSignature(plan.Tool{Name: "it", InputSchema: json.RawMessage(`{"properties":{"v":{"type":"` + kind + `"}}}`)})
		if err != nil {
			t.Fatal(err)
		}
		once, first := signature.Fit(decodedArgs(t, `{"v":`+value+`}`))
		twice, second := signature.Fit(once)
		if len(second) > 0 || !reflect.DeepEqual(once, twice) || len(first) > 1 {
			t.Fatalf("first %v, then %v", first, second)
		}
		if len(first) == 1 && strings.Trim(plan.CanonicalJSON(first[0].From), `"`) != strings.Trim(plan.CanonicalJSON(first[0].To), `"`) {
			t.Fatalf("the coercion lost something: %s", first[0])
		}
	})
}

func TestCoercedArgumentIsAWarning(t *testing.T) {
	tool := plan.Tool{Name: "list", Server: "w", InputSchema: json.RawMessage(`{"type":"object","properties":{"max":{"type":"integer"},"name":{"type":"string"}},"additionalProperties":false}`)}
	p := []byte(`{"title":"T","steps":[{"title":"List","tool":"list","args":{"max":"7","name":7}}]}`)
	rules := plan.Rules{CheckTools: true, Catalogue: plan.Catalogue{tool}}
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
