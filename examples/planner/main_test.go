package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"replan/agent/event"

	"github.com/charmbracelet/x/exp/golden"
)

func TestTransitionsEndAsDocumented(t *testing.T) {
	var output bytes.Buffer
	for _, tr := range transitions() {
		result, err := tr.run(t.Context(), &output)
		if err != nil {
			t.Fatal(err)
		}
		if result.Reason != tr.want {
			t.Errorf("%s: got reason %s, want %s: %s", tr.name, result.Reason, tr.want, result.Error)
		}
		if (result.Status == event.StatusCompleted) != (result.Reason == event.ReasonGoalMet) {
			t.Errorf("%s: got status %s with reason %s", tr.name, result.Status, result.Reason)
		}
	}
	golden.RequireEqual(t, output.Bytes())
}

// history lists the attempts of a result: their tools and outcomes.
func history(r event.Result) string {
	var words []string
	for _, item := range r.History {
		words = append(words, fmt.Sprintf("%s %s %s", item.Index, item.Tool, item.Status))
	}
	return strings.Join(words, ", ")
}

func TestTransitions(t *testing.T) {
	for _, tt := range []struct {
		rule, name string
		history    string
		replans    int
		revisions  []event.RevisionSummary
	}{
		{
			rule: "success runs the whole plan", name: "success",
			history: "1 find completed, 2 fetch completed, 3 summarize completed, 4 publish completed",
		},
		{
			rule: "replan keeps completed steps", name: "one replan", replans: 1,
			history:   "1 find completed, 2 fetch failed, 2 fetch completed, 3 summarize completed, 4 publish completed",
			revisions: []event.RevisionSummary{{Revision: 2, Reason: "the primary is down", Revised: []string{"2"}}},
		},
		{
			rule: "second replan replaces the first", name: "two replans", replans: 2,
			history: "1 find completed, 2 fetch failed, 2 fetch failed, 5 fetch completed, 6 publish completed",
			revisions: []event.RevisionSummary{
				{Revision: 2, Reason: "the primary is down", Revised: []string{"2"}},
				{Revision: 3, Reason: "the mirror is down", Removed: []string{"2", "3", "4"}, Added: []string{"5", "6"}},
			},
		},
		{
			rule: "replan limit", name: "replans spent", replans: 1,
			history:   "1 find completed, 2 fetch failed, 2 fetch failed",
			revisions: []event.RevisionSummary{{Revision: 2, Reason: "the primary is down", Revised: []string{"2"}}},
		},
		{
			rule: "failed plan is not repeated", name: "replans spent on the same plan", replans: 2,
			history: "1 find completed, 2 fetch completed, 3 summarize failed",
		},
		{
			rule: "step limit", name: "steps spent",
			history: "1 find completed, 2 fetch completed, 3 summarize completed, 4 publish failed",
		},
		{
			rule: "replan beyond the step limit", name: "steps spent before a replan fits", replans: 1,
			history: "1 find completed, 2 fetch failed",
		},
		{
			rule: "planner gives up", name: "nothing to replan", replans: 1,
			history: "1 find completed, 2 fetch completed, 3 summarize completed, 4 publish failed",
		},
		{rule: "no plan", name: "no plan"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			result := runOf(t, tt.name)
			if got := history(result); got != tt.history {
				t.Errorf("got history\n%s\nwant\n%s", got, tt.history)
			}
			if got, want := revisions(result.Revisions), revisions(tt.revisions); got != want {
				t.Errorf("got revisions\n%s\nwant\n%s", got, want)
			}
			if result.Usage.Replans != tt.replans {
				t.Errorf("got %d replans, want %d", result.Usage.Replans, tt.replans)
			}
		})
	}
}

func runOf(t *testing.T, name string) event.Result {
	t.Helper()
	for _, tr := range transitions() {
		if tr.name == name {
			result, err := tr.run(t.Context(), &bytes.Buffer{})
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
	}
	t.Fatalf("unknown transition %q", name)
	return event.Result{}
}

// revisions describes the changes and the reason of each revision.
func revisions(list []event.RevisionSummary) string {
	var words []string
	for _, r := range list {
		words = append(words, fmt.Sprintf("%d: removed %v, added %v, revised %v, since %s", r.Revision, r.Removed, r.Added, r.Revised, r.Reason))
	}
	return strings.Join(words, "\n")
}
