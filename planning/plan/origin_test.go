package plan_test

import (
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"
)

// stepsAt lists faults as "code path step" for comparison.
func stepsAt(faults []plan.Fault) []string {
	var list []string
	for _, f := range faults {
		list = append(list, strings.TrimSpace(f.Code+" "+f.Path+" "+f.Step))
	}
	return list
}

func TestFaultsPointIntoTheFile(t *testing.T) {
	rules := plan.Rules{CheckTools: true, Catalog: someTools}
	for _, tt := range []struct {
		name, text string
		want       []string // faults, then warnings
	}{
		{
			"dependency after a repeated one", `{"title":"T","steps":[{"title":"a","executor":"self","index":"1"},{"title":"b","executor":"self","depends_on":["1","1","9"]}]}`,
			[]string{"unknown_dependency /steps/1/depends_on/2 2"},
		},
		{
			"dependency after an invalid one", `{"title":"T","steps":[{"title":"a","executor":"self","depends_on":[true,"9"]}]}`,
			[]string{"bad_index /steps/0/depends_on/0 1", "unknown_dependency /steps/0/depends_on/1 1"},
		},
		{
			"step of a milestone after a repeated one", `{"title":"T","steps":[{"title":"a","executor":"self"}],"milestones":[{"title":"m","steps":[1,"1","8"]}]}`,
			[]string{"unknown_milestone_step /milestones/0/steps/2"},
		},
		{
			"milestone after an invalid one", `{"title":"T","steps":[{"title":"a","executor":"self"}],"milestones":[7,{"title":"m","steps":["8"]}]}`,
			[]string{"bad_type /milestones/0", "unknown_milestone_step /milestones/1/steps/0"},
		},
		{
			"name in a tool call", `{"title":"T","steps":[{"title":"a","tool_calls":[{"name":"no.such","args":{}}]}]}`,
			[]string{"unknown_tool /steps/0/tool_calls/0/name 1"},
		},
		{
			"args in a tool call", `{"title":"T","steps":[{"title":"a","executor":"self"},{"title":"b","tool_calls":[{"name":"fs.read","args":{"path":"${no}","lines":0,"a/b":[1]}}]}]}`,
			[]string{
				"unknown_variable /steps/1/tool_calls/0/args/path 2", "bad_args /steps/1/tool_calls/0/args 2", "bad_args /steps/1/tool_calls/0/args/lines 2",
			},
		},
		{
			"missing args of a tool call", `{"title":"T","steps":[{"title":"a","tool_calls":[{"name":"fs.read"}]}]}`,
			[]string{"bad_args /steps/0/tool_calls/0 1"},
		},
		{
			"missing name of a tool call", `{"title":"T","steps":[{"tool_calls":[{"args":{}}]}]}`,
			[]string{"missing_title /steps/0 1", "missing_tool /steps/0/tool_calls/0 1"},
		},
		{
			"args next to a tool call", `{"title":"T","steps":[{"title":"a","args":{"path":[1]},"tool_calls":[{"name":"fs.read"}]}]}`,
			[]string{"bad_args /steps/0/args/path 1"},
		},
		{
			"name of the wrong type", `{"title":"T","steps":[{"title":"a","tool_calls":[{"name":7}]}]}`,
			[]string{"bad_type /steps/0/tool_calls/0/name 1"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, faults, warnings := plan.CheckPlan([]byte(tt.text), rules)
			if got := stepsAt(slices.Concat(faults, warnings)); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestStepWithoutIndexIsNamedByPosition(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string // "step: message"
	}{
		{
			"another step has that number", `{"title":"T","steps":[{"title":"a","executor":"self","index":2},{"executor":"self","index":1.5}]}`,
			[]string{"2: step 2: index must be text or a whole number, not 1.5", "2: step 2 has no title"},
		},
		{
			"first step", `{"title":"T","steps":[{"title":"a","executor":"self","index":true,"gate":1},{"title":"b","executor":"self","index":"1"}]}`,
			[]string{"1: step 1: index must be text or a whole number, not true", "1: step 1: gate must be true or false, not a number"},
		},
		{
			"messages about other steps", `{"title":"T","steps":[{"title":"a","executor":"self","index":"","result_variable":"v"},{"title":"b","executor":"self","index":"1","result_variable":"v"}]}`,
			[]string{`1: step 1: index must be text or a whole number, not ""`, `1: steps 1 and 1 both put their result into "v"`},
		},
		{
			"not an object", `{"title":"T","steps":[{"title":"a","executor":"self","index":"2"},7]}`,
			[]string{"2: step 2: a step must be an object, not a number"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, faults, _ := plan.CheckPlan([]byte(tt.text), plan.Rules{})
			var got []string
			for _, f := range faults {
				got = append(got, f.Step+": "+f.Message)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestFieldsThatOccurTwiceAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"plan", `{"title":"S","title":"T","steps":[{"title":"a","executor":"self"}]}`, []string{"duplicate_key /title"}},
		{"step with an index", `{"title":"T","steps":[{"title":"a","executor":"self","index":"x","title":"b"}]}`, []string{"duplicate_key /steps/0/title x"}},
		{"three times", `{"title":"T","steps":[{"title":"a","executor":"self","title":"b","title":"c"}]}`, []string{"duplicate_key /steps/0/title 1"}},
		{"below a list and a name with a slash", `{"title":"T","variables":{"l":[0,{"a/b~":1,"a\/b~":2}]},"steps":[{"title":"a","executor":"self"}]}`, []string{"duplicate_key /variables/l/1/a~1b~0"}},
		{"same field in two objects", `{"title":"T","steps":[{"title":"a","executor":"self"},{"title":"a","executor":"self"}]}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, faults, _ := plan.CheckPlan([]byte(tt.text), plan.Rules{})
			if got := stepsAt(faults); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
	_, faults, warnings := plan.CheckPlan([]byte(`{"title":"T","steps":{"-1":{"a":1,"a":2},"0":{"a":1,"a":2}}}`), plan.Rules{})
	if got := stepsAt(slices.Concat(faults, warnings)); !slices.Equal(got, []string{"bad_type /steps", "duplicate_key /steps/-1/a", "duplicate_key /steps/0/a"}) {
		t.Errorf("steps as an object: got %q", got)
	}
	_, faults, _ = plan.CheckPlan([]byte(`{"title":"T","variables":{"a/b":1,"a/b":2}}`), plan.Rules{})
	if len(faults) == 0 || faults[0].Message != `the field "a/b" occurs more than once in its object, and readers may see another one than replan: keep one` {
		t.Errorf("got %+v", faults)
	}
}

func TestFirstInvalidUTF8ByteIsNamed(t *testing.T) {
	for name, text := range map[string]string{
		"invalid first byte":            "{\"title\":\"é\xff\xff\"}",
		"half a character":              "{\"title\":\"é\xc3\"}",
		"half of a surrogate pair":      "{\"title\":\"é\xed\xa0\x80\"}",
		"broken JSON":                   "{\"title\":\"é\xff",
		"after a replacement character": "{\"title\":\"\uFFFD\xff\"}",
	} {
		t.Run(name, func(t *testing.T) {
			want := "the text is not UTF-8: byte 12, counted from 0, begins no character"
			if name == "after a replacement character" {
				want = strings.Replace(want, "12", "13", 1)
			}
			_, faults := plan.DecodePlan([]byte(text))
			if len(faults) != 1 || faults[0].Code != plan.CodeBadJSON || faults[0].Path != "" || faults[0].Message != want {
				t.Errorf("got %+v", faults)
			}
		})
	}
}
