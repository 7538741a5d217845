package agent_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

const diamond = `{"title":"Diamond","steps":[
 {"index":"1","title":"Look","tool":"look","args":{"at":"a"},"result_variable":"a"},
 {"index":"2","title":"Left","tool":"look","args":{"at":"${a}"}},
 {"index":"3","title":"Right","tool":"change","args":{"at":"b"},"depends_on":["1"]},
 {"index":"4","title":"Join","tool":"look","args":{"at":"c"},"depends_on":["2","3"]}]}`

func failing(index string, times int, kind event.FailureKind) func(agent.CallTool) event.Data {
	return func(c agent.CallTool) event.Data {
		if c.Index == index && times > 0 {
			times--
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "it broke", Failure: kind, MS: 3}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "result of " + c.Index, MS: 3}
	}
}

func TestRunEndsWithReason(t *testing.T) {
	limits := event.DefaultLimits()
	with := func(change func(*event.Limits)) event.Limits {
		l := limits
		change(&l)
		return l
	}
	replaced := `{"title":"Diamond","steps":[{"index":"5","title":"Other way","tool":"look","args":{"at":"z"}}]}`
	gate := func(d event.Decision) func(event.GateRequested) event.Decision {
		return func(event.GateRequested) event.Decision { return d }
	}
	for name, c := range map[string]struct {
		script script
		tool   func(agent.CallTool) event.Data
		gate   func(event.GateRequested) event.Decision
		limits event.Limits
		phases bool
		want   event.Reason
	}{
		"goal met":                           {script: script{prompt.PurposePlan: {diamond}}, want: event.ReasonGoalMet},
		"direct answer":                      {script: script{prompt.PurposeAnalysis: {`{"mode":"direct"}`}, prompt.PurposeChat: {"42"}}, phases: true, want: event.ReasonDirect},
		"failed step is replanned":           {script: script{prompt.PurposePlan: {diamond}, prompt.PurposeReplan: {replaced}}, tool: failing("2", 1, event.FailureTool), want: event.ReasonGoalMet},
		"timeout is replanned":               {script: script{prompt.PurposePlan: {diamond}, prompt.PurposeReplan: {replaced}}, tool: failing("2", 1, event.FailureTimeout), want: event.ReasonGoalMet},
		"planner gives up":                   {script: script{prompt.PurposePlan: {diamond}, prompt.PurposeReplan: {`{"title":"x","steps":[],"reason":"no way"}`}}, tool: failing("2", 9, event.FailureTool), want: event.ReasonGaveUp},
		"equal replans spend the budget":     {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"a"}}]}`}, prompt.PurposeReplan: {`{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"a"}}]}`}}, tool: failing("1", 99, event.FailureTool), want: event.ReasonReplanBudget},
		"plan without steps":                 {script: script{prompt.PurposePlan: {`{"title":"x","steps":[]}`}}, want: event.ReasonNoPlan},
		"planner never answers":              {script: script{prompt.PurposePlan: {""}}, want: event.ReasonPlannerError},
		"planner makes no plan":              {script: script{prompt.PurposePlan: {"hm"}, prompt.PurposeRepair: {""}}, want: event.ReasonNoPlan},
		"replanner never answers":            {script: script{prompt.PurposePlan: {diamond}, prompt.PurposeReplan: {""}}, tool: failing("2", 1, event.FailureTool), want: event.ReasonPlannerError},
		"unknown tool is repaired":           {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Fly","tool":"fly","args":{}}]}`}, prompt.PurposeRepair: {diamond}}, want: event.ReasonGoalMet},
		"unknown tool is not repaired":       {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Fly","tool":"fly","args":{}}]}`}, prompt.PurposeRepair: {`{"title":"x","steps":[{"title":"Fly","tool":"fly","args":{}}]}`}}, want: event.ReasonNoPlan},
		"denied gate":                        {script: script{prompt.PurposePlan: {diamond}}, gate: gate(event.Deny), want: event.ReasonDenied},
		"abort":                              {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Look","tool":"look","args":{},"on_failure":"abort"}]}`}}, tool: failing("1", 1, event.FailureTool), want: event.ReasonStepFailed},
		"skip":                               {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Look","tool":"look","args":{},"on_failure":"skip"},{"title":"Next","tool":"look","args":{},"depends_on":["1"]}]}`}}, tool: failing("1", 1, event.FailureTool), want: event.ReasonPartial},
		"retry of a read-only step succeeds": {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Look","tool":"look","args":{},"retries":1,"on_failure":"abort"}]}`}}, tool: failing("1", 1, event.FailureTool), want: event.ReasonGoalMet},
		"retries are bounded":                {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Look","tool":"look","args":{},"retries":2,"on_failure":"abort"}]}`}}, tool: failing("1", 3, event.FailureTool), want: event.ReasonStepFailed},
		"step with effects is not retried":   {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Do","tool":"change","args":{},"retries":3,"on_failure":"abort"}]}`}}, tool: failing("1", 1, event.FailureTool), want: event.ReasonStepFailed},
		"missing field":                      {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Look","tool":"look","args":{},"result_variable":"v"},{"title":"Use","tool":"look","args":{"at":"${v.none}"},"on_failure":"abort"}]}`}}, want: event.ReasonStepFailed},
		"doubt": {script: script{prompt.PurposePlan: {diamond}}, tool: func(c agent.CallTool) event.Data {
			if c.Index == "3" {
				return event.StepInDoubt{Index: "3", Attempt: c.Attempt, Reason: "the server went away"}
			}
			return event.StepCompleted{Index: c.Index, Attempt: c.Attempt}
		}, want: event.ReasonInDoubt},
		"self step":                               {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Think","executor":"self"}]}`}, prompt.PurposeStep: {"thought"}}, want: event.ReasonGoalMet},
		"self step without a reply":               {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Think","executor":"self","on_failure":"abort"}]}`}, prompt.PurposeStep: {""}}, want: event.ReasonStepFailed},
		"missing args are filled in by the model": {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Fill","tool":"fill"}]}`}, prompt.PurposeStep: {`{"at":"here"}`}}, want: event.ReasonGoalMet},
		"missing args stay missing":               {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Fill","tool":"fill","on_failure":"abort"}]}`}, prompt.PurposeStep: {"no idea"}}, want: event.ReasonStepFailed},
		"no synthesis":                            {script: script{prompt.PurposePlan: {diamond}, prompt.PurposeSynthesis: {""}}, want: event.ReasonPartial},
		"step budget":                             {script: script{prompt.PurposePlan: {`{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":1},"retries":9}]}`}}, tool: failing("1", 99, event.FailureTool), limits: with(func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 2, false }), want: event.ReasonStepBudget},
		"plan exceeds step budget":                {script: script{prompt.PurposePlan: {diamond}, prompt.PurposeRepair: {diamond}}, limits: with(func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 3, false }), want: event.ReasonStepBudget},
		"tool budget":                             {script: script{prompt.PurposePlan: {diamond}}, limits: with(func(l *event.Limits) { l.MaxToolCalls = 2 }), want: event.ReasonToolBudget},
		"token budget":                            {script: script{prompt.PurposePlan: {diamond}}, limits: with(func(l *event.Limits) { l.MaxTokens = 100 }), want: event.ReasonTokenBudget},
		"time budget":                             {script: script{prompt.PurposePlan: {diamond}}, limits: with(func(l *event.Limits) { l.MaxDurationMS = 20 }), want: event.ReasonTimeBudget},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = c.script.reply
			if c.tool != nil {
				w.tool = c.tool
			}
			if c.gate != nil {
				w.gate = c.gate
			}
			if c.limits == (event.Limits{}) {
				c.limits = limits
			}
			start := started(c.limits)
			start.Prompting.SkipAnalysis = !c.phases
			got := w.play(start)
			if got.Reason != c.want {
				t.Errorf("reason %q (%s), want %q; the last events:\n%s", got.Reason, got.Error, c.want, w.tail())
			}
			if ok := got.Status == event.StatusCompleted; ok != (c.want.ExitCode() == 0) {
				t.Errorf("status %q does not match reason %q", got.Status, got.Reason)
			}
			if got.Status == event.StatusCompleted && got.Answer == "" {
				t.Error("a completed run has no answer")
			}
			if got.Status != event.StatusCompleted && got.Error == "" {
				t.Error("a run that did not complete has no error")
			}
		})
	}
}

func TestReplanKeepsCompletedSteps(t *testing.T) {
	w := newWorld(t)
	w.reply = script{
		prompt.PurposePlan:   {diamond},
		prompt.PurposeReplan: {`{"title":"Diamond","steps":[{"index":"2","title":"Left","tool":"look","args":{"at":"elsewhere"}},{"index":"3","title":"Right","tool":"change","args":{"at":"b"},"depends_on":["1"]},{"index":"6","title":"Join","tool":"look","args":{"at":"c"},"depends_on":["2","3"]}]}`},
	}.reply
	w.tool = failing("2", 1, event.FailureTool)
	got := w.play(started(event.DefaultLimits()))
	if got.Reason != event.ReasonGoalMet {
		t.Fatalf("reason %q: %s", got.Reason, got.Error)
	}
	rev := got.Revisions[0]
	if !slices.Equal(rev.Removed, []string{"4"}) || !slices.Equal(rev.Added, []string{"6"}) || !slices.Equal(rev.Revised, []string{"2"}) {
		t.Errorf("diff %+v, want 4 removed, 6 added, 2 revised", rev)
	}
	if s := w.run.Step("2"); s.Attempt != 2 || s.Change != agent.ChangeRevised {
		t.Errorf("the revised step is at attempt %d, change %q", s.Attempt, s.Change)
	}
	count := map[string]int{}
	for _, h := range got.History {
		count[h.Index]++
	}
	if count["1"] != 1 || count["3"] != 1 || count["2"] != 2 {
		t.Errorf("attempts per step: %v", count)
	}
}

func TestIndependentStepsRunConcurrently(t *testing.T) {
	w := newWorld(t)
	w.reply = script{prompt.PurposePlan: {diamond}}.reply
	most := 0
	w.watch = func(_ []event.Data, pending []agent.Effect) {
		n := 0
		for _, e := range pending {
			switch e.(type) {
			case agent.CallTool, agent.OpenGate:
				n++
			}
		}
		most = max(most, n)
	}
	w.play(started(event.DefaultLimits()))
	if most != 2 {
		t.Errorf("at most %d steps ran at once, want 2: steps 2 and 3 need only step 1", most)
	}
}

func TestModelFillsOnlyMissingArgs(t *testing.T) {
	w := newWorld(t)
	w.reply = script{
		prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Both","tool":"both","args":{"at":"here"}}]}`},
		prompt.PurposeStep: {`{"at":"elsewhere","text":"${not a reference}"}`},
	}.reply
	start := started(event.DefaultLimits())
	start.Catalog = plan.Catalog{both}
	if got := w.play(start); got.Reason != event.ReasonGoalMet {
		t.Fatalf("%s: %s", got.Reason, got.Error)
	}
	want := map[string]any{"at": "here", "text": "${not a reference}"}
	if got := w.run.Step("1").Args; !plan.EqualValues(got, want) {
		t.Errorf("called with %v, want %v", got, want)
	}
}

func TestModelWritesOptionalArgsOfPlannedStep(t *testing.T) {
	args := map[string]any{"at": "slug"}
	for name, c := range map[string]struct {
		plan  string
		model string
		file  bool
		want  map[string]any // args of the call
		asks  int            // requests for args
	}{
		"args omitted":                            {plan: `{"title":"x","steps":[{"title":"Look at slug","tool":"look"}]}`, model: "m", want: args, asks: 1},
		"args omitted in a list":                  {plan: "1. Look at slug → TOOL: look", model: "m", want: args, asks: 1},
		"empty args":                              {plan: `{"title":"x","steps":[{"title":"Look","tool":"look","args":{}}]}`, model: "m", want: map[string]any{}},
		"plan file":                               {plan: `{"title":"x","steps":[{"title":"Look","tool":"look"}]}`, model: "m", file: true, want: map[string]any{}},
		"stored plan of a model":                  {plan: `{"title":"x","planned_by":"other","steps":[{"title":"Look at slug","tool":"look"}]}`, model: "m", file: true, want: args, asks: 1},
		"stored plan of a model, empty args":      {plan: `{"title":"x","planned_by":"other","steps":[{"title":"Look","tool":"look","args":{}}]}`, model: "m", file: true, want: map[string]any{}},
		"stored plan of a model, without a model": {plan: `{"title":"x","planned_by":"other","steps":[{"title":"Look","tool":"look"}]}`, file: true, want: map[string]any{}},
		"plan file without a model":               {plan: `{"title":"x","steps":[{"title":"Look","tool":"look"}]}`, file: true, want: map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = script{prompt.PurposePlan: {c.plan}, prompt.PurposeStep: {`{"at":"slug"}`}}.reply
			var start event.RunStarted
			if start = started(event.DefaultLimits()); c.file {
				start = given(t, c.plan)
			}
			start.Model = c.model
			if got := w.play(start); got.Reason != event.ReasonGoalMet {
				t.Fatalf("%s: %s", got.Reason, got.Error)
			}
			asks := 0
			for _, d := range all[event.ModelRequested](w) {
				if d.Purpose == prompt.PurposeStep {
					asks++
				}
			}
			if got := w.run.Step("1").Args; !plan.EqualValues(got, c.want) || asks != c.asks {
				t.Errorf("called with %v after %d requests, want %v after %d", got, asks, c.want, c.asks)
			}
		})
	}
}

func TestReadOnlyStepsStartWhilePlanStreams(t *testing.T) {
	w := newWorld(t)
	w.reply = script{prompt.PurposePlan: {diamond}}.reply
	w.play(started(event.DefaultLimits()))
	kinds := w.kinds()
	if slices.Index(kinds, event.KindStepStarted) > slices.Index(kinds, event.KindPlanCreated) {
		t.Error("step 1 waited for the whole plan")
	}
	runs := 0
	for _, e := range w.events {
		if d, ok := e.Data.(event.StepStarted); ok && d.Index == "1" {
			runs++
		}
	}
	if runs != 1 {
		t.Errorf("step 1 ran %d times, want one early run", runs)
	}
}

func TestStepsOfSimpleAnalysisStartEarly(t *testing.T) {
	w := newWorld(t)
	w.reply = script{prompt.PurposeAnalysis: {
		`{"mode":"plan","task":"look","complexity":"simple","reflect":false,"steps":[{"title":"Look","tool":"look","args":{"at":"a"}}]}`,
	}}.reply
	start := started(event.DefaultLimits())
	start.Prompting.SkipAnalysis = false
	got := w.play(start)
	if got.Reason != event.ReasonGoalMet || got.Usage.ToolCalls != 1 {
		t.Fatalf("%s (%s) after %d tool calls", got.Reason, got.Error, got.Usage.ToolCalls)
	}
	kinds := w.kinds()
	if slices.Index(kinds, event.KindStepStarted) > slices.Index(kinds, event.KindPhaseCompleted) {
		t.Error("the step waited for the whole analysis")
	}
}

func TestChangedDraftRunsAgain(t *testing.T) {
	w := newWorld(t)
	bad := `{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"a"}},{"index":"2","title":"Fly","tool":"fly","args":{}}]}`
	good := `{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"b"}}]}`
	w.reply = script{prompt.PurposePlan: {bad}, prompt.PurposeRepair: {good}}.reply
	// The early call returns only after the repair.
	w.choose = func(n int) int { return n - 1 }
	got := w.play(started(event.DefaultLimits()))
	if got.Reason != event.ReasonGoalMet {
		t.Fatalf("reason %q: %s", got.Reason, got.Error)
	}
	if s := w.run.Step("1"); s.Attempt != 2 || s.Args["at"] != "b" {
		t.Errorf("step 1 is at attempt %d with %v, want a second attempt with the repaired args", s.Attempt, s.Args)
	}
}

func TestGrantForRunAsksOnce(t *testing.T) {
	plan := `{"title":"x","steps":[{"title":"Do","tool":"change","args":{"at":1}},{"title":"Do more","tool":"change","args":{"at":2},"depends_on":["1"]}]}`
	for scope, want := range map[event.Scope]int{event.ScopeOnce: 2, event.ScopeRun: 1} {
		w := newWorld(t)
		w.reply = script{prompt.PurposePlan: {plan}}.reply
		w.apply(started(event.DefaultLimits()))
		gates := 0
		for w.run.Result == nil {
			w.advance()
			if len(w.pending) == 0 {
				break
			}
			if g, ok := w.pending[0].(agent.OpenGate); ok {
				gates++
				w.pending = w.pending[1:]
				w.apply(g.Gate)
				w.apply(event.GateResolved{Gate: g.Gate.Gate, Decision: event.Allow, Scope: scope, By: "test"})
				continue
			}
			w.deliver()
		}
		if gates != want {
			t.Errorf("scope %s asked %d times, want %d", scope, gates, want)
		}
	}
}

func TestStopStartsNothingNew(t *testing.T) {
	w := newWorld(t)
	w.reply = script{prompt.PurposePlan: {diamond}}.reply
	w.apply(started(event.DefaultLimits()))
	w.advance()
	w.deliver() // the plan
	w.advance()
	w.apply(event.RunPaused{Reason: "stopped by the user"})
	for w.advance(); w.run.Result == nil; w.advance() {
		call, ok := w.pending[0].(agent.CallTool)
		if !ok {
			t.Fatalf("%T is pending after the stop", w.pending[0])
		}
		w.pending = w.pending[1:]
		w.apply(event.StepFailed{Index: call.Index, Attempt: call.Attempt, Error: "stopped", Failure: event.FailureInterrupted})
	}
	if r := w.run.Result; r.Status != event.StatusCanceled || r.Reason != event.ReasonInterrupted {
		t.Errorf("ended %s %s", r.Status, r.Reason)
	}
}

func TestApplyRefusesEventsOutOfOrder(t *testing.T) {
	at := time.Unix(0, 0)
	fresh := func() *agent.Run {
		r := &agent.Run{}
		if err := r.Apply(event.Event{Seq: 1, Time: at, Run: "r", Data: started(event.DefaultLimits())}); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, e := range map[string]event.Event{
		"second start":         {Seq: 2, Run: "r", Data: event.RunStarted{}},
		"event of another run": {Seq: 2, Run: "s", Data: event.Note{}},
		"repeated number":      {Seq: 1, Run: "r", Data: event.Note{}},
		"unknown step":         {Seq: 2, Run: "r", Data: event.StepStarted{Index: "9"}},
		"unknown phase":        {Seq: 2, Run: "r", Data: event.PhaseStarted{Phase: 4}},
		"no data":              {Seq: 2, Run: "r"},
	} {
		t.Run(name, func(t *testing.T) {
			r := fresh()
			if err := r.Apply(e); !errors.Is(err, agent.ErrOutOfOrder) {
				t.Errorf("got %v, want ErrOutOfOrder", err)
			}
			if r.Seq != 1 {
				t.Error("the run was changed")
			}
		})
	}
	if err := (&agent.Run{}).Apply(event.Event{Seq: 1, Run: "r", Data: event.Note{}}); !errors.Is(err, agent.ErrOutOfOrder) {
		t.Errorf("an event before the start: got %v", err)
	}
}

func TestRunErrorIsOneShortSentence(t *testing.T) {
	for text, want := range map[string]string{
		"it broke":                       "it broke",
		"\n1 failed: TestX\n\n--- FAIL":  "1 failed: TestX …",
		strings.Repeat("é", 1000):        strings.Repeat("é", 300) + "…",
		strings.Repeat("x", 301) + "\ny": strings.Repeat("x", 300) + "…",
	} {
		w := newWorld(t)
		w.reply = script{prompt.PurposePlan: {`{"title":"x","steps":[{"title":"Look","tool":"look","args":{},"on_failure":"abort"}]}`}}.reply
		w.tool = func(c agent.CallTool) event.Data {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: untrusted.Text(text), Failure: event.FailureTool}
		}
		got := w.play(started(event.DefaultLimits()))
		if string(got.Error) != "step 1 (Look) failed: "+want {
			t.Errorf("got the error %q", got.Error)
		}
		if len(got.History) != 1 || string(got.History[0].Error) != text {
			t.Errorf("the history lacks the whole error: %+v", got.History)
		}
	}
}

func TestVaguePlanIsNotedOnce(t *testing.T) {
	w := newWorld(t)
	w.reply = script{
		prompt.PurposePlan:      {`{"title":"x","steps":[{"title":"Fix everything","tool":"look","args":{"at":"a"},"expected_outcome":"success"}]}`},
		prompt.PurposeSynthesis: {"done"},
	}.reply
	w.play(started(event.DefaultLimits()))
	notes := all[event.Note](w)
	if len(notes) != 1 || !strings.Contains(string(notes[0].Text), "Fix everything") || !strings.Contains(string(notes[0].Text), "success") {
		t.Errorf("%+v", notes)
	}
}
