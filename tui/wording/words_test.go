package wording_test

import (
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/wording"
)

func TestGateMarksWordBasedChange(t *testing.T) {
	tools := plan.Catalog{{Name: "code.transform", Server: "workspace", Trusted: true}}
	for words, want := range map[bool]bool{true: true, false: false} {
		got := wording.TextSources([]rule.Provenance{{Arg: "diff", Step: "2", Tool: "code.transform", Exact: true, Words: words}}, tools)
		if len(got) != 1 || strings.Contains(got[0], "some matches may be wrong or missing") != want {
			t.Errorf("words %v: %+v", words, got)
		}
	}
}

func TestCauseIsTheFirstLineThatNamesAPlace(t *testing.T) {
	for failure, want := range map[untrusted.Text]string{
		"1 failed: example.com/m (build failed)\n\n# example.com/m\n./main.go:40:19: undefined: strng\n./main.go:41:2: x": "main.go:40:19: undefined: strng",
		"1 failed: TestMake\nslug_test.go:12 TestMake\n\n    slug_test.go:12: got x, want y\n":                            "slug_test.go:12: got x, want y",
		"dial tcp 127.0.0.1:8080: connection refused":                                                                     "dial tcp 127.0.0.1:8080: connection refused",
		"it failed\nhttp://a.b:80: no": "it failed",
		"":                             "",
	} {
		if got := wording.Cause(failure); got != want {
			t.Errorf("%q: got %q, want %q", failure, got, want)
		}
	}
}

func TestFailedRunEndsWithTheWordsOfItsStep(t *testing.T) {
	given := plan.Plan{Title: "p", Steps: []plan.Step{{Index: "1", Title: "Test", Executor: plan.ExecutorTool, Tool: "a:b", OnFailure: plan.OnFailureAbort}}}
	run := agent.NewRun(nil)
	for i, data := range []event.Data{
		event.RunStarted{Goal: "g", Plan: &given},
		event.PlanCreated{Plan: given, Revision: 1},
		event.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "a:b"},
		event.StepFailed{Index: "1", Attempt: 1, Failure: event.FailureTool, Error: "1 failed: example.com/m\n./main.go:40:19: undefined: strng\n"},
	} {
		if err := run.Apply(event.Event{Seq: uint64(i + 1), Run: "r", Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		run    *agent.Run
		result event.Result
		want   string
	}{
		"the compiler's line": {run, event.Result{Reason: event.ReasonStepFailed, Error: "step 1 (Test) failed: 1 failed: example.com/m …"}, "Failed after 0.0s: main.go:40:19: undefined: strng"},
		"an unknown step":     {nil, event.Result{Reason: event.ReasonStepFailed, Error: "step 7 (Test) failed: no such file."}, "Failed after 0.0s: no such file"},
		"a denied call":       {run, event.Result{Reason: event.ReasonDenied, Error: "step 1 (Test) failed: denied at the gate"}, "Failed after 0.0s: a call was denied"},
		"no step":             {run, event.Result{Reason: event.ReasonGaveUp, Error: "it gave up"}, "Failed after 0.0s: gave up"},
	} {
		if got := wording.EndWords(c.run, c.result); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestRunningStepIsComparedWithEarlierRuns(t *testing.T) {
	given := plan.Plan{Title: "p", Steps: []plan.Step{{Index: "1", Title: "Test", Executor: plan.ExecutorTool, Tool: "a:b", OnFailure: plan.OnFailureAbort}}}
	for name, c := range map[string]struct {
		priors map[string]int64
		want   string
	}{
		"slow tool":    {map[string]int64{"a:b": 5200}, "running for 3s, usually 5s"},
		"quick tool":   {map[string]int64{"a:b": 20}, "running for 3s"},
		"unknown tool": {nil, "running for 3s"},
	} {
		run := agent.NewRun(nil)
		for i, data := range []event.Data{
			event.RunStarted{Goal: "g", Plan: &given, Priors: c.priors},
			event.PlanCreated{Plan: given, Revision: 1},
			event.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "a:b"},
		} {
			if err := run.Apply(event.Event{Seq: uint64(i + 1), Run: "r", Data: data}); err != nil {
				t.Fatal(err)
			}
		}
		if got := wording.StateSentence(run, run.Step("1"), 0, 3*time.Second); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestInterruptedRunIsNamedIfItIsTheNewestAndCanBeResumed(t *testing.T) {
	killed := agent.Summary{Run: "r-20260101-000000-a61ec9", Workspace: "/src", Status: agent.StatusUnfinished, Resumable: true, Done: 2, Steps: 5}
	running, done, elsewhere, inner, early := killed, killed, killed, killed, killed
	running.Status, running.Resumable = agent.StatusRunning, false
	done.Status = event.StatusCompleted
	elsewhere.Workspace = "/other"
	inner.Outer = "r-1"
	early.Done = 0
	for name, c := range map[string]struct {
		runs []agent.Summary
		want string
	}{
		"killed":           {[]agent.Summary{elsewhere, inner, killed, done}, "Run a61ec9 was interrupted after 2 of 5 steps. ctrl+r resumes it."},
		"in its first":     {[]agent.Summary{early}, "Run a61ec9 was interrupted before its first step was done. ctrl+r resumes it."},
		"another is newer": {[]agent.Summary{done, killed}, ""},
		"held by another":  {[]agent.Summary{running}, ""},
		"none":             {nil, ""},
	} {
		if got := wording.Interrupted(c.runs, "/src", "ctrl+r"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestCheckIsToldWithItsToolAndArgument(t *testing.T) {
	checks := []plan.Check{
		{Expect: "result.failed == 0"},
		{Title: "it is\nthere", Expect: "result.exists", Tool: "fs.stat", Args: map[string]any{"path": "a.go"}},
	}
	if got, want := wording.ChecksWords(checks), "result.failed == 0\nit is there: result.exists  [fs.stat a.go]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
