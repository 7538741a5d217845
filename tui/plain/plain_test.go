package plain_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/plain"
)

// runOutput returns what a log prints for the events of one run.
func runOutput(t *testing.T, ascii bool, data ...event.Data) string {
	t.Helper()
	var out strings.Builder
	log := plain.New(&out, "s", plain.Options{ASCII: ascii})
	start := event.RunStarted{Goal: "do it", Model: "m", Workspace: "/w", Prompting: prompt.Prompting{SkipAnalysis: true}}
	for i, d := range append([]event.Data{start}, data...) {
		e := event.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Run: "r", Data: d}
		if err := log.Event(e); err != nil {
			t.Fatalf("%s: %v", d.Kind(), err)
		}
	}
	return out.String()
}

func samplePlan(steps ...plan.Step) event.PlanCreated {
	return event.PlanCreated{Revision: 1, Plan: plan.Plan{Title: "Plan", Steps: steps}}
}

func step(index string, after ...string) plan.Step {
	return plan.Step{Index: index, Title: untrusted.Text("Step " + index), Executor: plan.ExecutorTool, Tool: "look", DependsOn: after}
}

func TestEventLines(t *testing.T) {
	for name, c := range map[string]struct {
		data []event.Data
		want []string
	}{
		"plan as text graph": {
			[]event.Data{samplePlan(step("1"), step("2", "1"), step("3", "1"), step("10", "2", "3"))},
			[]string{
				"▸ plan: Plan",
				"  ┌  ○ 1. Step 1    [look]",
				"  ├─ ○ 2. Step 2    [look]  ← after: 1  ∥",
				"  ├─ ○ 3. Step 3    [look]  ← after: 1  ∥",
				"  └  ○ 10. Step 10  [look]  ← after: 2, 3",
			},
		},
		"gate with whole call": {
			[]event.Data{samplePlan(step("1")), event.GateRequested{
				Gate: "1.1.1", Step: "1", Title: "Step 1", Tool: "look", Rule: rule.Rule{Why: "it has effects"},
				Args: map[string]any{"to": "a\nb", "n": 3}, Provenance: []rule.Provenance{{Arg: "to", Step: "9"}},
			}},
			[]string{"◆ 1 Step 1  [look]  asks: it has effects", "    n: 3", "    to:", "    │ a", "    │ b", "    to includes output of step 9"},
		},
		"gate with diff": {
			[]event.Data{samplePlan(step("1")), event.GateRequested{
				Gate: "1.1.1", Step: "1", Title: "Step 1", Tool: "look", Args: map[string]any{"path": "x", "new": "hidden"}, Diff: "-a\n+b\n",
			}},
			[]string{"    path: x", "    -a", "    +b"},
		},
		"failure with output": {
			[]event.Data{
				samplePlan(step("1")),
				event.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
				event.StepFailed{Index: "1", Attempt: 1, Error: "first\nsecond", Failure: event.FailureTool, MS: 1500},
			},
			[]string{"▸ 1 Step 1  [look]", "✗ 1 Step 1  1.5s", "    first", "    second"},
		},
		"dry-run step with call and gate": {
			[]event.Data{samplePlan(step("1")), event.StepCompleted{
				Index: "1", Attempt: 1, DryRun: true, Args: map[string]any{"text": "<look result>", "n": 3}, Result: "<look result>",
				Gate: &rule.Rule{Tool: "look", Verdict: rule.VerdictAsk, Source: "built-in", Why: "it has effects"},
			}},
			[]string{"○ 1 Step 1  [look]  dry run", "    n: 3", "    text: <look result>", "    would ask: it has effects (built-in rule for look)"},
		},
		"dry-run step denied by rule": {
			[]event.Data{samplePlan(step("1")), event.StepCompleted{
				Index: "1", Attempt: 1, DryRun: true, Gate: &rule.Rule{Tool: "look", Verdict: rule.VerdictBlock, Source: "flag", Why: "--deny look"},
			}},
			[]string{"○ 1 Step 1  [look]  dry run", "    would be denied: --deny look (flag rule for look)"},
		},
		"doubt and decision": {
			[]event.Data{
				samplePlan(step("1")),
				event.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
				event.StepInDoubt{Index: "1", Attempt: 1, Reason: "the server went away"},
				event.DoubtResolved{Step: "1", Decision: event.DoubtDone, By: "user"},
			},
			[]string{"◆ 1 Step 1  in doubt: the server went away", "  ◆ step 1: it took effect, by you"},
		},
		"unattended doubt": {
			[]event.Data{
				samplePlan(step("1")),
				event.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
				event.StepInDoubt{Index: "1", Attempt: 1, Reason: "the server went away"},
				event.DoubtResolved{Step: "1", Decision: event.DoubtAbort, By: "nobody was there to be asked"},
			},
			[]string{"  ◆ step 1: it stays in doubt, and the run ends (nobody was there to be asked)"},
		},
		"unattended gate": {
			[]event.Data{
				samplePlan(step("1")),
				event.GateRequested{Gate: "1.1.1", Step: "1", Title: "Step 1", Tool: "look"},
				event.GateResolved{Gate: "1.1.1", Decision: event.Deny, By: "nobody was there to be asked"},
			},
			[]string{"  ◆ denied (nobody was there to be asked)"},
		},
		"open question on resume with whole call": {
			[]event.Data{
				samplePlan(step("1")),
				event.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look", Args: map[string]any{"path": "a", "n": 3}},
				event.StepInDoubt{Index: "1", Attempt: 1, Reason: "the server went away"},
				event.RunResumed{Model: "m", Attended: true},
			},
			[]string{"  0 of 1 step done", "◆ 1 Step 1  [look]  in doubt; did it take effect?", "    the server went away", "    n: 3", "    path: a"},
		},
		"decision after failure": {
			[]event.Data{
				samplePlan(step("1")),
				event.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
				event.StepFailed{Index: "1", Attempt: 1, Error: "no such file", Failure: event.FailureTool, MS: 100},
				event.FailureResolved{Step: "1", Decision: event.FailureRetry, Args: map[string]any{"path": "b"}, By: "user"},
			},
			[]string{"✗ 1 Step 1  0.1s", "    no such file", "  ◆ step 1: to be tried again, by you", "    path: b"},
		},
		"guard warning": {
			[]event.Data{
				event.GuardWarned{Guard: "per_tool", Reason: "5 of 6 calls of look", Used: 5, Limit: 6},
				event.GuardWarned{Guard: event.GuardRunaway, Reason: "the model makes the same call of look again: 2 of 3 times", Used: 2, Limit: 3},
			},
			[]string{"· 5 of 6 calls of look (guard per_tool)", "· the model makes the same call of look again: 2 of 3 times"},
		},
		"stop": {
			[]event.Data{event.PhaseFailed{Phase: 2, Label: "review", Reason: "stopped by the user", Failure: event.FailureInterrupted}},
			[]string{"— review stopped"},
		},
		"remark": {
			[]event.Data{
				samplePlan(step("1")),
				event.RunSteered{Text: "hurry"},
				event.RunSteered{Text: "slowly", By: "ann@laptop"},
				event.ReplanStarted{Attempt: 1, Request: "hurry\nslowly"},
			},
			[]string{"▸ you: hurry", "▸ ann@laptop: slowly", "↻ replan 1: as requested"},
		},
		"stop with a step in doubt": {
			[]event.Data{
				samplePlan(step("1")),
				event.RunPaused{Reason: "stopped by the user"},
				event.StepInDoubt{Index: "1", Attempt: 1, Reason: "stopped by the user"},
				event.RunCompleted{Result: event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted, Error: "stopped by the user", DurationMS: 1000}},
			},
			[]string{"· stopped by the user", "◆ 1 Step 1  in doubt", "Stopped after 1.0s"},
		},
		"stop with an interrupted step": {
			[]event.Data{
				samplePlan(step("1")),
				event.RunPaused{Reason: "stopped by the user"},
				event.StepFailed{Index: "1", Attempt: 1, Error: "stopped by the user", Failure: event.FailureInterrupted, MS: 1000},
				event.RunCompleted{Result: event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted, Error: "stopped by the user", DurationMS: 1000}},
			},
			[]string{"· stopped by the user", "✗ 1 Step 1  1.0s", "Stopped after 1.0s"},
		},
		"control characters from outside": {
			[]event.Data{event.Note{Text: "\x1b[2J\u202e"}},
			[]string{"· ^[[2J<U+202E>"},
		},
		"result": {
			[]event.Data{event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonGaveUp, Error: "no way", DurationMS: 61_000}}},
			[]string{"✗ no way", "Failed after 61.0s: gave up"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := runOutput(t, false, c.data...)
			if want := strings.Join(c.want, "\n"); !strings.Contains(got, want) {
				t.Errorf("got\n%s\nwant it to contain\n%s", got, want)
			}
		})
	}
}

func TestEventsBeforeResumeAreNotPrintedAgain(t *testing.T) {
	var out strings.Builder
	log := plain.New(&out, "s", plain.Options{})
	past := []event.Data{
		event.RunStarted{Goal: "do it", Model: "m", Workspace: "/w", Prompting: prompt.Prompting{SkipAnalysis: true}},
		samplePlan(step("1"), step("2", "1"), step("3", "2")),
		event.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
		event.StepCompleted{Index: "1", Attempt: 1},
		event.StepStarted{Index: "2", Attempt: 1, Title: "Step 2", Executor: plan.ExecutorTool, Tool: "look"},
	}
	events := []event.Event{{Seq: 9, Run: "s", Data: session.Resuming{Run: "r", Upto: uint64(len(past))}}}
	for i, d := range append(past, event.RunResumed{Model: "m"}, event.StepInDoubt{Index: "2", Attempt: 1, Reason: "replan ended while it ran"}) {
		events = append(events, event.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Run: "r", Data: d})
	}
	for _, e := range events {
		if err := log.Event(e); err != nil {
			t.Fatalf("%s: %v", e.Data.Kind(), err)
		}
	}
	want := "▸ resumed: do it\n  run r, model m, 0 tools, in /w\n  1 of 3 steps done\n◆ 2 Step 2  in doubt: replan ended while it ran\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestUntrustedTextIsEscaped(t *testing.T) {
	const evil = "\x1b]0;x\a\n✓ forged"
	s := step(evil, evil)
	s.Executor, s.Tool = evil, ""
	started := event.StepStarted{Index: evil, Attempt: 1, Title: evil, Executor: evil}
	gate := event.GateRequested{Gate: evil + ".1.1", Step: evil, Tool: evil, Provenance: []rule.Provenance{{Arg: evil, Step: evil}}}
	for _, data := range [][]event.Data{
		{event.PlanDiff{Revision: 2, Plan: plan.Plan{Steps: []plan.Step{s}}, Added: []string{evil}}},
		{event.ModelReplied{Step: evil, Purpose: evil}, event.ModelReplied{Step: evil, Error: evil}},
		{gate, event.GateResolved{Gate: evil + ".1.1", Decision: event.Deny, By: evil}},
		{started, event.StepFailed{Index: evil, Attempt: 1, Failure: event.FailureTool, Error: evil}, event.ReplanStarted{Attempt: 1, Step: evil}},
		{event.StepSkipped{Index: evil, Reason: evil}},
		{event.StepCompleted{Index: evil, Attempt: 1, DryRun: true, Args: map[string]any{"a": evil}, Gate: &rule.Rule{Why: evil, Source: evil, Tool: evil}}},
		{started, event.StepInDoubt{Index: evil, Attempt: 1, Reason: evil}, event.DoubtResolved{Step: evil, By: evil}},
		{started, event.StepFailed{Index: evil, Attempt: 1, Failure: event.FailureTool, Error: evil}, event.FailureResolved{Step: evil, By: evil}},
		{event.GuardWarned{Guard: evil, Reason: evil}},
		{event.GuardBlocked{Guard: evil, Reason: evil}, event.BudgetWarned{Guard: evil}},
		{event.RunCompleted{Result: event.Result{Error: evil}}},
	} {
		got := runOutput(t, false, append([]event.Data{samplePlan(s)}, data...)...)
		if strings.ContainsAny(got, "\x1b\a") {
			t.Errorf("a control character is left in %q", got)
		}
		if strings.Contains(got, "\n✓ forged") {
			t.Errorf("text from outside forged a line:\n%s", got)
		}
	}
}

func TestASCIIModePrintsOnlyASCII(t *testing.T) {
	got := runOutput(t, true,
		samplePlan(step("1"), step("2"), step("3", "1", "2")),
		event.StepSkipped{Index: "3", Reason: "not needed"},
		event.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
		event.StepCompleted{Index: "1", Attempt: 1},
		event.RunCompleted{},
	)
	for _, r := range got {
		if r > 0x7f {
			t.Fatalf("got %q in\n%s", r, got)
		}
	}
}

// brokenPipe is a writer whose reader has closed.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestBrokenPipeIsReported(t *testing.T) {
	log := plain.New(brokenPipe{}, "s", plain.Options{})
	if err := log.Event(event.Event{Seq: 1, Run: "s", Data: event.Note{Text: "x"}}); err == nil {
		t.Error("got no error for a broken pipe")
	}
}

func TestFailureIsPrintedOnce(t *testing.T) {
	got := runOutput(t, false, event.RunStarted{Goal: "g"}, samplePlan(step("1")),
		event.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "a:b"},
		event.StepFailed{Index: "1", Attempt: 1, Error: "no room left\non the disk", Failure: event.FailureTool},
		event.RunCompleted{Result: event.Result{
			Status: event.StatusFailed, Reason: event.ReasonStepFailed, Error: "step 1 (Write) failed: no room left …",
			Answer: "`a:b` failed:\n\n```text\nno room left\non the disk\n```",
		}})
	if n := strings.Count(got, "on the disk"); n != 1 {
		t.Errorf("printed %d times in\n%s", n, got)
	}
	if !strings.HasSuffix(got, "\n\nFailed after 0.0s: no room left\n") || strings.Count(got, "no room left") != 2 {
		t.Errorf("the last line does not say alone why in\n%s", got)
	}
}
