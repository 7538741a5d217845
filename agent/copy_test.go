package agent_test

import (
	"testing"

	"replan/agent"
	"replan/agent/event"
)

// TestACopyOfARunChangesItself refuses the plan in a copy of a run: the run still waits for its
// review.
func TestACopyOfARunChangesItself(t *testing.T) {
	w := held(t, reviewed)
	copied := *w.run
	refused, err := copied.AnswerReview(agent.ReviewAnswer{Revision: copied.Revision, Decision: event.ReviewRefuse}, "user")
	if err != nil {
		t.Fatal(err)
	}
	if err := copied.Apply(event.Event{Seq: copied.Seq + 1, Time: copied.Now, Run: copied.ID, Data: refused}); err != nil {
		t.Fatal(err)
	}
	if copied.AwaitsReview() || !w.run.AwaitsReview() {
		t.Errorf("the copy waits for review: %t, and the run: %t", copied.AwaitsReview(), w.run.AwaitsReview())
	}
}
