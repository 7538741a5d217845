package plan_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailscale/hujson"

	"replan/internal/jsonsize"
	"replan/planning/plan"
)

func TestDecodePlanAcceptsVariants(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       func(plan.Plan) bool
	}{
		{"title replaces a missing goal", `{"title":"T","steps":[]}`, func(p plan.Plan) bool { return p.Goal == "T" }},
		{"goal is kept verbatim", `{"title":"T","goal":" g ","steps":[]}`, func(p plan.Plan) bool { return p.Goal == " g " }},
		{"byte order mark is skipped", "\uFEFF" + `{"title":"T"}`, func(p plan.Plan) bool { return p.Title == "T" }},
		{"null counts as absent", `{"title":"T","id":null,"variables":null,"steps":null,"risks":null}`, func(p plan.Plan) bool {
			return p.ID == "" && p.Variables == nil && p.Steps == nil && p.Extra == nil
		}},
		{"missing index is the position", `{"steps":[{"title":"a"},{"title":"b"}]}`, func(p plan.Plan) bool {
			return p.Steps[0].Index == "1" && p.Steps[1].Index == "2"
		}},
		{"whole numbers are read as text", `{"steps":[{"index":7},{"index":8.0,"depends_on":[7,7e0]}]}`, func(p plan.Plan) bool {
			return p.Steps[0].Index == "7" && p.Steps[1].Index == "8" && slices.Equal(p.Steps[1].DependsOn, []string{"7"})
		}},
		{"repeated dependencies count once", `{"steps":[{"depends_on":["1","2",1,"2"]}]}`, func(p plan.Plan) bool {
			return slices.Equal(p.Steps[0].DependsOn, []string{"1", "2"})
		}},
		{"executor defaults to tool", `{"steps":[{},{"executor":"self"}]}`, func(p plan.Plan) bool {
			return p.Steps[0].Executor == plan.ExecutorTool && p.Steps[1].Executor == plan.ExecutorSelf
		}},
		{"null args are missing", `{"steps":[{"args":null}]}`, func(p plan.Plan) bool { return p.Steps[0].Args == nil }},
		{"empty args are not missing", `{"steps":[{"args":{}}]}`, func(p plan.Plan) bool { return p.Steps[0].Args != nil }},
		{"first of tool_calls gives tool and args", `{"steps":[{"tool_calls":[{"name":"t","args":{"a":1}}]}]}`, func(p plan.Plan) bool {
			return p.Steps[0].Tool == "t" && plan.CanonicalJSON(p.Steps[0].Args) == `{"a":1}` && p.Steps[0].Extra == nil
		}},
		{"further tool_calls are kept", `{"steps":[{"tool_calls":[{"name":"t"},{"name":"u"}]}]}`, func(p plan.Plan) bool {
			return p.Steps[0].Tool == "t" && plan.CanonicalJSON(p.Steps[0].Extra) == `{"tool_calls":[{"name":"t"},{"name":"u"}]}`
		}},
		{"tool overrides tool_calls", `{"steps":[{"tool":"x","tool_calls":[{"name":"t","args":{"a":1}}]}]}`, func(p plan.Plan) bool {
			return p.Steps[0].Tool == "x" && p.Steps[0].Args == nil && p.Steps[0].Extra["tool_calls"] != nil
		}},
		{"empty tool_calls are ignored", `{"steps":[{"tool":"x","tool_calls":[]}]}`, func(p plan.Plan) bool {
			return p.Steps[0].Tool == "x" && p.Steps[0].Extra == nil
		}},
		{"timeout as a duration", `{"steps":[{"timeout":"1m30s"}]}`, func(p plan.Plan) bool { return p.Steps[0].Timeout == 90*time.Second }},
		{"timeout as a number of seconds", `{"steps":[{"timeout":1.5}]}`, func(p plan.Plan) bool {
			return p.Steps[0].Timeout == 1500*time.Millisecond
		}},
		{"unknown fields are kept", `{"title":"T","by":"me","steps":[{"title":"a","x":[1]}]}`, func(p plan.Plan) bool {
			return plan.CanonicalJSON(p.Extra) == `{"by":"me"}` && plan.CanonicalJSON(p.Steps[0].Extra) == `{"x":[1]}`
		}},
		{"one check is a list of one", `{"steps":[{"check":{"expect":"result.ok"}}],"acceptance":{"title":"c","expect":"a"}}`, func(p plan.Plan) bool {
			return len(p.Steps[0].Checks) == 1 && p.Steps[0].Checks[0].Expect == "result.ok" && p.Steps[0].Checks[0].Title == "" && len(p.Acceptance) == 1 && p.Extra == nil
		}},
		{"no checks", `{"steps":[{"check":[]}],"acceptance":null}`, func(p plan.Plan) bool {
			return p.Steps[0].Checks == nil && p.Acceptance == nil && p.Extra == nil && p.Steps[0].Extra == nil
		}},
		{"milestones as titles", `{"milestones":["m",{"title":"n","steps":[1]}]}`, func(p plan.Plan) bool {
			return p.Milestones[0].Title == "m" && slices.Equal(p.Milestones[1].Steps, []string{"1"})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if p := mustPlan(t, tt.text); !tt.want(p) {
				t.Errorf("%s was read as %+v", tt.text, p)
			}
		})
	}
}

// faultsAt lists faults as "code path" for comparison.
func faultsAt(faults []plan.Fault) []string {
	var list []string
	for _, f := range faults {
		list = append(list, f.Code+" "+f.Path)
	}
	return list
}

func TestDecodePlanFindsEveryFormFault(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"invalid JSON", `{"title":`, []string{"bad_json "}},
		{"not an object", `[1]`, []string{"bad_type "}},
		{"empty id", `{"id":""}`, []string{"bad_id /id"}},
		{"fields of the wrong type, all at once", `{"id":1,"title":[],"goal":{},"variables":[],"on_failure":false,"steps":{},"milestones":1,"risks":[1,"r",null]}`, []string{
			"bad_type /id", "bad_type /title", "bad_type /goal", "bad_type /variables", "bad_type /on_failure", "bad_type /steps",
			"bad_type /milestones", "bad_type /risks/0", "bad_type /risks/2",
		}},
		{"step is not an object", `{"steps":["read it",{}]}`, []string{"bad_type /steps/0"}},
		{"step fields of the wrong type", `{"steps":[{},{"title":1,"executor":2,"tool":3,"profile":4,"args":[],"depends_on":"1","result_variable":5,"expected_outcome":6,"on_failure":7,"retries":-1,"gate":"yes","synthesize":1}]}`, []string{
			"bad_type /steps/1/title", "bad_type /steps/1/executor", "bad_type /steps/1/tool", "bad_type /steps/1/profile", "bad_type /steps/1/args",
			"bad_type /steps/1/depends_on", "bad_type /steps/1/result_variable", "bad_type /steps/1/expected_outcome", "bad_type /steps/1/on_failure",
			"bad_type /steps/1/retries", "bad_type /steps/1/gate", "bad_type /steps/1/synthesize",
		}},
		{"invalid indices", `{"steps":[{"index":""},{"index":1.5},{"index":true},{"index":null},{"index":1e400},{"index":" "}]}`, []string{
			"bad_index /steps/0/index", "bad_index /steps/1/index", "bad_index /steps/2/index", "bad_index /steps/3/index", "bad_index /steps/4/index", "bad_index /steps/5/index",
		}},
		{"unreadable indices", `{"steps":[{"index":"1\u001b[2J"},{"index":"a\nb"},{"index":"\u009b"},{"index":"` + strings.Repeat("é", 65) + `"},{"index":"` + strings.Repeat("é", 64) + `"},{"index":1` + strings.Repeat("0", 64) + `}],"milestones":[{"steps":["\u007f"]}]}`, []string{
			"bad_index /steps/0/index", "bad_index /steps/1/index", "bad_index /steps/2/index", "bad_index /steps/3/index", "bad_index /steps/5/index",
			"bad_index /milestones/0/steps/0",
		}},
		{"indices that draw as others or hold blanks", `{"steps":[{"index":"1\u202e"},{"index":"a\u200bb"},{"index":"a b"},{"index":"a\u00a0b"},{"index":"\ufeff1"},{"index":"\ue000"},{"index":"é-世.1"}]}`, []string{
			"bad_index /steps/0/index", "bad_index /steps/1/index", "bad_index /steps/2/index", "bad_index /steps/3/index", "bad_index /steps/4/index", "bad_index /steps/5/index",
		}},
		{"names that no tool can have", `{"steps":[{"tool":"fs.read\u001b[2J"},{"tool":"fs\u202eread"},{"tool_calls":[{"name":"fs.\u200bread"}]},{"tool":"` + strings.Repeat("x", 258) + `"},{"tool":"w:fs.read"}]}`, []string{
			"unknown_tool /steps/0/tool", "unknown_tool /steps/1/tool", "unknown_tool /steps/2/tool_calls/0/name", "unknown_tool /steps/3/tool",
		}},
		{"unreadable dependencies", `{"steps":[{"depends_on":["a\tb","` + strings.Repeat("x", 65) + `","1"]}]}`, []string{
			"bad_index /steps/0/depends_on/0", "bad_index /steps/0/depends_on/1",
		}},
		{"invalid dependencies", `{"steps":[{"depends_on":[true,"",0.5,"1"]}]}`, []string{
			"bad_index /steps/0/depends_on/0", "bad_index /steps/0/depends_on/1", "bad_index /steps/0/depends_on/2",
		}},
		{"invalid timeouts", `{"steps":[{"timeout":"soon"},{"timeout":"-1s"},{"timeout":-1},{"timeout":1e400},{"timeout":"30"},{"timeout":[]}]}`, []string{
			"bad_timeout /steps/0/timeout", "bad_timeout /steps/1/timeout", "bad_timeout /steps/2/timeout", "bad_timeout /steps/3/timeout",
			"bad_timeout /steps/4/timeout", "bad_type /steps/5/timeout",
		}},
		{"invalid tool calls", `{"steps":[{"tool_calls":1},{"tool_calls":["t"]},{"tool_calls":[{"name":1,"args":2}]}]}`, []string{
			"bad_type /steps/0/tool_calls", "bad_type /steps/1/tool_calls/0", "bad_type /steps/2/tool_calls/0/name", "bad_type /steps/2/tool_calls/0/args",
		}},
		{"invalid checks", `{"steps":[{"check":"result.ok"},{"check":[1,{"title":2,"expect":true,"tool":3,"args":[]}]},{"check":{"expect":4}}],"acceptance":7}`, []string{
			"bad_type /steps/0/check", "bad_type /steps/1/check/0", "bad_type /steps/1/check/1/title", "bad_type /steps/1/check/1/expect",
			"bad_type /steps/1/check/1/tool", "bad_type /steps/1/check/1/args", "bad_type /steps/2/check/expect", "bad_type /acceptance",
		}},
		{"invalid milestones", `{"milestones":[1,{"title":2,"steps":[null]}]}`, []string{
			"bad_type /milestones/0", "bad_type /milestones/1/title", "bad_index /milestones/1/steps/0",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, faults := plan.DecodePlan([]byte(tt.text))
			if got := faultsAt(faults); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestStepFaultsNameTheStep(t *testing.T) {
	_, faults := plan.DecodePlan([]byte(`{"steps":[{"index":"build","gate":1},{"gate":1}]}`))
	if len(faults) != 2 || faults[0].Step != "build" || faults[1].Step != "2" {
		t.Errorf("got %+v", faults)
	}
}

func TestCheckPlanReportsEachMistakeOnce(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"faults of form and of meaning", `{"title":"","steps":[{"index":"1","title":"a","executor":"robot","timeout":"x"},{"title":"b"}]}`, []string{
			"bad_timeout /steps/0/timeout", "missing_title ", "bad_executor /steps/0/executor", "missing_tool /steps/1",
		}},
		{"title of the wrong type", `{"title":5,"steps":[{"title":6,"tool":"t"}]}`, []string{"bad_type /title", "bad_type /steps/0/title"}},
		{"executor of the wrong type", `{"title":"T","steps":[{"title":"a","executor":5}]}`, []string{"bad_type /steps/0/executor"}},
		{"invalid index is no duplicate", `{"title":"T","steps":[{"title":"a","tool":"t","index":2},{"title":"b","tool":"t","index":{}},{"title":"c","tool":"t"}]}`, []string{"bad_index /steps/1/index"}},
		{"unreadable index is no duplicate", `{"title":"T","steps":[{"title":"a","tool":"t","index":2},{"title":"b","tool":"t","index":"\u0000"},{"title":"c","tool":"t"}]}`, []string{"bad_index /steps/1/index"}},
		{"step is not an object", `{"title":"T","steps":[null]}`, []string{"bad_type /steps/0"}},
		{"not a plan", `"plan"`, []string{"bad_type "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, faults, warnings := plan.CheckPlan([]byte(tt.text), plan.Rules{})
			if got := faultsAt(faults); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			for _, w := range warnings {
				if w.Code == plan.CodeNoSteps {
					t.Errorf("got a warning about a reported fault: %+v", w)
				}
			}
		})
	}
	if _, faults, warnings := plan.CheckPlan([]byte(`{"title":"T","steps":{}}`), plan.Rules{}); len(faults) != 1 || len(warnings) != 0 {
		t.Errorf("steps of the wrong type: faults %v, warnings %v", faultsAt(faults), faultsAt(warnings))
	}
}

func TestPlanFileMayHaveCommentsAndTrailingCommas(t *testing.T) {
	p, faults := plan.DecodePlan([]byte("{\n  // what it does\n  \"title\": \"T\", /* and how */\n  \"steps\": [{\"title\": \"a\", \"tool\": \"t\",},],\n}\n"))
	if len(faults) > 0 || p.Title != "T" || len(p.Steps) != 1 || p.Steps[0].Tool != "t" {
		t.Errorf("got %+v, faults %v", p, faults)
	}
	for text, line := range map[string]string{
		"{\n  // a comment\n  \"title\": T\n}":                 "line 3",
		"{\n  \"title\": \"T\",\n  \"steps\": [,]\n}":          "line 3",
		"{\n  \"title\": \"http://x\",\n  \"steps\": [1 2]\n}": "line 3",
	} {
		_, faults := plan.DecodePlan([]byte(text))
		if len(faults) != 1 || faults[0].Code != plan.CodeBadJSON || !strings.Contains(faults[0].Message, line) {
			t.Errorf("%s: got %v, want a fault at %s", text, faults, line)
		}
	}
}

func TestMistypedFieldsAreNamed(t *testing.T) {
	_, faults, warnings := plan.CheckPlan([]byte(`{"titel":"T","steps":[{"title":"a","tol":"t","note":1},{"title":"b","tool":"t","dependson":["1"]}]}`), plan.Rules{})
	var got []string
	for _, f := range append(faults, warnings...) {
		got = append(got, f.Message)
	}
	for _, want := range []string{
		"the plan has no title: unknown field titel; did you mean title?", "step 1 names no tool: unknown field tol; did you mean tool?",
		"unknown field dependson; did you mean depends_on?",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing from %q", want, got)
		}
	}
	if strings.Contains(strings.Join(got, " "), "note") {
		t.Errorf("a field that is like no other was reported: %q", got)
	}
}

func TestTextThatNestsWithoutEndIsRefused(t *testing.T) {
	deep := strings.Repeat("[", 5_000_000)
	_, faults := plan.DecodePlan([]byte(`{"title":"T","x":` + deep + strings.Repeat("]", len(deep)) + `,"steps":[]}`))
	if len(faults) != 1 || faults[0].Code != plan.CodeBadJSON {
		t.Errorf("got %v", faults)
	}
	if _, err := plan.Standard([]byte("// a comment\n" + deep)); err == nil || !strings.Contains(err.Error(), "nests deeper") {
		t.Errorf("got %v", err)
	}
}

func TestCommentsAndTrailingCommasBecomeBlanks(t *testing.T) {
	for _, text := range []string{
		`{"a":1}`, "{// one\n\"a\":[1,2,],/* two\r\n*/}", "[1 /* a */ , // b\n\t]//\n", `{"a":"// no /* comment */ ,]\\\"",}`, `[{"a":[],},{},]`, "/*\u2028*/[]",
		"[,]", "[1,,]", `{"a":,}`, "{,}", "[1],", "[] // no line end", "[] /* no end", "/*/", "// \u2028\n[]", "[/]", "/", "", `["`, `["\`, ",", "[1,2}",
	} {
		got, err := plan.Standard([]byte(text))
		want, refused := hujson.Standardize([]byte(text))
		if (err == nil) != (refused == nil) || string(got) != string(want) {
			t.Errorf("%q: got %q, %v, want %q, %v", text, got, err, want, refused)
		}
	}
}

func TestPlainFormOfAFileTakesLittleMemory(t *testing.T) {
	text := []byte("[" + strings.Repeat("1,", 100_000) + "] // a comment\n")
	for range 2 { // with comments, and then without them
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plain, err := plan.Standard(text)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if got := int(after.TotalAlloc - before.TotalAlloc); got > 4*len(text) {
			t.Errorf("allocated %d KB for a file of %d KB", got>>10, len(text)>>10)
		}
		text = plain
	}
}

func TestPlanOfTooManyValuesTakesNoMemoryForThem(t *testing.T) {
	many := strings.Repeat("1,", jsonsize.Most*3)
	for name, c := range map[string]struct{ text, want string }{
		"a plan":                    {`{"x":[` + many + `1]}`, "it has more than 500000 values"},
		"with a quote in a comment": {`{"x":[/*"*/` + many + `1]}`, "it has more than 500000 values"},
		"with an error at its end":  {`{"x":[` + many + `?]}`, "it has more than 500000 values"},
		"of as many as may be":      {`{"steps":[],"x":[` + strings.Repeat("1,", jsonsize.Most-6) + `1]}`, ""},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, faults := plan.DecodePlan([]byte(c.text))
		runtime.ReadMemStats(&after)
		if got := plan.FaultError(faults); (got == nil) != (c.want == "") || got != nil && !strings.Contains(got.Error(), c.want) {
			t.Errorf("%s: got %v", name, got)
		}
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 130 {
			t.Errorf("%s: it took %d MB", name, used)
		}
	}
}
