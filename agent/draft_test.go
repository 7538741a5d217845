package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// eager completes every tool call at once.
func eager(w *world) {
	busy := false
	w.watch = func([]event.Data, []agent.Effect) {
		if busy {
			return
		}
		busy = true
		defer func() { busy = false }()
		for i := 0; i < len(w.pending); {
			if c, ok := w.pending[i].(agent.CallTool); ok {
				w.pending = append(w.pending[:i:i], w.pending[i+1:]...)
				w.apply(w.tool(c))
				continue
			}
			i++
		}
	}
}

func TestReadAfterChangeDoesNotStartEarly(t *testing.T) {
	w := newWorld(t)
	w.reply = script{prompt.PurposePlan: {`{"title":"x","steps":[
	{"index":"1","title":"Read","tool":"look","args":{"at":"a"}},
	{"index":"2","title":"Change","tool":"change","args":{"at":"a"},"depends_on":["1"]},
	{"index":"3","title":"Read again","tool":"look","args":{"at":"a"},"depends_on":["2"],"result_variable":"after"}]}`}}.reply
	var calls []string
	w.tool = func(c agent.CallTool) event.Data {
		calls = append(calls, c.Index)
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: fmt.Sprintf("state %d", len(calls))}
	}
	eager(w)
	w.play(started(event.DefaultLimits()))
	if strings.Join(calls, ",") != "1,2,3" {
		t.Errorf("called %v; after=%v", calls, w.run.Variables()["after"])
	}
}

func TestRepairedDependencyRepeatsEarlyRead(t *testing.T) {
	w := newWorld(t)
	bad := `{"title":"x","steps":[
	{"index":"1","title":"Change","tool":"change","args":{"at":"a"}},
	{"index":"2","title":"Read","tool":"look","args":{"at":"a"}},
	{"index":"3","title":"Fly","tool":"fly","args":{}}]}`
	good := `{"title":"x","steps":[
	{"index":"1","title":"Change","tool":"change","args":{"at":"a"}},
	{"index":"2","title":"Read","tool":"look","args":{"at":"a"},"depends_on":["1"]}]}`
	w.reply = script{prompt.PurposePlan: {bad}, prompt.PurposeRepair: {good}}.reply
	var calls []string
	w.tool = func(c agent.CallTool) event.Data {
		calls = append(calls, c.Index)
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "r"}
	}
	eager(w)
	w.play(started(event.DefaultLimits()))
	if calls[len(calls)-1] != "2" {
		t.Errorf("got the calls %v, want step 2 last", calls)
	}
}

func TestDependentReadStartsEarly(t *testing.T) {
	const step1 = `{"index":"1","title":"Find","tool":"look","args":{"at":"a"},"result_variable":"found"},`
	for _, tc := range []struct {
		name  string
		plan  string
		after string // the repaired plan, "" if the first is valid
		early string // steps started before the plan was complete
		later string // steps started after that
	}{
		{"depends_on", step1 + `{"index":"2","title":"Read","tool":"look","args":{"at":"b"},"depends_on":["1"]}`, "", "1 2", ""},
		{"reference", step1 + `{"index":"2","title":"Read","tool":"look","args":{"at":"${found}"}}`, "", "1 2", ""},
		{"chain of reads", step1 + `{"index":"2","title":"Read","tool":"look","args":{"at":"b"},"depends_on":["1"]},{"index":"3","title":"Read","tool":"look","args":{"at":"c"},"depends_on":["2"]}`, "", "1 2 3", ""},
		{"read after a change", step1 + `{"index":"2","title":"Change","tool":"change","args":{"at":"b"}},{"index":"3","title":"Read","tool":"look","args":{"at":"c"},"depends_on":["2"]}`, "", "1", "2 3"},
		{
			"repeated after a new dependency",
			step1 + `{"index":"2","title":"Read","tool":"look","args":{"at":"b"},"depends_on":["1"]},{"index":"3","title":"Fly","tool":"fly","args":{}}`,
			step1 + `{"index":"2","title":"Read","tool":"look","args":{"at":"b"},"depends_on":["1","3"]},{"index":"3","title":"Change","tool":"change","args":{"at":"c"}}`,
			"1 2", "3 2",
		},
		{
			"result kept for the repaired plan",
			step1 + `{"index":"2","title":"Read","tool":"look","args":{"at":"${found}"}},{"index":"3","title":"Fly","tool":"fly","args":{}}`,
			step1 + `{"index":"2","title":"Read","tool":"look","args":{"at":"${found}"}},{"index":"3","title":"Change","tool":"change","args":{"at":"c"}}`,
			"1 2", "3",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			whole := func(steps string) string { return `{"title":"x","steps":[` + steps + `]}` }
			w.reply = script{prompt.PurposePlan: {whole(tc.plan)}, prompt.PurposeRepair: {whole(tc.after)}}.reply
			eager(w)
			mirror(w)
			if result := w.play(started(event.DefaultLimits())); result.Reason != event.ReasonGoalMet {
				t.Fatalf("%s: %s", result.Reason, result.Error)
			}
			var early, later []string
			planned := false
			for _, e := range w.events {
				switch d := e.Data.(type) {
				case event.PlanCreated:
					planned = true
				case event.StepStarted:
					if planned {
						later = append(later, d.Index)
					} else {
						early = append(early, d.Index)
					}
				}
			}
			if strings.Join(early, " ") != tc.early || strings.Join(later, " ") != tc.later {
				t.Errorf("started %v early and %v later, want %s and %s", early, later, tc.early, tc.later)
			}
		})
	}
}

func TestPatientRunStartsNoDrafts(t *testing.T) {
	w := newWorld(t)
	w.reply = script{prompt.PurposePlan: {diamond}}.reply
	eager(w)
	start := started(event.DefaultLimits())
	start.Prompting.Patient = true
	w.play(start)
	for _, d := range all[event.StepStarted](w) {
		if d.Draft {
			t.Errorf("step %s started while the plan was streaming", d.Index)
		}
	}
}

func TestDuplicateDraftIndexStartsOnce(t *testing.T) {
	w := newWorld(t)
	dup := `{"title":"x","steps":[
	{"index":"1","title":"A","tool":"look","args":{"at":"a"}},
	{"index":"1","title":"B","tool":"look","args":{"at":"b"}}]}`
	ok := `{"title":"x","steps":[
	{"index":"1","title":"A","tool":"look","args":{"at":"a"}},
	{"index":"2","title":"B","tool":"look","args":{"at":"b"}}]}`
	w.reply = script{prompt.PurposePlan: {dup}, prompt.PurposeRepair: {ok}}.reply
	n := 0
	w.tool = func(c agent.CallTool) event.Data {
		n++
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "r"}
	}
	eager(w)
	got := w.play(started(event.DefaultLimits()))
	if got.Reason != event.ReasonGoalMet || n > 3 {
		t.Errorf("%s (%s) after %d tool calls", got.Reason, got.Error, n)
	}
}

func TestDraftsDoNotExhaustStepBudget(t *testing.T) {
	w := newWorld(t)
	var steps []string
	for i := 1; i <= 15; i++ {
		steps = append(steps, fmt.Sprintf(`{"index":"%d","title":"R","tool":"look","args":{"at":"%d"}}`, i, i))
	}
	w.reply = script{prompt.PurposePlan: {`{"title":"x","steps":[` + strings.Join(steps, ",") + `]}`}}.reply
	eager(w)
	got := w.play(started(event.DefaultLimits()))
	if got.Reason != event.ReasonGoalMet {
		t.Errorf("%s (%s)", got.Reason, got.Error)
	}
}

func TestGateShowsCallThatRuns(t *testing.T) {
	w := newWorld(t)
	plan := `{"title":"x","steps":[
	{"index":"1","title":"Find","tool":"look","args":{"at":"a"},"result_variable":"p"},
	{"index":"2","title":"Fails","tool":"look","args":{"at":"b"},"depends_on":["1"]},
	{"index":"3","title":"Change","tool":"change","args":{"at":"${p}"}}]}`
	replan := `{"title":"x","steps":[
	{"index":"2","title":"Find again","tool":"look","args":{"at":"c"},"result_variable":"p"},
	{"index":"3","title":"Change","tool":"change","args":{"at":"${p}"}}]}`
	w.reply = script{prompt.PurposePlan: {plan}, prompt.PurposeReplan: {replan}}.reply
	shown, ran := map[string]any{}, map[string]any{}
	fails := 1
	w.tool = func(c agent.CallTool) event.Data {
		ran[c.Index] = c.Args["at"]
		if c.Index == "2" && fails > 0 {
			fails--
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "broke", Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "path of " + c.Index + fmt.Sprint(w.run.Revision)}
	}
	w.apply(started(event.DefaultLimits()))
	for n := 0; w.run.Result == nil && n < 200; n++ {
		w.advance()
		if w.run.Result != nil {
			break
		}
		i := -1
		for k, e := range w.pending {
			if _, ok := e.(agent.OpenGate); ok {
				i = k
			}
		}
		switch {
		case i >= 0: // gates open first, and the user answers last
			g := w.pending[i].(agent.OpenGate)
			w.pending = append(w.pending[:i:i], w.pending[i+1:]...)
			w.apply(g.Gate)
		case len(w.pending) > 0:
			w.deliver()
		default:
			g := w.run.Gates[0]
			shown[g.Step] = g.Args["at"]
			w.apply(event.GateResolved{Gate: g.Gate, Decision: event.Allow, Scope: event.ScopeOnce})
		}
	}
	if shown["3"] != ran["3"] {
		t.Errorf("the gate showed %v, the call was %v", shown["3"], ran["3"])
	}
}

func TestRetriesCountPerRevision(t *testing.T) {
	w := newWorld(t)
	plan := `{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"a"}}]}`
	replan := `{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"b"},"retries":1,"on_failure":"abort"}]}`
	w.reply = script{prompt.PurposePlan: {plan}, prompt.PurposeReplan: {replan}}.reply
	w.tool = failing("1", 2, event.FailureTool)
	if got := w.play(started(event.DefaultLimits())); got.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s", got.Reason, got.Error)
	}
}

func TestReplanReplacesSkippedStep(t *testing.T) {
	w := newWorld(t)
	plan := `{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"a"},"on_failure":"skip"},
	 {"index":"2","title":"Look","tool":"look","args":{"at":"b"}}]}`
	replan := `{"title":"x","steps":[{"index":"3","title":"Look","tool":"look","args":{"at":"c"}}]}`
	w.reply = script{prompt.PurposePlan: {plan}, prompt.PurposeReplan: {replan}}.reply
	w.tool = func(c agent.CallTool) event.Data {
		if c.Index != "3" {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "broke", Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt}
	}
	if got := w.play(started(event.DefaultLimits())); got.Reason != event.ReasonGoalMet {
		t.Errorf("got %s although every step of the last plan completed", got.Reason)
	}
}

func TestModelArgumentsAreValidated(t *testing.T) {
	w := newWorld(t)
	plan := `{"title":"x","steps":[{"index":"1","title":"Fill","tool":"fill","on_failure":"abort"}]}`
	w.reply = script{prompt.PurposePlan: {plan}, prompt.PurposeStep: {`{"at":[5]}`}}.reply
	if got := w.play(started(event.DefaultLimits())); got.Reason != event.ReasonStepFailed || got.Usage.ToolCalls != 0 {
		t.Errorf("%s after %d tool calls, want a failed step before any call", got.Reason, got.Usage.ToolCalls)
	}
}

func TestReplanKeepsGate(t *testing.T) {
	w := newWorld(t)
	gated := `{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"a"},"gate":true}]}`
	other := `{"title":"x","steps":[{"index":"2","title":"Think","executor":"self"}]}`
	again := `{"title":"x","steps":[{"index":"3","title":"Look","tool":"look","args":{"at":"a"}}]}`
	replies := script{prompt.PurposePlan: {gated}, prompt.PurposeReplan: {other, again}}
	w.reply = func(r prompt.Request) (string, error) {
		if r.Purpose == prompt.PurposeStep {
			return "", fmt.Errorf("silent")
		}
		return replies.reply(r)
	}
	w.tool = failing("1", 1, event.FailureTool)
	gates := 0
	w.gate = func(event.GateRequested) event.Decision { gates++; return event.Allow }
	if got := w.play(started(event.DefaultLimits())); got.Reason != event.ReasonGoalMet || gates != 2 {
		t.Errorf("%s with %d gates, want two: the tool stays gated after two replans", got.Reason, gates)
	}
}

func TestRuleMatchesExactName(t *testing.T) {
	r := rule.Rule{Tool: "s:write", Verdict: rule.VerdictRun}
	if r.Matches(plan.Tool{Name: "Write", Server: "s"}) {
		t.Error("a rule for s:write matches s:Write")
	}
}
