package review_test

import (
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/panetest"
	"replan/tui/review"
)

const reviewed = "r-20261121-114200-k3fq"

// open opens the review of the plan of a run after these events.
func open(t *testing.T, look *draw.Styles, width, height int, data ...event.Data) *panetest.Driver {
	t.Helper()
	k := panetest.Keys()
	s := panetest.Drive(t, review.New(look, k, draw.Pauses{Grace: time.Nanosecond, Answer: -1}), k, width, height)
	return set(s, data...)
}

// set gives the review the run after these events.
func set(s *panetest.Driver, data ...event.Data) *panetest.Driver {
	s.T.Helper()
	run := &agent.Run{}
	for i, d := range data {
		if err := run.Apply(event.Event{Seq: uint64(i + 1), Time: time.Unix(0, 0), Run: reviewed, Data: d}); err != nil {
			s.T.Fatal(err)
		}
	}
	s.Part.(*review.Dialog).Set(run, 0)
	s.Draw()
	return s
}

// looking opens a review whose grace time is over.
func looking(t *testing.T, width, height int) *panetest.Driver {
	t.Helper()
	s := open(t, panetest.DarkLook(), width, height, panetest.ReviewEvents(panetest.ReviewSteps())...)
	s.Rest()
	return s
}

// answered returns the answer to the review that was sent.
func answered(s *panetest.Driver) agent.ReviewAnswer {
	s.T.Helper()
	for _, c := range s.Commands() {
		if r, ok := c.(session.Review); ok {
			return r.Answer
		}
	}
	s.T.Fatalf("no answer was sent:\n%s", s.Text())
	return agent.ReviewAnswer{}
}
