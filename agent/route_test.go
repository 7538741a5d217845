package agent_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// operators returns the workspace's tools that routed plans need.
func operators() plan.Catalog {
	var out plan.Catalog
	for _, name := range []string{
		"fs.read", "fs.search", "code.symbols", "code.definition", "code.references", "code.parse", "code.summarize", "code.transform",
		"vcs.status", "vcs.diff", "vcs.log",
	} {
		out = append(out, plan.Tool{Name: name, Server: "workspace", ReadOnly: true, Annotated: true, Trusted: true})
	}
	for _, name := range []string{"fs.patch", "fs.write", "test.run", "vcs.commit"} {
		out = append(out, plan.Tool{Name: name, Server: "workspace", Annotated: true, Trusted: true})
	}
	return out
}

// routed returns the start of a run whose goal a route may plan.
func routed(goal, model string, planner event.PlannerKind) event.RunStarted {
	return event.RunStarted{
		Goal: untrusted.Text(goal), Model: model, Limits: event.DefaultLimits(), Rules: rules, Catalog: operators(),
		Routing: event.Routing{Planner: planner},
	}
}

// operate answers as the operators do, with the fields that later steps refer to.
func operate(c agent.CallTool) event.Data {
	var result any = map[string]any{}
	switch c.Tool.Name {
	case "code.references":
		result = map[string]any{"symbol": "example.com/shop.Run.Apply", "name": "Run.Apply", "by": "types", "references": []any{}, "total": json.Number("0")}
	case "code.transform":
		result = map[string]any{"diff": "--- a/run.go\n+++ b/run.go\n", "hashes": map[string]any{"run.go": "0f"}, "files": []any{map[string]any{"path": "run.go"}}, "edits": json.Number("2")}
	case "code.summarize":
		result = map[string]any{"kind": "diff", "title": "Rename Apply to Add", "summary": "Apply is Add now."}
	case "fs.read":
		result = "package shop\n"
	case "test.run":
		result = map[string]any{"passed": true, "failed": []any{}}
	}
	return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: result, MS: 10}
}

// operating is a world with operators, in which every change is made.
func operating(t *testing.T) *world {
	w := newWorld(t)
	w.tool = operate
	w.finds = func(c agent.CallCheck) event.CheckCompleted {
		return c.Returned(map[string]any{"definitions": []any{}}, 1)
	}
	return w
}

func TestGoalIsPlannedByRouterOrPhases(t *testing.T) {
	const phases, words, nobody, none = "phases", "words", "nobody", "none"
	for name, c := range map[string]struct {
		goal, model string
		planner     event.PlannerKind
		tools       plan.Catalog // nil for all operators
		want        string
	}{
		"routable goal":                        {goal: "where is Run.Apply used", model: "m", planner: event.PlannerAuto, want: words},
		"routable goal without a model":        {goal: "where is Run.Apply used", planner: event.PlannerAuto, want: words},
		"goal that needs a model":              {goal: "fix the bug in run.go", model: "m", planner: event.PlannerAuto, want: phases},
		"goal that needs a model, without one": {goal: "fix the bug in run.go", planner: event.PlannerAuto, want: words},
		"ambiguous goal":                       {goal: "rename it", model: "m", planner: event.PlannerAuto, want: phases},
		"unknown goal":                         {goal: "make me happy", model: "m", planner: event.PlannerAuto, want: phases},
		"missing tools":                        {goal: "where is Run.Apply used", model: "m", planner: event.PlannerAuto, tools: catalog, want: phases},
		"planner phases":                       {goal: "where is Run.Apply used", model: "m", planner: event.PlannerPhases, want: phases},
		"planner unset, as in old journals":    {goal: "where is Run.Apply used", model: "m", want: phases},
		"planner router":                       {goal: "fix the bug in run.go", model: "m", planner: event.PlannerRouter, want: words},
		"planner router, unknown goal":         {goal: "make me happy", model: "m", planner: event.PlannerRouter, want: nobody},
		"planner none":                         {goal: "where is Run.Apply used", model: "m", planner: event.PlannerNone, want: none},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			start := routed(c.goal, c.model, c.planner)
			if c.tools != nil {
				start.Catalog = c.tools
			}
			w.apply(start)
			w.advance()
			got := none
			switch kinds := w.kinds(); {
			case slices.Contains(kinds, event.KindRouteMatched):
				got = words
			case slices.Contains(kinds, event.KindPlanEmpty):
				got = nobody
			case slices.Contains(kinds, event.KindPhaseStarted):
				got = phases
			}
			if got != c.want {
				t.Errorf("planned by %s, want %s: %v", got, c.want, w.kinds())
			}
		})
	}
}

func TestRouteIsRecordedBeforePlan(t *testing.T) {
	w := operating(t)
	result := w.play(routed("rename Run.Apply to Add", "m", event.PlannerAuto))
	if result.Reason != event.ReasonGoalMet {
		t.Fatalf("%s: %s", result.Reason, result.Error)
	}
	kinds := w.kinds()
	if at := slices.Index(kinds, event.KindRouteMatched); at < 0 || at+1 >= len(kinds) || kinds[at+1] != event.KindPlanCreated {
		t.Errorf("%v", kinds)
	}
	matched := all[event.RouteMatched](w)[0]
	if matched.Intent.Action != "rename" || matched.Intent.Target != "Run.Apply" || matched.Intent.Params["new_name"] != "Add" || matched.Confidence < 0.8 {
		t.Errorf("%+v", matched)
	}
	want := "code.references code.transform code.summarize fs.patch test.run"
	if got := strings.Join(matched.Chain, " "); got != want {
		t.Errorf("the chain is %s, want %s", got, want)
	}
	if asked := all[event.GateRequested](w); len(asked) == 0 || asked[0].Tool != "fs.patch" {
		t.Errorf("gates: %+v", asked)
	}
	if n := len(w.run.Exchanges); n != 0 {
		t.Errorf("the model got %d requests, want none", n)
	}
}

func TestRoutedPlanBringsItsChecks(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*event.RunStarted)
		defined []any // what code.definition finds
		want    []plan.EvidenceState
		reason  event.Reason
	}{
		"held":    {want: []plan.EvidenceState{"verified", "verified"}, reason: event.ReasonGoalMet},
		"refuted": {defined: []any{map[string]any{"path": "run.go"}}, want: []plan.EvidenceState{"refuted", "unchecked"}, reason: event.ReasonStepFailed},
		"none whose tool is not offered": {change: func(s *event.RunStarted) {
			s.Catalog = slices.DeleteFunc(s.Catalog, func(t plan.Tool) bool { return t.Name == "code.definition" })
		}, want: []plan.EvidenceState{"claimed", "verified"}, reason: event.ReasonGoalMet},
		"of the workspace's own tools": {change: func(s *event.RunStarted) {
			s.Catalog = append(s.Catalog, plan.Tool{Name: "code.definition", Server: "other", ReadOnly: true, Annotated: true})
		}, want: []plan.EvidenceState{"verified", "verified"}, reason: event.ReasonGoalMet},
	} {
		t.Run(name, func(t *testing.T) {
			w := operating(t)
			w.finds = func(c agent.CallCheck) event.CheckCompleted {
				if c.Tool.Server != "workspace" {
					t.Errorf("the check calls the tool of %s", c.Tool.Server)
				}
				return c.Returned(map[string]any{"definitions": append([]any{}, tt.defined...)}, 1)
			}
			start := routed("rename Run.Apply to Add", "", event.PlannerAuto)
			if tt.change != nil {
				tt.change(&start)
			}
			result := w.play(start)
			if got := evidence(result); result.Reason != tt.reason || !slices.Equal(got, tt.want) {
				t.Errorf("the run ends with %s (%s) and the evidence %v", result.Reason, result.Error, got)
			}
		})
	}
}

func TestStoppedRunHasNoAnswerByRule(t *testing.T) {
	w := operating(t)
	w.apply(routed("rename Run.Apply to Add", "", event.PlannerAuto))
	w.until(event.KindPlanCreated)
	w.apply(event.RunPaused{Reason: "stopped by the user"})
	if got := w.finish(); got.Reason != event.ReasonInterrupted || got.Answer != "" {
		t.Errorf("the run ends with %s and the answer %q", got.Reason, got.Answer)
	}
}

func TestChainSkipsModelStepsWithoutModel(t *testing.T) {
	w := operating(t)
	result := w.play(routed("fix the bug in run.go", "", event.PlannerAuto))
	if result.Status != event.StatusFailed || result.Reason != event.ReasonStepFailed {
		t.Fatalf("%s %s: %s", result.Status, result.Reason, result.Error)
	}
	done, left := 0, 0
	for _, s := range w.run.Steps {
		switch s.Status {
		case agent.StepCompleted:
			done++
		case agent.StepSkipped:
			left++
		}
	}
	if done != 2 || left != len(w.run.Steps)-2 {
		t.Errorf("%d completed and %d skipped of %d", done, left, len(w.run.Steps))
	}
	if !strings.Contains(string(result.Answer), "Step 3 needs a model") {
		t.Errorf("the answer lacks the reason: %q", result.Answer)
	}
	if len(all[event.GateRequested](w)) > 0 {
		t.Error("a gate opened for a step that cannot run")
	}
}

func TestRoutedRunResumesAfterAnyCut(t *testing.T) {
	whole := operating(t)
	want := whole.play(routed("rename Run.Apply to Add", "", event.PlannerAuto))
	for cut := 1; cut < len(whole.events); cut++ {
		w := operating(t)
		for _, e := range whole.events[:cut] {
			w.apply(reread(t, e).Data)
		}
		if w.run.NeedsModel() {
			t.Errorf("cut after %s: the run needs a model", whole.events[cut-1].Data.Kind())
		}
		resume := resumed(routed("rename Run.Apply to Add", "", event.PlannerAuto))
		resume.InDoubt = event.DoubtRerun
		got := w.resume(resume)
		if got.Reason != want.Reason || got.Answer != want.Answer || len(w.run.Steps) != len(whole.run.Steps) {
			t.Errorf("cut after %s: %s, %q, want %s, %q", whole.events[cut-1].Data.Kind(), got.Reason, got.Answer, want.Reason, want.Answer)
		}
	}
}

func TestModelAnswersRoutedQuestion(t *testing.T) {
	w := operating(t)
	w.reply = func(r prompt.Request) (string, error) { return "It is what it is.", nil }
	if result := w.play(routed("what is Session", "m", event.PlannerAuto)); result.Answer != "It is what it is." {
		t.Errorf("%q", result.Answer)
	}
	if purposes := all[event.SynthesisStarted](w); len(purposes) != 1 {
		t.Errorf("%d answers", len(purposes))
	}
	alone := operating(t)
	if result := alone.play(routed("what is Session", "", event.PlannerAuto)); result.Reason != event.ReasonGoalMet || result.Answer == "" {
		t.Errorf("%s %q", result.Reason, result.Answer)
	}
}

func TestFailedRoutedStepEndsRunWithoutModel(t *testing.T) {
	w := newWorld(t)
	w.tool = func(c agent.CallTool) event.Data {
		return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "no such name", Failure: event.FailureTool}
	}
	result := w.play(routed("rename Run.Apply to Add", "", event.PlannerAuto))
	if result.Reason != event.ReasonStepFailed || strings.Contains(string(result.Error), "replan") || !strings.Contains(string(result.Error), "no such name") {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestRulesGateRoutedPlan(t *testing.T) {
	gates := func(change func(*event.RunStarted)) []string {
		w := operating(t)
		start := routed("rename Run.Apply to Add", "", event.PlannerAuto)
		change(&start)
		w.play(start)
		var asked []string
		for _, g := range all[event.GateRequested](w) {
			asked = append(asked, g.Tool)
		}
		return asked
	}
	allow := func(s *event.RunStarted) {
		s.Rules = append([]rule.Rule{{Tool: "fs.patch", Verdict: rule.VerdictRun, Source: rule.SourceFlag}}, s.Rules...)
	}
	if got := gates(allow); !slices.Equal(got, []string{"test.run"}) {
		t.Errorf("with fs.patch allowed: got gates for %v", got)
	}
}
