package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// children starts the runs that other runs request, whose chat model called a plan tool.
type children struct {
	store     Store
	archive   archive
	runs      *runs
	account   *account
	requested chan<- *child // to the owner of the session
	stopped   chan<- *child // those of requested whose call was stopped
}

// call carries out a call of a plan tool, in a worker. It has the session start a run and
// waits for its end. If the call is stopped, so is the run.
func (c *children) call(ctx context.Context, outer *engine, priors map[string]int64, under *call, of agent.CallPlan) event.Data {
	k := &child{outer: outer, priors: priors, call: of, begun: outer.time(), over: make(chan struct{})}
	if err := c.reopen(ctx, k); err != nil {
		return k.failed(event.FailureTool, err.Error())
	}
	if err := k.readArgs(c.store); k.past == nil && err != nil {
		return k.failed(event.FailureTool, err.Error())
	}
	c.requested <- k
	select {
	case <-k.over:
	case <-ctx.Done():
		c.stopped <- k
		<-k.over
	}
	if failed, ok := k.result.(event.StepFailed); ok && failed.Failure == event.FailureInterrupted && under.stopped() != nil {
		failed.Error = untrusted.Text(under.stopped().Error())
		return failed
	}
	return k.result
}

// reopen reads the run that an earlier attempt of the call started, if it
// contains any events and is not undone.
func (c *children) reopen(ctx context.Context, k *child) error {
	if k.call.Run == "" {
		return nil
	}
	p, err := c.archive.reopen(ctx, k.call.Run)
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
	k.past = &p
	return nil
}

// spawn starts the run that a plan tool requests.
func (c *children) spawn(ctx context.Context, k *child) {
	if outer := k.outer; outer.over() || outer.current().Paused {
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
func (c *children) start(ctx context.Context, started event.RunStarted, k *child) (*engine, error) {
	id := c.runs.newID()
	c.runs.apply(k.outer, event.RunSpawned{Index: k.call.Index, Attempt: k.call.Attempt, Run: id})
	if k.outer.over() {
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
		k.finish(p.run, true, nil, c.runs.attended())
		return
	}
	outer := k.outer
	if missing := p.run.MissingTools(outer.current().Catalog); len(missing) > 0 {
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
	models, resumed := outer.current().Models(), resumedBy(outer.answering())
	resumed.Models, resumed.Limits, resumed.Catalog, resumed.Priors = &models, limits, outer.current().Catalog, k.priors
	k.run = c.runs.resume(ctx, *p, resumed, nil, k)
}

// lease bounds the limits of an inner run by what the session has left. own is what the
// inner run has used so far.
func (c *children) lease(limits event.Limits, own event.Usage) (event.Limits, error) {
	current, elapsed := c.runs.spent()
	leased, spent := c.account.leaseInner(limits, own, current, elapsed)
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
	outer := k.outer.current()
	prompting := k.outer.planning()
	read := outer.ReadFor(k.call.Index)
	limits, err := c.lease(k.call.Limits, event.Usage{})
	if err != nil {
		return event.RunStarted{}, err
	}
	started := event.RunStarted{
		Goal: untrusted.Text(k.goal), Outer: outer.ID, Model: outer.Model, Limits: limits, Rules: outer.Rules(), Catalog: outer.Catalog, Priors: k.priors,
		Prompting: prompting, Read: read, PlanOnly: k.call.Tool.Name == prompt.PlanCreate, SkipSynthesis: true,
	}
	if k.plan == nil {
		return started, nil
	}
	faults, _ := plan.Validate(*k.plan, plan.Rules{
		Catalog: outer.Catalog, CheckTools: true, PartialArgs: true, Profiles: prompting.ProfileNames(),
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
		c.runs.stopOne(k.run, errInterrupted)
	}
}
