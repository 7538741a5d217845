package plain_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/tui/plain"
)

func TestQuietLogLeavesOutOnlyTheEndOfSuccess(t *testing.T) {
	for name, c := range map[string]struct {
		end    event.Result
		silent bool
	}{
		"success": {event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Answer: "All done."}, true},
		"failure": {event.Result{Status: event.StatusFailed, Reason: event.ReasonGaveUp, Error: "no way"}, false},
	} {
		var loud, quiet strings.Builder
		for _, to := range []struct {
			out *strings.Builder
			how plain.Options
		}{{&loud, plain.Options{}}, {&quiet, plain.Options{QuietSuccess: true}}} {
			log := plain.New(to.out, "s", to.how)
			for i, d := range []event.Data{started("Do it"), event.Note{Text: "on the way"}, event.RunCompleted{Result: c.end}} {
				if err := log.Event(event.Event{Seq: uint64(i + 1), Run: "r", Data: d}); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
		if !strings.Contains(quiet.String(), "on the way") || (quiet.String() != loud.String()) != c.silent {
			t.Errorf("%s: the quiet log is %q, the other one %q", name, quiet.String(), loud.String())
		}
	}
}
