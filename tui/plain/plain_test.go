package plain_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/plain"
)

// tell folds the events of one run into lines.
func tell(t *testing.T, ascii bool, data ...agent.Data) string {
	t.Helper()
	var out strings.Builder
	log := plain.New(&out, "s", ascii)
	start := agent.RunStarted{Goal: "do it", Model: "m", Workspace: "/w", Prompting: prompt.Prompting{SkipAnalysis: true}}
	for i, d := range append([]agent.Data{start}, data...) {
		e := agent.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Run: "r", Data: d}
		if err := log.Event(e); err != nil {
			t.Fatalf("%s: %v", d.Kind(), err)
		}
	}
	return out.String()
}

func samplePlan(steps ...plan.Step) agent.PlanCreated {
	return agent.PlanCreated{Revision: 1, Plan: plan.Plan{Title: "Plan", Steps: steps}}
}

func step(index string, after ...string) plan.Step {
	return plan.Step{Index: index, Title: "Step " + index, Executor: plan.ExecutorTool, Tool: "look", DependsOn: after}
}

func TestWhatIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		data []agent.Data
		want []string
	}{
		"a plan as a text graph": {
			[]agent.Data{samplePlan(step("1"), step("2", "1"), step("3", "1"), step("10", "2", "3"))},
			[]string{
				"▸ plan: Plan",
				"  ┌  ○ 1. Step 1    [look]",
				"  ├─ ○ 2. Step 2    [look]  ← after: 1  ∥",
				"  ├─ ○ 3. Step 3    [look]  ← after: 1  ∥",
				"  └  ○ 10. Step 10  [look]  ← after: 2, 3",
			},
		},
		"a gate shows the whole call": {
			[]agent.Data{samplePlan(step("1")), agent.GateRequested{
				Gate: "1.1.1", Step: "1", Title: "Step 1", Tool: "look", Rule: agent.Rule{Why: "it has effects"},
				Args: map[string]any{"to": "a\nb", "n": 3}, Provenance: []agent.Provenance{{Arg: "to", Step: "9"}},
			}},
			[]string{"◆ 1 Step 1  [look]  asks: it has effects", "    n: 3", "    to: a", "    b", "    text from step 9 is in to"},
		},
		"a gate with a diff shows the diff": {
			[]agent.Data{samplePlan(step("1")), agent.GateRequested{
				Gate: "1.1.1", Step: "1", Title: "Step 1", Tool: "look", Args: map[string]any{"path": "x", "new": "hidden"}, Diff: "-a\n+b\n",
			}},
			[]string{"    path: x", "    -a", "    +b"},
		},
		"a failure with its output": {
			[]agent.Data{
				samplePlan(step("1")),
				agent.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
				agent.StepFailed{Index: "1", Attempt: 1, Error: "first\nsecond", Failure: agent.FailureTool, MS: 1500},
			},
			[]string{"▸ 1 Step 1  [look]", "✗ 1 Step 1  1.5s", "    first", "    second"},
		},
		"a step of a dry run with its call and the gate that would ask": {
			[]agent.Data{samplePlan(step("1")), agent.StepCompleted{
				Index: "1", Attempt: 1, DryRun: true, Args: map[string]any{"text": "<look result>", "n": 3}, Result: "<look result>",
				Gate: &agent.Rule{Tool: "look", Verdict: agent.VerdictAsk, Source: "built-in", Why: "it has effects"},
			}},
			[]string{"○ 1 Step 1  [look]  dry run", "    n: 3", "    text: <look result>", "    would ask: it has effects (built-in rule for look)"},
		},
		"a step of a dry run that a rule would deny": {
			[]agent.Data{samplePlan(step("1")), agent.StepCompleted{
				Index: "1", Attempt: 1, DryRun: true, Gate: &agent.Rule{Tool: "look", Verdict: agent.VerdictBlock, Source: "flag", Why: "--deny look"},
			}},
			[]string{"○ 1 Step 1  [look]  dry run", "    would be denied: --deny look (flag rule for look)"},
		},
		"a doubt and what was decided of it": {
			[]agent.Data{
				samplePlan(step("1")),
				agent.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
				agent.StepInDoubt{Index: "1", Attempt: 1, Reason: "the server went away"},
				agent.DoubtResolved{Step: "1", Decision: agent.DoubtDone, By: "user"},
			},
			[]string{"◆ 1 Step 1  in doubt: the server went away", "  ◆ step 1: it took effect, by user"},
		},
		"a doubt that nobody was there to decide": {
			[]agent.Data{
				samplePlan(step("1")),
				agent.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
				agent.StepInDoubt{Index: "1", Attempt: 1, Reason: "the server went away"},
				agent.DoubtResolved{Step: "1", Decision: agent.DoubtAbort, By: "nobody was there to be asked"},
			},
			[]string{"  ◆ step 1: it stays in doubt, and the run ends (nobody was there to be asked)"},
		},
		"a gate that nobody was there to answer": {
			[]agent.Data{
				samplePlan(step("1")),
				agent.GateRequested{Gate: "1.1.1", Step: "1", Title: "Step 1", Tool: "look"},
				agent.GateResolved{Gate: "1.1.1", Decision: agent.Deny, By: "nobody was there to be asked"},
			},
			[]string{"  ◆ deny (nobody was there to be asked)"},
		},
		"a question that is open when a run goes on, with the whole call": {
			[]agent.Data{
				samplePlan(step("1")),
				agent.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look", Args: map[string]any{"path": "a", "n": 3}},
				agent.StepInDoubt{Index: "1", Attempt: 1, Reason: "the server went away"},
				agent.RunResumed{Model: "m", Attended: true},
			},
			[]string{"  0 of 1 step done", "◆ 1 Step 1  [look]  in doubt; did it take effect?", "    the server went away", "    n: 3", "    path: a"},
		},
		"how the run goes on after a failure": {
			[]agent.Data{
				samplePlan(step("1")),
				agent.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
				agent.StepFailed{Index: "1", Attempt: 1, Error: "no such file", Failure: agent.FailureTool, MS: 100},
				agent.FailureResolved{Step: "1", Decision: agent.FailureRetry, Args: map[string]any{"path": "b"}, By: "user"},
			},
			[]string{"✗ 1 Step 1  0.1s", "    no such file", "  ◆ step 1: to be tried again, by user", "    path: b"},
		},
		"a guard that warns": {
			[]agent.Data{agent.GuardWarned{Guard: "per_tool", Reason: "5 of 6 calls of look", Used: 5, Limit: 6}},
			[]string{"· 5 of 6 calls of look (guard per_tool)"},
		},
		"a stop is no failure": {
			[]agent.Data{agent.PhaseFailed{Phase: 2, Label: "review", Reason: "stopped by the user", Failure: agent.FailureInterrupted}},
			[]string{"— review stopped"},
		},
		"text from outside obeys nobody": {
			[]agent.Data{agent.Note{Text: "\x1b[2J\u202e"}},
			[]string{"· ^[[2J<U+202E>"},
		},
		"the result in one line": {
			[]agent.Data{agent.RunCompleted{Result: agent.Result{Status: agent.StatusFailed, Reason: agent.ReasonGaveUp, Error: "no way", DurationMS: 61_000}}},
			[]string{"✗ no way", "failed: gave_up in 61.0s · 0 steps · 0 tool calls · 0 replans · 0 tokens"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := tell(t, false, c.data...)
			if want := strings.Join(c.want, "\n"); !strings.Contains(got, want) {
				t.Errorf("got\n%s\nwant in it\n%s", got, want)
			}
		})
	}
}

func TestWhatHappenedBeforeAResumeIsFoldedAndNotToldAgain(t *testing.T) {
	var out strings.Builder
	log := plain.New(&out, "s", false)
	past := []agent.Data{
		agent.RunStarted{Goal: "do it", Model: "m", Workspace: "/w", Prompting: prompt.Prompting{SkipAnalysis: true}},
		samplePlan(step("1"), step("2", "1"), step("3", "2")),
		agent.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
		agent.StepCompleted{Index: "1", Attempt: 1},
		agent.StepStarted{Index: "2", Attempt: 1, Title: "Step 2", Executor: plan.ExecutorTool, Tool: "look"},
	}
	events := []agent.Event{{Seq: 9, Run: "s", Data: session.Resuming{Run: "r", Upto: uint64(len(past))}}}
	for i, d := range append(past, agent.RunResumed{Model: "m"}, agent.StepInDoubt{Index: "2", Attempt: 1, Reason: "replan ended while it ran"}) {
		events = append(events, agent.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Run: "r", Data: d})
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

func TestNothingFromOutsideReachesTheTerminal(t *testing.T) {
	const evil = "\x1b]0;x\a\n✓ forged"
	s := step(evil, evil)
	s.Executor, s.Tool = evil, ""
	started := agent.StepStarted{Index: evil, Attempt: 1, Title: evil, Executor: evil}
	gate := agent.GateRequested{Gate: evil + ".1.1", Step: evil, Tool: evil, Provenance: []agent.Provenance{{Arg: evil, Step: evil}}}
	for _, told := range [][]agent.Data{
		{agent.PlanDiff{Revision: 2, Plan: plan.Plan{Steps: []plan.Step{s}}, Added: []string{evil}}},
		{agent.ModelReplied{Step: evil, Purpose: evil}, agent.ModelReplied{Step: evil, Error: evil}},
		{gate, agent.GateResolved{Gate: evil + ".1.1", Decision: agent.Deny, By: evil}},
		{started, agent.StepFailed{Index: evil, Attempt: 1, Failure: agent.FailureTool, Error: evil}, agent.ReplanStarted{Attempt: 1, Step: evil}},
		{agent.StepSkipped{Index: evil, Reason: evil}},
		{agent.StepCompleted{Index: evil, Attempt: 1, DryRun: true, Args: map[string]any{"a": evil}, Gate: &agent.Rule{Why: evil, Source: evil, Tool: evil}}},
		{started, agent.StepInDoubt{Index: evil, Attempt: 1, Reason: evil}, agent.DoubtResolved{Step: evil, By: evil}},
		{started, agent.StepFailed{Index: evil, Attempt: 1, Failure: agent.FailureTool, Error: evil}, agent.FailureResolved{Step: evil, By: evil}},
		{agent.GuardWarned{Guard: evil, Reason: evil}},
		{agent.GuardBlocked{Guard: evil, Reason: evil}, agent.BudgetWarned{Guard: evil}},
		{agent.RunCompleted{Result: agent.Result{Error: evil}}},
	} {
		got := tell(t, false, append([]agent.Data{samplePlan(s)}, told...)...)
		if strings.ContainsAny(got, "\x1b\a") {
			t.Errorf("a control character is left in %q", got)
		}
		if strings.Contains(got, "\n✓ forged") {
			t.Errorf("text from outside made a line of its own:\n%s", got)
		}
	}
}

func TestASCIIIsASCII(t *testing.T) {
	got := tell(t, true,
		samplePlan(step("1"), step("2"), step("3", "1", "2")),
		agent.StepSkipped{Index: "3", Reason: "not needed"},
		agent.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
		agent.StepCompleted{Index: "1", Attempt: 1},
		agent.RunCompleted{},
	)
	for _, r := range got {
		if r > 0x7f {
			t.Fatalf("%q in\n%s", r, got)
		}
	}
}

// gone is a reader that has gone away.
type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestAReaderThatIsGoneIsAnError(t *testing.T) {
	log := plain.New(gone{}, "s", false)
	if err := log.Event(agent.Event{Seq: 1, Run: "s", Data: agent.Note{Text: "x"}}); err == nil {
		t.Error("the broken pipe went unnoticed")
	}
}
