package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/runner"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// planOf returns a plan with these steps, each a JSON object.
func planOf(t *testing.T, steps ...string) *plan.Plan {
	t.Helper()
	p, faults := plan.DecodePlan([]byte(`{"title":"Plan","steps":[` + strings.Join(steps, ",") + `]}`))
	if len(faults) > 0 {
		t.Fatal(plan.FaultError(faults))
	}
	return &p
}

// Steps that the tests of this package share.
const (
	lookStep   = `{"title":"Look","tool":"look","args":{},"result_variable":"seen"}`
	changeStep = `{"title":"Change","tool":"change","args":{"to":"x"}}`
	gatedStep  = `{"title":"Change","tool":"change","args":{"to":"x"},"gate":true}`
	// usedStep leaves a user something to decide after its failure.
	usedStep = `{"title":"Change","tool":"change","args":{"to":"x"},"result_variable":"changed"},{"title":"Use it","tool":"change","args":{"to":"${changed}"}}`
)

// lookAndChange is a catalog of one tool that reads and one that has effects.
var lookAndChange = plan.Catalog{
	{Server: "w", Name: "look", ReadOnly: true, Annotated: true},
	{Server: "w", Name: "change", Annotated: true, Previews: true},
}

// succeed is a tool that returns its argument "to".
func succeed(_ context.Context, c plan.ToolCall) (any, error) { return c.Args["to"], nil }

// hang is a tool that blocks until it is canceled.
func hang(ctx context.Context, _ plan.ToolCall) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// failOnce returns a tool that fails on the first call.
func failOnce() func(context.Context, plan.ToolCall) (any, error) {
	failed := false
	return func(ctx context.Context, c plan.ToolCall) (any, error) {
		if !failed {
			failed = true
			return nil, errors.New("not yet")
		}
		return succeed(ctx, c)
	}
}

func TestRunOneStep(t *testing.T) {
	allow := func(context.Context, event.GateRequested) event.Decision { return event.Allow }
	deny := func(context.Context, event.GateRequested) event.Decision { return event.Deny }
	doubt := func(d event.DoubtDecision) func(context.Context, agent.Question) event.DoubtDecision {
		return func(context.Context, agent.Question) event.DoubtDecision { return d }
	}
	failure := func(d event.FailureDecision, args map[string]any) func(context.Context, agent.Question) (event.FailureDecision, map[string]any) {
		return func(context.Context, agent.Question) (event.FailureDecision, map[string]any) { return d, args }
	}
	unclear := func(context.Context, plan.ToolCall) (any, error) { return nil, context.DeadlineExceeded }
	hangs := `{"title":"Change","tool":"change","args":{},"timeout":"1ms"}`
	for _, c := range []struct {
		name    string
		step    string
		job     runner.Job
		want    event.Reason
		wantErr string // in the result's error
		result  any    // the result of the last attempt
	}{
		{name: "runs without asking", step: changeStep, job: runner.Job{Call: succeed}, want: event.ReasonGoalMet, result: "x"},
		{name: "qualified name without a catalog", step: `{"title":"C","tool":"disk:change","args":{"to":"x"}}`, job: runner.Job{Call: succeed}, want: event.ReasonGoalMet, result: "x"},
		{name: "no function", step: changeStep, want: event.ReasonStepFailed, wantErr: "no function"},
		{name: "gate of the plan without an answer", step: gatedStep, job: runner.Job{Call: succeed}, want: event.ReasonDenied},
		{name: "gate allowed", step: gatedStep, job: runner.Job{Call: succeed, Gate: allow}, want: event.ReasonGoalMet, result: "x"},
		{name: "gate denied", step: gatedStep, job: runner.Job{Call: succeed, Gate: deny}, want: event.ReasonDenied},
		{name: "blocking rule", step: changeStep, job: runner.Job{Call: succeed, Rules: []rule.Rule{{Tool: "*", Verdict: rule.VerdictBlock, Why: "no"}}}, want: event.ReasonDenied},
		{name: "no matching rule asks", step: changeStep, job: runner.Job{Call: succeed, Gate: deny, Rules: []rule.Rule{}}, want: event.ReasonDenied},
		{name: "plain error fails the step", step: changeStep, job: runner.Job{Call: failOnce()}, want: event.ReasonStepFailed, wantErr: "not yet"},
		{name: "failure retried", step: usedStep, job: runner.Job{Call: failOnce(), Failure: failure(event.FailureRetry, nil)}, want: event.ReasonGoalMet, result: "x"},
		{name: "failure retried with other args", step: usedStep, job: runner.Job{Call: failOnce(), Failure: failure(event.FailureRetry, map[string]any{"to": "y"})}, want: event.ReasonGoalMet, result: "y"},
		{name: "failure skipped", step: usedStep, job: runner.Job{Call: failOnce(), Failure: failure(event.FailureSkip, nil)}, want: event.ReasonPartial},
		{name: "failure of the last step ends the run", step: changeStep, job: runner.Job{Call: failOnce(), Failure: failure(event.FailureRetry, nil)}, want: event.ReasonStepFailed, wantErr: "not yet"},
		{name: "failure with only a doubt handler", step: changeStep, job: runner.Job{Call: failOnce(), Doubt: doubt(event.DoubtDone)}, want: event.ReasonStepFailed},
		{name: "timeout leaves doubt", step: hangs, job: runner.Job{Call: hang}, want: event.ReasonInDoubt, wantErr: "may or may not"},
		{name: "timeout of the tool leaves doubt", step: changeStep, job: runner.Job{Call: unclear}, want: event.ReasonInDoubt},
		{name: "timeout of a read-only tool fails", step: `{"title":"L","tool":"look","args":{},"timeout":"1ms"}`, job: runner.Job{Call: hang, Catalog: lookAndChange}, want: event.ReasonStepFailed},
		{name: "doubt counts as done by option", step: hangs, job: runner.Job{Call: hang, InDoubt: event.DoubtDone}, want: event.ReasonGoalMet},
		{name: "doubt reruns by option only once", step: hangs, job: runner.Job{Call: hang, InDoubt: event.DoubtRerun}, want: event.ReasonInDoubt},
		{name: "doubt handler decides", step: hangs, job: runner.Job{Call: hang, Doubt: doubt(event.DoubtDone)}, want: event.ReasonGoalMet},
		{name: "option decides doubts with only a failure handler", step: hangs, job: runner.Job{Call: hang, Failure: failure(event.FailureRetry, nil), InDoubt: event.DoubtDone}, want: event.ReasonGoalMet},
		{name: "dry run", step: changeStep, job: runner.Job{DryRun: true}, want: event.ReasonGoalMet, result: "<change result>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.job.Plan = planOf(t, c.step)
			result, err := runner.Run(t.Context(), c.job)
			if err != nil {
				t.Fatal(err)
			}
			if result.Reason != c.want || !strings.Contains(string(result.Error), c.wantErr) {
				t.Errorf("%s: %s", result.Reason, result.Error)
			}
			if last := result.History[len(result.History)-1]; fmt.Sprint(last.Result) != fmt.Sprint(c.result) {
				t.Errorf("got the result %v", last.Result)
			}
		})
	}
}

func TestInvalidJobDoesNotStart(t *testing.T) {
	unordered := []event.Event{{Seq: 1, Run: "r", Data: event.RunPaused{}}}
	circle := planOf(t, `{"title":"A","tool":"a","args":{},"depends_on":["2"]}`, `{"title":"B","tool":"b","args":{},"depends_on":["1"]}`)
	var invalid *plan.InvalidPlanError
	for _, c := range []struct {
		name  string
		job   runner.Job
		match func(error) bool
	}{
		{"empty job", runner.Job{}, func(err error) bool { return strings.Contains(err.Error(), "nothing to do") }},
		{"goal without a planner", runner.Job{Goal: "g"}, func(err error) bool { return errors.Is(err, prompt.ErrNoModel) }},
		{"goal with an unavailable model", runner.Job{Goal: "g", Model: &model{err: prompt.ErrNoModel}}, func(err error) bool { return errors.Is(err, prompt.ErrNoModel) }},
		{"invalid plan", runner.Job{Plan: circle}, func(err error) bool { return errors.As(err, &invalid) && invalid.Faults[0].Code == "cycle" }},
		{"unknown tool", runner.Job{Plan: planOf(t, changeStep), Catalog: lookAndChange[:1]}, func(err error) bool { return errors.As(err, &invalid) && invalid.Faults[0].Code == "unknown_tool" }},
		{"events out of order", runner.Job{Past: unordered}, func(err error) bool { return errors.Is(err, agent.ErrOutOfOrder) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.job.Events = func(e event.Event) { t.Errorf("got the event %s", e.Data.Kind()) }
			if _, err := runner.Run(t.Context(), c.job); err == nil || !c.match(err) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestGoalUsesPlannersOfJob(t *testing.T) {
	bad := planOf(t, `{"title":"Bad","tool":"change","args":{"to":"bad"}}`)
	good := planOf(t, `{"title":"Good","tool":"change","args":{"to":"good"}}`)
	result, err := runner.Run(t.Context(), runner.Job{
		Goal: "change it", Planners: planning.FixedPlans(*bad, *good), Catalog: lookAndChange,
		Call: func(ctx context.Context, c plan.ToolCall) (any, error) {
			if c.Args["to"] == "bad" {
				return nil, errors.New("it is bad")
			}
			return succeed(ctx, c)
		},
	})
	if err != nil || result.Reason != event.ReasonGoalMet || len(result.Revisions) != 1 || result.Usage.Replans != 1 {
		t.Errorf("%+v: %v", result, err)
	}
}

func TestSynthesisRunsOnlyOnRequest(t *testing.T) {
	for _, synthesize := range []bool{true, false} {
		m := &model{info: prompt.ModelInfo{Name: "m"}, replies: map[prompt.Purpose]string{prompt.PurposeSynthesis: "all is well"}}
		result, err := runner.Run(t.Context(), runner.Job{Plan: planOf(t, changeStep), Call: succeed, Model: m, Synthesize: synthesize})
		if err != nil || (result.Answer == "all is well") != synthesize {
			t.Errorf("synthesize: %t, answer %q: %v", synthesize, result.Answer, err)
		}
	}
}

func TestResultsBecomeJSONValues(t *testing.T) {
	type person struct {
		Name string `json:"name"`
		Age  int    `json:"age"`
	}
	var got []any
	call := func(_ context.Context, c plan.ToolCall) (any, error) {
		if c.Tool.Name == "look" {
			return []person{{"Ada", 36}}, nil
		}
		got = append(got, c.Args["to"])
		return nil, nil
	}
	result, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, lookStep, `{"title":"C","tool":"change","args":{"to":["${seen[0].name}","${seen.0.age}"]}}`), Call: call,
	})
	if err != nil || result.Reason != event.ReasonGoalMet {
		t.Fatalf("%s: %v", result.Error, err)
	}
	if want := []any{[]any{"Ada", json.Number("36")}}; !plan.EqualValues(any(got), any(want)) {
		t.Errorf("the second step was called with %#v", got)
	}
}

func TestUnencodableResultFailsStep(t *testing.T) {
	result, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, changeStep), Call: func(context.Context, plan.ToolCall) (any, error) { return func() {}, nil },
	})
	if err != nil || result.Reason != event.ReasonStepFailed || !strings.Contains(string(result.Error), "JSON") {
		t.Errorf("%s %s: %v", result.Reason, result.Error, err)
	}
}

func TestCanceledContextStopsRun(t *testing.T) {
	for tool, want := range map[string]plan.ItemStatus{"look": plan.ItemFailed, "change": plan.ItemInDoubt} {
		t.Run(tool, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			past := &memory{room: -1}
			job := runner.Job{
				Plan: planOf(t, `{"title":"Wait","tool":"`+tool+`","args":{}}`, changeStep), Catalog: lookAndChange, Journal: past,
				Limits: event.Limits{MaxConcurrency: 1},
				Call: func(ctx context.Context, c plan.ToolCall) (any, error) {
					cancel()
					return hang(ctx, c)
				},
			}
			result, err := runner.Run(ctx, job)
			if err != nil || result.Status != event.StatusCanceled || result.Reason != event.ReasonInterrupted {
				t.Fatalf("%s %s: %v", result.Status, result.Reason, err)
			}
			if len(result.History) != 1 || result.History[0].Status != want {
				t.Errorf("the history is %+v", result.History)
			}
			job.Past, job.Call, job.InDoubt = past.events, succeed, event.DoubtRerun
			if result, err = runner.Run(t.Context(), job); err != nil || result.Reason != event.ReasonGoalMet {
				t.Errorf("after the resume: %s: %v", result.Error, err)
			}
		})
	}
}

func TestStopDoesNotWaitForOpenGate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	result, err := runner.Run(ctx, runner.Job{
		Plan: planOf(t, gatedStep), Call: succeed,
		Gate: func(ctx context.Context, g event.GateRequested) event.Decision {
			cancel()
			<-ctx.Done()
			return event.Allow // too late
		},
	})
	if err != nil || result.Reason != event.ReasonInterrupted || len(result.History) > 0 {
		t.Errorf("%s with %v: %v", result.Reason, result.History, err)
	}
}

func TestGateShowsPreview(t *testing.T) {
	var shown event.GateRequested
	var hashes map[string]string
	var command *plan.Command
	_, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, gatedStep), Catalog: lookAndChange,
		Preview: func(context.Context, plan.ToolCall) (plan.ToolPreview, error) {
			return plan.ToolPreview{Diff: "+x", Hashes: map[string]string{"f": "00"}, Command: &plan.Command{Argv: []string{"make"}}}, nil
		},
		Gate: func(_ context.Context, g event.GateRequested) event.Decision {
			shown = g
			return event.Allow
		},
		Call: func(_ context.Context, c plan.ToolCall) (any, error) {
			hashes, command = c.Hashes, c.Command
			return nil, nil
		},
	})
	if command == nil || !slices.Equal(command.Argv, []string{"make"}) {
		t.Errorf("the call is bound to the command %+v", command)
	}
	if err != nil || shown.Diff != "+x" || hashes["f"] != "00" {
		t.Errorf("got the diff %q and the hashes %v: %v", shown.Diff, hashes, err)
	}
}

func TestEventsArriveInOrderAfterJournal(t *testing.T) {
	stored := &memory{room: -1}
	var got []event.Event
	_, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, lookStep, changeStep), Call: succeed, Journal: stored,
		Events: func(e event.Event) {
			if !slices.ContainsFunc(stored.events, func(k event.Event) bool { return k.Seq == e.Seq }) {
				t.Errorf("%s was sent before it was stored", e.Data.Kind())
			}
			got = append(got, e)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(got, func(a, b event.Event) int { return int(a.Seq) - int(b.Seq) }) || len(got) != len(stored.events) {
		t.Errorf("got %d of %d events", len(got), len(stored.events))
	}
	if stored.closed {
		t.Error("the journal was closed; its owner closes it")
	}
}

func TestFullJournalStopsJob(t *testing.T) {
	called := false
	result, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, changeStep), Journal: &memory{room: 1},
		Call: func(context.Context, plan.ToolCall) (any, error) { called = true; return nil, nil },
	})
	if err == nil || !strings.Contains(err.Error(), "no space left") || called || result.Status == event.StatusCompleted {
		t.Errorf("%s, called: %t: %v", result.Status, called, err)
	}
}

func TestJobResumesFromPastEvents(t *testing.T) {
	past := &memory{room: -1}
	var called []string
	job := runner.Job{
		ID: "mine", Plan: planOf(t, lookStep, `{"title":"C","tool":"change","args":{"to":"${seen}"}}`), Journal: past,
		Call: func(_ context.Context, c plan.ToolCall) (any, error) {
			called = append(called, c.Tool.Name)
			if len(called) == 2 {
				return nil, errors.New("not yet")
			}
			return len(called), nil
		},
	}
	if result, err := runner.Run(t.Context(), job); err != nil || result.Reason != event.ReasonStepFailed {
		t.Fatalf("%s: %v", result.Reason, err)
	}
	job.Past = slices.Clone(past.events)
	result, err := runner.Run(t.Context(), job)
	if err != nil || result.Reason != event.ReasonGoalMet {
		t.Fatalf("%s: %v", result.Error, err)
	}
	if want := []string{"look", "change", "change"}; !slices.Equal(called, want) {
		t.Errorf("called %v", called)
	}
	if resumed := past.events[len(job.Past)]; resumed.Data.Kind() != event.KindRunResumed || resumed.Run != "mine" {
		t.Errorf("the first new event is %s of %s", resumed.Data.Kind(), resumed.Run)
	}

	job.Past, called = slices.Clone(past.events), nil
	again, err := runner.Run(t.Context(), job)
	if err != nil || again.Reason != event.ReasonGoalMet || len(called) > 0 || len(past.events) != len(job.Past) {
		t.Errorf("a completed run: %s, called %v, %d new events: %v", again.Reason, called, len(past.events)-len(job.Past), err)
	}
}

func TestDefaultStepLimitGrowsWithPlan(t *testing.T) {
	p := noops(40, 4)
	past := &memory{room: -1}
	stop := errors.New("enough")
	calls := 0
	job := runner.Job{Plan: &p, Journal: past, Limits: event.DefaultLimits()}
	job.Limits.MaxConcurrency = 1
	job.Call = func(context.Context, plan.ToolCall) (any, error) {
		if calls++; calls == 30 {
			return nil, stop
		}
		return nil, nil
	}
	if result, err := runner.Run(t.Context(), job); err != nil || result.Reason != event.ReasonStepFailed {
		t.Fatalf("%s %s: %v", result.Reason, result.Error, err)
	}
	job.Past = slices.Clone(past.events)
	if result, err := runner.Run(t.Context(), job); err != nil || result.Reason != event.ReasonGoalMet {
		t.Errorf("%s %s: %v", result.Reason, result.Error, err)
	}
	job.Past, job.Limits.GrowSteps = nil, false
	if result, err := runner.Run(t.Context(), job); err != nil || result.Reason != event.ReasonStepBudget {
		t.Errorf("with a fixed limit: %s %s: %v", result.Reason, result.Error, err)
	}
}

func TestIndependentStepsRunConcurrently(t *testing.T) {
	p := noops(4, 4)
	arrived := make(chan struct{})
	all := make(chan struct{})
	go func() {
		for range 4 {
			<-arrived
		}
		close(all)
	}()
	result, err := runner.Run(t.Context(), runner.Job{
		Plan: &p,
		Call: func(ctx context.Context, _ plan.ToolCall) (any, error) {
			select {
			case arrived <- struct{}{}:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			select {
			case <-all:
				return nil, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		Limits: event.Limits{MaxConcurrency: 4, StepTimeoutMS: (10 * time.Second).Milliseconds()},
	})
	if err != nil || result.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %v", result.Error, err)
	}
}

func TestGatesOpenByTheLongestRemainingPath(t *testing.T) {
	shown := map[any]chan struct{}{"1": make(chan struct{}), "2": make(chan struct{}), "3": make(chan struct{}), "4": make(chan struct{})}
	after := map[any]any{"1": "2", "2": "3", "3": "4"} // each waits for the preview of the other
	var asked []string
	step := func(to, more string) string {
		return `{"title":"Change","tool":"change","args":{"to":"` + to + `"},"gate":true` + more + `}`
	}
	_, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, step("1", ""), step("2", ""), step("3", ""), step("4", ""),
			`{"title":"Change","tool":"change","args":{"to":"5"},"depends_on":["4"]}`), // the longest path starts at 4
		Catalog: lookAndChange, Call: succeed,
		Preview: func(_ context.Context, c plan.ToolCall) (plan.ToolPreview, error) {
			if first, waits := after[c.Args["to"]]; waits {
				<-shown[first]
			}
			if done := shown[c.Args["to"]]; done != nil {
				close(done)
			}
			return plan.ToolPreview{Diff: "+x"}, nil
		},
		Gate: func(context.Context, event.GateRequested) event.Decision { return event.Allow },
		Events: func(e event.Event) {
			if g, ok := e.Data.(event.GateRequested); ok {
				asked = append(asked, g.Step)
			}
		},
	})
	if got := strings.Join(asked, " "); err != nil || got != "4 1 2 3" {
		t.Errorf("the gates opened in the order %s: %v", got, err)
	}
}

func TestCallThatChangesNothingOpensNoGate(t *testing.T) {
	nothing := plan.ToolPreview{Nothing: true, Hashes: map[string]string{}}
	for name, c := range map[string]struct {
		step    string
		preview plan.ToolPreview
		asks    bool
	}{
		"nothing changes":           {changeStep, nothing, false},
		"the plan asks for a gate":  {gatedStep, nothing, true},
		"a file is in the preview":  {changeStep, plan.ToolPreview{Nothing: true, Hashes: map[string]string{"f": "00"}}, true},
		"the preview binds no call": {changeStep, plan.ToolPreview{Nothing: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			asked, hashes := false, map[string]string(nil)
			_, err := runner.Run(t.Context(), runner.Job{
				Plan: planOf(t, c.step), Catalog: lookAndChange, Rules: []rule.Rule{{Tool: "*", Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn}},
				Preview: func(context.Context, plan.ToolCall) (plan.ToolPreview, error) { return c.preview, nil },
				Gate: func(context.Context, event.GateRequested) event.Decision {
					asked = true
					return event.Allow
				},
				Call: func(_ context.Context, call plan.ToolCall) (any, error) {
					hashes = call.Hashes
					return nil, nil
				},
			})
			if err != nil || asked != c.asks || (hashes == nil) != (c.preview.Hashes == nil) {
				t.Errorf("asked: %t, called with hashes %v: %v", asked, hashes, err)
			}
		})
	}
}

func TestRunEndsWithPlanIfOnlyThatIsWanted(t *testing.T) {
	job := runner.Job{
		Goal: "change it", Planners: planning.FixedPlans(*planOf(t, changeStep)), Catalog: lookAndChange, PlanOnly: true,
		Call: func(_ context.Context, c plan.ToolCall) (any, error) {
			t.Errorf("%s was called", c.Tool.Name)
			return nil, nil
		},
	}
	result, err := runner.Run(t.Context(), job)
	if err != nil || result.Reason != event.ReasonGoalMet || result.Plan == nil || len(result.Plan.Steps) != 1 {
		t.Errorf("got %+v, %v", result, err)
	}
}
