package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/prompttest"
)

func TestSynthesizerSeesMarkedResultsAndNoAgentCalls(t *testing.T) {
	p := plan.Plan{Title: "t", Steps: []plan.Step{
		{Index: "1", Title: "read", Executor: "tool", Tool: "r", Args: map[string]any{}, ResultVariable: "a", Synthesize: true},
		{Index: "2", Title: "uses a", Executor: "tool", Tool: "t", Args: map[string]any{"x": "${a}"}},
		{Index: "3", Title: "explore", Executor: "agent", Profile: "p"},
	}}
	item := func(index, parent string) plan.HistoryItem {
		return plan.HistoryItem{Index: index, Parent: parent, Status: plan.ItemCompleted, Attempt: 1}
	}
	var got []string
	for _, it := range prompt.SynthesisItems(p, []plan.HistoryItem{item("1", ""), item("2", ""), item("3.1", "3"), item("3", ""), item("chat.1", prompt.ChatParent)}, nil) {
		got = append(got, it.Index)
	}
	if strings.Join(got, " ") != "1 2 3" {
		t.Errorf("the synthesizer sees %v, want 1 2 3", got)
	}
}

func TestReplanListsCallsOfFailedAgent(t *testing.T) {
	s := prompttest.Situation()
	s.History = append(s.History,
		plan.HistoryItem{Index: "4.1", Parent: "4", Tool: "fs.read", Args: map[string]any{"path": "b.go"}, Status: plan.ItemCompleted, Attempt: 1, Result: "the whole of b.go"},
		plan.HistoryItem{Index: "4.2", Parent: "4", Tool: "fs.patch", Args: map[string]any{"path": "b.go"}, Status: plan.ItemInDoubt, Attempt: 1, Error: "the server was lost"},
		plan.HistoryItem{Index: "4", Title: "Test again", Status: plan.ItemFailed, Attempt: 1, Error: "it came to no answer"})
	text := last(replanRequest(prompttest.Brief(), s))
	for _, want := range []string{`- 4.1 fs.read{"path":"b.go"}: done`, `- 4.2 fs.patch{"path":"b.go"}: in doubt, it may or may not have taken effect, the server was lost`} {
		if !strings.Contains(text, want) {
			t.Errorf("the replan lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "the whole of b.go") {
		t.Error("the prompt contains the results of the agent's calls")
	}
	s.History[len(s.History)-1].Status = plan.ItemCompleted
	if text = last(replanRequest(prompttest.Brief(), s)); strings.Contains(text, "4.1") {
		t.Errorf("the replan lists the calls of a completed agent:\n%s", text)
	}
}

func TestUserWordsAreInstructionsInReplan(t *testing.T) {
	s := prompttest.Situation()
	s.Remarks = "Leave b.go alone"
	text := last(replanRequest(prompttest.Brief(), s))
	if !strings.Contains(text, "\n\nThe user says now: Leave b.go alone\n") || !strings.Contains(text, "\n\nFailed: step 3, Patch") {
		t.Errorf("after a failure: got\n%s", text)
	}
	s.Failed, s.Error, s.Remarks = "", "the user says: look at z", ""
	text = last(replanRequest(prompttest.Brief(), s))
	if !strings.Contains(text, "\n\nThe user says now: the user says: look at z\n") || strings.Contains(text, "failed") && !strings.Contains(text, "Patch (fs.patch): failed") || strings.Contains(text, "\n\nFailed: ") {
		t.Errorf("without a failure: got\n%s", text)
	}
}

func TestSynthesizerSeesUnconsumedResults(t *testing.T) {
	p := plan.Plan{Title: "t", Steps: []plan.Step{
		{Index: "1", Title: "read", Executor: "tool", Tool: "r", Args: map[string]any{}, ResultVariable: "a"},
		{Index: "2", Title: "uses a", Executor: "tool", Tool: "t", Args: map[string]any{"x": []any{"${a.b}"}}},
		{Index: "3", Title: "read for the model", Executor: "tool", Tool: "r", Args: map[string]any{}},
		{Index: "4", Title: "weigh", Executor: "self", DependsOn: []string{"3"}},
		{Index: "5", Title: "read, consumer failed", Executor: "tool", Tool: "r", Args: map[string]any{}, ResultVariable: "e"},
		{Index: "6", Title: "fails", Executor: "tool", Tool: "t", Args: map[string]any{"x": "${e}"}},
		{Index: "7", Title: "merely before 8", Executor: "tool", Tool: "t", Args: map[string]any{}},
		{Index: "8", Title: "after 7", Executor: "tool", Tool: "t", Args: map[string]any{}, DependsOn: []string{"7"}},
		{Index: "9", Title: "read for args", Executor: "tool", Tool: "r", Args: map[string]any{}},
		{Index: "10", Title: "args filled in", Executor: "tool", Tool: "t", DependsOn: []string{"9"}},
		{Index: "11", Title: "in doubt", Executor: "tool", Tool: "t", Args: map[string]any{}},
		{Index: "13", Title: "read for some args", Executor: "tool", Tool: "r", Args: map[string]any{}},
		{Index: "14", Title: "args filled in but for one", Executor: "tool", Tool: "t", Args: map[string]any{"x": "1"}, DependsOn: []string{"13"}},
		{Index: "15", Title: "merely before 16", Executor: "tool", Tool: "r", Args: map[string]any{}},
		{Index: "16", Title: "needs no args", Executor: "tool", Tool: "t", DependsOn: []string{"15"}},
	}}
	called := map[string]map[string]any{"10": {"path": "a"}, "14": {"x": "1", "y": "2"}}
	item := func(index string, status plan.ItemStatus, attempt int) plan.HistoryItem {
		return plan.HistoryItem{Index: index, Args: called[index], Status: status, Attempt: attempt}
	}
	var history []plan.HistoryItem
	for _, index := range []string{"1", "2", "3", "4", "5", "7"} {
		history = append(history, item(index, plan.ItemCompleted, 1))
	}
	history = append(history,
		item("8", plan.ItemFailed, 1), item("8", plan.ItemCompleted, 2), // succeeds on retry
		item("6", plan.ItemFailed, 1), item("6", plan.ItemFailed, 2), // fails twice
		item("99", plan.ItemFailed, 1), // no longer in the plan
		item("9", plan.ItemCompleted, 1), item("10", plan.ItemCompleted, 1), item("11", plan.ItemInDoubt, 1), item("12", plan.ItemSkipped, 0),
		item("13", plan.ItemCompleted, 1), item("14", plan.ItemCompleted, 1), item("15", plan.ItemCompleted, 1), item("16", plan.ItemCompleted, 1))
	var got []string
	for _, it := range prompt.SynthesisItems(p, history, nil) {
		got = append(got, fmt.Sprintf("%s/%d", it.Index, it.Attempt))
	}
	if want := "2/1 4/1 5/1 7/1 8/2 6/2 10/1 11/1 14/1 15/1 16/1"; strings.Join(got, " ") != want {
		t.Errorf("the synthesizer sees %v, want %s", got, want)
	}
}

func TestSynthesizerSeesTheEvidenceOfAPlanWithChecks(t *testing.T) {
	claimed := plan.Evidence{Title: "Write a.go", State: plan.StateClaimed, Step: "1"}
	if text := last(prompt.SynthesisRequest(prompttest.Brief(), plan.Plan{}, nil, []plan.Evidence{claimed})); strings.Contains(text, "verified") {
		t.Errorf("without a check in the plan the request says\n%s", text)
	}
	text := last(prompt.SynthesisRequest(prompttest.Brief(), plan.Plan{}, nil, []plan.Evidence{
		claimed,
		{Title: "no test fails", State: plan.StateVerified, Saw: []expression.Sight{{Path: "result.failed", Value: 0}}, Step: "2"},
		{Title: untrusted.Text("the name\nis gone"), State: plan.StateUnchecked},
	}))
	want := "claimed: step 1, Write a.go\nverified: step 2, no test fails (result.failed is 0)\nunchecked: the whole plan, the name is gone\n```"
	if !strings.Contains(text, want) {
		t.Errorf("the request lacks\n%s\nin\n%s", want, text)
	}
}
