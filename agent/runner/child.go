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

// child is a run requested by another run, whose chat model called a plan tool.
// It has its own journal, plan and gates, but uses the budget of the requesting
// run.
type child struct {
	outer *engine
	call  agent.CallPlan
	goal  string     // to plan
	plan  *plan.Plan // to run as is; nil plans the goal
	begun time.Time

	past   *prepared     // the run that an earlier attempt of the call started; nil if none
	engine *engine       // accessed only by the session
	over   chan struct{} // closed when the run has ended or was refused
	came   event.Data    // the result of the call, valid once over is closed
}

// end sets the result of the call.
func (k *child) end(came event.Data) {
	k.came = came
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

// callPlan carries out a call of a plan tool. It has the session start a run and
// waits for its end. If the call is stopped, so is the run.
func (s *Session) callPlan(ctx context.Context, e *engine, under *call, c agent.CallPlan) event.Data {
	k := &child{outer: e, call: c, begun: e.now(), over: make(chan struct{})}
	if err := s.preparation().reopenChild(ctx, k); err != nil {
		return k.failed(event.FailureTool, err.Error())
	}
	if err := s.preparation().read(k); k.past == nil && err != nil {
		return k.failed(event.FailureTool, err.Error())
	}
	s.asked <- k
	select {
	case <-k.over:
	case <-ctx.Done():
		s.unwanted <- k
		<-k.over
	}
	if failed, ok := k.came.(event.StepFailed); ok && failed.Failure == event.FailureInterrupted && under.stopped() != nil {
		failed.Error = untrusted.Text(under.stopped().Error())
		return failed
	}
	return k.came
}

// read parses the arguments of the call.
func (s preparation) read(k *child) error {
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
	plan, err := s.cfg.Store.LoadPlan(id)
	if err != nil {
		return fmt.Errorf("the plan %q cannot be read: use the id that %s returned: %w", id, prompt.PlanCreate, err)
	}
	k.plan = &plan
	return nil
}

// spawn starts the run that a plan tool requests.
func (s *Session) spawn(ctx context.Context, k *child) {
	if k.outer.over() || k.outer.run.Paused {
		if k.past != nil {
			k.past.drop()
		}
		k.refuse(errInterrupted)
		return
	}
	if k.past != nil {
		s.takeUpChild(ctx, k)
		return
	}
	started, err := s.started(k)
	if err == nil {
		k.engine, err = s.openChild(ctx, started, k)
	}
	if err != nil {
		k.refuse(err)
	}
}

// openChild starts the run after the requesting run has journaled its id. After a
// crash the run is then resumed, and nothing in it is done twice.
func (s *Session) openChild(ctx context.Context, started event.RunStarted, k *child) (*engine, error) {
	id := s.newRun()
	k.outer.apply([]event.Data{event.RunSpawned{Index: k.call.Index, Attempt: k.call.Attempt, Run: id}})
	s.afterAdvance(k.outer)
	if k.outer.over() {
		return nil, errInterrupted
	}
	return s.open(ctx, id, started, k)
}

// reopenChild reads the run that an earlier attempt of the call started, if it
// contains any events and is not undone.
func (s preparation) reopenChild(ctx context.Context, k *child) error {
	if k.call.Run == "" {
		return nil
	}
	p := prepared{job: job{resume: k.call.Run}, run: agent.NewRun(nil)}
	err := s.reopen(ctx, &p)
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

// innerUndone returns an error if a run to resume counts on another one that a
// finished call started, and that was undone since. An open call starts it again.
func (s preparation) innerUndone(p *prepared) error {
	if !p.run.Resumable() {
		return nil
	}
	for _, e := range p.events {
		spawned, ok := e.Data.(event.RunSpawned)
		if !ok {
			continue
		}
		if step := p.run.Step(spawned.Index); step == nil || step.Run != spawned.Run || step.Status != agent.StepCompleted {
			continue
		}
		if inner := s.undone(spawned.Run); inner != "" {
			return fmt.Errorf("%w, because the run %s, which it started and counts as done, is undone: start its goal or plan again", errNotOpened, inner)
		}
	}
	return nil
}

// undone returns the id of a run, or of one that it started, that is undone; "" if
// none is. Runs that cannot be read count as they stand.
func (s preparation) undone(id string) string {
	events, err := s.cfg.Store.ReadRun(id)
	if err != nil {
		return ""
	}
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.RunUndone:
			return id
		case event.RunSpawned:
			if inner := s.undone(d.Run); inner != "" {
				return inner
			}
		}
	}
	return ""
}

// takeUpChild resumes the run that an earlier attempt of the call started. If
// that run is over, only its result is used.
func (s *Session) takeUpChild(ctx context.Context, k *child) {
	p, outer := *k.past, k.outer.run
	if !p.run.Resumable() {
		p.drop()
		k.end(s.outcome(&engine{run: p.run, id: p.run.ID, child: k, published: true}))
		return
	}
	p.catalogue, p.priors = outer.Catalogue, k.outer.priors
	p.models = outer.Models()
	prompting := k.outer.prompting
	p.info = prompt.ModelInfo{
		Name: outer.Model, Tools: outer.ModelTools(), ContextWindow: outer.ContextWindow, Small: prompting.Small, Loops: prompting.Loops,
		Vision: prompting.Vision, WritesCalls: prompting.WritesCalls, Fit: outer.Measured().Finding(), Speed: pace.Speed{Read: prompting.ReadSpeed},
	}
	if missing := p.run.MissingTools(p.catalogue); len(missing) > 0 {
		p.drop()
		k.refuse(fmt.Errorf("the run %s cannot be resumed: it needs %s, which no server offers now", p.run.ID, strings.Join(missing, ", ")))
		return
	}
	// The requesting run has already counted part of this usage.
	limits, spent := s.leaseWithin(k.call.Limits.After(k.call.Used, p.run.Elapsed().Milliseconds()), p.run.Usage)
	if spent != "" {
		p.drop()
		k.refuse(fmt.Errorf("this session has used up its budget of %s: answer with the results so far", spent))
		return
	}
	k.engine = s.takeUp(ctx, p, limits, k)
}

// started returns the event that starts such a run. Tools, rules and conversation
// come from the requesting run, limits from what is left of its budget. A goal
// written by a model does not let tests run: the rules remain those of the user's
// own words.
func (s *Session) started(k *child) (event.RunStarted, error) {
	outer := k.outer.run
	prompting := k.outer.prompting
	prompting.ForcePlan, prompting.SkipPlan, prompting.PlanTools = true, false, false // the call asks for a plan
	read := outer.ReadFor(k.call.Index)
	limits, spent := s.leaseWithin(k.call.Limits, event.Usage{})
	if spent != "" {
		return event.RunStarted{}, fmt.Errorf("this session has used up its budget of %s: answer with the results so far", spent)
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

// leaseWithin bounds the limits of an inner run by what the current runs have
// left of the session's. own is the inner run's usage so far, which does not
// count against the session.
func (s *Session) leaseWithin(limits event.Limits, own event.Usage) (leased event.Limits, spent string) {
	used, elapsed := s.account.used, s.account.ms
	for _, e := range s.engines {
		since := e.run.Usage.Since(e.usageBefore)
		used.PromptTokens += since.PromptTokens
		used.CompletionTokens += since.CompletionTokens
		used.ToolCalls += since.ToolCalls
		if e.child == nil {
			elapsed += (e.run.Elapsed() - e.elapsedBefore).Milliseconds()
		}
	}
	return s.cfg.SessionLimits.Lease(limits, used, own, elapsed, 0)
}

// recall stops a run whose call is no longer wanted.
func (s *Session) recall(k *child) {
	if k.engine != nil {
		k.engine.stop(errInterrupted)
		s.afterAdvance(k.engine)
	}
}

// outcome returns the result of an inner run for the requesting run. A failed run
// is still a result if there is something to report: the completed steps, and why
// the others did not complete.
func (s *Session) outcome(e *engine) event.Data {
	k, usage := e.child, e.run.Usage
	failed := k.failed(event.FailureTool, "")
	if e.published {
		failed.Run, failed.Usage = e.id, &usage
	}
	switch {
	case e.broken != nil:
		failed.Error = untrusted.Text(e.broken.Error())
		return failed
	case e.unstored != nil:
		failed.Error = untrusted.Text(e.unstored.Error())
		return failed
	}
	result := e.run.Result
	create := k.call.Tool.Name == prompt.PlanCreate
	switch {
	case !s.cfg.Attended && result.Reason == event.ReasonInDoubt:
		failed.Failure, failed.Error = event.FailureInDoubt, untrusted.Text("in run "+e.id+", "+string(result.Error))
		return failed
	case !s.cfg.Attended && result.Reason == event.ReasonDenied:
		failed.Failure, failed.Error = event.FailureDenied, result.Error
		return failed
	case result.Status == event.StatusCancelled:
		failed.Failure, failed.Error = event.FailureInterrupted, result.Error
		return failed
	case result.Status != event.StatusCompleted && (create || len(e.run.Plan.Steps) == 0):
		failed.Error = untrusted.Text(fmt.Sprintf("no plan was made (%s): %s", result.Reason, cmp.Or(string(result.Error), string(result.Answer))))
		return failed
	}
	var described any = plantool.Executed(e.run)
	if create {
		described = plantool.Created(e.run.Plan)
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
