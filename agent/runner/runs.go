package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// runs holds the runs of a session that are in progress: one that a job began, then those
// that its plan tools started.
type runs struct {
	cfg      *Config
	events   *publisher
	back     *background
	rules    *rulebook
	settings *settings
	arrivals chan<- arrival
	ended    chan<- *activeRun
	planTool func(ctx context.Context, r *activeRun, under *call, c agent.CallPlan) event.Data // carries out a call of one, in a worker

	active   []*activeRun
	warnings warnings
}

// activeRun is a run in progress, and what the session knows of it beside its events.
type activeRun struct {
	engine  *engine
	priors  map[string]int64
	child   *child // the call that the run was started for; nil if none
	stored  string // the stored id of the plan it made
	unsaved error  // why that plan is not stored
	leaving bool   // the session is waiting for the workers to stop
}

// any reports whether a run is in progress.
func (rs *runs) any() bool { return len(rs.active) > 0 }

// find returns the current run with the given id, or nil.
func (rs *runs) find(id string) *activeRun {
	for _, r := range rs.active {
		if r.engine.id == id {
			return r
		}
	}
	return nil
}

// add creates a run that starts or resumes.
func (rs *runs) add(id string, journal Journal, savesPlan bool) *activeRun {
	cfg := rs.cfg
	r := &activeRun{}
	r.engine = &engine{
		id: id, journal: journal, model: cfg.Model, tools: cfg.Tools, admit: cfg.Admit, log: cfg.Logger, now: cfg.Now,
		run: agent.NewRun(nil), arrivals: rs.arrivals, publish: rs.events.deliver, offer: rs.rules.offer, attended: cfg.Attended, crashed: cfg.Crashed, warnings: &rs.warnings,
	}
	if savesPlan && !cfg.DryRun {
		r.engine.amend = func(record event.Data) event.Data { return r.savePlan(cfg.Store, record) }
	}
	r.engine.plan = func(ctx context.Context, under *call, c agent.CallPlan) event.Data {
		return rs.planTool(ctx, r, under, c)
	}
	rs.active = append(rs.active, r)
	return r
}

// savePlan saves a newly created plan in the store.
func (r *activeRun) savePlan(store Store, record event.Data) event.Data {
	created, ok := record.(event.PlanCreated)
	if !ok {
		return record
	}
	created.Plan = r.engine.authored(created.Plan)
	saved, err := store.SavePlan(created.Plan)
	if err != nil {
		r.unsaved = fmt.Errorf("the plan cannot be stored: %w", err)
		return record
	}
	created.Plan, r.stored = saved, saved.ID
	return created
}

// newID returns a new run id.
func (rs *runs) newID() string { return "r-" + rs.cfg.NewID(rs.cfg.Now()) }

// start starts a new run with its own journal.
func (rs *runs) start(ctx context.Context, id string, started event.RunStarted, of *child) (*activeRun, error) {
	cfg := rs.cfg
	if cfg.Copy != nil && of == nil {
		copied, err := cfg.Copy.Begin(id)
		if err != nil {
			return nil, err
		}
		started.Copied = copied
	}
	journal, err := cfg.Store.CreateJournal("run", id)
	if err != nil {
		return nil, err
	}
	started.Workspace, started.Session, started.DryRun, started.RequireVerified = cfg.Workspace, rs.events.session, cfg.DryRun, cfg.RequireVerified
	started.Attended, started.InDoubt, started.Review = cfg.Attended, cfg.InDoubt, rs.settings.reviews()
	r := rs.add(id, journal, started.PlanOnly)
	r.engine.prompting, r.priors, r.child = started.Prompting, started.Priors, of
	// The end of the session turns the end of ctx into a stop and records it.
	r.engine.begin(context.WithoutCancel(ctx), started)
	rs.settle(r)
	return r, nil
}

// resume resumes a run. It publishes the earlier events again, so that listeners can fold
// them. A decision says how to continue after a failed step; it does not start a review of
// the rest.
func (rs *runs) resume(ctx context.Context, past pastRun, resumed event.RunResumed, decision *event.FailureResolved, of *child) *activeRun {
	_ = rs.events.publish(session.Resuming{Run: past.run.ID, Upto: past.run.Seq})
	for _, e := range past.events {
		rs.events.deliver(e)
	}
	cfg, was := rs.cfg, past.started()
	r := rs.add(past.run.ID, past.journal, was.PlanOnly)
	r.priors, r.child = resumed.Priors, of
	r.engine.run, r.engine.prompting = past.run, was.Prompting
	r.engine.prompting.Models = *resumed.Models
	resumed.From, resumed.Session = past.run.Seq, rs.events.session
	resumed.Rules = rs.rules.of(string(past.run.Goal), was.Plan, past.run.Rules()...)
	resumed.Attended, resumed.InDoubt, resumed.RequireVerified = cfg.Attended, cfg.InDoubt, cfg.RequireVerified
	resumed.Review = rs.settings.reviews() && decision == nil && of == nil
	first := []event.Data{resumed}
	if decision != nil {
		first = append(first, *decision)
	}
	r.engine.begin(context.WithoutCancel(ctx), first...)
	rs.settle(r)
	return r
}

// arrived passes events of workers to their runs. It drains the channel and
// delivers one batch to each run.
func (rs *runs) arrived(a arrival, more <-chan arrival) {
	for a.engine != nil {
		e := a.engine
		over := e.over()
		batch, other := e.drained(a, more)
		e.apply(batch)
		if r := rs.of(e); r != nil && !over {
			rs.settle(r)
		}
		a = other
	}
}

// of returns the run of an engine.
func (rs *runs) of(e *engine) *activeRun {
	if at := slices.IndexFunc(rs.active, func(r *activeRun) bool { return r.engine == e }); at >= 0 {
		return rs.active[at]
	}
	return nil
}

// apply applies events from outside to a run.
func (rs *runs) apply(r *activeRun, events ...event.Data) {
	r.engine.apply(events)
	rs.settle(r)
}

// settle answers gates and refuses held plans if nobody can be asked, and waits for the
// workers of a finished run.
func (rs *runs) settle(r *activeRun) {
	e, approve := r.engine, rs.cfg.Approve
	for _, g := range slices.Clone(e.run.Gates) {
		if decision, ok := approve.Answer(g.GateRequested); ok && !e.over() {
			e.apply([]event.Data{event.GateResolved{
				Gate: g.Gate, Call: g.Call, Decision: decision, Scope: event.ScopeOnce, By: approve.By(g.GateRequested),
			}})
		}
	}
	if !rs.cfg.Reviewer && !e.over() && e.run.AwaitsReview() { // the run can be resumed with somebody present
		e.apply([]event.Data{e.run.Review().Event(event.ReviewRefuse, policy.ByNobody)})
	}
	if e.over() && !r.leaving {
		r.leaving = true
		rs.back.run(func() func() {
			e.workers.Wait()
			rs.ended <- r
			return nil
		})
	}
}

// steer passes the user's remark to the current runs, innermost first; the outer
// runs learn of its results. It reports whether a run took it.
func (rs *runs) steer(text, by string) bool {
	for _, r := range slices.Backward(rs.active) {
		if r.engine.run.Steerable() {
			rs.apply(r, event.RunSteered{Text: untrusted.Text(text), By: by})
			return true
		}
	}
	return false
}

// cancel stops one running step and reports whether there is one.
func (rs *runs) cancel(run, step string, why error) bool {
	r := rs.find(run)
	if r == nil || !r.engine.cancel(step, why) {
		return false
	}
	rs.settle(r)
	return true
}

// stop stops the current runs, innermost first. An inner run is thus over
// before the run that requested it learns of its end.
func (rs *runs) stop(why error) {
	for _, r := range slices.Backward(rs.active) {
		r.engine.stop(why)
		rs.settle(r)
	}
}

// remove closes the journal of a run whose workers have stopped, and records what it has
// shown of its tools.
func (rs *runs) remove(r *activeRun) {
	if err := r.engine.journal.Close(); err != nil {
		rs.cfg.Logger.Error("close the journal", "run", r.engine.id, "error", err)
	}
	rs.active = slices.DeleteFunc(rs.active, func(other *activeRun) bool { return other == r })
	r.record(rs.cfg)
}

// spent returns what the current runs have used since they began, and their time. The
// time of inner runs is part of the others'.
func (rs *runs) spent() (used event.Usage, elapsed time.Duration) {
	for _, r := range rs.active {
		since, took := r.engine.spent()
		used.PromptTokens += since.PromptTokens
		used.CompletionTokens += since.CompletionTokens
		used.ToolCalls += since.ToolCalls
		if r.child == nil {
			elapsed += took
		}
	}
	return used, elapsed
}

// preview returns the call at an open gate of a run with other arguments.
func (rs *runs) preview(run, gate string, args map[string]any) (plan.ToolCall, error) {
	r := rs.find(run)
	if r == nil {
		return plan.ToolCall{}, errGateClosed
	}
	return r.engine.callAt(gate, args)
}
