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

// planOf is a plan with these steps, each a JSON object.
func planOf(t *testing.T, steps ...string) *plan.Plan {
	t.Helper()
	p, faults := plan.DecodePlan([]byte(`{"title":"Plan","steps":[` + strings.Join(steps, ",") + `]}`))
	if len(faults) > 0 {
		t.Fatal(plan.FaultError(faults))
	}
	return &p
}

// steps that the tests of this package use.
const (
	lookStep   = `{"title":"Look","tool":"look","args":{},"result_variable":"seen"}`
	changeStep = `{"title":"Change","tool":"change","args":{"to":"x"}}`
	gatedStep  = `{"title":"Change","tool":"change","args":{"to":"x"},"gate":true}`
)

// lookAndChange is a tool that reads and one that has effects.
var lookAndChange = plan.Catalogue{
	{Server: "w", Name: "look", ReadOnly: true, Annotated: true},
	{Server: "w", Name: "change", Annotated: true, Previews: true},
}

// succeed is a tool that says what it was called with.
func succeed(_ context.Context, c plan.ToolCall) (any, error) { return c.Args["to"], nil }

// hang is a tool that does not come back before it is told to.
func hang(ctx context.Context, _ plan.ToolCall) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// failOnce is a tool that fails the first time.
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

func TestAJobOfOneStep(t *testing.T) {
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
		name string
		step string
		job  runner.Job
		want event.Reason
		says string // in the result's error
		as   any    // the result of the last attempt
	}{
		{name: "runs what the program gave without asking", step: changeStep, job: runner.Job{Call: succeed}, want: event.ReasonGoalMet, as: "x"},
		{name: "needs no catalogue for a qualified name", step: `{"title":"C","tool":"disk:change","args":{"to":"x"}}`, job: runner.Job{Call: succeed}, want: event.ReasonGoalMet, as: "x"},
		{name: "without a function fails", step: changeStep, want: event.ReasonStepFailed, says: "no function"},
		{name: "stops at a gate of the plan where nobody answers", step: gatedStep, job: runner.Job{Call: succeed}, want: event.ReasonDenied},
		{name: "passes a gate that is opened", step: gatedStep, job: runner.Job{Call: succeed, Gate: allow}, want: event.ReasonGoalMet, as: "x"},
		{name: "stops at a gate that is kept shut", step: gatedStep, job: runner.Job{Call: succeed, Gate: deny}, want: event.ReasonDenied},
		{name: "stops where a rule blocks", step: changeStep, job: runner.Job{Call: succeed, Rules: []rule.Rule{{Tool: "*", Verdict: rule.VerdictBlock, Why: "no"}}}, want: event.ReasonDenied},
		{name: "asks where no rule speaks", step: changeStep, job: runner.Job{Call: succeed, Gate: deny, Rules: []rule.Rule{}}, want: event.ReasonDenied},
		{name: "takes an error for the tool's word", step: changeStep, job: runner.Job{Call: failOnce()}, want: event.ReasonStepFailed, says: "not yet"},
		{name: "asks the program about a failure", step: changeStep, job: runner.Job{Call: failOnce(), Failure: failure(event.FailureRetry, nil)}, want: event.ReasonGoalMet, as: "x"},
		{name: "tries again with other args", step: changeStep, job: runner.Job{Call: failOnce(), Failure: failure(event.FailureRetry, map[string]any{"to": "y"})}, want: event.ReasonGoalMet, as: "y"},
		{name: "goes on without a step", step: changeStep, job: runner.Job{Call: failOnce(), Failure: failure(event.FailureSkip, nil)}, want: event.ReasonPartial},
		{name: "ends with a failure where only doubts are asked about", step: changeStep, job: runner.Job{Call: failOnce(), Doubt: doubt(event.DoubtDone)}, want: event.ReasonStepFailed},
		{name: "is in doubt after a time-out", step: hangs, job: runner.Job{Call: hang}, want: event.ReasonInDoubt, says: "may or may not"},
		{name: "is in doubt after a time-out of its own", step: changeStep, job: runner.Job{Call: unclear}, want: event.ReasonInDoubt},
		{name: "has failed after one that only reads", step: `{"title":"L","tool":"look","args":{},"timeout":"1ms"}`, job: runner.Job{Call: hang, Catalogue: lookAndChange}, want: event.ReasonStepFailed},
		{name: "takes a step in doubt for done where the job says so", step: hangs, job: runner.Job{Call: hang, InDoubt: event.DoubtDone}, want: event.ReasonGoalMet},
		{name: "is run again by itself only once", step: hangs, job: runner.Job{Call: hang, InDoubt: event.DoubtRerun}, want: event.ReasonInDoubt},
		{name: "asks the program about a doubt", step: hangs, job: runner.Job{Call: hang, Doubt: doubt(event.DoubtDone)}, want: event.ReasonGoalMet},
		{name: "leaves a doubt to the option where only failures are asked about", step: hangs, job: runner.Job{Call: hang, Failure: failure(event.FailureRetry, nil), InDoubt: event.DoubtDone}, want: event.ReasonGoalMet},
		{name: "calls nothing in a dry run", step: changeStep, job: runner.Job{DryRun: true}, want: event.ReasonGoalMet, as: "<change result>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.job.Plan = planOf(t, c.step)
			result, err := runner.Run(t.Context(), c.job)
			if err != nil {
				t.Fatal(err)
			}
			if result.Reason != c.want || !strings.Contains(result.Error, c.says) {
				t.Errorf("%s: %s", result.Reason, result.Error)
			}
			if last := result.History[len(result.History)-1]; fmt.Sprint(last.Result) != fmt.Sprint(c.as) {
				t.Errorf("it came to %v", last.Result)
			}
		})
	}
}

func TestAJobThatCannotBegin(t *testing.T) {
	ended := []event.Event{{Seq: 1, Run: "r", Data: event.RunPaused{}}}
	circle := planOf(t, `{"title":"A","tool":"a","args":{},"depends_on":["2"]}`, `{"title":"B","tool":"b","args":{},"depends_on":["1"]}`)
	var invalid *plan.InvalidPlanError
	for _, c := range []struct {
		name string
		job  runner.Job
		is   func(error) bool
	}{
		{"has nothing to do", runner.Job{}, func(err error) bool { return strings.Contains(err.Error(), "nothing to do") }},
		{"has a goal and nobody to plan it", runner.Job{Goal: "g"}, func(err error) bool { return errors.Is(err, prompt.ErrNoModel) }},
		{"has a goal and a model that is not there", runner.Job{Goal: "g", Model: &model{err: prompt.ErrNoModel}}, func(err error) bool { return errors.Is(err, prompt.ErrNoModel) }},
		{"has a plan that is not valid", runner.Job{Plan: circle}, func(err error) bool { return errors.As(err, &invalid) && invalid.Faults[0].Code == "cycle" }},
		{"has a plan with a tool that is not there", runner.Job{Plan: planOf(t, changeStep), Catalogue: lookAndChange[:1]}, func(err error) bool { return errors.As(err, &invalid) && invalid.Faults[0].Code == "unknown_tool" }},
		{"has events that do not fit together", runner.Job{Past: ended}, func(err error) bool { return errors.Is(err, agent.ErrOutOfOrder) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.job.Events = func(e event.Event) { t.Errorf("%s was told", e.Data.Kind()) }
			if _, err := runner.Run(t.Context(), c.job); err == nil || !c.is(err) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAGoalIsPlannedByThePlannersOfTheProgram(t *testing.T) {
	bad := planOf(t, `{"title":"Bad","tool":"change","args":{"to":"bad"}}`)
	good := planOf(t, `{"title":"Good","tool":"change","args":{"to":"good"}}`)
	result, err := runner.Run(t.Context(), runner.Job{
		Goal: "change it", Planners: planning.Scripted(*bad, *good), Catalogue: lookAndChange,
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

func TestAModelWritesTheAnswerOnlyWhereItIsAskedTo(t *testing.T) {
	for _, asked := range []bool{true, false} {
		m := &model{info: prompt.ModelInfo{Name: "m"}, replies: map[prompt.Purpose]string{prompt.PurposeSynthesis: "all is well"}}
		result, err := runner.Run(t.Context(), runner.Job{Plan: planOf(t, changeStep), Call: succeed, Model: m, Synthesize: asked})
		if err != nil || (result.Answer == "all is well") != asked {
			t.Errorf("asked: %t, answer %q: %v", asked, result.Answer, err)
		}
	}
}

func TestAResultIsAJSONValueWhateverTheFunctionReturns(t *testing.T) {
	type person struct {
		Name string `json:"name"`
		Age  int    `json:"age"`
	}
	var said []any
	call := func(_ context.Context, c plan.ToolCall) (any, error) {
		if c.Tool.Name == "look" {
			return []person{{"Ada", 36}}, nil
		}
		said = append(said, c.Args["to"])
		return nil, nil
	}
	result, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, lookStep, `{"title":"C","tool":"change","args":{"to":["${seen[0].name}","${seen.0.age}"]}}`), Call: call,
	})
	if err != nil || result.Reason != event.ReasonGoalMet {
		t.Fatalf("%s: %v", result.Error, err)
	}
	if want := []any{[]any{"Ada", json.Number("36")}}; !plan.EqualValues(any(said), any(want)) {
		t.Errorf("the second step was called with %#v", said)
	}
}

func TestAResultThatJSONCannotHoldIsAFailure(t *testing.T) {
	result, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, changeStep), Call: func(context.Context, plan.ToolCall) (any, error) { return func() {}, nil },
	})
	if err != nil || result.Reason != event.ReasonStepFailed || !strings.Contains(result.Error, "JSON") {
		t.Errorf("%s %s: %v", result.Reason, result.Error, err)
	}
}

func TestTheEndOfTheContextStopsTheRun(t *testing.T) {
	for tool, want := range map[string]plan.ItemStatus{"look": plan.ItemFailed, "change": plan.ItemInDoubt} {
		t.Run(tool, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			past := &memory{room: -1}
			job := runner.Job{
				Plan: planOf(t, `{"title":"Wait","tool":"`+tool+`","args":{}}`, changeStep), Catalogue: lookAndChange, Journal: past,
				Limits: event.Limits{MaxConcurrency: 1},
				Call: func(ctx context.Context, c plan.ToolCall) (any, error) {
					cancel()
					return hang(ctx, c)
				},
			}
			result, err := runner.Run(ctx, job)
			if err != nil || result.Status != event.StatusCancelled || result.Reason != event.ReasonInterrupted {
				t.Fatalf("%s %s: %v", result.Status, result.Reason, err)
			}
			if len(result.History) != 1 || result.History[0].Status != want {
				t.Errorf("the history is %+v", result.History)
			}
			job.Past, job.Call, job.InDoubt = past.events, succeed, event.DoubtRerun
			if result, err = runner.Run(t.Context(), job); err != nil || result.Reason != event.ReasonGoalMet {
				t.Errorf("taken up again it came to %s: %v", result.Error, err)
			}
		})
	}
}

func TestAGateThatIsOpenWhenTheRunIsStoppedKeepsNobody(t *testing.T) {
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

func TestAGateShowsWhatThePreviewSays(t *testing.T) {
	var shown event.GateRequested
	var hashes map[string]string
	_, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, gatedStep), Catalogue: lookAndChange,
		Preview: func(context.Context, plan.ToolCall) (plan.ToolPreview, error) {
			return plan.ToolPreview{Diff: "+x", Hashes: map[string]string{"f": "00"}}, nil
		},
		Gate: func(_ context.Context, g event.GateRequested) event.Decision {
			shown = g
			return event.Allow
		},
		Call: func(_ context.Context, c plan.ToolCall) (any, error) {
			hashes = c.Hashes
			return nil, nil
		},
	})
	if err != nil || shown.Diff != "+x" || hashes["f"] != "00" {
		t.Errorf("shown %q, called against %v: %v", shown.Diff, hashes, err)
	}
}

func TestEventsAreToldInOrderOnceTheyAreKept(t *testing.T) {
	kept := &memory{room: -1}
	var told []event.Event
	_, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, lookStep, changeStep), Call: succeed, Journal: kept,
		Events: func(e event.Event) {
			if !slices.ContainsFunc(kept.events, func(k event.Event) bool { return k.Seq == e.Seq }) {
				t.Errorf("%s was told before it was kept", e.Data.Kind())
			}
			told = append(told, e)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(told, func(a, b event.Event) int { return int(a.Seq) - int(b.Seq) }) || len(told) != len(kept.events) {
		t.Errorf("told %d of %d events", len(told), len(kept.events))
	}
	if kept.closed {
		t.Error("the journal was closed, which is its owner's to do")
	}
}

func TestAJobWhoseJournalIsFullIsAnError(t *testing.T) {
	called := false
	result, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, changeStep), Journal: &memory{room: 1},
		Call: func(context.Context, plan.ToolCall) (any, error) { called = true; return nil, nil },
	})
	if err == nil || !strings.Contains(err.Error(), "no space left") || called || result.Status == event.StatusCompleted {
		t.Errorf("%s, called: %t: %v", result.Status, called, err)
	}
}

func TestAJobGoesOnWhereItsEventsEnd(t *testing.T) {
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
		t.Errorf("a completed run: %s, %v was called, %d new events: %v", again.Reason, called, len(past.events)-len(job.Past), err)
	}
}

func TestAPlanIsNotBoundedByTheDefaultLimits(t *testing.T) {
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
		t.Errorf("with a limit that was asked for: %s %s: %v", result.Reason, result.Error, err)
	}
}

func TestStepsThatDoNotDependOnEachOtherRunAtOnce(t *testing.T) {
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

func TestGatesOpenInThePlansOrderHoweverLongTheirDiffsTake(t *testing.T) {
	shown := map[any]chan struct{}{"1": make(chan struct{}), "2": make(chan struct{}), "3": make(chan struct{}), "4": make(chan struct{})}
	after := map[any]any{"1": "2", "2": "3", "3": "4"} // whose diff is worked out first
	var asked []string
	step := func(to, more string) string {
		return `{"title":"Change","tool":"change","args":{"to":"` + to + `"},"gate":true` + more + `}`
	}
	_, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, step("1", ""), step("2", ""), step("3", ""), step("4", ""),
			`{"title":"Change","tool":"change","args":{"to":"5"},"depends_on":["4"]}`), // the longest path begins at 4
		Catalogue: lookAndChange, Call: succeed,
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
	if got := strings.Join(asked, " "); err != nil || got != "1 2 3 4" {
		t.Errorf("the gates open in the order %s: %v", got, err)
	}
}
