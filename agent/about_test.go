package agent_test

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

func TestStateOfRunAnswersClearQuestions(t *testing.T) {
	running := prompt.About{
		Goal: "make the tests pass", State: "running",
		Plan: plan.Plan{Steps: []plan.Step{{Index: "1", Title: "Read"}, {Index: "2", Title: "Patch"}, {Index: "3", Title: "Test"}, {Index: "4", Title: "Commit"}}},
		States: map[string]string{
			"1": string(agent.StepCompleted), "2": string(agent.StepFailed), "3": string(agent.StepRunning), "4": string(agent.StepPending),
		},
		History: []plan.HistoryItem{
			{Index: "1", Title: "Read", Status: plan.ItemCompleted},
			{Index: "2", Title: "Patch", Tool: "fs.patch", Args: map[string]any{"path": "a.go"}, Status: plan.ItemFailed, Attempt: 1, Error: "old text not found"},
		},
	}
	well := running
	well.History = well.History[:1]
	for question, want := range map[string]string{
		"why did step 2 fail":              "Step 2 (Patch) failed: old text not found\n\nIt called `fs.patch` on `a.go`.",
		"  Why  has step 2 failed? ":       "Step 2 (Patch) failed: old text not found",
		"why did 2 fail":                   "Step 2 (Patch) failed",
		"what went wrong?":                 "Step 2 (Patch) failed: old text not found",
		"which steps failed":               "Step 2 (Patch) failed",
		"why did it fail?":                 "Step 2 (Patch) failed",
		"why did step 1 fail":              "Step 1 (Read) did not fail: it is completed.",
		"why did step 4 fail":              "Step 4 (Commit) did not fail: it is pending.",
		"why did step 7 fail":              "The plan has no step 7.",
		"how far is it":                    "It is running; 1 of 4 steps done. At work: step 3 (Test).",
		"What is it doing now?":            "It is running",
		"why did step 2 fail in CI":        "",
		"why does TestLookup fail":         "",
		"what changed":                     "",
		"what is Lookup":                   "",
		"explain why step 2 failed so far": "",
	} {
		answer, ok := agent.AnswerAbout(running, question)
		if ok != (want != "") || !strings.HasPrefix(answer, want) {
			t.Errorf("%q is answered with %q, %t", question, answer, ok)
		}
	}
	if answer, _ := agent.AnswerAbout(well, "what failed"); answer != "No step has failed. It is running." {
		t.Errorf("without a failure: %q", answer)
	}
	if answer, _ := agent.AnswerAbout(prompt.About{}, "what failed"); answer != "There is no run to ask about yet." {
		t.Errorf("without a run: %q", answer)
	}
}

func TestAnswersAboutRunLeaveTextOfProgramsAsItIs(t *testing.T) {
	output := "importlib/__init__.py:126: in <module>\n```\n2 errors in 0.54s"
	failed := func(title, why string) plan.HistoryItem {
		return plan.HistoryItem{Index: "1", Title: untrusted.Text(title), Tool: "test.run", Status: plan.ItemFailed, Error: untrusted.Text(why)}
	}
	for name, c := range map[string]struct {
		about    prompt.About
		question string
		want     string
	}{
		"many lines": {
			prompt.About{State: "running", History: []plan.HistoryItem{failed("Test", output)}},
			"what failed",
			"Step 1 (Test) failed:\n\n````\n" + output + "\n````\n\nIt called `test.run`.",
		},
		"a line with marks": {
			prompt.About{State: "running", History: []plan.HistoryItem{failed("Test", "in <module> of __init__.py")}},
			"why did step 1 fail",
			"Step 1 (Test) failed: `in <module> of __init__.py`\n\nIt called `test.run`.",
		},
		"a title with marks": {
			prompt.About{State: "running", History: []plan.HistoryItem{failed("Write __init__.py", "no")}},
			"what failed",
			"Step 1 (`Write __init__.py`) failed: no\n\nIt called `test.run`.",
		},
		"the error of the run": {
			prompt.About{State: "over: it failed (in <module> of __init__.py)"},
			"how far is it",
			"It is over: it failed (`in <module> of __init__.py`).",
		},
		"a step that did not fail": {
			prompt.About{State: "running", Plan: plan.Plan{Steps: []plan.Step{{Index: "1", Title: "Read __init__.py"}}}, States: map[string]string{"1": "pending"}},
			"why did step 1 fail",
			"Step 1 (`Read __init__.py`) did not fail: it is pending.",
		},
	} {
		if answer, _ := agent.AnswerAbout(c.about, c.question); answer != c.want {
			t.Errorf("%s: %q, want %q", name, answer, c.want)
		}
	}
}
