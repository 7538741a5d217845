package plan_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"replan/internal/jsonsize"
	"replan/planning/plan"

	"pgregory.net/rapid"
)

// someTools is a catalog with one tool of each kind that validation
// distinguishes.
var someTools = plan.Catalog{
	{Name: "fs.read", Server: "workspace", ReadOnly: true, InputSchema: json.RawMessage(`{
		"type": "object", "required": ["path"], "additionalProperties": false,
		"properties": {"path": {"type": "string", "minLength": 1}, "lines": {"type": "integer", "minimum": 1}}
	}`)},
	{Name: "fs.patch", Server: "workspace", InputSchema: json.RawMessage(`{
		"type": "object",
		"properties": {"path": {"type": "string"}, "old": {"type": "string"}, "new": {"type": "string"}, "diff": {"type": "string"}},
		"anyOf": [{"required": ["path", "old", "new"]}, {"required": ["diff"]}]
	}`)},
	{Name: "search", Server: "web"},
	{Name: "search", Server: "code"},
	{Name: "broken", Server: "web", InputSchema: json.RawMessage(`{"type": 5}`)},
	{Name: "remote", Server: "web", InputSchema: json.RawMessage(`{"$ref": "file:///schema.json"}`)},
	{Name: "deep", Server: "web", InputSchema: json.RawMessage(`{"properties": {"in": {"required": ["x"]}}}`)},
}

func TestValidateFindsEachFault(t *testing.T) {
	for _, tt := range []struct {
		name, plan string
		rules      plan.Rules
		want       []string
	}{
		{name: "plan without steps", plan: `{"title":"T"}`},
		{name: "id with a path", plan: `{"id":"../x","title":"T"}`, want: []string{"bad_id /id"}},
		{name: "an id of 129 characters", plan: `{"id":"` + strings.Repeat("a", 129) + `","title":"T"}`, want: []string{"bad_id /id"}},
		{name: "an id of 128 characters", plan: `{"id":"` + strings.Repeat("a", 128) + `","title":"T"}`},
		{name: "no title", plan: `{"steps":[]}`, want: []string{"missing_title "}},
		{name: "blank title", plan: `{"title":" ","steps":[{"title":"\n","tool":"t"}]}`, want: []string{"missing_title ", "missing_title /steps/0"}},
		{name: "invalid on_failure", plan: `{"title":"T","on_failure":"panic","steps":[{"title":"a","tool":"t","on_failure":"retry"}]}`, want: []string{"bad_type /on_failure", "bad_type /steps/0/on_failure"}},
		{name: "more steps than allowed", plan: `{"title":"T","steps":[{"title":"a","tool":"t"},{"title":"b","tool":"t"}]}`, rules: plan.Rules{MaxSteps: 1}, want: []string{"too_many_steps /steps"}},
		{name: "as many steps as allowed", plan: `{"title":"T","steps":[{"title":"a","tool":"t"}]}`, rules: plan.Rules{MaxSteps: 1}},
		{name: "no tool", plan: `{"title":"T","steps":[{"title":"a"}]}`, want: []string{"missing_tool /steps/0"}},
		{name: "self step without a tool", plan: `{"title":"T","steps":[{"title":"a","executor":"self"}]}`},
		{name: "invalid executor", plan: `{"title":"T","steps":[{"title":"a","executor":"human"}]}`, want: []string{"bad_executor /steps/0/executor"}},
		{name: "repeated index", plan: `{"title":"T","steps":[{"title":"a","tool":"t"},{"index":1,"title":"b","tool":"t"},{"index":"1","title":"c","tool":"t"}]}`, want: []string{"duplicate_index /steps/1/index", "duplicate_index /steps/2/index"}},
		{name: "unknown dependency and dependency on itself", plan: `{"title":"T","steps":[{"title":"a","tool":"t","depends_on":["9","1"]}]}`, want: []string{"unknown_dependency /steps/0/depends_on/0", "self_dependency /steps/0/depends_on/1"}},
		{name: "a cycle", plan: `{"title":"T","steps":[{"title":"a","tool":"t","depends_on":["2"]},{"title":"b","tool":"t","depends_on":["1"]}]}`, want: []string{"cycle /steps/0 1,2"}},
		{name: "a cycle through a variable", plan: `{"title":"T","steps":[{"title":"0","tool":"t"},{"title":"a","tool":"t","args":{"x":"${v}"}},{"title":"b","tool":"t","depends_on":[2],"result_variable":"v"}]}`, want: []string{"cycle /steps/1 2,3"}},
		{name: "two cycles, without the steps after them", plan: `{"title":"T","steps":[
			{"title":"a","tool":"t","depends_on":[3]},{"title":"b","tool":"t","depends_on":[4]},{"title":"c","tool":"t","depends_on":[1]},
			{"title":"d","tool":"t","depends_on":[2]},{"title":"e","tool":"t","depends_on":[1,2]}]}`, want: []string{"cycle /steps/0 1,3", "cycle /steps/1 2,4"}},
		{name: "undefined variable in nested args", plan: `{"title":"T","variables":{"w":1},"steps":[{"title":"a","tool":"t","args":{"x/y":[0,"see ${v} and ${v.f}, ${w}"]}}]}`, want: []string{"unknown_variable /steps/0/args/x~1y/1"}},
		{name: "escaped reference", plan: `{"title":"T","steps":[{"title":"a","tool":"t","args":{"x":"$${v}"}}]}`},
		{name: "result of a later step", plan: `{"title":"T","steps":[{"title":"a","tool":"t","args":{"x":"${v.f}"}},{"title":"b","tool":"t","result_variable":"v"}]}`},
		{name: "a step's own result", plan: `{"title":"T","steps":[{"title":"a","tool":"t","args":{"x":"${v}"},"result_variable":"v"}]}`, want: []string{"self_dependency /steps/0/args/x"}},
		{name: "variable replaced by its own step", plan: `{"title":"T","variables":{"v":1},"steps":[{"title":"a","tool":"t","args":{"x":"${v}"},"result_variable":"v"}]}`},
		{name: "repeated result variable", plan: `{"title":"T","steps":[{"title":"a","tool":"t","result_variable":"v"},{"title":"b","tool":"t","result_variable":"v"}]}`, want: []string{"duplicate_result_variable /steps/1/result_variable"}},
		{name: "unchecked tool name", plan: `{"title":"T","steps":[{"title":"a","tool":"nope"}]}`, rules: plan.Rules{Catalog: someTools}},
		{name: "an unknown and an ambiguous tool", plan: `{"title":"T","steps":[{"title":"a","tool":"fs.reed"},{"title":"b","tool":"search"},{"title":"c","tool":"web:search"}]}`, rules: plan.Rules{CheckTools: true, Catalog: someTools}, want: []string{"unknown_tool /steps/0/tool", "ambiguous_tool /steps/1/tool"}},
		{name: "a changed tool", plan: `{"title":"T","steps":[{"title":"a","tool":"list"},{"title":"b","tool":"web:list"},{"title":"c","tool":"fs.read","args":{"path":"a"}}]}`, rules: plan.Rules{CheckTools: true, Catalog: someTools, Withheld: plan.Catalog{{Name: "list", Server: "web"}, {Name: "fs.read", Server: "web"}}}, want: []string{"changed_tool /steps/0/tool", "changed_tool /steps/1/tool"}},
		{name: "bad args", plan: `{"title":"T","steps":[{"title":"a","tool":"workspace:fs.read","args":{"path":[5],"lines":0}}]}`, rules: plan.Rules{CheckTools: true, Catalog: someTools}, want: []string{"bad_args /steps/0/args/lines", "bad_args /steps/0/args/path"}},
		{name: "missing arg", plan: `{"title":"T","steps":[{"title":"a","tool":"fs.read","args":{}}]}`, rules: plan.Rules{CheckTools: true, Catalog: someTools}, want: []string{"bad_args /steps/0/args"}},
		{name: "missing args", plan: `{"title":"T","steps":[{"title":"a","tool":"fs.read"}]}`, rules: plan.Rules{CheckTools: true, Catalog: someTools}, want: []string{"bad_args /steps/0"}},
		{name: "missing args in a model's plan", plan: `{"title":"T","steps":[{"title":"a","tool":"fs.read"},{"title":"b","tool":"fs.read","args":{"lines":1}}]}`, rules: plan.Rules{CheckTools: true, Catalog: someTools, Planned: true}, want: []string{"bad_args /steps/1/args"}},
		{name: "some args missing, filled in by the caller", plan: `{"title":"T","steps":[{"title":"b","tool":"fs.read","args":{"lines":1}},{"title":"c","tool":"fs.patch","args":{"path":"p"}}]}`, rules: plan.Rules{CheckTools: true, Catalog: someTools, PartialArgs: true}},
		{name: "empty args in a plan file", plan: `{"title":"T","steps":[{"title":"a","tool":"fs.read","args":{}},{"title":"b","tool":"fs.read"}]}`, rules: plan.Rules{CheckTools: true, Catalog: someTools, PartialArgs: true, EmptyArgs: true}, want: []string{"bad_args /steps/0/args"}},
		{name: "some args missing, others invalid", plan: `{"title":"T","steps":[{"title":"a","tool":"fs.read","args":{"colour":"x"}},{"title":"b","tool":"fs.patch","args":{"path":[1]}}]}`, rules: plan.Rules{CheckTools: true, Catalog: someTools, PartialArgs: true}, want: []string{"bad_args /steps/0/args", "bad_args /steps/1/args/path"}},
		{name: "missing field inside an arg", plan: `{"title":"T","steps":[{"title":"a","tool":"deep","args":{"in":{}}}]}`, rules: plan.Rules{CheckTools: true, Catalog: someTools, PartialArgs: true}, want: []string{"bad_args /steps/0/args/in"}},
		{name: "unchecked profile", plan: `{"title":"T","steps":[{"title":"a","executor":"agent","profile":"x"}]}`},
		{name: "unknown and missing profile", plan: `{"title":"T","steps":[{"title":"a","executor":"agent","profile":"x"},{"title":"b","executor":"agent"},{"title":"c","executor":"agent","profile":"p"}]}`, rules: plan.Rules{Profiles: []string{"p"}}, want: []string{"unknown_profile /steps/0/profile", "unknown_profile /steps/1"}},
		{name: "profile in a model's plan without profiles", plan: `{"title":"T","steps":[{"title":"a","executor":"agent","profile":"x"}]}`, rules: plan.Rules{Planned: true}, want: []string{"unknown_profile /steps/0/profile"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			faults, _ := plan.Validate(mustPlan(t, tt.plan), tt.rules)
			var got []string
			for _, f := range faults {
				line := f.Code + " " + f.Path
				if len(f.Members) > 0 {
					line += " " + strings.Join(f.Members, ",")
				}
				got = append(got, line)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestValidateFindsFaultsInGoValues(t *testing.T) {
	p := plan.Plan{Title: "T", Steps: []plan.Step{{Title: "a", Executor: plan.ExecutorSelf, Timeout: -time.Second}}}
	faults, _ := plan.Validate(p, plan.Rules{})
	if got := faultsAt(faults); !slices.Equal(got, []string{"bad_index /steps/0/index", "bad_timeout /steps/0/timeout"}) {
		t.Errorf("got %q", got)
	}
}

func TestValidateFindsUnreadableIndices(t *testing.T) {
	for index, want := range map[string]string{
		"": "is empty", " ": "is empty", "1\x1b[2J": "holds control characters", "a\nb": "holds control characters",
		strings.Repeat("é", 65): "has 65 characters", strings.Repeat("é", 64): "", "2b": "",
		"step 1": "holds blanks", "1\u202e": "holds characters that cannot be seen", "1\u200b": "holds characters that cannot be seen",
	} {
		p := plan.Plan{Title: "T", Steps: []plan.Step{{Index: index, Title: "a", Executor: plan.ExecutorSelf}}}
		faults, _ := plan.Validate(p, plan.Rules{})
		switch {
		case want == "" && len(faults) > 0:
			t.Errorf("%q: %+v", index, faults)
		case want != "" && (len(faults) != 1 || faults[0].Code != plan.CodeBadIndex || !strings.Contains(faults[0].Message, want)):
			t.Errorf("%q: got %+v, want one fault with %q", index, faults, want)
		}
	}
}

func TestFilesOfPlansCannotHideCharactersInNames(t *testing.T) {
	for want, text := range map[string]string{
		"bad_index /steps/0/index":   `{"title":"T","steps":[{"index":"1\u202e","title":"a","executor":"self"}]}`,
		"unknown_tool /steps/0/tool": `{"title":"T","steps":[{"index":"1","title":"a","tool":"t\u202e"}]}`,
	} {
		for _, rules := range []plan.Rules{{}, {CheckTools: true, Catalog: someTools}} {
			_, faults, _ := plan.CheckPlan([]byte(text), rules)
			if got := faultsAt(faults); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: got %q", text, got)
			}
			for _, f := range faults {
				if strings.Contains(f.Message+f.Step, "\u202e") {
					t.Errorf("the fault repeats the character: %+v", f)
				}
			}
		}
	}
	p := plan.Plan{Title: "T", Steps: []plan.Step{{Index: "1", Title: "s", Executor: plan.ExecutorTool, Tool: "t", Args: map[string]any{"a": make([]any, jsonsize.Most)}}}}
	if faults, _ := plan.Validate(p, plan.Rules{}); !strings.Contains(plan.FaultError(faults).Error(), "its arguments have more than 500000 values: pass a file") {
		t.Errorf("got %v", faults)
	}
}

func TestJournalsKeepNamesThatNewPlansMayNotHave(t *testing.T) {
	const text = `{"title":"T","steps":[{"index":"1\u001b[2J","title":"a","tool":"t\u202e"},{"index":"step two","title":"b","tool":"t","depends_on":["1\u001b[2J"]}],"milestones":[{"title":"m","steps":["1\u001b[2J"]}]}`
	var p plan.Plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	var s plan.Step
	if err := json.Unmarshal([]byte(plan.CanonicalJSON(p.Steps[1])), &s); err != nil {
		t.Fatal(err)
	}
	if s.Index != "step two" || !slices.Equal(s.DependsOn, []string{"1\x1b[2J"}) || p.Steps[0].Tool != "t\u202e" {
		t.Errorf("got %+v and %+v", p, s)
	}
	if faults, _ := plan.Validate(p, plan.Rules{Named: true}); len(faults) > 0 {
		t.Errorf("got the faults %+v", faults)
	}
	if faults, _ := plan.Validate(p, plan.Rules{}); len(faults) != 3 {
		t.Errorf("a new plan: got %+v, want three faults", faults)
	}
}

func TestValidateWarns(t *testing.T) {
	checked := plan.Rules{CheckTools: true, Catalog: someTools}
	for _, tt := range []struct {
		name, plan string
		rules      plan.Rules
		want       []string
	}{
		{"empty plan", `{"title":"T","steps":[]}`, checked, []string{"no_steps /steps"}},
		{"unchecked tools", `{"title":"T","steps":[{"title":"a","tool":"t"}]}`, plan.Rules{}, []string{"unchecked_tools /steps"}},
		{"no tools to check", `{"title":"T","steps":[{"title":"a","executor":"self"}]}`, plan.Rules{}, nil},
		{"ignored retries", `{"title":"T","steps":[{"title":"a","tool":"web:search","retries":1},{"title":"b","tool":"fs.read","args":{"path":"p"},"retries":1}]}`, checked, []string{"ignored_retries /steps/0/retries"}},
		{"ignored tool calls", `{"title":"T","steps":[{"title":"a","tool_calls":[{"name":"web:search"},{"name":"x"}]}]}`, checked, []string{"ignored_tool_calls /steps/0/tool_calls"}},
		{"unusable schema warns once", `{"title":"T","steps":[{"title":"a","tool":"broken"},{"title":"b","tool":"broken","args":{"x":1}}]}`, checked, []string{"unchecked_args /steps/0/tool"}},
		{"external schema", `{"title":"T","steps":[{"title":"a","tool":"remote"}]}`, checked, []string{"unchecked_args /steps/0/tool"}},
		{"unknown milestone step", `{"title":"T","steps":[{"title":"a","executor":"self"}],"milestones":[{"title":"m","steps":["1","7"]}]}`, checked, []string{"unknown_milestone_step /milestones/0/steps/1"}},
		{"multiline titles", `{"title":"T\nU","steps":[{"title":"a\rb","executor":"self"},{"title":"a\u2028b","executor":"self"},{"title":"a\tb","executor":"self"}],"milestones":[{"title":"m\r\nn"}]}`, checked, []string{
			"multiline_title /title", "multiline_title /steps/0/title", "multiline_title /steps/1/title", "multiline_title /milestones/0/title",
		}},
		{"unreachable variables", `{"title":"T","variables":{"":1,"a.b":1,"a b}":1,"x[0]":1," v":1,"w ":1,"a b":1,"é]":1},"steps":[{"title":"a","executor":"self","result_variable":"r.s"}]}`, checked, []string{
			"unreachable_variable /variables/", "unreachable_variable /variables/ v", "unreachable_variable /variables/a b}", "unreachable_variable /variables/a.b",
			"unreachable_variable /variables/w ", "unreachable_variable /variables/x[0]", "unreachable_variable /steps/0/result_variable",
		}},
		{"result replaces a variable", `{"title":"T","variables":{"v":1,"w":1},"steps":[{"title":"a","executor":"self"},{"title":"b","executor":"self","result_variable":"v"}]}`, checked, []string{"shadowed_variable /steps/1/result_variable"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			faults, warnings := plan.Validate(mustPlan(t, tt.plan), tt.rules)
			if len(faults) > 0 {
				t.Fatal(plan.FaultError(faults))
			}
			if got := faultsAt(warnings); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestUnreferencableNamesAreNotSuggested(t *testing.T) {
	for _, tt := range []struct{ name, variables, want string }{
		{"with another variable", `{"a.b":1,"c":1,"":1}`, "step 1 refers to ${v}, which is not defined; defined: c"},
		{"alone", `{"a.b":1}`, "step 1 refers to ${v}, and the plan defines no variables"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustPlan(t, `{"title":"T","variables":`+tt.variables+`,"steps":[{"title":"a","executor":"self","args":{"x":"${v}"}}]}`)
			faults, _ := plan.Validate(p, plan.Rules{})
			if len(faults) != 1 || faults[0].Message != tt.want {
				t.Errorf("got %+v", faults)
			}
			var missing *plan.MissingVariableError
			if _, err := plan.Resolve("${v}", p.Variables); !errors.As(err, &missing) || slices.Contains(missing.There, "a.b") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSchemasCauseNoReads(t *testing.T) {
	p := mustPlan(t, `{"title":"T","steps":[{"title":"a","tool":"remote"}]}`)
	_, warnings := plan.Validate(p, plan.Rules{CheckTools: true, Catalog: someTools})
	if len(warnings) != 1 || !strings.Contains(warnings[0].Message, "references outside of it are not read") {
		t.Errorf("got %+v", warnings)
	}
}

func TestArgsWithoutReferencesAreChecked(t *testing.T) {
	const schema = `{
		"type": "object", "required": ["text"],
		"properties": {
			"text": {"type": "string", "minLength": 3, "pattern": "^[a-z$]"},
			"count": {"type": "integer", "minimum": 1},
			"mode": {"enum": ["fast", "slow"]},
			"list": {"type": "array", "items": {"type": "integer"}, "maxItems": 2, "uniqueItems": true},
			"nested": {"$ref": "#/$defs/nested"},
			"either": {"oneOf": [{"type": "integer"}, {"type": "object", "required": ["k"]}]},
			"not": {"not": {"const": "x"}},
			"big": {"type": "number", "maximum": 10}
		},
		"if": {"properties": {"mode": {"const": "fast"}}, "required": ["mode"]},
		"then": {"required": ["count"]},
		"$defs": {"nested": {"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}}}}
	}`
	rules := plan.Rules{CheckTools: true, Catalog: plan.Catalog{{Name: "t", Server: "s", InputSchema: json.RawMessage(schema)}}}
	for _, tt := range []struct {
		name, args string
		want       []string // paths below args
	}{
		{"valid args", `{"text":"abc","count":1,"mode":"fast","list":[1,2],"nested":{"a":"x"},"either":1,"not":1}`, nil},
		{"everything invalid", `{"text":"A","count":0,"mode":"x","list":[1,1,"a"],"nested":{"b":1},"either":"x","not":"x"}`, []string{"count", "either", "list", "list", "list/2", "mode", "nested", "not", "text", "text"}},
		{"lone references", `{"text":"${v}","count":"${v}","mode":"${v}","list":"${v}","nested":"${v}","either":"${v}","not":"${v}"}`, nil},
		{"text around a reference is text", `{"text":"abc","count":"${v}0"}`, []string{"count"}},
		{"length of text with a reference is unknown", `{"text":"${v}0"}`, nil},
		{"text with a reference in an enum", `{"text":"abc","mode":"f${v}"}`, nil},
		{"list with a reference checks the other items", `{"text":"abc","list":["${v}","a"]}`, []string{"list/1"}},
		{"list with references keeps its length", `{"text":"abc","list":["${v}","${v}",1]}`, []string{"list"}},
		{"equal references in a unique list", `{"text":"abc","list":["${v}","${v}"]}`, nil},
		{"reference under an unknown key", `{"nested":{"b":"${v}"}}`, []string{"", "nested"}},
		{"choice that a reference may match", `{"text":"abc","either":{"k":"${v}"}}`, nil},
		{"choice that no reference can match", `{"text":"abc","either":{"j":"${v}"}}`, []string{"either"}},
		{"condition", `{"text":"abc","mode":"fast"}`, []string{""}},
		{"condition with a reference", `{"text":"${v}","mode":"fast"}`, nil},
		{"escaped reference is checked unescaped", `{"text":"$${"}`, []string{"text"}},
		{"escaped reference of sufficient length", `{"text":"$${v}"}`, nil},
		{"large number", `{"text":"abc","big":1e400}`, []string{"big"}},
		{"huge number is not checked", `{"text":"abc","big":1e999999999}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustPlan(t, `{"title":"T","variables":{"v":1},"steps":[{"title":"a","tool":"t","args":`+tt.args+`}]}`)
			faults, warnings := plan.Validate(p, rules)
			var got []string
			for _, f := range faults {
				got = append(got, strings.TrimPrefix(strings.TrimPrefix(f.Path, "/steps/0/args"), "/"))
			}
			if !slices.Equal(got, tt.want) || len(warnings) > 0 {
				t.Errorf("got %q, want %q; %v", got, tt.want, plan.FaultError(append(faults, warnings...)))
			}
		})
	}
}

func TestMissingArgs(t *testing.T) {
	for _, tt := range []struct {
		name, tool, args string
		want             []string
	}{
		{"required arg", "fs.read", `{"lines":1}`, []string{"path"}},
		{"nothing missing", "fs.read", `{"path":"${v}"}`, nil},
		{"null args", "fs.read", `null`, []string{"path"}},
		{"nearest choice", "fs.patch", `{"path":"p","old":"o"}`, []string{"new"}},
		{"smallest choice", "fs.patch", `null`, []string{"diff"}},
		{"choice matched", "fs.patch", `{"diff":"d"}`, nil},
		{"no schema", "web:search", `null`, nil},
		{"unusable schema", "broken", `null`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool, err := someTools.Find(tt.tool)
			if err != nil {
				t.Fatal(err)
			}
			args, _ := mustValue(t, tt.args).(map[string]any)
			if got := plan.MissingArgs(tool, args); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFaultsReadAsSentences(t *testing.T) {
	p := mustPlan(t, `{"title":"T","steps":[
		{"title":"a","tool":"fs.read","args":{"path":[5]},"depends_on":["2"]},
		{"title":"b","tool":"fs.patch","args":{},"depends_on":["3"]},
		{"title":"c","tool":"search","args":{"q":"${nope}"},"depends_on":["1","8"],"result_variable":"found"}]}`)
	faults, _ := plan.Validate(p, plan.Rules{CheckTools: true, Catalog: someTools})
	var got []string
	for _, f := range faults {
		got = append(got, f.Message)
	}
	want := []string{
		"step 1 calls fs.read with bad args: path: got array, want string",
		"step 2 calls fs.patch with bad args: none of the forms it may have fits: missing properties 'path', 'old', 'new', or missing property 'diff'; its args are diff, new, old and path",
		"step 3 depends on step 8, which does not exist",
		"step 3 refers to ${nope}, which is not defined; defined: found",
		`step 3: the tool name "search" is ambiguous: say code:search or web:search`,
		"steps 1, 2 and 3 wait for each other: 1 waits for 2, that for 3, that for 1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFaultError(t *testing.T) {
	if err := plan.FaultError(nil); err != nil {
		t.Errorf("no faults: %v", err)
	}
	a, b := plan.Fault{Code: "x", Message: "one thing"}, plan.Fault{Code: "y", Message: "another"}
	if err := plan.FaultError([]plan.Fault{a}); err == nil || err.Error() != "the plan is not valid: one thing" {
		t.Errorf("one fault: %v", err)
	}
	err := plan.FaultError([]plan.Fault{a, b})
	if err == nil || err.Error() != "the plan has 2 faults: one thing; another" {
		t.Errorf("two faults: %v", err)
	}
	var invalid *plan.InvalidPlanError
	if !errors.As(err, &invalid) || len(invalid.Faults) != 2 {
		t.Errorf("%v does not contain the faults", err)
	}
}

func TestFaultJSON(t *testing.T) {
	data, err := plan.EncodeJSON([]plan.Fault{
		{Code: "cycle", Path: "/steps/0", Step: "1", Message: "m", Members: []string{"1", "2"}},
		{Code: "missing_title", Message: "n"},
	})
	const want = `[{"code":"cycle","path":"/steps/0","step":"1","message":"m","members":["1","2"]},{"code":"missing_title","path":"","step":"","message":"n"}]`
	if err != nil || string(data) != want {
		t.Errorf("got %s, %v", data, err)
	}
}

func TestRandomDAGHasNoFaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if faults, _ := plan.Validate(drawDAG(t), plan.Rules{CheckTools: true, Catalog: someTools}); len(faults) > 0 {
			t.Fatal(plan.FaultError(faults))
		}
	})
}

func TestBackEdgeIsCycleWithMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawDAG(t)
		g := plan.NewGraph(p)
		// From any step to itself through at least one other.
		later := rapid.SampledFrom(p.Steps).Draw(t, "later").Index
		before := make([]string, 0, len(p.Steps))
		for index := range g.Ancestors(later) {
			before = append(before, index)
		}
		if len(before) == 0 {
			return
		}
		slices.SortFunc(before, plan.CompareIndices)
		earlier := rapid.SampledFrom(before).Draw(t, "earlier")
		want := []string{earlier, later}
		for index := range g.Descendants(earlier) {
			if index != later && g.Ancestors(later)[index] {
				want = append(want, index)
			}
		}
		slices.SortFunc(want, plan.CompareIndices)
		for i := range p.Steps {
			if p.Steps[i].Index == earlier {
				p.Steps[i].DependsOn = append(p.Steps[i].DependsOn, later)
			}
		}
		faults, _ := plan.Validate(p, plan.Rules{})
		if len(faults) != 1 || faults[0].Code != plan.CodeCycle || !slices.Equal(faults[0].Members, want) {
			t.Fatalf("%s → %s: got %+v, want a cycle of %v", later, earlier, faults, want)
		}
		position, err := strconv.Atoi(strings.TrimPrefix(faults[0].Path, "/steps/"))
		if err != nil || p.Steps[position].Index != want[0] {
			t.Fatalf("the path %q does not point at step %s", faults[0].Path, want[0])
		}
	})
}

func TestArgsOfACallAreLimited(t *testing.T) {
	for size, want := range map[int]string{15 << 20: "", 16 << 20: "step 1: its arguments have more than 16 MB: pass a file"} {
		for _, rules := range []plan.Rules{{}, {CheckTools: true, Catalog: plan.Catalog{{Server: "s", Name: "t"}}}} {
			p := plan.Plan{Title: "T", Steps: []plan.Step{{Index: "1", Title: "s", Executor: plan.ExecutorTool, Tool: "t", Args: map[string]any{"a": strings.Repeat("x", size)}}}}
			faults, _ := plan.Validate(p, rules)
			if got := plan.FaultError(faults); len(faults) > 1 || (want == "") != (len(faults) == 0) || want != "" && !strings.Contains(got.Error(), want) {
				t.Errorf("%d bytes: got %v, want %q", size, faults, want)
			}
		}
	}
}
