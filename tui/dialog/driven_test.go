package dialog_test

import (
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/panetest"
)

const storyRun = "r-20261121-114200-k3fq"

// overlay is a dialog that replaces the panes.
type overlay interface {
	panetest.Part
	View(size draw.Rect) []string
	Shown() bool
	Hints() []keymap.Hint
}

// drive drives an open dialog on a screen of that size.
func drive(t *testing.T, d overlay, k *keymap.Map, width, height int) *panetest.Driver {
	t.Helper()
	return &panetest.Driver{
		T: t, Keys: k, Part: d, Width: width, Hints: func() []keymap.Hint { return d.Actions().Offered(d.Hints()) },
		Draw: func() []string {
			if !d.Shown() {
				return nil
			}
			return d.View(draw.Rect{W: width, H: height - 2})
		},
	}
}

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
