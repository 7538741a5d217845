package plan_test

import (
	"errors"
	"strings"
	"testing"

	"replan/planning/plan"

	"pgregory.net/rapid"
)

// mcpFile is a plan file of mcp-cli with the fields that a run adds.
const mcpFile = `{
	"id": "refactor-auth-001", "title": "Refactor <Auth> Module", "description": "d",
	"created_at": "2026-03-01T10:00:00.123456", "updated_at": null, "status": "completed",
	"variables": {"module_path": "src/auth/handler.py", "api": {"host": "api.example.com", "port": 12345678901234567890}, "limit": 1e400},
	"steps": [
		{"index": 1, "title": "Read auth module", "tool": "read_file", "args": {"path": "${module_path}"}, "depends_on": [], "result_variable": "auth_code", "status": "done", "started": 1.50},
		{"index": "2", "title": "Find all usages", "tool": "search_code", "args": {"query": "from auth.handler import", "at": "https://${api.host}:${api.port}/"}, "depends_on": null, "result_variable": "usages"},
		{"index": "3", "title": "Write", "tool_calls": [{"id": "c1", "name": "write_file", "args": {"path": "${ module_path }", "content": "${auth_code.text}"}}], "depends_on": ["1", "2", "2", 1]},
		{"index": "10", "title": "Run tests", "tool": "run_tests", "args": null, "depends_on": [3]}
	]
}`

func TestMCPPlanFileRunsUnchanged(t *testing.T) {
	p, faults, warnings := plan.CheckPlan([]byte(mcpFile), plan.Rules{})
	if len(faults) > 0 {
		t.Fatal(plan.FaultError(faults))
	}
	for _, w := range warnings {
		if w.Code != plan.CodeUncheckedTools {
			t.Errorf("unexpected warning: %s", w.Message)
		}
	}
	g := plan.NewGraph(p)
	if got := batchText(g.Batches()); got != "1 2 | 3 | 10" {
		t.Errorf("got the batches %s", got)
	}
	third, _ := p.Step("3")
	if third.Tool != "write_file" || strings.Join(third.DependsOn, " ") != "1 2" {
		t.Errorf("step 3 was read as %+v", third)
	}
	if got := plan.CanonicalJSON(p.Extra); got != `{"created_at":"2026-03-01T10:00:00.123456","description":"d","status":"completed","updated_at":null}` {
		t.Errorf("got the extra fields %s", got)
	}
}

func TestExportMCPWritesOlderFormat(t *testing.T) {
	p := mustPlan(t, mcpFile)
	data, err := plan.ExportMCP(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"id": "refactor-auth-001"`, `"title": "Refactor <Auth> Module"`, `"port": 12345678901234567890`, `"limit": 1e400`,
		`"created_at": "2026-03-01T10:00:00.123456"`, `"started": 1.50`, `"path": "${module_path}"`, `"at": "https://${api.host}:${api.port}/"`, `"args": {}`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is missing in\n%s", want, data)
		}
	}
	back := mustPlan(t, string(data))
	again, err := plan.ExportMCP(back)
	if err != nil || string(again) != string(data) {
		t.Errorf("after reading and exporting again: %v\n%s", err, again)
	}
}

func TestExportMCP(t *testing.T) {
	for _, tt := range []struct{ name, plan, want, failure string }{
		{
			name: "ignored fields are written and read back",
			plan: `{"id":"a","title":"T","goal":"G","on_failure":"skip","steps":[{"title":"a","tool":"t","args":{},"gate":true,"synthesize":true,"timeout":"30s","retries":2,"on_failure":"replan","expected_outcome":"e"}],"milestones":[{"title":"m","steps":["1"]}],"risks":["r"]}`,
			want: `{"id":"a","title":"T","goal":"G","on_failure":"skip","steps":[{"index":"1","title":"a","executor":"tool","tool":"t","args":{},"depends_on":[],"expected_outcome":"e","on_failure":"replan","timeout":"30s","retries":2,"gate":true,"synthesize":true}],"milestones":[{"title":"m","steps":["1"]}],"risks":["r"]}`,
		},
		{
			name: "missing id is derived from the title",
			plan: `{"title":"Read & write","steps":[]}`,
			want: `{"id":"read-write","title":"Read & write","goal":"Read & write","steps":[]}`,
		},
		{
			name: "dependency implied by a reference is written",
			plan: `{"id":"a","title":"T","steps":[{"title":"a","tool":"t","result_variable":"v"},{"title":"b","tool":"t"},{"title":"c","tool":"t","args":{"x":"${v}"},"depends_on":["2"]}]}`,
			want: `{"id":"a","title":"T","goal":"T","steps":[` +
				`{"index":"1","title":"a","executor":"tool","tool":"t","args":{},"depends_on":[],"result_variable":"v"},` +
				`{"index":"2","title":"b","executor":"tool","tool":"t","args":{},"depends_on":[]},` +
				`{"index":"3","title":"c","executor":"tool","tool":"t","args":{"x":"${v}"},"depends_on":["2","1"]}]}`,
		},
		{
			name: "blanks and brackets in references are normalized",
			plan: `{"id":"a","title":"T","variables":{"v":{"f":{"g":1}}},"steps":[{"title":"a","tool":"t","args":{"x":["${ v }","a ${v[f].g}"]}}]}`,
			want: `{"id":"a","title":"T","goal":"T","variables":{"v":{"f":{"g":1}}},"steps":[{"index":"1","title":"a","executor":"tool","tool":"t","args":{"x":["${v}","a ${v.f.g}"]},"depends_on":[]}]}`,
		},
		{name: "step for a model", plan: `{"title":"T","steps":[{"title":"a","executor":"self"},{"title":"b","executor":"agent","profile":"p"}]}`, failure: "step 1 is for the executor self, and it can only call tools; step 2 is for the executor agent"},
		{name: "escape", plan: `{"title":"T","steps":[{"title":"a","tool":"t","args":{"x":"$${v}"}}]}`, failure: `step 1 has the escape $${ in "$${v}", and it knows none`},
		{name: "list position", plan: `{"title":"T","variables":{"v":[1]},"steps":[{"title":"a","tool":"t","args":{"x":"${v[0]}","y":"${v.0}"}}]}`, failure: "step 1 refers to ${v[0]}, and it takes no positions of lists; step 1 refers to ${v.0}, and"},
		{name: "field with a dot", plan: `{"title":"T","variables":{"v":{"a.b":1}},"steps":[{"title":"a","tool":"t","args":{"x":"${v[a.b]}"}}]}`, failure: "it cannot name such a field"},
		{name: "null", plan: `{"title":"T","variables":{"v":null},"steps":[{"title":"a","tool":"t","args":{"x":"${v}"}}]}`, failure: "which is null, and it leaves such a reference as it stands"},
		{name: "object inside text", plan: `{"title":"T","variables":{"v":{"on":true}},"steps":[{"title":"a","tool":"t","args":{"x":"is ${v}","y":"is ${v.on}","z":"${v}"}}]}`, failure: "step 1 refers to ${v}, which is an object inside text, and it does not write that as JSON; step 1 refers to ${v.on}, which is true or false inside text"},
		{name: "missing field", plan: `{"title":"T","variables":{"v":{}},"steps":[{"title":"a","tool":"t","args":{"x":"${v.f}"}}]}`, failure: "and there is no such field"},
		{
			name: "variable replaced by a result", plan: `{"id":"a","title":"T","variables":{"v":null},"steps":[{"title":"a","tool":"t","args":{"x":"${v}"},"result_variable":"v"}]}`,
			want: `{"id":"a","title":"T","goal":"T","variables":{"v":null},"steps":[{"index":"1","title":"a","executor":"tool","tool":"t","args":{"x":"${v}"},"depends_on":[],"result_variable":"v"}]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, err := plan.ExportMCP(mustPlan(t, tt.plan))
			if tt.failure != "" {
				if err == nil || !strings.Contains(err.Error(), tt.failure) {
					t.Errorf("got %v, want an error with %q", err, tt.failure)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := plan.EncodeJSON(mustPlan(t, string(data)))
			if err != nil || string(got) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestExportMCPRefusesPlansMcpCliMisreads(t *testing.T) {
	for name, text := range map[string]string{
		"a cycle":               `{"title":"T","steps":[{"title":"a","tool":"t","depends_on":["2"]},{"title":"b","tool":"t","depends_on":["1"]}]}`,
		"an unknown dependency": `{"title":"T","steps":[{"title":"a","tool":"t","depends_on":["9"]}]}`,
		"a repeated index":      `{"title":"T","steps":[{"index":"1","title":"a","tool":"t"},{"index":1,"title":"b","tool":"t"}]}`,
		"a missing variable":    `{"title":"T","steps":[{"title":"a","tool":"t","args":{"x":"${v}"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var invalid *plan.InvalidPlanError
			if _, err := plan.ExportMCP(mustPlan(t, text)); !errors.As(err, &invalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestExportedPlanReadsBackUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawDAG(t)
		p.ID, p.Goal = "a", "g"
		p.Extra = rapid.MapOfN(rapid.SampledFrom([]string{"created_at", "status", "x"}), drawJSON(2), 0, 3).Draw(t, "unknown fields")
		for i := range p.Steps {
			p.Steps[i].Executor, p.Steps[i].Tool = plan.ExecutorTool, "t"
			p.Steps[i].Gate = rapid.Bool().Draw(t, "gate")
		}
		data, err := plan.ExportMCP(p)
		if err != nil {
			t.Fatal(err)
		}
		back, faults := plan.DecodePlan(data)
		if len(faults) > 0 {
			t.Fatal(plan.FaultError(faults))
		}
		if plan.CanonicalJSON(back.Extra) != plan.CanonicalJSON(p.Extra) && len(p.Extra) > 0 {
			t.Fatalf("unknown fields: %s became %s", plan.CanonicalJSON(p.Extra), plan.CanonicalJSON(back.Extra))
		}
		g, h := plan.NewGraph(p), plan.NewGraph(back)
		for i, s := range p.Steps {
			if strings.Join(g.Dependencies(s.Index), " ") != strings.Join(h.Dependencies(s.Index), " ") || back.Steps[i].Gate != s.Gate {
				t.Fatalf("step %s became %+v", s.Index, back.Steps[i])
			}
			// Without references the older program must find the same order.
			if written := back.Steps[i].DependsOn; len(written) != len(h.Dependencies(s.Index)) {
				t.Fatalf("step %s lists only %v of %v", s.Index, written, h.Dependencies(s.Index))
			}
		}
	})
}
