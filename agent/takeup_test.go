package agent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

func TestAdoptedDraftResultBelongsToItsStep(t *testing.T) {
	w := newWorld(t)
	var stepPrompt string
	w.reply = func(r prompt.Request) (string, error) {
		switch r.Purpose {
		case prompt.PurposePlan:
			// invalid: step 2 depends on a step that does not exist
			return `{"title":"T","steps":[{"index":"1","title":"Look A","tool":"look","args":{"at":"A"}},{"index":"2","title":"Think","executor":"self","depends_on":["9"]}]}`, nil
		case prompt.PurposeRepair:
			return `{"title":"T","steps":[{"index":"1","title":"Look B","tool":"look","args":{"at":"B"}},{"index":"2","title":"Look A","tool":"look","args":{"at":"A"}},{"index":"3","title":"Think about A","executor":"self","depends_on":["2"]}]}`, nil
		case prompt.PurposeStep:
			b, _ := json.Marshal(r.Messages)
			stepPrompt = string(b)
			return "thought", nil
		}
		return "done", nil
	}
	w.tool = func(c agent.CallTool) event.Data {
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "RESULT-OF-" + c.Args["at"].(string)}
	}
	w.play(started(event.DefaultLimits()))
	if !strings.Contains(stepPrompt, "RESULT-OF-A") {
		t.Errorf("step 3 depends on 2 (A), but its prompt lacks the result: %s", tailOf(stepPrompt, 900))
	}
}

func tailOf(s string, n int) string {
	if len(s) > n {
		return s[len(s)-n:]
	}
	return s
}

func TestLostDraftIsInDoubtOnlyOnce(t *testing.T) {
	w := newWorld(t)
	start := started(event.DefaultLimits())
	w.apply(start)
	w.reply = func(r prompt.Request) (string, error) { return "", nil }
	for range 2 {
		for _, a := range w.run.Next() {
			w.apply(a.Record)
		}
	}
	w.apply(event.PlanDrafting{Step: plan.Step{Index: "1", Title: "L", Executor: plan.ExecutorTool, Tool: "look", Args: map[string]any{}}})
	for _, a := range w.run.Next() {
		if a.Record != nil {
			w.apply(a.Record) // step.started
		}
	}
	w.apply(event.PhaseFailed{Phase: 3, Label: "plan", Reason: "the model went"})
	w.apply(event.RunPaused{Reason: "stopped by the user"})
	// kill -9 here; the server of the tool has not started when the run is resumed
	r := resumed(start)
	r.Catalog = nil
	w.apply(r)
	for i := range 50 {
		next := w.run.Next()
		if len(next) == 0 {
			return
		}
		if _, ok := next[0].Record.(event.StepInDoubt); !ok {
			return
		}
		w.apply(next[0].Record)
		if i == 49 {
			t.Fatal("Next keeps returning step.in_doubt for the same step")
		}
	}
}

func TestRetryWithOtherArgsDropsHashes(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"T","steps":[{"index":"1","title":"C","tool":"change","args":{"at":"a.go"}}]}`)
	start.Attended = true
	w.apply(start)
	w.advance()
	g := w.pending[0].(agent.OpenGate).Gate
	w.pending = nil
	g.Diff, g.Hashes = "-a\n+b\n", map[string]string{"a.go": "00"}
	w.apply(g)
	w.apply(event.GateResolved{Gate: g.Gate, Decision: event.Allow, Scope: event.ScopeRun, By: "user"})
	w.advance()
	w.pending = nil
	w.apply(event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool})
	w.apply(event.FailureResolved{Step: "1", Decision: event.FailureRetry, Args: map[string]any{"at": "other.go"}, By: "user"})
	w.advance()
	c := w.pending[0].(agent.CallTool)
	if c.Hashes != nil {
		t.Errorf("the retry with other args %v has the hashes of the old call %v", c.Args, c.Hashes)
	}
}

func TestReplanCallsNoMissingModel(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"T","steps":[{"index":"1","title":"C","tool":"look","args":{"at":"a"}}]}`)
	start.Attended, start.Model = true, ""
	w.apply(start)
	w.advance()
	w.pending = nil
	w.apply(event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool})
	w.apply(event.FailureResolved{Step: "1", Decision: event.FailureReplan, By: "user"})
	w.advance()
	for _, e := range w.pending {
		if m, ok := e.(agent.CallModel); ok {
			t.Errorf("a run without a model makes the request %s", m.Request.Purpose)
		}
	}
}

func TestUserSkipSurvivesResume(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"T","steps":[{"index":"1","title":"C","tool":"change","args":{"at":"a"}},{"index":"2","title":"D","tool":"look","args":{}}]}`)
	start.Attended, start.Limits.MaxConcurrency = true, 1
	start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
	w.tool = func(c agent.CallTool) event.Data {
		return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "no", Failure: event.FailureTool}
	}
	w.failed = func(q agent.Question) event.FailureResolved {
		if q.Step == "1" {
			return event.FailureResolved{Decision: event.FailureSkip}
		}
		return event.FailureResolved{Decision: event.FailureAbort}
	}
	w.play(start)
	before := len(w.starts())
	w.tool = func(c agent.CallTool) event.Data { return event.StepCompleted{Index: c.Index, Attempt: c.Attempt} }
	w.resume(resumed(start))
	for _, i := range w.starts()[before:] {
		if i == "1" {
			t.Error("the resume runs the step that the user skipped")
		}
	}
}

func TestEarlyTimerIsSetAgain(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"T","steps":[{"index":"1","title":"C","tool":"look","args":{"at":"a"}}]}`)
	start.Limits.MaxDurationMS = 60_000
	w.apply(start)
	w.advance()
	w.now = w.run.StartedAt.Add(59 * time.Second)
	w.apply(event.TimerFired{ID: event.GuardTime})
	for range 2 { // the warning about the nearly spent budget comes first
		for _, a := range w.run.Next() {
			if _, ok := a.Effect.(agent.Wake); ok {
				return
			}
			w.apply(a.Record)
		}
	}
	t.Error("no timer is set for the deadline while a call runs")
}

func TestPendingReplanCallsNoMissingModel(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"T","on_failure":"replan","steps":[{"index":"1","title":"C","tool":"look","args":{"at":"a"}}]}`)
	w.apply(start)
	w.advance()
	w.pending = nil
	w.apply(event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool})
	w.kill(len(w.events))
	r := resumed(start)
	r.Model = ""
	w.apply(r)
	w.advance()
	for _, e := range w.pending {
		if m, ok := e.(agent.CallModel); ok {
			t.Errorf("a run without a model makes the request %s", m.Request.Purpose)
		}
	}
}

func TestNewAnnotationRepeatsNoLostCall(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"T","steps":[{"index":"1","title":"C","tool":"change","args":{"at":"a"}}]}`)
	start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
	w.apply(start)
	w.advance()
	w.kill(len(w.events)) // step 1, with effects, was running
	r := resumed(start)
	r.Catalog = append(plan.Catalog{}, catalog...)
	r.Catalog[1].ReadOnly = true // its server's annotation has changed
	w.resume(r)
	if len(w.starts()) > 1 {
		t.Error("a lost call with effects was repeated without a question")
	}
}

func TestGrantCoversOnlyShownTool(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"T","steps":[{"index":"1","title":"C","tool":"w:*","args":{}},{"index":"2","title":"W","tool":"wipe","args":{},"depends_on":["1"]}]}`)
	start.Catalog = plan.Catalog{{Name: "*", Server: "w"}, {Name: "wipe", Server: "w", Destructive: true, Annotated: true}}
	w.scope = event.ScopeRun
	w.play(start)
	if len(all[event.GateRequested](w)) < 2 {
		t.Error("a grant for a tool named * covers other tools of its server")
	}
}

func TestDraftReadIsNeverInDoubt(t *testing.T) {
	w := newWorld(t)
	start := started(event.DefaultLimits())
	w.apply(start)
	for range 2 {
		for _, a := range w.run.Next() {
			w.apply(a.Record)
		}
	}
	w.apply(event.PlanDrafting{Step: plan.Step{Index: "1", Title: "L", Executor: plan.ExecutorTool, Tool: "look", Args: map[string]any{}}})
	for _, a := range w.run.Next() {
		if a.Record != nil {
			w.apply(a.Record)
		}
	}
	// killed, and the tool's server is missing at the resume
	r := resumed(start)
	r.Catalog = nil
	w.apply(r)
	w.reply = func(prompt.Request) (string, error) {
		return `{"title":"T","steps":[{"index":"1","title":"think","executor":"self"}]}`, nil
	}
	w.begun = map[string]bool{}
	res := w.finish()
	if res.Reason == event.ReasonInDoubt {
		t.Error("a read-only draft ends the run in doubt because its server has not started yet")
	}
}

func TestDenyRuleOfResumeOverridesGrant(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"T","steps":[{"index":"1","title":"A","tool":"change","args":{"at":"a"}},{"index":"2","title":"B","tool":"change","args":{"at":"b"},"depends_on":["1"]}]}`)
	w.scope = event.ScopeRun
	w.apply(start)
	w.until(event.KindStepCompleted)
	w.killAt(event.KindStepCompleted)
	r := resumed(start)
	r.Rules = append([]rule.Rule{{Tool: "change", Verdict: rule.VerdictBlock, Source: "flag", Why: "--deny change"}}, start.Rules...)
	w.resume(r)
	if len(w.starts()) > 1 {
		t.Error("change was called although the resume has --deny change")
	}
}
