package runner

import (
	"context"
	"slices"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/planning/form"
	"replan/planning/plan"
)

// elicit asks the user a question of a server, in a worker, and waits for the answer
// or for the end of the call. The time limit of the step does not run meanwhile. If
// no user is present, it declines.
func (e *engine) elicit(ctx context.Context, under *call, step string, attempt int, q plan.Elicitation) plan.ElicitationAnswer {
	answer := make(chan plan.ElicitationAnswer, 1)
	asked := event.ElicitationRequested{ID: e.questions.add(step, attempt, answer), Step: step, Attempt: attempt, Elicitation: q}
	if under.limit != nil {
		defer under.limit.Hold()()
	}
	e.emit(asked)
	if !e.attended {
		e.questions.take(asked.ID)
		e.emit(asked.Resolved(plan.ElicitationDecline, policy.ByNobody))
		return plan.ElicitationAnswer{Action: plan.ElicitationDecline}
	}
	select {
	case a := <-answer:
		return a
	case <-ctx.Done():
		if e.questions.take(asked.ID) != nil {
			e.emit(asked.Resolved(plan.ElicitationCancel, "the call has ended"))
		}
		return plan.ElicitationAnswer{Action: plan.ElicitationCancel}
	}
}

// withdraw cancels those of the questions that are no longer open and have no
// answer: their calls must not wait.
func (e *engine) withdraw(asked []event.ElicitationRequested) {
	for _, q := range asked {
		if slices.ContainsFunc(e.run.Elicitations, func(open event.ElicitationRequested) bool { return open.ID == q.ID }) {
			continue
		}
		if waiting := e.questions.take(q.ID); waiting != nil {
			waiting <- plan.ElicitationAnswer{Action: plan.ElicitationCancel}
		}
	}
}

// answerElicitation passes the user's answer to the call that waits for it, after
// recording its kind. It returns the question, and whether it was answered. An error
// says why the content of the answer does not fit.
func (e *engine) answerElicitation(id string, answer plan.ElicitationAnswer, by string) (question event.ElicitationRequested, answered bool, err error) {
	at := slices.IndexFunc(e.run.Elicitations, func(q event.ElicitationRequested) bool { return q.ID == id })
	if e.over() || at < 0 {
		return question, false, nil
	}
	question = e.run.Elicitations[at]
	if answer.Action == plan.ElicitationAccept && question.URL == "" {
		fields, err := form.Parse(question.Schema)
		if err == nil {
			err = form.Check(fields, answer.Content)
		}
		if err != nil {
			return question, false, err
		}
		if answer.Content == nil {
			answer.Content = map[string]any{}
		}
	} else {
		answer.Content = nil
	}
	waiting := e.questions.take(id)
	if waiting == nil {
		return question, false, nil
	}
	e.apply([]event.Data{question.Resolved(answer.Action, by)})
	waiting <- answer
	return question, true, nil
}
