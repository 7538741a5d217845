package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/plantool"
	"replan/internal/untrusted"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// children starts the runs that other runs request, whose chat model called a plan tool.
type children struct {
	cfg      *Config
	runs     *runs
	budget   *account
	asked    chan<- *child // to the owner of the session
	unwanted chan<- *child // those of asked whose call was stopped
}

// child is a run requested by another run. It has its own journal, plan and gates, but
// uses the budget of the requesting run.
type child struct {
	outer *activeRun
	call  agent.CallPlan
	goal  string     // to plan
	plan  *plan.Plan // to run as is; nil plans the goal
	begun time.Time

	past   *pastRun      // the run that an earlier attempt of the call started; nil if none
	run    *activeRun    // accessed only by the owner of the session
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
	return event.StepFailed{Index: k.call.Index, Attempt: k.call.Attempt, Failure: kind, Error: untrusted.Text(sentence), MS: k.outer.engine.since(k.begun)}
}

// refuse ends a call for which no run starts.
func (k *child) refuse(why error) {
	kind := event.FailureTool
	if errors.Is(why, errInterrupted) {
		kind = event.FailureInterrupted
	}
	k.end(k.failed(kind, why.Error()))
}

// call carries out a call of a plan tool, in a worker. It has the session start a run and
// waits for its end. If the call is stopped, so is the run.
func (c *children) call(ctx context.Context, outer *activeRun, under *call, of agent.CallPlan) event.Data {
	k := &child{outer: outer, call: of, begun: outer.engine.now(), over: make(chan struct{})}
	if err := c.reopen(ctx, k); err != nil {
		return k.failed(event.FailureTool, err.Error())
	}
	if err := k.readArgs(c.cfg.Store); k.past == nil && err != nil {
		return k.failed(event.FailureTool, err.Error())
	}
	c.asked <- k
	select {
	case <-k.over:
	case <-ctx.Done():
		c.unwanted <- k
		<-k.over
	}
	if failed, ok := k.result.(event.StepFailed); ok && failed.Failure == event.FailureInterrupted && under.stopped() != nil {
		failed.Error = untrusted.Text(under.stopped().Error())
		return failed
	}
	return k.result
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

// reopen reads the run that an earlier attempt of the call started, if it
// contains any events and is not undone.
func (c *children) reopen(ctx context.Context, k *child) error {
	if k.call.Run == "" {
		return nil
	}
	p := &pastRun{run: agent.NewRun(nil)}
	err := p.reopen(ctx, c.cfg, k.call.Run)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, event.ErrNoEvents):
		return nil
	case err != nil:
		p.drop()
		return fmt.Errorf("resume the run %s that this call started: %w", k.call.Run, err)
	case p.run.Undone != nil: // start again
		p.drop()
		return nil
	}
	k.past = p
	return nil
}

// spawn starts the run that a plan tool requests.
func (c *children) spawn(ctx context.Context, k *child) {
	if outer := k.outer.engine; outer.over() || outer.run.Paused {
		if k.past != nil {
			k.past.drop()
		}
		k.refuse(errInterrupted)
		return
	}
	if k.past != nil {
		c.takeUp(ctx, k)
		return
	}
	started, err := c.started(k)
	if err == nil {
		k.run, err = c.start(ctx, started, k)
	}
	if err != nil {
		k.refuse(err)
	}
}

// start starts the run after the requesting run has journaled its id. After a
// crash the run is then resumed, and nothing in it is done twice.
func (c *children) start(ctx context.Context, started event.RunStarted, k *child) (*activeRun, error) {
	id := c.runs.newID()
	c.runs.apply(k.outer, event.RunSpawned{Index: k.call.Index, Attempt: k.call.Attempt, Run: id})
	if k.outer.engine.over() {
		return nil, errInterrupted
	}
	return c.runs.start(ctx, id, started, k)
}

// takeUp resumes the run that an earlier attempt of the call started. If
// that run is over, only its result is used.
func (c *children) takeUp(ctx context.Context, k *child) {
	p := k.past
	if !p.run.Resumable() {
		p.drop()
		k.end(k.outcome(p.run, true, nil, c.cfg.Attended))
		return
	}
	outer := k.outer.engine
	if missing := p.run.MissingTools(outer.run.Catalogue); len(missing) > 0 {
		p.drop()
		k.refuse(fmt.Errorf("the run %s cannot be resumed: it needs %s, which no server offers now", p.run.ID, strings.Join(missing, ", ")))
		return
	}
	// The requesting run has already counted part of this usage.
	limits, err := c.lease(k.call.Limits.After(k.call.Used, p.run.Elapsed().Milliseconds()), p.run.Usage)
	if err != nil {
		p.drop()
		k.refuse(err)
		return
	}
	models, prompting := outer.run.Models(), outer.prompting
	resumed := resumedBy(prompt.ModelInfo{
		Name: outer.run.Model, Tools: outer.run.ModelTools(), ContextWindow: outer.run.ContextWindow, Small: prompting.Small, Loops: prompting.Loops,
		Vision: prompting.Vision, WritesCalls: prompting.WritesCalls, Fit: outer.run.Measured().Finding(), Speed: pace.Speed{Read: prompting.ReadSpeed},
	})
	resumed.Models, resumed.Limits, resumed.Catalogue, resumed.Priors = &models, limits, outer.run.Catalogue, k.outer.priors
	k.run = c.runs.resume(ctx, *p, resumed, nil, k)
}

// lease bounds the limits of an inner run by what the session has left. own is what the
// inner run has used so far.
func (c *children) lease(limits event.Limits, own event.Usage) (event.Limits, error) {
	current, elapsed := c.runs.spent()
	leased, spent := c.budget.leaseInner(limits, own, current, elapsed)
	if spent != "" {
		return leased, fmt.Errorf("this session has used up its budget of %s: answer with the results so far", spent)
	}
	return leased, nil
}

// started returns the event that starts such a run. Tools, rules and conversation
// come from the requesting run, limits from what is left of its budget. A goal
// written by a model does not let tests run: the rules remain those of the user's
// own words.
func (c *children) started(k *child) (event.RunStarted, error) {
	outer := k.outer.engine.run
	prompting := k.outer.engine.prompting
	prompting.ForcePlan, prompting.SkipPlan, prompting.PlanTools = true, false, false // the call asks for a plan
	read := outer.ReadFor(k.call.Index)
	limits, err := c.lease(k.call.Limits, event.Usage{})
	if err != nil {
		return event.RunStarted{}, err
	}
	started := event.RunStarted{
		Goal: untrusted.Text(k.goal), Outer: outer.ID, Model: outer.Model, Limits: limits, Rules: outer.Rules(), Catalogue: outer.Catalogue, Priors: k.outer.priors,
		Prompting: prompting, Read: read, PlanOnly: k.call.Tool.Name == prompt.PlanCreate, SkipSynthesis: true,
	}
	if k.plan == nil {
		return started, nil
	}
	faults, _ := plan.Validate(*k.plan, plan.Rules{
		Catalogue: outer.Catalogue, CheckTools: true, PartialArgs: true, Profiles: prompting.ProfileNames(),
	})
	if len(faults) > 0 {
		return started, fmt.Errorf("the plan cannot be run: %w", plan.FaultError(faults))
	}
	k.plan.Provenance = plan.Newest(append(k.plan.Provenance, read...)) // the model that had read it chose the plan
	started.Plan, started.Goal = k.plan, cmp.Or(k.plan.Goal, k.plan.Title)
	return started, nil
}

// recall stops a run whose call is no longer wanted.
func (c *children) recall(k *child) {
	if k.run != nil {
		k.run.engine.stop(errInterrupted)
		c.runs.settle(k.run)
	}
}

// ended passes the result of an inner run that has ended to its call.
func (c *children) ended(r *activeRun) {
	e := r.engine
	problem := e.broken
	if problem == nil {
		problem = r.unsaved
	}
	r.child.end(r.child.outcome(e.run, e.published, problem, c.cfg.Attended))
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
	case result.Status == event.StatusCancelled:
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
