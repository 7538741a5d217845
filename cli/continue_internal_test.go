package cli

import (
	"testing"
	"time"

	"replan/agent"
)

func TestContinuingTakesUpTheRunThatAskedForTheNewest(t *testing.T) {
	folders, err := findDirs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := &options{dirs: folders}
	at := time.Now()
	keep := func(id, outer string, ends *agent.Result) {
		t.Helper()
		j, err := o.runs().Create(id)
		if err != nil {
			t.Fatal(err)
		}
		events := []agent.Event{{Seq: 1, Time: at, Run: id, Data: agent.RunStarted{Goal: id, Workspace: "/w", Session: "s-1", Model: "m", Outer: outer}}}
		if ends != nil {
			events = append(events, agent.Event{Seq: 2, Time: at, Run: id, Data: agent.RunCompleted{Result: *ends}})
		}
		if err := j.Append(events...); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	keep("r-outer", "", nil)
	keep("r-over", "", &agent.Result{Status: agent.StatusCompleted, Reason: agent.ReasonDirect})
	keep("r-of-it", "r-outer", nil)
	keep("r-of-one-that-is-over", "r-over", nil)
	keep("r-of-none", "r-gone", nil)
	for id, want := range map[string]string{
		"r-outer": "r-outer", "r-of-it": "r-outer", "r-of-one-that-is-over": "r-of-one-that-is-over", "r-of-none": "r-of-none",
	} {
		if run, err := o.outermost(id); err != nil || run.ID != want {
			t.Errorf("%s is taken up as %s, %v", id, run.ID, err)
		}
	}
}
