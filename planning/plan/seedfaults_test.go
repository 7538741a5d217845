package plan_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"
)

// checkCodes checks a plan file and returns its faults as "code path".
func checkCodes(t *testing.T, text string) []string {
	t.Helper()
	_, faults, _ := plan.CheckPlan([]byte(text), plan.Rules{})
	return faultsAt(faults)
}

// TestSeedFaultsAreNotRepeated has one case for each fault in mcp-cli's handling
// of plans as data.
func TestSeedFaultsAreNotRepeated(t *testing.T) {
	refuses := func(text string, want ...string) func(*testing.T) {
		return func(t *testing.T) {
			if got := checkCodes(t, text); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	}
	accepts := func(text string) func(*testing.T) { return refuses(text) }
	for name, check := range map[string]func(*testing.T){
		"10 comes after 2 in every list": func(t *testing.T) {
			var lines []string
			for _, index := range []string{"10", "1", "12", "2", "11", "3"} {
				lines = append(lines, index+":")
			}
			g := plan.NewGraph(graphOf(lines...))
			if got := strings.Join(g.Order(), " "); got != "1 2 3 10 11 12" {
				t.Errorf("got the order %s", got)
			}
			if got := batchText(g.Batches()); got != "1 2 3 10 11 12" {
				t.Errorf("got the batches %s", got)
			}
			g = plan.NewGraph(graphOf("1:", "10: 1", "2: 1", "20: 10 2", "3: 10 2"))
			if got := strings.Join(g.CriticalPath(one), " "); got != "1 2 3" {
				t.Errorf("got the critical path %s", got)
			}
			if got := strings.Join(g.Dependencies("20"), " "); got != "2 10" {
				t.Errorf("step 20 depends on %s", got)
			}
		},
		"unknown dependency is refused": refuses(
			`{"title":"T","steps":[{"title":"a","tool":"t","depends_on":["1","7"]},{"title":"b","tool":"t","depends_on":["7"]}]}`,
			"self_dependency /steps/0/depends_on/0", "unknown_dependency /steps/0/depends_on/1", "unknown_dependency /steps/1/depends_on/0"),
		"cycle is refused with its members": func(t *testing.T) {
			_, faults, _ := plan.CheckPlan([]byte(`{"title":"T","steps":[{"title":"a","tool":"t"},{"title":"b","tool":"t","depends_on":[1,10]},{"index":10,"title":"c","tool":"t","depends_on":[2]}]}`), plan.Rules{})
			if len(faults) != 1 || faults[0].Code != plan.CodeCycle || strings.Join(faults[0].Members, " ") != "2 10" {
				t.Errorf("got %+v", faults)
			}
		},
		"repeated index is refused, not dropped": refuses(
			`{"title":"T","steps":[{"index":"1","title":"a","tool":"t"},{"index":"2","title":"b","tool":"t"},{"index":"1","title":"c","tool":"t"}]}`,
			"duplicate_index /steps/2/index"),
		"missing variable is refused before any call": refuses(
			`{"title":"T","steps":[{"title":"a","tool":"t","args":{"path":"${x}"}}]}`, "unknown_variable /steps/0/args/path"),
		"missing variable is an error when resolved": func(t *testing.T) {
			var missing *plan.MissingVariableError
			if got, err := plan.Resolve("a ${x} b", map[string]any{"y": "1"}); !errors.As(err, &missing) {
				t.Errorf("got %v, %v", got, err)
			}
		},
		"missing field is an error that lists the known fields": func(t *testing.T) {
			var missing *plan.MissingFieldError
			_, err := plan.Resolve("${api.hots}", mustValue(t, `{"api":{"host":"h"}}`).(map[string]any))
			if !errors.As(err, &missing) || missing.Field != "hots" || !slices.Equal(missing.There, []string{"host"}) {
				t.Errorf("got %v", err)
			}
		},
		"null variable alone and inside text": func(t *testing.T) {
			values := map[string]any{"x": nil}
			alone, err := plan.Resolve("${x}", values)
			if err != nil || alone != nil {
				t.Errorf("alone: %v, %v", alone, err)
			}
			inside, err := plan.Resolve("x=${x}", values)
			if err != nil || inside != "x=null" {
				t.Errorf("inside text: %v, %v", inside, err)
			}
		},
		"list positions by dot and bracket": func(t *testing.T) {
			values := mustValue(t, `{"l":[{"k":"a"},{"k":"b"}]}`).(map[string]any)
			got, err := plan.Resolve("${l[0].k}${l.1.k}", values)
			if err != nil || got != "ab" {
				t.Errorf("got %v, %v", got, err)
			}
		},
		"literal ${": func(t *testing.T) {
			got, err := plan.Resolve("echo $${HOME}", nil)
			if err != nil || got != "echo ${HOME}" {
				t.Errorf("got %v, %v", got, err)
			}
		},
		"other values are JSON inside text": func(t *testing.T) {
			values := mustValue(t, `{"v":{"on":true,"off":null,"n":1.50,"l":["a",false],"t":"<b>"}}`).(map[string]any)
			got, err := plan.Resolve("${v.on} ${v.off} ${v.n} ${v.l} ${v}", values)
			if want := `true null 1.50 ["a",false] {"l":["a",false],"n":1.50,"off":null,"on":true,"t":"<b>"}`; err != nil || got != want {
				t.Errorf("got %v, %v", got, err)
			}
		},
		"values are not expanded": func(t *testing.T) {
			got, err := plan.Resolve("${a} and ${b}", map[string]any{"a": "${b}", "b": "$${a}"})
			if err != nil || got != "${b} and $${a}" {
				t.Errorf("got %v, %v", got, err)
			}
		},
		"reference to a result is a dependency": func(t *testing.T) {
			g := plan.NewGraph(graphOf("1: $code", "2: =code"))
			if got := batchText(g.Batches()); got != "2 | 1" {
				t.Errorf("got the batches %s", got)
			}
		},
		"id that leaves the folder is refused": func(t *testing.T) {
			for _, id := range []string{"../x", "..", ".", ".x", "a/b", `a\\b`, "/etc/passwd", "a\\u0000", "a\\n", "-rf", " a", "ä", strings.Repeat("a", 129)} {
				if got := checkCodes(t, `{"id":"`+id+`","title":"T"}`); !slices.Equal(got, []string{"bad_id /id"}) {
					t.Errorf("id %q: got %q", id, got)
				}
			}
		},
		"id with dots, dashes and underscores": accepts(`{"id":"a..b-c_d.1","title":"T"}`),
		"whole numbers as indices": func(t *testing.T) {
			p := mustPlan(t, `{"title":"T","steps":[{"index":1,"title":"a","tool":"t"},{"index":"2","title":"b","tool":"t","depends_on":[1]},{"index":3.0,"title":"c","tool":"t","depends_on":["1",2]}]}`)
			if got := batchText(plan.NewGraph(p).Batches()); got != "1 | 2 | 3" {
				t.Errorf("got the batches %s", got)
			}
		},
		"dependencies are never counted from 0": refuses(
			`{"title":"T","steps":[{"title":"a","tool":"t"},{"title":"b","tool":"t","depends_on":[0]}]}`, "unknown_dependency /steps/1/depends_on/0"),
		"step with index 0": accepts(`{"title":"T","steps":[{"index":0,"title":"a","tool":"t"},{"index":1,"title":"b","tool":"t","depends_on":[0]}]}`),
		"first of tool_calls gives tool and args": func(t *testing.T) {
			p := mustPlan(t, `{"title":"T","steps":[{"title":"a","tool_calls":[{"name":"read_file","args":{"path":"p"}}]},{"title":"b","tool_calls":[{"name":"ls","args":null}],"args":null}]}`)
			if s := p.Steps[0]; s.Tool != "read_file" || plan.CanonicalJSON(s.Args) != `{"path":"p"}` {
				t.Errorf("step 1 was read as %+v", s)
			}
			if s := p.Steps[1]; s.Tool != "ls" || s.Args != nil {
				t.Errorf("step 2 was read as %+v", s)
			}
		},
		"null tool_calls, args, depends_on and variables": accepts(
			`{"title":"T","variables":null,"steps":[{"title":"a","tool":"t","tool_calls":null,"args":null,"depends_on":null,"result_variable":null}]}`),
		"repeated dependency": func(t *testing.T) {
			p := mustPlan(t, `{"title":"T","steps":[{"title":"a","tool":"t"},{"title":"b","tool":"t","depends_on":["1",1,"1"]}]}`)
			if got := p.Steps[1].DependsOn; !slices.Equal(got, []string{"1"}) {
				t.Errorf("step 2 depends on %q", got)
			}
		},
		"dry run resolves args with placeholders": func(t *testing.T) {
			values := map[string]any{"module_path": "src/a.py", "auth_code": plan.Placeholder("<read_file result>")}
			got, err := plan.ResolveArgs(map[string]any{"path": "${module_path}", "content": "# ${auth_code.text[0]}"}, values)
			if want := `{"content":"# <read_file result>","path":"src/a.py"}`; err != nil || plan.CanonicalJSON(got) != want {
				t.Errorf("got %s, %v", plan.CanonicalJSON(got), err)
			}
		},
		"long values and digits are kept": func(t *testing.T) {
			long := strings.Repeat("é", 5000)
			p := mustPlan(t, `{"title":"T","variables":{"v":"`+long+`","n":0.1000000000000000055511151231257827}}`)
			data, err := plan.EncodeJSON(p)
			if err != nil || !strings.Contains(string(data), long) || !strings.Contains(string(data), "0.1000000000000000055511151231257827") {
				t.Errorf("the value is incomplete: %v", err)
			}
		},
		"all faults are reported at once": refuses(
			`{"id":"../x","steps":[{"index":"1","title":"a"},{"index":"1","title":"b","tool":"t","depends_on":["9"],"args":{"x":"${v}"}}]}`,
			"bad_id /id", "missing_title ", "missing_tool /steps/0", "duplicate_index /steps/1/index", "unknown_dependency /steps/1/depends_on/0", "unknown_variable /steps/1/args/x"),
	} {
		t.Run(name, check)
	}
}
