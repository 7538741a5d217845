package plan_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"replan/planning/plan"

	"pgregory.net/rapid"
)

// decodedArgs reads JSON with every digit.
func decodedArgs(t interface{ Fatal(...any) }, text string) map[string]any {
	v, err := plan.DecodeValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object, _ := v.(map[string]any)
	return object
}

func TestScalarsAreFittedWithoutLoss(t *testing.T) {
	for name, c := range map[string]struct{ schema, args, want string }{
		"a text for an integer":                {`{"type":"integer"}`, `"7"`, `7`},
		"a text for a number":                  {`{"type":"number"}`, `"-1.5"`, `-1.5`},
		"a text for a boolean":                 {`{"type":"boolean"}`, `"true"`, `true`},
		"an integer for a text":                {`{"type":"string"}`, `7`, `"7"`},
		"a boolean for a text":                 {`{"type":"string"}`, `false`, `"false"`},
		"every digit is kept in a number":      {`{"type":"integer"}`, `"12345678901234567890"`, `12345678901234567890`},
		"every digit is kept in a text":        {`{"type":"string"}`, `12345678901234567890`, `"12345678901234567890"`},
		"zeros in front would be lost":         {`{"type":"integer"}`, `"007"`, ``},
		"zeros at the end would be lost":       {`{"type":"number"}`, `"1.50"`, ``},
		"an exponent is written otherwise":     {`{"type":"number"}`, `"1e3"`, ``},
		"a minus before nothing":               {`{"type":"integer"}`, `"-0"`, ``},
		"a plus sign would be lost":            {`{"type":"integer"}`, `"+7"`, ``},
		"a blank would be lost":                {`{"type":"integer"}`, `" 7"`, ``},
		"a capital would be lost":              {`{"type":"boolean"}`, `"True"`, ``},
		"one is not true":                      {`{"type":"boolean"}`, `1`, ``},
		"yes is not true":                      {`{"type":"boolean"}`, `"yes"`, ``},
		"a fraction is no integer":             {`{"type":"integer"}`, `"7.5"`, ``},
		"empty text is nothing":                {`{"type":"integer"}`, `""`, ``},
		"null is no text":                      {`{"type":"string"}`, `null`, ``},
		"a list is no text":                    {`{"type":"string"}`, `[7]`, ``},
		"a fitting value stays":                {`{"type":["string","integer"]}`, `"7"`, `"7"`},
		"an enum of numbers":                   {`{"enum":[7,8]}`, `"7"`, `7`},
		"an enum of texts":                     {`{"type":"string","enum":["7","8"]}`, `7`, `"7"`},
		"a value that is not in the enum":      {`{"enum":[7,8]}`, `"9"`, ``},
		"a constant":                           {`{"const":true}`, `"true"`, `true`},
		"a bound that the other reading keeps": {`{"type":"integer","maximum":9}`, `"7"`, `7`},
		"a bound that the other reading lacks": {`{"type":"integer","maximum":5}`, `"7"`, ``},
		"a pattern that the text fits":         {`{"type":"string","pattern":"^[0-9]+$"}`, `7`, `"7"`},
		"a pattern that it does not fit":       {`{"type":"string","pattern":"^x"}`, `7`, ``},
		"an item of a list":                    {`{"type":"array","items":{"type":"integer"}}`, `["1",2,"3"]`, `[1,2,3]`},
		"a field of an object":                 {`{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":"7","m":"8"}`, `{"m":"8","n":7}`},
		"through a reference":                  {`{"$ref":"#/$defs/n"}`, `"7"`, `7`},
		"an optional of Python":                {`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `"7"`, `7`},
		"a choice that takes the text":         {`{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `"7"`, `"7"`},
		"a choice that takes both readings":    {`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `"7"`, ``},
		"the form that fits among several": {
			`{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"},"k":{"const":"a"}},"required":["k"]},{"type":"object","properties":{"n":{"type":"boolean"},"k":{"const":"b"}},"required":["k"]}]}`,
			`{"k":"a","n":"7"}`, `{"k":"a","n":7}`,
		},
		"two fields of one form": {
			`{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"},"m":{"type":"integer"}}},{"type":"null"}]}`, `{"n":"7","m":"8"}`, `{"m":8,"n":7}`,
		},
		"a reference is left alone": {`{"type":"integer"}`, `"${v}"`, ``},
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
				t.Errorf("told %v", coercions)
			}
			if plan.CanonicalJSON(args) != before {
				t.Error("the args themselves changed")
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

func TestFittingTwiceChangesNothing(t *testing.T) {
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
			t.Fatalf("%v, then %v", first, second)
		}
		if len(first) == 1 && strings.Trim(plan.CanonicalJSON(first[0].From), `"`) != strings.Trim(plan.CanonicalJSON(first[0].To), `"`) {
			t.Fatalf("something was lost: %s", first[0])
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
