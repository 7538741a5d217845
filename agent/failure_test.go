package agent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// chain is a plan of three reads in a row and an independent fourth.
const chain = `{"title":"Chain","steps":[
 {"index":"1","title":"First","tool":"look","args":{"at":"a"},"result_variable":"a"},
 {"index":"2","title":"Second","tool":"look","args":{"at":"${a}"}},
 {"index":"3","title":"Third","tool":"look","args":{"at":"c"},"depends_on":["2"]},
 {"index":"4","title":"Alone","tool":"look","args":{"at":"d"}}]}`

// with replaces parts of a plan's text.
func with(plan string, changes ...string) string {
	return strings.NewReplacer(changes...).Replace(plan)
}

// second is the place in chain where step 2 can get more fields.
const second = `{"at":"${a}"}`

func TestFailedStepFollowsOnFailure(t *testing.T) {
	onStep := func(word string) string { return with(chain, second, second+`,"on_failure":"`+word+`"`) }
	onPlan := func(word string) string {
		return with(chain, `"title":"Chain"`, `"title":"Chain","on_failure":"`+word+`"`)
	}
	for name, c := range map[string]struct {
		plan     string
		start    func(*event.RunStarted)
		planners planning.Planners
		kind     event.FailureKind
		want     event.Reason
		starts   string // in order
		err      string // part of the run's error
	}{
		"given plan aborts by default": {plan: chain, want: event.ReasonStepFailed, starts: "1 2 4", err: "step 2 (Second) failed: it broke"},
		"step says skip":               {plan: onStep("skip"), want: event.ReasonPartial, starts: "1 2 4"},
		"plan says skip":               {plan: onPlan("skip"), want: event.ReasonPartial, starts: "1 2 4"},
		"step overrides plan":          {plan: with(onPlan("skip"), second, second+`,"on_failure":"abort"`), want: event.ReasonStepFailed, starts: "1 2 4"},
		"run default applies":          {plan: chain, start: func(s *event.RunStarted) { s.OnFailure = plan.OnFailureSkip }, want: event.ReasonPartial, starts: "1 2 4"},
		"plan overrides run default":   {plan: onPlan("abort"), start: func(s *event.RunStarted) { s.OnFailure = plan.OnFailureSkip }, want: event.ReasonStepFailed, starts: "1 2 4"},
		"replan without a model aborts": {
			plan: onStep("replan"), start: func(s *event.RunStarted) { s.Model = "" },
			want: event.ReasonStepFailed, starts: "1 2 4", err: "there is no model",
		},
		"replan with own planners and no model": {
			plan: onStep("replan"), start: func(s *event.RunStarted) { s.Model = "" }, planners: planning.FixedPlans(plan.Plan{}, looks("5")),
			want: event.ReasonGoalMet, starts: "1 2 4 5",
		},
		"replan with a model":        {plan: onPlan("replan"), want: event.ReasonGaveUp, starts: "1 2 4", err: "no way"},
		"timeout follows on_failure": {plan: onStep("skip"), kind: event.FailureTimeout, want: event.ReasonPartial, starts: "1 2 4"},
		"denial does not skip":       {plan: onStep("skip"), kind: event.FailureDenied, want: event.ReasonDenied, starts: "1 2 4", err: "was denied"},
		"denial does not replan":     {plan: onStep("replan"), kind: event.FailureDenied, want: event.ReasonDenied, starts: "1 2 4"},
		"guard does not replan":      {plan: onStep("replan"), kind: event.FailureGuard, want: event.ReasonGuard, starts: "1 2 4"},
		"budget does not skip":       {plan: onStep("skip"), kind: event.FailureBudget, want: event.ReasonGuard, starts: "1 2 4"},
		"cancel does not replan":     {plan: onStep("replan"), kind: event.FailureInterrupted, want: event.ReasonInterrupted, starts: "1 2 4"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = script{prompt.PurposeReplan: {`{"title":"x","steps":[],"reason":"no way"}`}}.reply
			if c.kind == "" {
				c.kind = event.FailureTool
			}
			w.tool = failing("2", 99, c.kind)
			w.planBy(c.planners)
			start := given(t, c.plan)
			start.Limits.MaxConcurrency = 1
			if c.start != nil {
				c.start(&start)
			}
			if c.planners != nil {
				start.Limits.MaxPlanSteps = 0
			}
			got := w.play(start)
			starts := w.starts()
			slices.Sort(starts)
			if got.Reason != c.want || !strings.Contains(string(got.Error), c.err) {
				t.Errorf("ended %s: %q; want %s: %q", got.Reason, got.Error, c.want, c.err)
			}
			allowed := strings.Fields(c.starts)
			for _, s := range starts {
				if !slices.Contains(allowed, s) {
					t.Errorf("step %s started; want only %s", s, c.starts)
				}
			}
			if slices.Contains(allowed, "5") != slices.Contains(starts, "5") {
				t.Errorf("started %v, want %v", starts, allowed)
			}
		})
	}
}

// looks returns a plan of independent reads.
func looks(indices ...string) plan.Plan {
	p := plan.Plan{Title: "Looks"}
	for _, index := range indices {
		p.Steps = append(p.Steps, plan.Step{
			Index: index, Title: untrusted.Text("Look " + index), Executor: plan.ExecutorTool, Tool: "look", Args: map[string]any{"at": index},
		})
	}
	return p
}

func TestAbortLetsRunningStepsFinish(t *testing.T) {
	w := newWorld(t)
	w.tool = failing("1", 1, event.FailureTool)
	start := given(t, `{"title":"x","steps":[{"title":"A","tool":"look","args":{}},{"title":"B","tool":"look","args":{"at":1}},{"title":"C","tool":"look","args":{"at":2}}]}`)
	start.Limits.MaxConcurrency = 2
	got := w.play(start)
	if got.Reason != event.ReasonStepFailed || strings.Join(w.starts(), " ") != "1 2" {
		t.Errorf("%s after the starts %v, want step_failed after 1 and 2", got.Reason, w.starts())
	}
	if s := w.run.Step("2"); s.Status != agent.StepCompleted {
		t.Errorf("the running step 2 is %s, want completed", s.Status)
	}
}

func TestFailureStopsStartsOfSameBatch(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"x","steps":[{"title":"Nowhere","tool":"nowhere","args":{}},{"title":"Look","tool":"look","args":{}}]}`)
	got := w.play(start)
	if got.Reason != event.ReasonStepFailed || len(w.starts()) != 0 {
		t.Errorf("%s after the starts %v, want none", got.Reason, w.starts())
	}
}

func TestSkippedStepsNameTheirCause(t *testing.T) {
	w := newWorld(t)
	w.tool = failing("1", 1, event.FailureTool)
	got := w.play(given(t, with(chain, `"title":"Chain"`, `"title":"Chain","on_failure":"skip"`)))
	if got.Status != event.StatusCompleted || got.Reason != event.ReasonPartial {
		t.Fatalf("%s %s", got.Status, got.Reason)
	}
	var reasons []string
	for _, d := range all[event.StepSkipped](w) {
		reasons = append(reasons, d.Index+": "+string(d.Reason))
	}
	want := []string{"2: step 1 (First) did not succeed", "3: step 2 (Second) did not succeed"}
	if !slices.Equal(reasons, want) {
		t.Errorf("got %q, want %q", reasons, want)
	}
	if s := w.run.Step("4"); s.Status != agent.StepCompleted {
		t.Errorf("the independent step 4 is %s, want completed", s.Status)
	}
	statuses := map[string]plan.ItemStatus{}
	for _, h := range got.History {
		statuses[h.Index] = h.Status
	}
	if statuses["1"] != plan.ItemFailed || statuses["2"] != plan.ItemSkipped || statuses["3"] != plan.ItemSkipped {
		t.Errorf("the history has the statuses %v", statuses)
	}
}

func TestRetriesBackOffAndCountAsAttempts(t *testing.T) {
	w := newWorld(t)
	w.tool = failing("1", 3, event.FailureTimeout)
	got := w.play(given(t, `{"title":"x","steps":[{"title":"Look","tool":"look","args":{},"retries":3}]}`))
	if got.Reason != event.ReasonGoalMet || got.Usage.Steps != 4 || got.Usage.ToolCalls != 4 || w.run.Step("1").Attempt != 4 {
		t.Fatalf("%s after %+v, attempt %d", got.Reason, got.Usage, w.run.Step("1").Attempt)
	}
	var pauses []time.Duration
	var failedAt time.Time
	for _, e := range w.events {
		switch d := e.Data.(type) {
		case event.StepFailed:
			failedAt = e.Time
		case event.StepRetry:
			pauses = append(pauses, d.At.Sub(failedAt))
		case event.StepStarted:
			if d.Attempt > 1 && e.Time.Before(failedAt.Add(pauses[len(pauses)-1])) {
				t.Errorf("attempt %d started %v after the failure, too early", d.Attempt, e.Time.Sub(failedAt))
			}
		}
	}
	if want := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}; !slices.Equal(pauses, want) {
		t.Errorf("got the pauses %v, want %v", pauses, want)
	}
}

func TestFailuresWithoutRetry(t *testing.T) {
	for name, c := range map[string]struct {
		step string
		kind event.FailureKind
	}{
		"step with effects": {`"tool":"change","args":{}`, event.FailureTool},
		"canceled step":     {`"tool":"look","args":{}`, event.FailureInterrupted},
		"denied step":       {`"tool":"look","args":{}`, event.FailureDenied},
		"guarded step":      {`"tool":"look","args":{}`, event.FailureGuard},
		"invalid args":      {`"tool":"fill","args":{"at":[5]}`, ""},
		"unknown tool":      {`"tool":"nowhere","args":{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.tool = failing("1", 9, c.kind)
			w.play(given(t, `{"title":"x","steps":[{"title":"Step",`+c.step+`,"retries":3}]}`))
			if n := len(all[event.StepRetry](w)); n != 0 || len(all[event.StepFailed](w)) != 1 {
				t.Errorf("%d retries after %d failures, want none after one", n, len(all[event.StepFailed](w)))
			}
		})
	}
}

// asks makes the user answer questions about failed steps in turn, and records
// the questions.
func asks(w *world, answers ...event.FailureResolved) *[]agent.Question {
	var asked []agent.Question
	w.failed = func(q agent.Question) event.FailureResolved {
		asked = append(asked, q)
		if len(asked) > len(answers) {
			w.t.Fatalf("unexpected question %+v", q)
		}
		return answers[len(asked)-1]
	}
	return &asked
}

func TestUserDecidesFailedStep(t *testing.T) {
	decide := func(d event.FailureDecision) event.FailureResolved { return event.FailureResolved{Decision: d} }
	edited := func(args map[string]any) event.FailureResolved {
		return event.FailureResolved{Decision: event.FailureRetry, Args: args}
	}
	gated := with(chain, `"tool":"look","args":{"at":"${a}"}`, `"tool":"change","args":{"at":"${a}"}`)
	fills := with(chain, `"tool":"look","args":{"at":"${a}"}`, `"tool":"fill","args":{"at":"${a}"}`)
	for name, c := range map[string]struct {
		plan    string
		times   int // number of failures of step 2
		kind    event.FailureKind
		denials int
		answers []event.FailureResolved
		want    event.Reason
		calls   int            // of step 2
		args    map[string]any // of its last attempt
	}{
		"retry":             {plan: chain, times: 1, answers: []event.FailureResolved{decide(event.FailureRetry)}, want: event.ReasonGoalMet, calls: 2, args: map[string]any{"at": "result of 1"}},
		"retry fails again": {plan: chain, times: 2, answers: []event.FailureResolved{decide(event.FailureRetry), decide(event.FailureRetry)}, want: event.ReasonGoalMet, calls: 3},
		"retry with args":   {plan: fills, times: 1, answers: []event.FailureResolved{edited(map[string]any{"at": "b"})}, want: event.ReasonGoalMet, calls: 2, args: map[string]any{"at": "b"}},
		"retry with references": {
			plan: fills, times: 1, answers: []event.FailureResolved{edited(map[string]any{"at": "see ${a}"})},
			want: event.ReasonGoalMet, calls: 2, args: map[string]any{"at": "see result of 1"},
		},
		"retry with invalid args": {
			plan: fills, times: 1, answers: []event.FailureResolved{edited(map[string]any{"at": []any{5}}), edited(map[string]any{}), edited(map[string]any{"at": "b"})},
			want: event.ReasonGoalMet, calls: 2, args: map[string]any{"at": "b"},
		},
		"skip":                  {plan: chain, times: 9, answers: []event.FailureResolved{decide(event.FailureSkip)}, want: event.ReasonPartial, calls: 1},
		"replan":                {plan: chain, times: 1, answers: []event.FailureResolved{decide(event.FailureReplan)}, want: event.ReasonGoalMet, calls: 1},
		"abort":                 {plan: chain, times: 1, answers: []event.FailureResolved{decide(event.FailureAbort)}, want: event.ReasonStepFailed, calls: 1},
		"denial retried":        {plan: gated, denials: 1, answers: []event.FailureResolved{decide(event.FailureRetry)}, want: event.ReasonGoalMet, calls: 1},
		"denial skipped":        {plan: gated, denials: 9, answers: []event.FailureResolved{decide(event.FailureSkip)}, want: event.ReasonPartial},
		"denial replanned":      {plan: gated, denials: 9, answers: []event.FailureResolved{decide(event.FailureReplan)}, want: event.ReasonGoalMet},
		"denial aborted":        {plan: gated, denials: 9, answers: []event.FailureResolved{decide(event.FailureAbort)}, want: event.ReasonDenied},
		"canceled step retried": {plan: chain, times: 1, kind: event.FailureInterrupted, answers: []event.FailureResolved{decide(event.FailureRetry)}, want: event.ReasonGoalMet, calls: 2},
		"canceled step aborted": {plan: chain, times: 1, kind: event.FailureInterrupted, answers: []event.FailureResolved{decide(event.FailureAbort)}, want: event.ReasonInterrupted, calls: 1},
		"plan says skip":        {plan: with(chain, second, second+`,"on_failure":"skip"`), times: 9, want: event.ReasonPartial, calls: 1},
		"plan says replan":      {plan: with(chain, second, second+`,"on_failure":"replan"`), times: 1, want: event.ReasonGoalMet, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = script{prompt.PurposeReplan: {`{"title":"x","steps":[{"index":"9","title":"Other","tool":"look","args":{"at":"z"}}]}`}}.reply
			if c.kind == "" {
				c.kind = event.FailureTool
			}
			w.tool = failing("2", c.times, c.kind)
			w.gate = func(event.GateRequested) event.Decision {
				if c.denials--; c.denials >= 0 {
					return event.Deny
				}
				return event.Allow
			}
			asked := asks(w, c.answers...)
			start := given(t, c.plan)
			start.Attended = true
			got := w.play(start)
			if got.Reason != c.want {
				t.Fatalf("ended %s (%s), want %s", got.Reason, got.Error, c.want)
			}
			if len(*asked) != len(c.answers) {
				t.Errorf("asked %d times, want %d", len(*asked), len(c.answers))
			}
			calls := slices.DeleteFunc(w.starts(), func(s string) bool { return s != "2" })
			if len(calls) != c.calls {
				t.Errorf("step 2 was called %d times, want %d", len(calls), c.calls)
			}
			if c.args != nil && !plan.EqualValues(w.run.Step("2").Args, c.args) {
				t.Errorf("last called with %v, want %v", w.run.Step("2").Args, c.args)
			}
		})
	}
}

func TestUserIsAskedOnlyIfSomethingIsLeftToDecide(t *testing.T) {
	gated := with(chain, `"tool":"look","args":{"at":"${a}"}`, `"tool":"change","args":{"at":"${a}"}`)
	const alone = `{"title":"Alone","steps":[{"title":"Only","tool":"look","args":{"at":"a"}},{"title":"Behind","tool":"look","args":{"at":"b"},"depends_on":["1"]}]}`
	for name, c := range map[string]struct {
		plan, model string
		fails       string // step
		asked       int
		want        event.Reason
	}{
		"failed last step with a model":         {chain, "m", "3", 1, event.ReasonStepFailed},
		"failed last step without a model":      {chain, "", "3", 0, event.ReasonStepFailed},
		"failed step with dependents, no model": {alone, "", "1", 1, event.ReasonStepFailed},
		"failed step before others, no model":   {chain, "", "2", 1, event.ReasonStepFailed},
		"denial with a model":                   {gated, "m", "", 1, event.ReasonDenied},
		"denial without a model":                {gated, "", "", 0, event.ReasonDenied},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.choose = func(int) int { return max(0, slices.IndexFunc(w.pending, isCall("4"))) }
			w.tool = failing(c.fails, 9, event.FailureTool)
			w.gate = func(event.GateRequested) event.Decision { return event.Deny }
			asked := 0
			w.failed = func(agent.Question) event.FailureResolved {
				asked++
				return event.FailureResolved{Decision: event.FailureAbort}
			}
			start := given(t, c.plan)
			start.Attended, start.Model = true, c.model
			if got := w.play(start); got.Reason != c.want || asked != c.asked {
				t.Errorf("ended %s (%s), asked %d times; want %s, %d", got.Reason, got.Error, asked, c.want, c.asked)
			}
		})
	}
}

func TestFailureQuestionDescribesStep(t *testing.T) {
	for model, replan := range map[string]bool{"m": true, "": false} {
		w := newWorld(t)
		w.tool = failing("2", 1, event.FailureTool)
		asked := asks(w, event.FailureResolved{Decision: event.FailureAbort})
		start := given(t, chain)
		start.Attended, start.Model = true, model
		w.play(start)
		q := (*asked)[0]
		if q.Step != "2" || q.Doubt || q.Title != "Second" || q.Tool != "look" || q.Reason != "it broke" || q.Replan != replan ||
			!plan.EqualValues(q.Args, map[string]any{"at": "result of 1"}) {
			t.Errorf("got the question %+v", q)
		}
	}
}

// isCall returns a predicate that matches the call of a step.
func isCall(step string) func(agent.Effect) bool {
	return func(e agent.Effect) bool {
		c, ok := e.(agent.CallTool)
		return ok && c.Index == step
	}
}

func TestNoStepStartsDuringQuestion(t *testing.T) {
	w := newWorld(t)
	w.tool = failing("1", 1, event.FailureTool)
	start := given(t, `{"title":"x","steps":[{"title":"A","tool":"look","args":{}},{"title":"B","tool":"look","args":{"at":1}},{"title":"C","tool":"look","args":{"at":2},"depends_on":["2"]}]}`)
	start.Attended, start.Limits.MaxConcurrency = true, 2
	w.choose = func(int) int { return slices.IndexFunc(w.pending, isCall("1")) }
	w.apply(start)
	w.until(event.KindStepFailed)
	w.choose = func(int) int { return 0 }
	w.until(event.KindStepCompleted)
	w.advance()
	if len(w.run.Questions()) != 1 || !w.run.Active() || w.run.Busy() {
		t.Fatalf("questions %v, busy %v", w.run.Questions(), w.run.Busy())
	}
	if next := w.run.Next(); len(next) != 0 || len(w.starts()) != 2 {
		t.Errorf("with an open question: next %v, started %v", next, w.starts())
	}
	w.failed = func(agent.Question) event.FailureResolved { return event.FailureResolved{Decision: event.FailureSkip} }
	if got := w.finish(); got.Reason != event.ReasonPartial || w.run.Step("3").Status != agent.StepCompleted {
		t.Errorf("%s, step 3 %s", got.Reason, w.run.Step("3").Status)
	}
}
