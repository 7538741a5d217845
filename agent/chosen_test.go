package agent_test

import (
	"encoding/json"
	"errors"
	"testing"

	"replan/agent"
	"replan/agent/event"
)

// Earlier versions could make several drafts of a plan, and the user could take another
// one under review. These are lines of the journal of such a run.
const (
	oldStart  = `{"v":1,"seq":1,"run":"r","kind":"phase.started","data":{"phase":3,"label":"plan","request":{"purpose":"plan","messages":[],"draft":{"number":1,"of":2}}}}`
	oldReply  = `{"v":1,"seq":1,"run":"r","kind":"phase.completed","data":{"phase":3,"label":"plan","reply":{"text":"{\"title\":\"Look\",\"steps\":[{\"index\":\"1\",\"title\":\"Look at a\",\"tool\":\"look\",\"args\":{\"at\":\"a\"}}]}"}}}`
	oldPlan   = `{"v":1,"seq":1,"run":"r","kind":"plan.created","data":{"plan":{"title":"Look","variables":{"x":1},"steps":[{"index":"1","title":"Look at a","executor":"tool","tool":"look","args":{"at":"a"}}]},"revision":1,"drafts":[{"draft":1,"taken":true,"steps":1,"gates":0},{"draft":2,"plan":{"title":"Twice"},"steps":2,"gates":0}]}}`
	oldChoice = `{"v":1,"seq":1,"run":"r","kind":"plan.chosen","data":{"draft":2,"plan":{"title":"Twice","steps":[{"index":"1","title":"Look at b","executor":"tool","tool":"look","args":{"at":"b"}},{"index":"2","title":"Look at c","executor":"tool","tool":"look","args":{"at":"c"}}]},"by":"user"}}`
)

// offerOld applies events of an old journal.
func (w *world) offerOld(lines ...string) {
	w.t.Helper()
	for _, line := range lines {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.t.Fatal(err)
		}
		w.apply(e.Data)
	}
}

func TestOldJournalWithDraftsOpensWithThePlanTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mirror(w)
	start := started(event.DefaultLimits())
	start.SkipSynthesis = true
	start.Review = true
	w.apply(start)
	w.offerOld(oldStart, oldReply, oldStart, oldReply, oldPlan, oldChoice)
	if !w.run.AwaitsReview() || w.run.Plan.Title != "Twice" || len(w.run.Steps) != 2 {
		t.Fatalf("the plan %q of %d steps does not wait for its review", w.run.Plan.Title, len(w.run.Steps))
	}
	w.kill(len(w.events))
	mirrorOn(w)
	if result := w.resume(resumed(start)); result.Status != event.StatusCompleted || w.run.Done() != 2 {
		t.Errorf("%s with %d steps done", result.Reason, w.run.Done())
	}
	if err := w.offer(event.PlanChosen{}); !errors.Is(err, agent.ErrOutOfOrder) {
		t.Errorf("after the review: %v", err)
	}
}

func TestOldRunKilledBetweenDraftsContinuesWithTheFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := started(event.DefaultLimits())
	start.SkipSynthesis = true
	w.apply(start)
	w.offerOld(oldStart, oldReply, oldStart)
	w.kill(len(w.events))
	mirrorOn(w)
	if result := w.resume(resumed(start)); result.Status != event.StatusCompleted || w.run.Plan.Title != "Look" {
		t.Errorf("%s with the plan %q", result.Reason, w.run.Plan.Title)
	}
}
