package agent_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
)

// drawElicitations draws which servers ask the user something during a call. Calls end
// at random times, answered or not.
func (w *world) drawElicitations(t *rapid.T) {
	w.asks = func(agent.CallTool) bool { return rapid.IntRange(0, 7).Draw(t, "asks") == 0 }
}

// elicit lets the server of a call ask the user. The call stays open.
func (w *world) elicit(c agent.CallTool) {
	w.t.Helper()
	w.pending = append(w.pending, c)
	w.apply(event.ElicitationRequested{
		ID: fmt.Sprintf("%s.%d.q%d", c.Index, c.Attempt, w.run.Seq), Step: c.Index, Attempt: c.Attempt,
		Elicitation: plan.Elicitation{Server: c.Tool.Server, Message: "Which one?"},
	})
}

// checkElicitations checks that every open question belongs to a call in progress.
func (w *world) checkElicitations() {
	w.t.Helper()
	for _, q := range w.run.Elicitations {
		if s := w.run.Step(q.Step); s == nil || s.Status != agent.StepRunning || s.Attempt != q.Attempt || w.run.Result != nil {
			w.t.Fatalf("the question %s of a call that has ended is open:\n%s", q.ID, w.tail())
		}
	}
}

// asked plays one step until its server asks.
func asked(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	asks := true
	w.asks = func(agent.CallTool) bool { defer func() { asks = false }(); return asks }
	w.apply(given(t, `{"title":"One","steps":[{"title":"Look","tool":"look","args":{"at":"a"}}]}`))
	w.until(event.KindElicitationRequested)
	if len(w.run.Elicitations) != 1 {
		t.Fatalf("open questions: %+v", w.run.Elicitations)
	}
	return w
}

func TestQuestionIsClosedByItsAnswerOrTheEndOfItsCall(t *testing.T) {
	for name, end := range map[string]func(q event.ElicitationRequested) event.Data{
		"answered": func(q event.ElicitationRequested) event.Data { return q.Resolved(plan.ElicitationDecline, "user") },
		"completed": func(q event.ElicitationRequested) event.Data {
			return event.StepCompleted{Index: q.Step, Attempt: q.Attempt}
		},
		"failed": func(q event.ElicitationRequested) event.Data {
			return event.StepFailed{Index: q.Step, Attempt: q.Attempt, Error: "lost", Failure: event.FailureTool}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := asked(t)
			w.apply(end(w.run.Elicitations[0]))
			if len(w.run.Elicitations) > 0 {
				t.Errorf("open questions: %+v", w.run.Elicitations)
			}
		})
	}
}

func TestKilledRunAsksItsQuestionAnew(t *testing.T) {
	w := asked(t)
	w.kill(len(w.events))
	if len(w.run.Elicitations) != 1 {
		t.Fatalf("the journal holds the questions %+v", w.run.Elicitations)
	}
	asks := true
	w.asks = func(agent.CallTool) bool { defer func() { asks = false }(); return asks }
	result := w.resume(event.RunResumed{Limits: event.DefaultLimits(), Rules: rules, Catalog: catalog})
	questions := all[event.ElicitationRequested](w)
	if result.Status != event.StatusCompleted || len(questions) != 2 || questions[1].Attempt != 2 {
		t.Errorf("%s after the questions %+v", result.Status, questions)
	}
}

func TestQuestionOfAnEndedAttemptIsNotAsked(t *testing.T) {
	w := asked(t)
	late := w.run.Elicitations[0]
	w.apply(event.StepCompleted{Index: late.Step, Attempt: late.Attempt})
	w.apply(late)
	if len(w.run.Elicitations) > 0 {
		t.Errorf("open questions: %+v", w.run.Elicitations)
	}
	w.apply(late.Resolved(plan.ElicitationCancel, "the call has ended"))
	w.finish()
}
