package plan_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/planning/plan"

	"pgregory.net/rapid"
)

// mustValue decodes JSON written by a test.
func mustValue(t testing.TB, text string) any {
	t.Helper()
	v, err := plan.DecodeValue([]byte(text))
	if err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return v
}

// mustPlan decodes a plan written by a test.
func mustPlan(t testing.TB, text string) plan.Plan {
	t.Helper()
	p, faults := plan.DecodePlan([]byte(text))
	if len(faults) > 0 {
		t.Fatalf("decode %s: %v", text, plan.FaultError(faults))
	}
	return p
}

func TestDecodeValue(t *testing.T) {
	for _, tt := range []struct{ name, text, want, failure string }{
		{name: "large number keeps every digit", text: `12345678901234567890.10`, want: `12345678901234567890.10`},
		{name: "number beyond any float keeps its text", text: ` 1e400 `, want: `1e400`},
		{name: "text is not HTML-escaped", text: `"<a> & b"`, want: `"<a> & b"`},
		{name: "keys are sorted", text: `{"b":1,"a":2}`, want: `{"a":2,"b":1}`},
		{name: "blank text", text: ` `, failure: "the text is empty"},
		{name: "value cut off", text: `{"a":[1,`, failure: "ends in the middle"},
		{name: "error names its position", text: "{\n \"a\": x}", failure: "line 2, column 7"},
		{name: "second value", text: `{} {}`, failure: "something follows"},
		{name: "stray bracket after the value", text: `{}]`, failure: "something follows"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, err := plan.DecodeValue([]byte(tt.text))
			if tt.failure != "" {
				if err == nil || !strings.Contains(err.Error(), tt.failure) {
					t.Fatalf("got %v, want an error with %q", err, tt.failure)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := plan.CanonicalJSON(v); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestEqualValues(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b any
		want bool
	}{
		{"order of keys does not matter", mustValue(t, `{"a":1,"b":[true,null]}`), mustValue(t, `{"b":[true,null],"a":1}`), true},
		{"order of a list matters", mustValue(t, `[1,2]`), mustValue(t, `[2,1]`), false},
		{"a number and its text differ", mustValue(t, `1`), mustValue(t, `"1"`), false},
		{"1 and 1.0 are equal", mustValue(t, `1`), mustValue(t, `1.0`), true},
		{"1500 and 1.5E+3 are equal", mustValue(t, `1500`), mustValue(t, `1.5E+3`), true},
		{"0.5 and 5e-1 are equal", mustValue(t, `0.5`), mustValue(t, `5e-1`), true},
		{"zero has no sign and no exponent", mustValue(t, `-0.0e7`), mustValue(t, `0`), true},
		{"sign matters", mustValue(t, `-1`), mustValue(t, `1`), false},
		{"different numbers with the same float", mustValue(t, `12345678901234567890`), mustValue(t, `12345678901234567891`), false},
		{"huge exponents are not expanded", mustValue(t, `1e999999999999`), mustValue(t, `10e999999999998`), true},
		{"a Go number equals the JSON number of its value", 3, json.Number("3.0"), true},
		{"null is not an empty list", nil, []any{}, false},
		{"null is not an empty object", nil, map[string]any{}, false},
		{"a missing field is not null", mustValue(t, `{}`), mustValue(t, `{"a":null}`), false},
		{"other Go types are compared by their JSON", []string{"a"}, []string{"a"}, true},
		{"false is not null", false, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := plan.EqualValues(tt.a, tt.b); got != tt.want {
				t.Errorf("EqualValues(%v, %v) = %t", tt.a, tt.b, got)
			}
			if got := plan.EqualValues(tt.b, tt.a); got != tt.want {
				t.Errorf("EqualValues(%v, %v) = %t with the sides swapped", tt.b, tt.a, got)
			}
		})
	}
}

func TestCanonicalJSONDescribesUnencodableValues(t *testing.T) {
	if got := plan.CanonicalJSON(func() {}); !json.Valid([]byte(got)) {
		t.Errorf("got %s, which is not JSON", got)
	}
}

func TestPlanJSON(t *testing.T) {
	p := plan.Plan{
		ID: "a-1", Title: "T", Goal: "<g>", Variables: map[string]any{"n": json.Number("1e400")}, OnFailure: plan.OnFailureSkip,
		Steps: []plan.Step{
			{
				Index: "1", Title: "one", Tool: "fs.read", Args: map[string]any{}, ResultVariable: "r", ExpectedOutcome: "e",
				Checks:    []plan.Check{{Title: "c", Tool: "fs.read", Args: map[string]any{}, Expect: "len(result) > 0", Extra: map[string]any{"why": "x"}}, {Expect: "r.a < 1"}},
				OnFailure: plan.OnFailureAbort, Timeout: 90 * time.Second, Retries: 2, Gate: true, Synthesize: true, Extra: map[string]any{"x": "y", "index": "9"},
			},
			{Index: "2", Title: "two", Executor: plan.ExecutorAgent, Profile: "tester", DependsOn: []string{"1"}},
		},
		Acceptance: []plan.Check{{Title: "goal", Expect: "r.ok"}},
		Milestones: []plan.Milestone{{Title: "m", Steps: []string{"1"}, Extra: map[string]any{"due": "soon"}}},
		Risks:      []string{"r"},
		Extra:      map[string]any{"author": "someone"},
	}
	const want = `{"id":"a-1","title":"T","goal":"<g>","variables":{"n":1e400},"on_failure":"skip","steps":[` +
		`{"index":"1","title":"one","executor":"tool","tool":"fs.read","args":{},"depends_on":[],"result_variable":"r","expected_outcome":"e","check":[{"title":"c","tool":"fs.read","args":{},"expect":"len(result) > 0","why":"x"},{"expect":"r.a < 1"}],"on_failure":"abort","timeout":"1m30s","retries":2,"gate":true,"synthesize":true,"x":"y"},` +
		`{"index":"2","title":"two","executor":"agent","profile":"tester","depends_on":["1"]}],"acceptance":[{"title":"goal","expect":"r.ok"}],` +
		`"milestones":[{"title":"m","steps":["1"],"due":"soon"}],"risks":["r"],"author":"someone"}`
	data, err := plan.EncodeJSON(p)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
	var back plan.Plan
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if again, _ := plan.EncodeJSON(back); string(again) != want {
		t.Errorf("after reading and writing again: got %s", again)
	}
}

func TestEmptyPlanAndStepReadBack(t *testing.T) {
	data, err := plan.EncodeJSON(struct {
		Plan plan.Plan
		Step plan.Step
	}{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"Plan":{"title":"","steps":[]},"Step":{"title":"","executor":"tool","depends_on":[]}}`
	if string(data) != want {
		t.Errorf("got %s", data)
	}
	var back struct {
		Plan plan.Plan
		Step plan.Step
	}
	if err := json.Unmarshal(data, &back); err != nil {
		t.Error(err)
	}
}

func TestUnencodableValuesAreErrors(t *testing.T) {
	bad := map[string]any{"f": func() {}}
	for _, v := range []any{
		plan.Plan{Variables: bad},
		plan.Plan{Steps: []plan.Step{{Index: "1", Args: bad}}},
		plan.Plan{Milestones: []plan.Milestone{{Extra: bad}}},
		plan.Plan{Acceptance: []plan.Check{{Args: bad}}},
	} {
		if data, err := plan.EncodeJSON(v); err == nil {
			t.Errorf("got %s and no error", data)
		}
	}
}

func TestUnmarshalReturnsFirstFault(t *testing.T) {
	var p plan.Plan
	var invalid *plan.InvalidPlanError
	if err := json.Unmarshal([]byte(`{"title":1,"risks":2}`), &p); !errors.As(err, &invalid) || len(invalid.Faults) != 1 || invalid.Faults[0].Path != "/title" {
		t.Errorf("plan: got %v", err)
	}
	var s plan.Step
	if err := json.Unmarshal([]byte(`{"gate":"yes"}`), &s); !errors.As(err, &invalid) || invalid.Faults[0].Path != "/gate" {
		t.Errorf("step: got %v", err)
	}
}

func TestJournalKeepsUnknownFieldsNamedLikeChecks(t *testing.T) {
	const step = `{"index":"1","title":"a","executor":"self","depends_on":[],"check":[{"expect":"ok"},"by hand"]}`
	const text = `{"title":"T","goal":"g","steps":[` + step + `],"acceptance":"the tests pass"}`
	var p plan.Plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	if data, err := plan.EncodeJSON(p); err != nil || string(data) != text || p.Acceptance != nil || p.Steps[0].Checks != nil {
		t.Errorf("got %s, %v", data, err)
	}
	var s plan.Step
	if err := json.Unmarshal([]byte(step), &s); err != nil || s.Extra["check"] == nil {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestCheckIsNamedByItsTitleOrItsExpression(t *testing.T) {
	if got := (plan.Check{Title: "tests\npass", Expect: "result.ok"}).Name(); strings.Contains(got, "\n") || !strings.HasPrefix(got, "tests") {
		t.Errorf("got %q", got)
	}
	if got := (plan.Check{Expect: "result.ok"}).Name(); got != "result.ok" {
		t.Errorf("got %q", got)
	}
}

// drawJSON draws any JSON value, including numbers of any size.
func drawJSON(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 6
		if depth == 0 {
			kinds = 4
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.Bool().Draw(t, "bool")
		case 1:
			return rapid.SampledFrom([]any{nil, "", "${a}", "$${b}", "<&>", "é\u2028", "$"}).Draw(t, "text")
		case 2:
			return json.Number(rapid.SampledFrom([]string{
				"0", "-0", "1.0", "1e400", "12345678901234567890", "-3.14000", "1E-7", "100",
			}).Draw(t, "number"))
		case 3:
			return rapid.String().Filter(func(s string) bool { return json.Valid([]byte(plan.CanonicalJSON(s))) }).Draw(t, "any text")
		case 4:
			return rapid.SliceOfN(drawJSON(depth-1), 0, 3).Draw(t, "list")
		}
		return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "x/y", "~"}), drawJSON(depth-1), 0, 3).Draw(t, "object")
	})
}

func TestUnknownFieldsAndDigitsSurviveRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unknown := rapid.MapOfN(rapid.SampledFrom([]string{"_x", "note", "x-y", "Title"}), drawJSON(2), 0, 4)
		step := unknown.Draw(t, "unknown in the step")
		step["index"], step["title"], step["executor"], step["depends_on"] = "1", "s", "self", []any{}
		step["args"] = rapid.MapOfN(rapid.SampledFrom([]string{"p", "q"}), drawJSON(2), 0, 2).Draw(t, "args")
		checks := rapid.SliceOfN(drawCheck(unknown), 1, 3)
		object := unknown.Draw(t, "unknown in the plan")
		step["check"], object["acceptance"] = checks.Draw(t, "checks"), checks.Draw(t, "acceptance")
		object["title"], object["goal"], object["steps"] = "p", "g", []any{step}
		if variables := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,4}`), drawJSON(2), 1, 3).Draw(t, "variables"); len(variables) > 0 {
			object["variables"] = variables
		}
		written := plan.CanonicalJSON(object)

		p, faults := plan.DecodePlan([]byte(written))
		if len(faults) > 0 {
			t.Fatalf("%s: %v", written, plan.FaultError(faults))
		}
		data, err := plan.EncodeJSON(p)
		if err != nil {
			t.Fatal(err)
		}
		back, err := plan.DecodeValue(data)
		if err != nil {
			t.Fatal(err)
		}
		// Compared as text, because the digits must stay, too.
		if got := plan.CanonicalJSON(back); got != plan.CanonicalJSON(mustRapidValue(t, written)) {
			t.Fatalf("read  %s\nwrote %s", written, got)
		}
	})
}

// drawCheck draws a check with unknown fields.
func drawCheck(unknown *rapid.Generator[map[string]any]) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		check := unknown.Draw(t, "unknown in the check")
		check["expect"] = rapid.SampledFrom([]string{"result.failed == 0", "r.a < 1", `result contains "<b>"`, "("}).Draw(t, "expect")
		if rapid.Bool().Draw(t, "with a tool") {
			check["title"], check["tool"] = "c", "fs.read"
			check["args"] = rapid.MapOfN(rapid.SampledFrom([]string{"p", "q"}), drawJSON(2), 0, 2).Draw(t, "args")
		}
		return check
	})
}

func mustRapidValue(t *rapid.T, text string) any {
	v, err := plan.DecodeValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestValuesReadTwiceAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawJSON(3).Draw(t, "a"), drawJSON(3).Draw(t, "b")
		if !plan.EqualValues(a, mustRapidValue(t, plan.CanonicalJSON(a))) {
			t.Fatalf("%v is not equal to itself", a)
		}
		if plan.CanonicalJSON(a) == plan.CanonicalJSON(b) && !plan.EqualValues(a, b) {
			t.Fatalf("%v and %v have the same text but are not equal", a, b)
		}
	})
}

func TestDecodePlanNeverPanics(t *testing.T) {
	shapes := []string{"id", "title", "goal", "variables", "on_failure", "steps", "acceptance", "milestones", "risks"}
	inner := []string{
		"index", "title", "executor", "tool", "profile", "args", "tool_calls", "depends_on", "result_variable",
		"expected_outcome", "on_failure", "timeout", "retries", "gate", "synthesize", "check", "steps",
	}
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.MapOf(rapid.SampledFrom(shapes), drawJSON(2)).Draw(t, "plan")
		if rapid.Bool().Draw(t, "with steps") {
			step := rapid.MapOf(rapid.SampledFrom(inner), drawJSON(2))
			check := rapid.MapOf(rapid.SampledFrom([]string{"title", "expect", "tool", "args", "x"}), drawJSON(1))
			var list []any
			for range rapid.IntRange(0, 4).Draw(t, "steps") {
				drawn := step.Draw(t, "step")
				if rapid.Bool().Draw(t, "with checks") {
					drawn["check"] = rapid.SliceOfN(check, 0, 3).Draw(t, "checks")
				}
				list = append(list, drawn)
			}
			object["steps"] = list
		}
		data := plan.CanonicalJSON(object)
		p, faults := plan.DecodePlan([]byte(data))
		for _, f := range faults {
			if f.Code == "" || f.Message == "" {
				t.Fatalf("got a fault without a message: %+v", f)
			}
		}
		_, all, warnings := plan.CheckPlan([]byte(data), plan.Rules{Planned: true})
		for _, f := range slices.Concat(all, warnings) {
			if f.Message == "" {
				t.Fatalf("got a fault without a message: %+v", f)
			}
		}
		if len(faults) > 0 {
			return
		}
		requireSameAfterReading(t, p)
	})
}

func TestJournalKeepsUnknownFieldsNamedLikeConditions(t *testing.T) {
	for name, text := range map[string]string{
		"when":                   `{"title":"T","steps":[{"title":"A","tool":"a","when":7}]}`,
		"until":                  `{"title":"T","steps":[{"title":"A","tool":"a","until":"soon"}]}`,
		"until with other times": `{"title":"T","steps":[{"title":"A","tool":"a","until":{"expect":"x","every":"soon"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var p plan.Plan
			if err := json.Unmarshal([]byte(text), &p); err != nil {
				t.Fatal(err)
			}
			field, _, _ := strings.Cut(name, " ")
			if s := p.Steps[0]; s.Extra[field] == nil || s.When != "" || s.Until != nil {
				t.Errorf("got %+v", s)
			}
		})
	}
}
