package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// dry returns the start of a dry run of a plan.
func dry(t *testing.T, plan string) event.RunStarted {
	start := given(t, plan)
	start.DryRun = true
	return start
}

// nothingCalled fails the test if the run requests any effect but a timer.
func nothingCalled(t *testing.T, w *world) {
	w.watch = func(_ []event.Data, pending []agent.Effect) {
		for _, e := range pending {
			if _, timer := e.(agent.Wake); !timer {
				t.Errorf("a dry run requests %T: %+v", e, e)
			}
		}
	}
}

func TestDryRunResolvesArgumentsAndCallsNothing(t *testing.T) {
	w := newWorld(t)
	nothingCalled(t, w)
	got := w.play(dry(t, `{"title":"Dry","variables":{"dir":{"path":"src"}},"steps":[
	 {"index":"1","title":"Look","tool":"w:look","args":{"at":"${dir.path}/x"},"result_variable":"found"},
	 {"index":"2","title":"Think","executor":"self","depends_on":["1"],"result_variable":"thought"},
	 {"index":"3","title":"Delegate","executor":"agent","profile":"tester","result_variable":"report"},
	 {"index":"4","title":"Change","tool":"change","args":{"at":"${found}","whole":["${found.files[0].name}","see ${thought} and ${report.lines}"]}},
	 {"index":"5","title":"Fill","tool":"fill"},
	 {"index":"6","title":"Ask","tool":"look","args":{"at":1},"gate":true}]}`))
	if got.Reason != event.ReasonGoalMet || got.Usage.ToolCalls != 0 || got.Usage.ModelCalls != 0 || got.Usage.Steps != 6 {
		t.Fatalf("%s (%s), used %+v", got.Reason, got.Error, got.Usage)
	}
	want := map[string]struct {
		result string
		args   map[string]any
		asks   string // source of the rule that asks
	}{
		"1": {"<w:look result>", map[string]any{"at": "src/x"}, ""},
		"2": {"<step 2 result>", nil, ""},
		"3": {"<tester result>", nil, ""},
		"4": {"<change result>", map[string]any{"at": "<w:look result>", "whole": []any{"<w:look result>", "see <step 2 result> and <tester result>"}}, "rule"},
		"5": {"<fill result>", nil, ""},
		"6": {"<look result>", map[string]any{"at": 1}, "plan"},
	}
	done := all[event.StepCompleted](w)
	if len(done) != len(want) || len(w.starts()) != 0 {
		t.Fatalf("got %d completed steps and %d starts", len(done), len(w.starts()))
	}
	for _, d := range done {
		c := want[d.Index]
		if !d.DryRun || d.Result != c.result || !plan.EqualValues(plain(t, d.Args), plain(t, c.args)) {
			t.Errorf("step %s: %+v, want %q with %v", d.Index, d, c.result, c.args)
		}
		switch {
		case (d.Gate != nil) != (c.asks != ""):
			t.Errorf("step %s has the gate %v", d.Index, d.Gate)
		case c.asks == "plan" && d.Gate.Source != "plan", c.asks == "rule" && d.Gate.Why != "it has effects":
			t.Errorf("step %s has the gate %+v, want one from the %s", d.Index, d.Gate, c.asks)
		}
	}
	if w.run.Resumable() {
		t.Error("a dry run is resumable")
	}
}

// plain returns args as a JSON value with numbers as written.
func plain(t *testing.T, args map[string]any) any {
	t.Helper()
	return plan.CanonicalJSON(args)
}

func TestDryRunReportsFailures(t *testing.T) {
	missing := `{"title":"x","variables":{"api":{"host":"h"}},"steps":[{"title":"Look","tool":"look","args":{"at":"${api.hots}"}},{"title":"Then","tool":"look","args":{},"depends_on":["1"]}]}`
	for name, c := range map[string]struct {
		plan     string
		attended bool
		want     event.Reason
		err      string
	}{
		"missing field":                    {plan: missing, want: event.ReasonStepFailed, err: `no field "hots"`},
		"missing field, attended":          {plan: missing, attended: true, want: event.ReasonStepFailed, err: `no field "hots"`},
		"missing field, on_failure replan": {plan: with(missing, `"title":"Look"`, `"title":"Look","on_failure":"replan"`), want: event.ReasonStepFailed, err: `no field "hots"`},
		"missing field, on_failure skip":   {plan: with(missing, `"title":"Look"`, `"title":"Look","on_failure":"skip"`), want: event.ReasonPartial},
		"unknown tool":                     {plan: with(missing, `"look"`, `"nowhere"`, "hots", "host"), want: event.ReasonStepFailed, err: "nowhere"},
		"unknown tool, retried":            {plan: with(missing, `"look"`, `"nowhere","retries":2`, "hots", "host"), want: event.ReasonStepFailed, err: "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			nothingCalled(t, w)
			start := dry(t, c.plan)
			start.Attended = c.attended
			got := w.play(start)
			if got.Reason != c.want || !strings.Contains(string(got.Error), c.err) {
				t.Errorf("got %s: %q, want %s: %q", got.Reason, got.Error, c.want, c.err)
			}
		})
	}
}

func TestDryRunWithoutCatalogAcceptsTools(t *testing.T) {
	w := newWorld(t)
	nothingCalled(t, w)
	start := dry(t, with(chain, `"tool":"look","args":{"at":"d"}`, `"tool":"git.push","args":{"at":"d"},"gate":true`))
	start.Catalog = nil
	got := w.play(start)
	if got.Reason != event.ReasonGoalMet {
		t.Fatalf("%s: %s", got.Reason, got.Error)
	}
	done := all[event.StepCompleted](w)
	at := slices.IndexFunc(done, func(d event.StepCompleted) bool { return d.Index == "4" })
	if done[at].Gate == nil || done[at].Gate.Source != "plan" {
		t.Errorf("the gate of the plan is missing: %+v", done[at])
	}
}

func TestDryRunEnforcesStepBudget(t *testing.T) {
	w := newWorld(t)
	nothingCalled(t, w)
	start := dry(t, serial(6, false))
	start.Limits.MaxSteps, start.Limits.GrowSteps = 5, false
	got := w.play(start)
	if b := all[event.GuardBlocked](w); got.Reason != event.ReasonStepBudget || len(b) != 1 || b[0].Step != "6" || len(all[event.BudgetWarned](w)) != 1 {
		t.Errorf("%s, blocked %+v, warned %v", got.Reason, b, all[event.BudgetWarned](w))
	}
}

func TestDryRunOfGoalOnlyPlans(t *testing.T) {
	w := newWorld(t)
	w.reply = script{prompt.PurposePlan: {diamond}}.reply
	start := started(event.DefaultLimits())
	start.DryRun = true
	w.watch = func(_ []event.Data, pending []agent.Effect) {
		for _, e := range pending {
			if c, ok := e.(agent.CallModel); !ok || c.Request.Purpose != prompt.PurposePlan {
				t.Errorf("a dry run requests %T", e)
			}
		}
	}
	got := w.play(start)
	if got.Reason != event.ReasonGoalMet || len(w.starts()) != 0 || len(all[event.StepCompleted](w)) != 4 {
		t.Errorf("%s (%s) after the starts %v", got.Reason, got.Error, w.starts())
	}
}

func TestDryRunEndsAtSameBudgetAsRealRun(t *testing.T) {
	for name, limit := range map[string]func(*event.Limits){
		"tool calls":      func(l *event.Limits) { l.MaxToolCalls = 3 },
		"discovery calls": func(l *event.Limits) { l.MaxDiscoveryCalls = 3 },
		"execution calls": func(l *event.Limits) { l.MaxExecutionCalls = 3 },
		"calls of a tool": func(l *event.Limits) { l.MaxCallsPerTool = 3 },
	} {
		for shape, plan := range map[string]string{
			"reads": serial(5, false), "changes": serial(5, true), "changes at once": parallel(5),
		} {
			t.Run(name+", "+shape, func(t *testing.T) {
				start := given(t, plan)
				limit(&start.Limits)
				real := newWorld(t)
				want := real.play(start)
				start.DryRun = true
				w := newWorld(t)
				nothingCalled(t, w)
				got := w.play(start)
				if got.Reason != want.Reason || got.Error != want.Error || got.Usage.Steps != want.Usage.Steps || got.Usage.ToolCalls != 0 {
					t.Errorf("the dry run ended %s (%s) after %d steps, the real one %s (%s) after %d",
						got.Reason, got.Error, got.Usage.Steps, want.Reason, want.Error, want.Usage.Steps)
				}
				if got, want := len(all[event.GuardBlocked](w)), len(all[event.GuardBlocked](real)); got != want {
					t.Errorf("the dry run was blocked %d times, the real one %d", got, want)
				}
			})
		}
	}
}

func TestDryRunIgnoresUnofferedToolCalls(t *testing.T) {
	for name, stubborn := range map[string]bool{"once": false, "in every turn": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			start := started(event.DefaultLimits())
			chats(nil, w, &start)
			start.DryRun = true
			w.reply = func(prompt.Request) (string, error) { return "what I know", nil }
			turns := 0
			w.calls = func(prompt.Request) []reply.ToolUse {
				if turns++; turns > 1 && !stubborn {
					return nil
				}
				return []reply.ToolUse{use("look", "${nowhere}"), use("fill", fmt.Sprint(turns)), use("nowhere", "x")}
			}
			w.watch = func(_ []event.Data, pending []agent.Effect) {
				for _, e := range pending {
					if _, call := e.(agent.CallTool); call {
						t.Errorf("a dry run requests %+v", e)
					}
				}
			}
			got := w.play(start)
			if !stubborn && (got.Reason != event.ReasonDirect || got.Answer != "what I know") {
				t.Errorf("ended %s (%s) with %q", got.Reason, got.Error, got.Answer)
			}
		})
	}
}

func TestDryRunEventsDescribeSteps(t *testing.T) {
	w := newWorld(t)
	w.play(dry(t, `{"title":"Dry","steps":[
	 {"index":"1","title":"Look","tool":"look","args":{},"result_variable":"found"},
	 {"index":"2","title":"Think","executor":"self","depends_on":["1"]},
	 {"index":"3","title":"Change","tool":"change","args":{"at":"${found}"}}]}`))
	var got []string
	for _, d := range all[event.StepCompleted](w) {
		got = append(got, fmt.Sprint(d.Index, d.Title, " ", d.Executor, " ", d.Tool, d.DependsOn))
	}
	slices.Sort(got)
	if want := []string{"1Look tool look[]", "2Think self [1]", "3Change tool change[1]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
