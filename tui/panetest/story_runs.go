package panetest

import (
	"testing"

	"replan/agent/event"
	"replan/tui/live"
)

// Runs returns the runs of a screen on which the story has happened.
func (s *Story) Runs(t testing.TB) *live.Runs {
	t.Helper()
	runs := &live.Runs{}
	s.Tell(t, runs)
	return runs
}

// Tell applies what happens in the runs of the story.
func (s *Story) Tell(t testing.TB, runs *live.Runs) {
	t.Helper()
	for _, e := range s.Events {
		var err error
		if _, starts := e.Data.(event.RunStarted); starts {
			_, err = runs.Start(e)
		} else if r := runs.Find(e.Run); r != nil {
			err = runs.Apply(r, e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Journal returns the events of the run that most tests are about, as its journal keeps
// them.
func (s *Story) Journal() []event.Event {
	var events []event.Event
	for _, e := range s.Events {
		if e.Run == StoryRun && !e.Data.Kind().Passing() {
			events = append(events, e)
		}
	}
	return events
}
