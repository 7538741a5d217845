package dialog_test

import (
	"os"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/live"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC // for the dates in dialogs
	os.Exit(m.Run())
}

const storyRun = "r-20261121-114200-k3fq"

// begun are the runs of a screen on which these events happened in one run.
func begun(t *testing.T, data ...event.Data) *live.Runs {
	t.Helper()
	runs := &live.Runs{}
	for i, d := range data {
		happens(t, runs, uint64(i+1), d)
	}
	return runs
}

// happens lets one more event happen.
func happens(t *testing.T, runs *live.Runs, seq uint64, d event.Data) {
	t.Helper()
	e := event.Event{Seq: seq, Time: time.Date(2026, 11, 21, 11, 42, 0, 0, time.UTC), Run: storyRun, Data: d}
	var err error
	if r := runs.Find(storyRun); r == nil {
		_, err = runs.Start(e)
	} else {
		err = runs.Apply(r, e)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func stateOf(runs *live.Runs) *agent.Run { return runs.Shown().State }
