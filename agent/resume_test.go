package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// analyzed is an analysis that asks for a review.
const analyzed = `{"mode":"plan","task":"do it","goal":"done","complexity":"medium","reflect":true,"subtasks":["look"]}`

// faulty is a plan with an unknown tool.
const faulty = `{"title":"x","steps":[{"index":"2","title":"Fly","tool":"fly","args":{}}]}`

// fullWorld covers every kind of model request: three phases, a repair,
// arguments, a step's text, a replan, its repair, an answer.
func fullWorld(t *testing.T) (*world, event.RunStarted) {
	w := newWorld(t)
	w.reply = func(r prompt.Request) (string, error) {
		last := r.Messages[len(r.Messages)-1].Content
		switch r.Purpose {
		case prompt.PurposeAnalysis:
			return analyzed, nil
		case prompt.PurposeReview:
			return "## Critic\nNothing.", nil
		case prompt.PurposePlan, prompt.PurposeReplan:
			return faulty, nil
		case prompt.PurposeRepair:
			if strings.Contains(last, "it broke") {
				return `{"title":"x","steps":[{"index":"3","title":"Other way","tool":"look","args":{"at":"z"}}]}`, nil
			}
			return `{"title":"x","steps":[
				{"index":"1","title":"Fill","tool":"fill","result_variable":"a"},
				{"index":"2","title":"Think","executor":"self","depends_on":["1"]},
				{"index":"3","title":"Change","tool":"change","args":{"at":"${a}"},"depends_on":["2"],"on_failure":"replan"}]}`, nil
		case prompt.PurposeStep:
			if r.Step == "1" {
				return `{"at":"b"}`, nil
			}
			return "thought", nil
		default:
			return "all done", nil
		}
	}
	w.tool = func(c agent.CallTool) event.Data {
		if c.Index == "3" && !c.Tool.ReadOnly {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "it broke", Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "result of " + c.Index}
	}
	start := started(event.DefaultLimits())
	start.Prompting.SkipAnalysis = false
	start.InDoubt = event.DoubtRerun
	return w, start
}

// directWorld answers without a plan.
func directWorld(t *testing.T) (*world, event.RunStarted) {
	w := newWorld(t)
	w.reply = script{prompt.PurposeAnalysis: {`{"mode":"direct"}`}, prompt.PurposeChat: {"42"}}.reply
	start := started(event.DefaultLimits())
	start.Prompting.SkipAnalysis = false
	return w, start
}

// crowdedWorld has more tools than its window has room to name, so the planner
// first asks the model which ones the plan may need.
func crowdedWorld(t *testing.T) (*world, event.RunStarted) {
	w := newWorld(t)
	w.reply = script{
		prompt.PurposeTools: {`{"tools":["spare_99"]}`}, prompt.PurposePlan: {`{"title":"x","steps":[{"index":"1","title":"Fetch","tool":"spare_99","args":{}}]}`},
		prompt.PurposeSynthesis: {"fetched"},
	}.reply
	start := started(event.DefaultLimits())
	start.Prompting.ContextWindow = 4096
	start.Catalog = slices.Clone(start.Catalog)
	for i := range 1200 {
		start.Catalog = append(start.Catalog, plan.Tool{Name: fmt.Sprintf("spare_%d", i), Server: "depot", ReadOnly: true, Annotated: true})
	}
	return w, start
}

// requestOf returns the model request of an event, or nil.
func requestOf(d event.Data) *prompt.Request {
	switch d := d.(type) {
	case event.PhaseStarted:
		return &d.Request
	case event.ModelRequested:
		return &d.Request
	case event.SynthesisStarted:
		return &d.Request
	default:
		return nil
	}
}

func TestResumeAfterKillAtAnyEvent(t *testing.T) {
	for name, c := range map[string]struct {
		world func(*testing.T) (*world, event.RunStarted)
		kinds []event.Kind // kinds that its events must include
	}{
		"plan": {fullWorld, []event.Kind{
			event.KindPhaseStarted, event.KindPhaseCompleted, event.KindPlanDrafting, event.KindPlanCreated, event.KindModelRequested,
			event.KindModelReplied, event.KindGateRequested, event.KindGateResolved, event.KindStepStarted, event.KindStepCompleted,
			event.KindStepFailed, event.KindReplanStarted, event.KindPlanDiff, event.KindSynthesisStarted, event.KindSynthesisCompleted,
		}},
		"tools asked for": {crowdedWorld, []event.Kind{event.KindModelRequested, event.KindModelReplied, event.KindPlanCreated, event.KindStepCompleted}},
		"direct answer":   {directWorld, []event.Kind{event.KindPhaseSkipped, event.KindSynthesisStarted}},
	} {
		t.Run(name, func(t *testing.T) {
			whole, start := c.world(t)
			want := whole.play(start)
			for _, kind := range c.kinds {
				if !slices.Contains(whole.kinds(), kind) {
					t.Fatalf("no event of kind %s: %v", kind, whole.kinds())
				}
			}
			for n := 1; n < len(whole.events); n++ {
				w, _ := c.world(t)
				w.events = slices.Clone(whole.events)
				w.kill(n)
				last := w.events[n-1].Data
				got := w.resume(resumed(start))
				if got.Status != want.Status || got.Reason != want.Reason || got.Answer != want.Answer || len(got.Revisions) != len(want.Revisions) {
					t.Fatalf("killed after event %d (%s): got %s %q with %d revisions (%s), want %s %q with %d", n, last.Kind(),
						got.Reason, got.Answer, len(got.Revisions), got.Error, want.Reason, want.Answer, len(want.Revisions))
				}
				if fmt.Sprint(w.run.Variables()) != fmt.Sprint(whole.run.Variables()) {
					t.Errorf("killed after event %d (%s): got the variables %v", n, last.Kind(), w.run.Variables())
				}
				if lost := requestOf(last); lost != nil {
					sameRequest(t, *lost, w.events[n:])
				}
				for _, e := range w.events[:n] {
					if done, ok := e.Data.(event.StepCompleted); ok && startedAgain(w.events[n:], done.Index) {
						t.Errorf("killed after event %d (%s): completed step %s started again", n, last.Kind(), done.Index)
					}
				}
			}
		})
	}
}

// sameRequest checks that the next request equals the lost one.
func sameRequest(t *testing.T, lost prompt.Request, events []event.Event) {
	t.Helper()
	for _, e := range events {
		if again := requestOf(e.Data); again != nil {
			a, _ := json.Marshal(lost)
			b, _ := json.Marshal(again)
			if string(a) != string(b) {
				t.Errorf("lost the request\n%s\nbut the next one is\n%s", a, b)
			}
			return
		}
	}
	t.Errorf("the lost request for %s was not repeated", lost.Purpose)
}

// startedAgain reports whether a step started.
func startedAgain(events []event.Event, index string) bool {
	return slices.ContainsFunc(events, func(e event.Event) bool {
		d, ok := e.Data.(event.StepStarted)
		return ok && d.Index == index
	})
}

func TestResumeRetriesFailedStep(t *testing.T) {
	attempts := func(w *world, index string) int { return w.run.Step(index).Attempt }
	for name, c := range map[string]struct {
		prepare func(*world) // before the first run
		fix     func(*world) // before the resume
		first   event.Reason
		check   func(*testing.T, *world)
	}{
		"failed step": {
			prepare: func(w *world) { w.tool = failing("2", 1, event.FailureTool) }, first: event.ReasonStepFailed,
			check: func(t *testing.T, w *world) {
				if attempts(w, "1") != 1 || attempts(w, "2") != 2 || attempts(w, "3") != 1 {
					t.Errorf("attempts %d, %d, %d", attempts(w, "1"), attempts(w, "2"), attempts(w, "3"))
				}
			},
		},
		"canceled step": {
			prepare: func(w *world) { w.tool = failing("2", 1, event.FailureInterrupted) }, first: event.ReasonInterrupted,
			check: func(t *testing.T, w *world) {
				if attempts(w, "2") != 2 {
					t.Errorf("attempt %d", attempts(w, "2"))
				}
			},
		},
	} {
		for _, way := range []string{"end written", "killed before the end"} {
			t.Run(name+", "+way, func(t *testing.T) {
				w := newWorld(t)
				c.prepare(w)
				start := given(t, chain)
				if got := w.play(start); got.Reason != c.first {
					t.Fatalf("%s: %s", got.Reason, got.Error)
				}
				n := len(w.events)
				if way != "end written" {
					n--
				}
				w.kill(n)
				if got := w.resume(resumed(start)); got.Reason != event.ReasonGoalMet {
					t.Fatalf("after the resume: %s: %s", got.Reason, got.Error)
				}
				c.check(t, w)
			})
		}
	}
}

func TestResumeRetriesSkippedSteps(t *testing.T) {
	plan := with(chain, `"result_variable":"a"`, `"result_variable":"a","on_failure":"skip"`) // 4 aborts
	whole := newWorld(t)
	whole.tool = func(c agent.CallTool) event.Data {
		return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "broke", Failure: event.FailureTool}
	}
	start := given(t, plan)
	start.Limits.MaxConcurrency = 1
	if got := whole.play(start); got.Reason != event.ReasonStepFailed {
		t.Fatalf("%s: %s", got.Reason, got.Error)
	}
	at := slices.Index(whole.kinds(), event.KindStepSkipped)
	for n := at; n <= len(whole.events); n++ {
		w := newWorld(t)
		w.events = slices.Clone(whole.events)
		w.kill(n)
		over := w.run.Result != nil || w.run.Step("4").Status == agent.StepFailed
		got := w.resume(resumed(start))
		if want := map[bool]event.Reason{true: event.ReasonGoalMet, false: event.ReasonPartial}[over]; got.Reason != want {
			t.Errorf("killed after event %d: got %s, want %s", n, got.Reason, want)
		}
	}
}

func TestCompletedRunIsNotResumable(t *testing.T) {
	w := newWorld(t)
	start := given(t, chain)
	w.play(start)
	w.kill(len(w.events))
	if w.run.Resumable() {
		t.Error("a completed run is resumable")
	}
	if err := w.offer(resumed(start)); !errors.Is(err, agent.ErrOutOfOrder) {
		t.Errorf("got %v, want ErrOutOfOrder", err)
	}
}

func TestGatesAfterResume(t *testing.T) {
	plan := `{"title":"x","steps":[{"title":"A","tool":"change","args":{"at":1}},{"title":"B","tool":"change","args":{"at":2},"depends_on":["1"]}]}`
	for name, c := range map[string]struct {
		scope event.Scope
		tool  func(agent.CallTool) event.Data
		kill  event.Kind // at the first event of this kind; "" after the end
		gates int        // gates before and after the resume
	}{
		"grant for the run after the end":                 {scope: event.ScopeRun, tool: failing("2", 1, event.FailureTool), gates: 1},
		"grant for the run after a kill":                  {scope: event.ScopeRun, kill: event.KindStepCompleted, gates: 1},
		"single approval does not cover the next attempt": {scope: event.ScopeOnce, tool: failing("2", 1, event.FailureTool), gates: 3},
		"single approval covers the pending call":         {scope: event.ScopeOnce, kill: event.KindGateResolved, gates: 2},
		"open gate is not asked again":                    {scope: event.ScopeOnce, kill: event.KindGateRequested, gates: 2},
		"pending gate opens":                              {scope: event.ScopeOnce, kill: event.KindPlanCreated, gates: 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.scope = c.scope
			if c.tool != nil {
				w.tool = c.tool
			}
			start := given(t, plan)
			w.play(start)
			if c.kill != "" {
				w.killAt(c.kill)
			} else {
				w.kill(len(w.events))
			}
			if got := w.resume(resumed(start)); got.Reason != event.ReasonGoalMet {
				t.Fatalf("%s: %s", got.Reason, got.Error)
			}
			if n := len(all[event.GateRequested](w)); n != c.gates {
				t.Errorf("got %d gates, want %d", n, c.gates)
			}
		})
	}
}

func TestResumeAsksAgainAfterDenial(t *testing.T) {
	w := newWorld(t)
	w.gate = func(event.GateRequested) event.Decision { return event.Deny }
	start := given(t, changes)
	if got := w.play(start); got.Reason != event.ReasonDenied {
		t.Fatal(got.Reason)
	}
	w.kill(len(w.events))
	w.gate = func(event.GateRequested) event.Decision { return event.Allow }
	if got := w.resume(resumed(start)); got.Reason != event.ReasonGoalMet || len(all[event.GateRequested](w)) != 2 {
		t.Errorf("%s (%s) after %d gates", got.Reason, got.Error, len(all[event.GateRequested](w)))
	}
}

func TestQuestionAfterResume(t *testing.T) {
	for name, c := range map[string]struct {
		stop     bool // the run is stopped during the question
		attended bool // the resumed run is attended
		asked    int  // after the resume
		calls    int  // of the failed step
	}{
		"attended":            {attended: true, asked: 1, calls: 2},
		"unattended":          {attended: false, calls: 2},
		"stopped, attended":   {stop: true, attended: true, calls: 2},
		"stopped, unattended": {stop: true, calls: 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.tool = failing("2", 1, event.FailureTool)
			start := given(t, chain)
			start.Attended = true
			w.apply(start)
			w.until(event.KindStepFailed)
			for w.advance(); len(w.pending) > 0; w.advance() {
				w.deliver()
			}
			if c.stop {
				w.apply(event.RunPaused{Reason: "stopped by the user"})
			}
			w.kill(len(w.events))
			asked := 0
			w.failed = func(agent.Question) event.FailureResolved {
				asked++
				return event.FailureResolved{Decision: event.FailureRetry}
			}
			again := resumed(start)
			again.Attended = c.attended
			if got := w.resume(again); got.Reason != event.ReasonGoalMet {
				t.Fatalf("%s: %s", got.Reason, got.Error)
			}
			if calls := slices.DeleteFunc(w.starts(), func(s string) bool { return s != "2" }); len(calls) != c.calls || asked != c.asked {
				t.Errorf("%d calls after %d questions, want %d after %d", len(calls), asked, c.calls, c.asked)
			}
		})
	}
}

func TestPendingReplanSurvivesKill(t *testing.T) {
	whole := newWorld(t)
	replies := func() func(prompt.Request) (string, error) {
		return script{prompt.PurposePlan: {diamond}, prompt.PurposeReplan: {`{"title":"x","steps":[{"index":"9","title":"Other","tool":"look","args":{"at":"z"}}]}`}}.reply
	}
	whole.reply, whole.tool = replies(), failing("2", 1, event.FailureTool)
	start := started(event.DefaultLimits())
	whole.play(start)
	for n := slices.Index(whole.kinds(), event.KindStepFailed) + 1; n <= slices.Index(whole.kinds(), event.KindPlanDiff); n++ {
		w := newWorld(t)
		w.reply, w.events = replies(), slices.Clone(whole.events)
		w.kill(n)
		got := w.resume(func() event.RunResumed { r := resumed(start); r.InDoubt = event.DoubtDone; return r }())
		if got.Reason != event.ReasonGoalMet || got.Usage.Replans != 1 || w.run.Step("9") == nil {
			t.Errorf("killed after event %d: %s (%s) after %d replans", n, got.Reason, got.Error, got.Usage.Replans)
		}
	}
}

func TestResumeRestartsFailedPlanning(t *testing.T) {
	w := newWorld(t)
	w.reply = script{prompt.PurposePlan: {"", diamond}}.reply
	start := started(event.DefaultLimits())
	if got := w.play(start); got.Reason != event.ReasonPlannerError {
		t.Fatal(got.Reason)
	}
	w.kill(len(w.events))
	if got := w.resume(resumed(start)); got.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s", got.Reason, got.Error)
	}
}

func TestPlanOnlyRunResumesAsPlanOnly(t *testing.T) {
	whole := newWorld(t)
	whole.reply = script{prompt.PurposePlan: {diamond}}.reply
	start := started(event.DefaultLimits())
	start.PlanOnly = true
	if got := whole.play(start); got.Reason != event.ReasonGoalMet || got.Plan == nil || len(whole.starts()) != 0 {
		t.Fatalf("%s (%s) after the starts %v", got.Reason, got.Error, whole.starts())
	}
	for n := 1; n < len(whole.events); n++ {
		w := newWorld(t)
		w.reply, w.events = script{prompt.PurposePlan: {diamond}}.reply, slices.Clone(whole.events)
		w.kill(n)
		if got := w.resume(resumed(start)); got.Reason != event.ReasonGoalMet || len(w.starts()) != 0 {
			t.Errorf("killed after event %d: %s after the starts %v", n, got.Reason, w.starts())
		}
	}
}

func TestResumeReopensGateOfEndedRun(t *testing.T) {
	for _, way := range []string{"end written", "killed before the end"} {
		t.Run(way, func(t *testing.T) {
			w := newWorld(t)
			w.tool = failing("3", 1, event.FailureTool)
			start := given(t, changes)
			w.apply(start)
			w.choose = func(int) int { // the gate opens, and the read fails before the answer
				return max(0, slices.IndexFunc(w.pending, func(e agent.Effect) bool { _, ok := e.(agent.OpenGate); return ok }))
			}
			w.until(event.KindGateRequested)
			w.until(event.KindStepFailed)
			n := len(w.events)
			w.finish()
			if way == "end written" {
				n = len(w.events)
			}
			w.kill(n)
			w.choose = func(int) int { return 0 }
			if got := w.resume(resumed(start)); got.Reason != event.ReasonGoalMet || len(all[event.GateRequested](w)) != 2 {
				t.Errorf("%s (%s) after %d gates", got.Reason, got.Error, len(all[event.GateRequested](w)))
			}
		})
	}
}

func TestResumeDropsPendingSkipOfStoppedRun(t *testing.T) {
	w := newWorld(t)
	start := given(t, with(chain, `"title":"Chain"`, `"title":"Chain","on_failure":"skip"`))
	w.apply(start)
	w.advance()
	w.apply(event.StepFailed{Index: "1", Attempt: 1, Error: "broke", Failure: event.FailureTool})
	w.apply(event.RunPaused{Reason: "stopped by the user"}) // before step 2 is skipped
	w.kill(len(w.events))
	if got := w.resume(resumed(start)); got.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s, although step 1 succeeded in the end", got.Reason, w.run.Step("2").Error)
	}
}

func TestDecisionAfterResume(t *testing.T) {
	for name, c := range map[string]struct {
		decide event.FailureResolved
		want   event.Reason
		at     string // the last argument of step 2
		starts int    // of step 2
	}{
		"retry":           {event.FailureResolved{Decision: event.FailureRetry}, event.ReasonGoalMet, "result of 1", 2},
		"retry with args": {event.FailureResolved{Decision: event.FailureRetry, Args: map[string]any{"at": "b"}}, event.ReasonGoalMet, "b", 2},
		"skip":            {event.FailureResolved{Decision: event.FailureSkip}, event.ReasonPartial, "", 1},
		"replan":          {event.FailureResolved{Decision: event.FailureReplan}, event.ReasonGoalMet, "", 1},
		"abort":           {event.FailureResolved{Decision: event.FailureAbort}, event.ReasonStepFailed, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.tool = failing("2", 1, event.FailureTool)
			w.reply = script{prompt.PurposeReplan: {`{"title":"x","steps":[{"index":"9","title":"Other","tool":"look","args":{"at":"z"}}]}`}}.reply
			start := given(t, chain)
			w.play(start)
			w.kill(len(w.events))
			w.apply(resumed(start))
			c.decide.Step, c.decide.By = "2", "user"
			w.apply(c.decide)
			got := w.finish()
			calls := slices.DeleteFunc(w.starts(), func(s string) bool { return s != "2" })
			if got.Reason != c.want || len(calls) != c.starts {
				t.Errorf("%s (%s) after %d calls, want %s after %d", got.Reason, got.Error, len(calls), c.want, c.starts)
			}
			if c.at != "" && w.run.Step("2").Args["at"] != c.at {
				t.Errorf("called with %v", w.run.Step("2").Args)
			}
		})
	}
}

func TestAttemptsContinueAfterNewPlanning(t *testing.T) {
	w := newWorld(t)
	w.reply = script{prompt.PurposePlan: {with(diamond, `"tool":"change"`, `"tool":"fly"`), diamond}, prompt.PurposeRepair: {""}}.reply
	start := started(event.DefaultLimits())
	if got := w.play(start); got.Reason != event.ReasonNoPlan || len(w.starts()) == 0 {
		t.Fatalf("%s after the starts %v", got.Reason, w.starts())
	}
	w.kill(len(w.events))
	if got := w.resume(resumed(start)); got.Reason != event.ReasonGoalMet {
		t.Fatalf("%s: %s", got.Reason, got.Error)
	}
	if s := w.run.Step("1"); s.Attempt != 2 {
		t.Errorf("step 1 is at attempt %d, want 2: the first plan tried it, too", s.Attempt)
	}
}
