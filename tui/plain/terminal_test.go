package plain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/plain"
)

const sampleDiff = "--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,2 @@\n package a\t// a tab\n-var x = 1\n+var x = 2\n"

// deniedRun is a run whose one change is denied by a flag.
func deniedRun() []event.Data {
	return []event.Data{
		event.RunStarted{Goal: "change x", Model: "m", Workspace: "/w", Prompting: prompt.Prompting{SkipAnalysis: true}},
		samplePlan(step("1"), step("2", "1")),
		event.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
		event.StepCompleted{Index: "1", Attempt: 1, MS: 1200, Result: map[string]any{"passed": true, "summary": "the tests passed: 10 tests, 8 skipped"}},
		event.GateRequested{
			Gate: "2.1.1", Step: "2", Title: "Step 2", Tool: "fs.patch", Trusted: true, Diff: sampleDiff,
			Rule: rule.Rule{Why: "it can change or delete data"}, Args: map[string]any{"old": "1", "new": "2"},
		},
		event.GateResolved{Gate: "2.1.1", Decision: event.Deny, By: "--approve none"},
		event.StepFailed{Index: "2", Attempt: 1, Failure: event.FailureDenied, Error: "denied at the gate"},
		event.RunCompleted{Result: event.Result{
			Status: event.StatusFailed, Reason: event.ReasonDenied, DurationMS: 2600, Usage: event.Usage{Steps: 2, ToolCalls: 1},
			Answer: untrusted.Text("**Not changed yet.**\n\n```diff\n" + sampleDiff + "```\n\nNot done: `fs.patch`."),
			Error:  "step 2 (Step 2) was denied",
		}},
	}
}

// printed returns what a log prints for a run r.
func printed(t *testing.T, o plain.Options, data []event.Data) string {
	t.Helper()
	var out strings.Builder
	log := plain.New(&out, "s", o)
	for i, d := range data {
		if err := log.Event(event.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Run: "r", Data: d}); err != nil {
			t.Fatalf("%s: %v", d.Kind(), err)
		}
	}
	return out.String()
}

func terminal(mode themes.Mode) plain.Options {
	styles := draw.NewStyles((*themes.Set)(nil).New(themes.Auto, true, mode))
	return plain.Options{ASCII: mode.ASCII, Styles: styles, Width: func() int { return 60 }}
}

func TestTerminalShowsRunInColors(t *testing.T) {
	golden.RequireEqual(t, []byte(printed(t, terminal(themes.Mode{}), deniedRun())))
}

func TestColorsOnlyStyleText(t *testing.T) {
	got := ansi.Strip(printed(t, terminal(themes.Mode{NoColor: true}), deniedRun()))
	for _, want := range []string{"✓ 1 Step 1  1.2s · the tests passed: 10 tests, 8 skipped\n", "Not changed yet.\n", "Failed after 2.6s: a call was denied · 1 of 2 steps · 1 tool"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant it to contain %q", got, want)
		}
	}
	if strings.Contains(got, "▸ 1 Step 1") {
		t.Error("the start of a step is printed, which the live line shows")
	}
}

func TestDeniedGatePrintsItsDiffOnceAndSaysHowToAllowIt(t *testing.T) {
	got := printed(t, plain.Options{}, deniedRun())
	if n := strings.Count(got, "+var x = 2"); n != 1 {
		t.Errorf("printed the diff %d times:\n%s", n, got)
	}
	if n := strings.Count(got, "deny") + strings.Count(got, "denied"); n != 2 {
		t.Errorf("got\n%s\nsays %d times that it was denied, not at the gate and at the end", got, n)
	}
	if want := "· to allow it: replan plan resume r --approve safe\n"; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant it to contain %q", got, want)
	}
	if got, want := printed(t, plain.Options{Again: "replan demo --plain"}, deniedRun()), "· to allow it: replan demo --plain --approve safe\n"; !strings.Contains(got, want) {
		t.Errorf("for a run that is deleted: got\n%s\nwant it to contain %q", got, want)
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("escape sequences without a terminal: %q", got)
	}
}

func TestLiveLineNamesRunningSteps(t *testing.T) {
	log := plain.New(new(strings.Builder), "s", terminal(themes.Mode{}))
	for i, d := range deniedRun()[:3] {
		if err := log.Event(event.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Run: "r", Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := ansi.Strip(log.Live(time.Unix(5, 0))), "⠙ 1 Step 1  3s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := plain.New(new(strings.Builder), "s", plain.Options{}).Live(time.Unix(5, 0)); got != "" {
		t.Errorf("got %q without a terminal", got)
	}
}

func TestUntrustedTextCannotControlTerminal(t *testing.T) {
	const evil = "\x1b]0;x\a\n✓ forged"
	got := printed(t, terminal(themes.Mode{}), []event.Data{
		event.RunStarted{Goal: evil, Model: evil, Workspace: evil, Prompting: prompt.Prompting{SkipAnalysis: true}},
		samplePlan(plan.Step{Index: "1", Title: evil, Executor: plan.ExecutorTool, Tool: evil}),
		event.StepStarted{Index: "1", Attempt: 1, Title: evil, Executor: plan.ExecutorTool, Tool: evil},
		event.StepCompleted{Index: "1", Attempt: 1, Result: map[string]any{"passed": true, "summary": evil}},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Answer: "\x1b]0;x\a ok"}},
	})
	if strings.Contains(got, "\x1b]") || strings.Contains(got, "\a") || strings.Contains(ansi.Strip(got), "\n✓ forged") {
		t.Errorf("got %q", got)
	}
}

func TestTitleCannotHideToolOfItsStep(t *testing.T) {
	one := step("1")
	one.Title, one.Tool = untrusted.Text("Read it  [fs.read]"+strings.Repeat(" ", 60)+"."), "proc.run"
	if got := ansi.Strip(printed(t, terminal(themes.Mode{}), []event.Data{started("do it"), samplePlan(one)})); !strings.Contains(got, "[proc.run]") {
		t.Errorf("the tool is missing in\n%s", got)
	}
}

func TestRowsOfALongArgumentStandBehindAMargin(t *testing.T) {
	forged := "    rule: your configuration says so"
	body := strings.Repeat("x", 60) + forged + strings.Repeat(" ", 30) + strings.Repeat("y", 200)
	got := ansi.Strip(printed(t, terminal(themes.Mode{NoColor: true}), []event.Data{
		started("do it"), samplePlan(step("1")),
		event.GateRequested{Gate: "1.1.1", Step: "1", Tool: "send", Server: "mail", Rule: rule.Rule{Tool: "send", Why: "it makes changes"}, Args: map[string]any{"body": body, "to": "a\u00a0b"}},
	}))
	for line := range strings.Lines(got) {
		if ansi.StringWidth(line) > 60 || strings.Contains(line, "says so") && !strings.HasPrefix(line, "    │ ") {
			t.Errorf("the row %q stands without a margin, or the terminal breaks it, in\n%s", line, got)
		}
	}
	if joined := strings.ReplaceAll(got, "\n    │ ", ""); !strings.Contains(joined, body) || !strings.Contains(got, "to: a<U+00A0>b\n") {
		t.Errorf("the call is not shown as it is:\n%s", got)
	}
}
