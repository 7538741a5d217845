package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"replan/agent/event"

	"github.com/charmbracelet/x/exp/golden"
)

func TestEveryTransitionEndsAsItSays(t *testing.T) {
	var told bytes.Buffer
	for _, tr := range transitions() {
		result, err := tr.run(t.Context(), &told)
		if err != nil {
			t.Fatal(err)
		}
		if result.Reason != tr.want {
			t.Errorf("%s: it ended with %s, not %s: %s", tr.name, result.Reason, tr.want, result.Error)
		}
		if (result.Status == event.StatusCompleted) != (result.Reason == event.ReasonGoalMet) {
			t.Errorf("%s: it is %s with the reason %s", tr.name, result.Status, result.Reason)
		}
	}
	golden.RequireEqual(t, told.Bytes())
}

// history names the attempts of a result: what they called and how they ended.
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
			rule: "without a failure the plan runs as it was made", name: "success",
			history: "1 find completed, 2 fetch completed, 3 summarise completed, 4 publish completed",
		},
		{
			rule: "a replan changes what remains and keeps what is done", name: "one replan", replans: 1,
			history:   "1 find completed, 2 fetch failed, 2 fetch completed, 3 summarise completed, 4 publish completed",
			revisions: []event.RevisionSummary{{Revision: 2, Reason: "the primary is down", Revised: []string{"2"}}},
		},
		{
			rule: "a second replan takes the place of the first", name: "two replans", replans: 2,
			history: "1 find completed, 2 fetch failed, 2 fetch failed, 5 fetch completed, 6 publish completed",
			revisions: []event.RevisionSummary{
				{Revision: 2, Reason: "the primary is down", Revised: []string{"2"}},
				{Revision: 3, Reason: "the mirror is down", Removed: []string{"2", "3", "4"}, Added: []string{"5", "6"}},
			},
		},
		{
			rule: "with all replans spent the planner is not asked again", name: "replans spent", replans: 1,
			history:   "1 find completed, 2 fetch failed, 2 fetch failed",
			revisions: []event.RevisionSummary{{Revision: 2, Reason: "the primary is down", Revised: []string{"2"}}},
		},
		{
			rule: "the plan that failed is not run a second time", name: "replans spent on the same plan", replans: 2,
			history: "1 find completed, 2 fetch completed, 3 summarise failed",
		},
		{
			rule: "with all steps spent the planner is not asked", name: "steps spent",
			history: "1 find completed, 2 fetch completed, 3 summarise completed, 4 publish failed",
		},
		{
			rule: "a replan longer than the steps left is not begun", name: "steps spent before a replan fits", replans: 1,
			history: "1 find completed, 2 fetch failed",
		},
		{
			rule: "a planner that sees no way on gives up", name: "nothing to replan", replans: 1,
			history: "1 find completed, 2 fetch completed, 3 summarise completed, 4 publish failed",
		},
		{rule: "without a first plan nothing runs", name: "no plan"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			result := runOf(t, tt.name)
			if got := history(result); got != tt.history {
				t.Errorf("it did\n%s\nnot\n%s", got, tt.history)
			}
			if got, want := revisions(result.Revisions), revisions(tt.revisions); got != want {
				t.Errorf("its revisions are\n%s\nnot\n%s", got, want)
			}
			if result.Usage.Replans != tt.replans {
				t.Errorf("the planner was asked again %d times, not %d", result.Usage.Replans, tt.replans)
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
	t.Fatalf("there is no transition called %q", name)
	return event.Result{}
}

// revisions tells what each revision changed, and why.
func revisions(list []event.RevisionSummary) string {
	var words []string
	for _, r := range list {
		words = append(words, fmt.Sprintf("%d: removed %v, added %v, revised %v, since %s", r.Revision, r.Removed, r.Added, r.Revised, r.Reason))
	}
	return strings.Join(words, "\n")
}
