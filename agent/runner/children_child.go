package runner

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/plantool"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// child is a run requested by another run. It has its own journal, plan and gates, but
// uses the budget of the requesting run.
type child struct {
	outer  *engine
	priors map[string]int64 // of the requesting run
	call   agent.CallPlan
	goal   string     // to plan
	plan   *plan.Plan // to run as is; nil plans the goal
	begun  time.Time

	past   *pastRun      // the run that an earlier attempt of the call started; nil if none
	run    *engine       // accessed only by the owner of the session
	over   chan struct{} // closed when the run has ended or was refused
	result event.Data    // of the call, valid once over is closed
}

// end sets the result of the call.
func (k *child) end(result event.Data) {
	k.result = result
	close(k.over)
}

// failed returns the event for a failed call.
func (k *child) failed(kind event.FailureKind, sentence string) event.StepFailed {
	return event.StepFailed{Index: k.call.Index, Attempt: k.call.Attempt, Failure: kind, Error: untrusted.Text(sentence), MS: k.outer.since(k.begun)}
}

// refuse ends a call for which no run starts.
func (k *child) refuse(why error) {
	kind := event.FailureTool
	if errors.Is(why, errInterrupted) {
		kind = event.FailureInterrupted
	}
	k.end(k.failed(kind, why.Error()))
}

// readArgs parses the arguments of the call.
func (k *child) readArgs(store Store) error {
	word := func(name, what string) (string, error) {
		text, _ := k.call.Args[name].(string)
		if text = strings.TrimSpace(text); text == "" {
			return "", fmt.Errorf("%s needs %q, a text: %s", k.call.Tool.Name, name, what)
		}
		return text, nil
	}
	var err error
	if k.call.Tool.Name != prompt.PlanExecute {
		k.goal, err = word("goal", "the task, complete in itself")
		return err
	}
	id, err := word("id", "the one that "+prompt.PlanCreate+" returned")
	if err != nil {
		return err
	}
	plan, err := store.LoadPlan(id)
	if err != nil {
		return fmt.Errorf("the plan %q cannot be read: use the id that %s returned: %w", id, prompt.PlanCreate, err)
	}
	k.plan = &plan
	return nil
}

// finish passes the result of an inner run that has ended to its call.
func (k *child) finish(run *agent.Run, published bool, problem error, attended bool) {
	k.end(k.outcome(run, published, problem, attended))
}

// outcome returns the result of an inner run for the requesting run. A failed run
// is still a result if there is something to report: the completed steps, and why
// the others did not complete. problem is why the run or its plan was not saved.
func (k *child) outcome(run *agent.Run, published bool, problem error, attended bool) event.Data {
	usage := run.Usage
	failed := k.failed(event.FailureTool, "")
	if published {
		failed.Run, failed.Usage = run.ID, &usage
	}
	if problem != nil {
		failed.Error = untrusted.Text(problem.Error())
		return failed
	}
	result := run.Result
	create := k.call.Tool.Name == prompt.PlanCreate
	switch {
	case !attended && result.Reason == event.ReasonInDoubt:
		failed.Failure, failed.Error = event.FailureInDoubt, untrusted.Text("in run "+run.ID+", "+string(result.Error))
		return failed
	case !attended && result.Reason == event.ReasonDenied:
		failed.Failure, failed.Error = event.FailureDenied, result.Error
		return failed
	case result.Status == event.StatusCanceled:
		failed.Failure, failed.Error = event.FailureInterrupted, result.Error
		return failed
	case result.Status != event.StatusCompleted && (create || len(run.Plan.Steps) == 0):
		failed.Error = untrusted.Text(fmt.Sprintf("no plan was made (%s): %s", result.Reason, cmp.Or(string(result.Error), string(result.Answer))))
		return failed
	}
	var described any = plantool.Executed(run)
	if create {
		described = plantool.Created(run.Plan)
	}
	value, err := jsonValue(described)
	if err != nil {
		failed.Error = untrusted.Text(err.Error())
		return failed
	}
	return event.StepCompleted{
		Index: k.call.Index, Attempt: k.call.Attempt, MS: failed.MS, Run: failed.Run, Usage: failed.Usage, Result: value,
	}
}
