package plan_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"

	"pgregory.net/rapid"
)

// checkTools are tools for checks: some that only read, and one with effects.
var checkTools = plan.Catalog{
	{Name: "test.run", Server: "workspace", OutputSchema: json.RawMessage(`{"type":"object","required":["passed"],"properties":{
		"passed":{"type":"boolean"},"total":{"type":"integer"},"failed":{"type":["null","array"],"items":{"type":"string"}},
		"failures":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"line":{"type":"integer"}}}}}}`)},
	{
		Name: "fs.read", Server: "workspace", ReadOnly: true,
		InputSchema:  json.RawMessage(`{"type":"object","required":["path"],"additionalProperties":false,"properties":{"path":{"type":"string"},"lines":{"type":"integer"}}}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
	},
	{Name: "get", Server: "web", ReadOnly: true, SeenSchema: json.RawMessage(`{"type":["object"],"properties":{"id":{"type":["number"]}}}`)},
	{Name: "say", Server: "web", ReadOnly: true, SeenSchema: json.RawMessage(`{"type":["string"]}`)},
	{Name: "search", Server: "web", ReadOnly: true},
	{Name: "search", Server: "code", ReadOnly: true},
}

// planWithChecks is a plan with a step of each executor, of which the first has the
// checks.
func planWithChecks(checks, acceptance string) []byte {
	return []byte(`{"title":"T","variables":{"limit":3,"names":{"old":"a"}},"steps":[
		{"title":"Run","tool":"test.run","args":{},"result_variable":"tests","check":` + checks + `},
		{"title":"Get","tool":"get","args":{},"result_variable":"page"},
		{"title":"Say","executor":"self","result_variable":"said"},
		{"title":"Ask","executor":"agent","profile":"p","result_variable":"told"}],
		"acceptance":` + acceptance + `}`)
}

func TestChecksAreHeldAgainstWhatIsKnown(t *testing.T) {
	const read = `"tool":"fs.read","args":{"path":"a"}`
	for name, c := range map[string]struct{ check, want string }{
		"field of the step's own result":     {`{"expect":"result.passed"}`, ""},
		"own result by its name":             {`{"expect":"tests.total > limit"}`, ""},
		"list that may be null":              {`{"expect":"result.failed == nil or len(result.failed) == 0"}`, ""},
		"items of a list":                    {`{"expect":"all(result.failures, .line > 3)"}`, ""},
		"position in a list":                 {`{"expect":"result.failures[0].name startsWith \"Test\""}`, ""},
		"result of another step":             {`{"expect":"told.anything[0].at.all == names.old and page.id == 1"}`, ""},
		"args of the step":                   {`{"expect":"result.passed or args.path == \"x\""}`, ""},
		"result of a tool":                   {`{"title":"file holds it",` + read + `,"expect":"result.text contains names.old"}`, ""},
		"reference to the step's own result": {`{"tool":"fs.read","args":{"path":"${tests.failures[0].name}"},"expect":"result.text != \"\""}`, ""},
		"result by a bare name of two tools": {`{"tool":"search","args":{},"expect":"result.n > 1"}`, "ambiguous_tool /tool"},

		"mistyped name":                 {`{"expect":"resutl.passed"}`, `bad_expression /expect: column 1: there is no name "resutl", only args, limit, names, page, result, said, tests and told; did you mean result?`},
		"mistyped field":                {`{"expect":"tests.passt"}`, `bad_expression /expect: column 7: there is no field "passt", only failed, failures, passed and total`},
		"field of another tool":         {`{` + read + `,"expect":"result.passed"}`, `bad_expression /expect: column 8: there is no field "passed", only text`},
		"field of an item":              {`{"expect":"result.failures[0].nam == \"a\""}`, `bad_expression /expect: column 20: there is no field "nam", only line and name`},
		"list compared with a number":   {`{"expect":"result.failed == 0"}`, `bad_expression /expect: column 15: invalid operation: == (mismatched types a list and int)`},
		"number compared with text":     {`{"expect":"result.total == \"3\""}`, `bad_expression /expect: column 14: invalid operation`},
		"field of a variable":           {`{"expect":"result.total > names.new"}`, `bad_expression /expect: column 22: there is no field "new", only old`},
		"no condition":                  {`{"expect":"result.total"}`, `bad_expression /expect: the expression gives int, and it must give true or false`},
		"half an expression":            {`{"expect":"result.total >"}`, `bad_expression /expect: column 14:`},
		"second line":                   {`{"expect":"result.passed and\n  tests.x"}`, `bad_expression /expect: line 2, column 9:`},
		"too long an expression":        {`{"expect":"` + strings.Repeat("x", 5000) + `"}`, `bad_expression /expect: the expression has 5000 bytes`},
		"item outside of a loop":        {`{"expect":"result.passed and item == 1"}`, `bad_expression /expect: column 19: there is no name "item"`},
		"no expect":                     {`{"title":"passes"}`, `bad_expression : the check "passes" of step 1 has no expect`},
		"blank expect":                  {`{"expect":"  "}`, `bad_expression : `},
		"mistyped expect":               {`{"expekt":"result.passed"}`, `bad_expression : a check of step 1 has no expect: unknown field expekt; did you mean expect?`},
		"unknown tool":                  {`{"tool":"fs.reed","args":{},"expect":"result.text == \"\""}`, `unknown_tool /tool: the check "result.text == \"\"" of step 1: there is no tool "fs.reed"; did you mean fs.read?`},
		"tool with effects":             {`{"title":"w","tool":"test.run","args":{},"expect":"result.passed"}`, `bad_type /tool: the check "w" of step 1 calls test.run, which is not marked as a tool that only reads`},
		"bad args":                      {`{"tool":"fs.read","args":{"path":["a","b"]},"expect":"result.text == \"a\""}`, `bad_args /args/path: `},
		"missing args":                  {`{"tool":"fs.read","expect":"result.text == \"a\""}`, `bad_args : `},
		"incomplete args":               {`{"tool":"fs.read","args":{},"expect":"result.text == \"a\""}`, `bad_args /args: `},
		"args without a tool":           {`{"args":{},"toool":"x","expect":"result.passed"}`, `missing_tool : the check "result.passed" of step 1 has args and names no tool: unknown field toool; did you mean tool?`},
		"undefined variable in args":    {`{"tool":"fs.read","args":{"path":"${no}"},"expect":"result.text == \"a\""}`, `unknown_variable /args/path: the check "result.text == \"a\"" of step 1 refers to ${no}, which is not defined; defined: limit, names, page, said, tests and told`},
		"unknown field in args":         {`{"tool":"fs.read","args":{"path":"${tests.file}"},"expect":"result.text == \"a\""}`, `unknown_field /args/path: `},
		"always true":                   {`{"expect":"result.passed or true"}`, `vacuous_check /expect: the check "result.passed or true" of step 1 gives the same answer whatever happens`},
		"no name at all":                {`{"expect":"1 < 2"}`, `vacuous_check /expect: `},
		"values of the plan alone":      {`{"expect":"limit == 3 and args.x == 1"}`, `vacuous_check /expect: the check "limit == 3 and args.x == 1" of step 1 looks only at values that are set before the run`},
		"words of a model alone":        {`{"expect":"said contains \"done\" and told != \"\""}`, `vacuous_check /expect: the check "said contains \"done\" and told != \"\"" of step 1 looks only at a model's own words: add a tool that only reads`},
		"words of a model, and a value": {`{"expect":"said == names.old"}`, `vacuous_check /expect: `},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults, warnings := plan.CheckPlan(planWithChecks("["+c.check+"]", "[]"), plan.Rules{CheckTools: true, Catalog: checkTools, PartialArgs: true})
			for _, w := range warnings {
				if w.Code == plan.CodeBadExpression || w.Code == plan.CodeArgsFromModel {
					t.Errorf("got the warning %s", w.Message)
				}
			}
			requireFault(t, faults, "/steps/0/check/0", "1", c.want)
		})
	}
}

// requireFault holds the faults of a plan against the one that is wanted, as its code, its
// path below a place, and the beginning of its message; "" wants none.
func requireFault(t *testing.T, faults []plan.Fault, below, step, want string) {
	t.Helper()
	if want == "" {
		if len(faults) > 0 {
			t.Errorf("got %+v", faults)
		}
		return
	}
	place, message, _ := strings.Cut(want, ": ")
	code, path, _ := strings.Cut(place, " ")
	if len(faults) != 1 || faults[0].Code != code || faults[0].Path != below+path || faults[0].Step != step || !strings.Contains(faults[0].Message, message) {
		t.Errorf("got %+v\nwant %s", faults, want)
	}
}

func TestAcceptanceIsHeldAgainstWhatIsKnown(t *testing.T) {
	for name, c := range map[string]struct{ check, want string }{
		"result of a step":              {`{"title":"tests pass","expect":"tests.passed"}`, ""},
		"result of a tool":              {`{"tool":"fs.read","args":{"path":"${said}"},"expect":"result.text contains told"}`, ""},
		"result without a tool":         {`{"title":"ok","expect":"result.passed"}`, `bad_expression /0/expect: the check "ok" of the acceptance names result, and it calls no tool that would have one`},
		"args":                          {`{"expect":"tests.passed and args.x == 1"}`, `bad_expression /0/expect: column 18: there is no name "args", only limit`},
		"words of a model":              {`{"expect":"said contains \"done\""}`, `vacuous_check /0/expect: `},
		"values of the plan":            {`{"expect":"limit > 1"}`, `vacuous_check /0/expect: `},
		"undefined variable":            {`{"tool":"fs.read","args":{"path":"${no}"},"expect":"result.text != \"\""}`, `unknown_variable /0/args/path: `},
		"no expect and no title":        {`{}`, `bad_expression /0: a check of the acceptance has no expect`},
		"more checks than there may be": {strings.TrimSuffix(strings.Repeat(`{"expect":"tests.passed"},`, 21), ","), `bad_type : the acceptance of the plan has 21 checks, and 20 are the most`},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults, _ := plan.CheckPlan(planWithChecks("null", "["+c.check+"]"), plan.Rules{CheckTools: true, Catalog: checkTools})
			requireFault(t, faults, "/acceptance", "", c.want)
		})
	}
}

func TestChecksOfWordsAreVacuous(t *testing.T) {
	for _, c := range []struct {
		step, check string
		vacuous     bool
	}{
		{`"executor":"self"`, `{"expect":"result contains \"done\""}`, true},
		{`"executor":"self","result_variable":"own"`, `{"expect":"own == \"done\""}`, true},
		{`"executor":"agent","profile":"p"`, `{"expect":"result.done"}`, true},
		{`"executor":"self"`, `{"expect":"result contains tests.failures[0].name"}`, false},
		{`"executor":"self"`, `{"tool":"fs.read","args":{"path":"a"},"expect":"result.text == \"done\""}`, false},
	} {
		data := `{"title":"T","steps":[{"title":"Run","tool":"test.run","args":{},"result_variable":"tests"},{"title":"Say",` + c.step + `,"check":` + c.check + `}]}`
		_, faults, _ := plan.CheckPlan([]byte(data), plan.Rules{CheckTools: true, Catalog: checkTools})
		var want []string
		if c.vacuous {
			want = []string{"vacuous_check /steps/1/check/expect 2"}
		}
		if got := stepsAt(faults); !slices.Equal(got, want) {
			t.Errorf("%s of %s: got %q", c.check, c.step, got)
		}
	}
}

func TestWhatEarlierRunsHaveSeenRefusesNoCheck(t *testing.T) {
	for check, want := range map[string]string{
		`{"expect":"page.ident == 1"}`:                      `the check "page.ident == 1" of step 1 may have no answer: column 6: there is no field "ident", only id; that is what earlier runs have seen, the server declares nothing`,
		`{"tool":"get","args":{},"expect":"result.id > 1"}`: "",
		`{"tool":"say","args":{},"expect":"result.id > 1"}`: "",
	} {
		_, faults, warnings := plan.CheckPlan(planWithChecks(check, "[]"), plan.Rules{CheckTools: true, Catalog: checkTools})
		at := slices.IndexFunc(warnings, func(w plan.Fault) bool { return w.Code == plan.CodeBadExpression })
		if len(faults) > 0 || at >= 0 != (want != "") || at >= 0 && warnings[at].Message != want {
			t.Errorf("%s: got %v and %v", check, faults, warnings)
		}
	}
}

func TestWithoutToolsOnlyFormOfChecksIsHeld(t *testing.T) {
	data := planWithChecks(`[{"tool":"no.such","args":{"x":1},"expect":"result.zz"},{"expect":"result.zz == 1"}]`, `[{"expect":"tests.zz and sadi"}]`)
	_, faults, _ := plan.CheckPlan(data, plan.Rules{Catalog: checkTools})
	if got := faultsAt(faults); !slices.Equal(got, []string{"bad_expression /acceptance/0/expect"}) {
		t.Errorf("got %q", got)
	}
}

func TestKnownResultTypesNamesOfChecks(t *testing.T) {
	p := mustPlan(t, string(planWithChecks("null", `[{"expect":"told.ok and tests.passed"}]`)))
	rules := plan.Rules{CheckTools: true, Catalog: checkTools, Known: map[string]any{"told": map[string]any{"ok": true}}}
	if faults, _ := plan.Validate(p, rules); len(faults) > 0 {
		t.Error(plan.FaultError(faults))
	}
	rules.Known["told"] = map[string]any{"no": true}
	if faults, _ := plan.Validate(p, rules); len(faults) != 1 || faults[0].Code != plan.CodeBadExpression {
		t.Errorf("got %v", faults)
	}
	rules.Known["told"] = plan.Placeholder("<told>")
	if faults, _ := plan.Validate(p, rules); len(faults) > 0 {
		t.Error(plan.FaultError(faults))
	}
}

func TestArgsOfChecksAreFitted(t *testing.T) {
	data := planWithChecks(`{"title":"c","tool":"fs.read","args":{"path":7},"expect":"result.text != \"\""}`, "[]")
	rules := plan.Rules{CheckTools: true, Catalog: checkTools}
	_, faults, warnings := plan.CheckPlan(data, rules)
	if got := faultsAt(warnings); len(faults) > 0 || !slices.Equal(got, []string{"coerced /steps/0/check/args/path"}) {
		t.Errorf("got %v and %v", faults, got)
	}
	rules.Strict = true
	if _, faults, _ = plan.CheckPlan(data, rules); !slices.Equal(faultsAt(faults), []string{"bad_args /steps/0/check/args/path"}) {
		t.Errorf("got %v", faults)
	}
}

func TestCheckFieldsAreWarnedAbout(t *testing.T) {
	data := planWithChecks(`[{"titel":"x","title":"a\nb","expect":"result.passed"}]`, "[]")
	_, faults, warnings := plan.CheckPlan(data, plan.Rules{CheckTools: true, Catalog: checkTools})
	if got := faultsAt(warnings); len(faults) > 0 || !slices.Equal(got, []string{"unknown_field /steps/0/check/0/titel", "multiline_title /steps/0/check/0/title"}) {
		t.Errorf("got %v and %q", faults, got)
	}
}

// TestFieldsOfResultsMayBeChecked checks that no expression about a value that an output
// schema allows is refused.
func TestFieldsOfResultsMayBeChecked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		defs := map[string]any{}
		value, schema := drawResult(t, 3, defs)
		schema["$defs"] = defs
		path := "result"
		for leaf := false; !leaf; {
			switch v := value.(type) {
			case map[string]any:
				name := rapid.SampledFrom(slices.Sorted(maps.Keys(v))).Draw(t, "field")
				value, path = v[name], path+"."+name
			case []any:
				value, path = v[1], path+"[1]"
			default:
				leaf = true
			}
		}
		tools := plan.Catalog{{Name: "get", Server: "s", OutputSchema: json.RawMessage(plan.CanonicalJSON(schema))}}
		for _, expect := range []string{path + " == " + plan.CanonicalJSON(value), path + " == nil"} {
			data := fmt.Sprintf(`{"title":"T","steps":[{"title":"G","tool":"get","args":{},"check":{"expect":%q}}]}`, expect)
			if _, faults, _ := plan.CheckPlan([]byte(data), plan.Rules{CheckTools: true, Catalog: tools}); len(faults) > 0 {
				t.Fatalf("%s, against %s", faults[0].Message, tools[0].OutputSchema)
			}
		}
	})
}

func TestConditionsAreHeldAgainstWhatIsKnown(t *testing.T) {
	for name, c := range map[string]struct{ when, want string }{
		"variable":               {`limit > 2`, ""},
		"result of another step": {`tests.passed and page.id == 1`, ""},
		"mistyped name":          {`test.passed`, `bad_expression /steps/4/when: the condition of step 5 is not valid: column 1: there is no name "test"`},
		"mistyped field":         {`tests.passt`, `bad_expression /steps/4/when: the condition of step 5 is not valid: column 7: there is no field "passt"`},
		"result":                 {`result.passed`, `bad_expression /steps/4/when: the condition of step 5 is not valid: column 1: there is no name "result"`},
		"args":                   {`args.x`, `bad_expression /steps/4/when: the condition of step 5 is not valid: column 1: there is no name "args"`},
		"its own result":         {`own.passed`, `self_dependency /steps/4/when: the condition of step 5 names its own result, own`},
		"constant":               {`1 == 1`, `bad_expression /steps/4/when: the condition of step 5 gives the same answer whatever happens: name a variable or a result`},
		"no condition":           {`tests.total`, `bad_expression /steps/4/when: the condition of step 5 is not valid: the expression gives int, and it must give true or false`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(string(planWithChecks("[]", "[]")), `"profile":"p","result_variable":"told"}`,
				`"profile":"p","result_variable":"told"},{"title":"Last","tool":"test.run","args":{},"result_variable":"own","when":`+plan.CanonicalJSON(c.when)+`}`, 1)
			p, faults, _ := plan.CheckPlan([]byte(text), plan.Rules{Catalog: checkTools, CheckTools: true})
			got := ""
			for _, f := range faults {
				got += f.Code + " " + f.Path + ": " + f.Message
			}
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			if c.want != "" {
				return
			}
			if again, _ := plan.DecodePlan([]byte(plan.CanonicalJSON(p))); again.Steps[4].When != c.when {
				t.Errorf("the condition is read again as %q", again.Steps[4].When)
			}
		})
	}
}

func TestStepWaitsForTheResultsInItsCondition(t *testing.T) {
	p, _ := plan.DecodePlan([]byte(`{"title":"T","steps":[{"title":"A","tool":"a","result_variable":"a"},{"title":"B","tool":"b","when":"a.n > 1"}]}`))
	if got := plan.NewGraph(p).Dependencies("2"); !slices.Equal(got, []string{"1"}) {
		t.Errorf("step 2 waits for %v", got)
	}
}

func TestStepsThatWaitAreHeldAgainstWhatIsKnown(t *testing.T) {
	for name, c := range map[string]struct{ step, want string }{
		"a tool that only reads":  {`"tool":"fs.read","args":{"path":"a"},"until":{"expect":"result.text == 'x'","every":"1s","for":60}`, ""},
		"times left out":          {`"tool":"fs.read","args":{"path":"a"},"until":{"expect":"result.text == 'x'"}`, ""},
		"a tool with effects":     {`"tool":"test.run","args":{},"until":{"expect":"result.passed"}`, "bad_until /steps/0/until: the until of step 1 would repeat test.run"},
		"no tool":                 {`"executor":"self","until":{"expect":"result == 'x'"}`, "bad_until /steps/0/until: the until of step 1 repeats no call"},
		"calls without a break":   {`"tool":"fs.read","args":{"path":"a"},"until":{"expect":"result.text == 'x'","every":"1ms"}`, "bad_until /steps/0/until/every: the until of step 1 calls every 1ms"},
		"less time than a break":  {`"tool":"fs.read","args":{"path":"a"},"until":{"expect":"result.text == 'x'","every":"1m","for":"1s"}`, "bad_until /steps/0/until/for: the until of step 1 waits for 1s"},
		"no duration":             {`"tool":"fs.read","args":{"path":"a"},"until":{"expect":"result.text == 'x'","every":"soon"}`, "bad_until /steps/0/until/every: step 1: every must be a duration"},
		"no condition":            {`"tool":"fs.read","args":{"path":"a"},"until":{"every":"1s"}`, "bad_expression /steps/0/until: the until of step 1 has no expect"},
		"a mistyped field":        {`"tool":"fs.read","args":{"path":"a"},"until":{"expect":"result.txt == 'x'"}`, `bad_expression /steps/0/until/expect: the until of step 1 is not valid: column 8: there is no field "txt"`},
		"a condition that is set": {`"tool":"fs.read","args":{"path":"a"},"until":{"expect":"true"}`, "vacuous_check /steps/0/until/expect"},
		"no object":               {`"tool":"fs.read","args":{"path":"a"},"until":"soon"`, "bad_type /steps/0/until"},
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte(`{"title":"T","steps":[{"title":"Wait",` + c.step + `}]}`)
			p, faults, _ := plan.CheckPlan(text, plan.Rules{Catalog: checkTools, CheckTools: true})
			got := ""
			for _, f := range faults {
				got += f.Code + " " + f.Path + ": " + f.Message + "\n"
			}
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			if c.want != "" {
				return
			}
			again, _ := plan.DecodePlan([]byte(plan.CanonicalJSON(p)))
			if was, is := p.Steps[0].Until, again.Steps[0].Until; is == nil || was.Expect != is.Expect || was.Every != is.Every || was.For != is.For {
				t.Errorf("it is read again as %+v, want %+v", is, was)
			}
		})
	}
}
