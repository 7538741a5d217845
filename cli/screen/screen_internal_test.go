package screen

import (
	"testing"

	"replan/agent"
	"replan/agent/event"
)

func TestLeavingTheScreenSaysWhatCanBeDoneWithTheLastRun(t *testing.T) {
	for want, c := range map[string]struct {
		agent.Summary
		changed bool
	}{
		"Run a61ec9 stopped after 3 of 7 steps. Continue: replan plan resume a61ec9": {Summary: agent.Summary{Status: event.StatusCanceled, Resumable: true, Done: 3, Steps: 7}},
		"Run a61ec9 stopped. Continue: replan plan resume a61ec9":                    {Summary: agent.Summary{Status: event.StatusCanceled, Resumable: true}},
		"Run a61ec9: done. Show it: replan runs show a61ec9":                         {Summary: agent.Summary{Status: event.StatusCompleted, Steps: 7}},
		"Run a61ec9: done. Show it: replan runs show a61ec9, undo it: replan undo a61ec9": {
			Summary: agent.Summary{Status: event.StatusCompleted, Steps: 7}, changed: true,
		},
		"Run a61ec9: partial, 1 of 3 steps. Show it: replan runs show a61ec9": {
			Summary: agent.Summary{Status: event.StatusCompleted, Reason: event.ReasonPartial, Done: 1, Steps: 3},
		},
		"Run a61ec9: nothing to commit. Show it: replan runs show a61ec9": {
			Summary: agent.Summary{Status: event.StatusCompleted, Reason: event.ReasonNothingToCommit, Done: 1, Steps: 2},
		},
		"": {Summary: agent.Summary{Status: event.StatusFailed, Steps: 7, Undone: true}},
	} {
		c.Run = "r-20260102-030405-a61ec9"
		if got := exitHint(c.Summary, c.changed); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := exitHint(agent.Summary{Status: event.StatusCompleted}, false); got != "" {
		t.Errorf("after an answer without a plan: got %q", got)
	}
}
