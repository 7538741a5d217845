package runner

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// runs holds the runs of a session that are in progress: one that a job began, then those
// that its plan tools started.
type runs struct {
	terms      runTerms
	workers    workerParts
	store      Store
	copy       WorkingCopy // nil is the workspace itself
	experience experience
	newRunID   func() string
	events     *publisher
	background *background
	rules      *rulebook
	settings   *settings
	arrivals   chan<- workerEvents
	ended      chan<- *activeRun
	session    string   // the id
	planTool   planTool // never nil once a run starts

	active   []*activeRun
	warnings warnings
}

// runTerms are what all runs of a session start on.
type runTerms struct {
	workspace       string
	approve         policy.Approve
	attended        bool // a user can answer questions
	reviewer        bool // a user can review plans
	inDoubt         event.DoubtDecision
	requireVerified bool
	dryRun          bool
}

// workerParts are what the workers of runs call, and the clock and the log of their engines.
type workerParts struct {
	model   Model
	tools   Tools
	admit   func(ctx context.Context, t plan.Tool) (end func(), err error)
	crashed func(value any, stack []byte) string
	now     func() time.Time
	log     *slog.Logger
}

// planTool carries out a call of a plan tool by a run, in a worker.
type planTool func(ctx context.Context, outer *engine, priors map[string]int64, under *call, c agent.CallPlan) event.Data

// usePlanTool sets what carries out calls of plan tools.
func (rs *runs) usePlanTool(do planTool) { rs.planTool = do }

// activeRun is a run in progress, and what the session knows of it beside its events.
type activeRun struct {
	id       string
	engine   *engine
	priors   map[string]int64
	child    *child // the call that the run was started for; nil if none
	attended bool
	dryRun   bool
	planOnly bool   // the run ends with its plan, which is saved
	saved    string // the id of that plan in the store
	unsaved  error  // why it is not there
	leaving  bool   // the session is waiting for the workers to stop
}

// attended reports whether a user can answer questions of runs.
func (rs *runs) attended() bool { return rs.terms.attended }

// any reports whether a run is in progress.
func (rs *runs) any() bool { return len(rs.active) > 0 }

// newest returns the current run that began last, nil for none.
func (rs *runs) newest() *agent.Run {
	if len(rs.active) == 0 {
		return nil
	}
	return rs.active[len(rs.active)-1].run()
}

// find returns the current run with the given id, or nil.
func (rs *runs) find(id string) *engine {
	for _, r := range rs.active {
		if r.id == id {
			return r.engine
		}
	}
	return nil
}

// begin has an engine carry out a run, after its past events if it has any.
func (rs *runs) begin(ctx context.Context, r *activeRun, past pastRun, prompting prompt.Prompting, first ...event.Data) *engine {
	w := rs.workers
	r.attended, r.dryRun = rs.terms.attended, rs.terms.dryRun
	r.engine = newEngine(engineParts{
		id: r.id, journal: past.journal, run: past.run, prompting: prompting,
		model: w.model, tools: w.tools, admit: w.admit, log: w.log, now: w.now, arrivals: rs.arrivals, publish: rs.events.deliver,
		offer: rs.rules.offer, attended: r.attended, crashed: w.crashed, warnings: &rs.warnings,
		amend: func(record event.Data) event.Data { return r.savePlan(rs.store, record) },
		plan: func(ctx context.Context, under *call, c agent.CallPlan) event.Data {
			return rs.planTool(ctx, r.engine, r.priors, under, c)
		},
	})
	rs.active = append(rs.active, r)
	// The end of the session turns the end of ctx into a stop and records it.
	r.engine.begin(context.WithoutCancel(ctx), first...)
	rs.settle(r.engine)
	return r.engine
}

// savePlan saves the plan of a run that only makes one.
func (r *activeRun) savePlan(store Store, record event.Data) event.Data {
	created, ok := record.(event.PlanCreated)
	if !ok || !r.planOnly || r.dryRun {
		return record
	}
	created.Plan = r.engine.authored(created.Plan)
	saved, err := store.SavePlan(created.Plan)
	if err != nil {
		r.unsaved = fmt.Errorf("the plan cannot be stored: %w", err)
		return record
	}
	created.Plan, r.saved = saved, saved.ID
	return created
}

// newID returns a new run id.
func (rs *runs) newID() string { return "r-" + rs.newRunID() }

// start starts a new run with its own journal.
func (rs *runs) start(ctx context.Context, id string, started event.RunStarted, of *child) (*engine, error) {
	if rs.copy != nil && of == nil {
		copied, err := rs.copy.Begin(id)
		if err != nil {
			return nil, err
		}
		started.Copied = copied
	}
	journal, err := rs.store.CreateJournal("run", id)
	if err != nil {
		return nil, err
	}
	// The run has its own copy of the pictures that its goal attaches, as it has of all else
	// that it needs for a resume. If it cannot keep them, it uses those of the session.
	if store, ok := journal.(AttachmentStore); ok {
		if mentions, err := keepPictures(store, started.Prompting.Mentions); err == nil {
			started.Prompting.Mentions = mentions
		} else {
			rs.workers.log.Warn("the pictures of the goal", "run", id, "error", err)
		}
	}
	t := rs.terms
	started.Workspace, started.Session, started.DryRun, started.RequireVerified = t.workspace, rs.session, t.dryRun, t.requireVerified
	started.Attended, started.InDoubt, started.Review = t.attended, t.inDoubt, rs.settings.reviews()
	r := &activeRun{id: id, priors: started.Priors, child: of, planOnly: started.PlanOnly}
	return rs.begin(ctx, r, pastRun{journal: journal, run: agent.NewRun(nil)}, started.Prompting, started), nil
}

// resume resumes a run. It publishes the earlier events again, so that listeners can fold
// them. A decision says how to continue after a failed step; it does not start a review of
// the rest.
func (rs *runs) resume(ctx context.Context, past pastRun, resumed event.RunResumed, decision *event.FailureResolved, of *child) *engine {
	_ = rs.events.publish(session.Resuming{Run: past.run.ID, Upto: past.run.Seq})
	for _, e := range past.events {
		rs.events.deliver(e)
	}
	t, was := rs.terms, past.started()
	prompting := was.Prompting
	prompting.Models = *resumed.Models
	resumed.From, resumed.Session = past.run.Seq, rs.session
	resumed.Rules = rs.rules.of(string(past.run.Goal), was.Plan, past.run.Rules()...)
	resumed.Attended, resumed.InDoubt, resumed.RequireVerified = t.attended, t.inDoubt, t.requireVerified
	resumed.Review = rs.settings.reviews() && decision == nil && of == nil
	first := []event.Data{resumed}
	if decision != nil {
		first = append(first, *decision)
	}
	r := &activeRun{id: past.run.ID, priors: resumed.Priors, child: of, planOnly: was.PlanOnly}
	return rs.begin(ctx, r, past, prompting, first...)
}

// arrived passes events of workers to their runs. It drains the channel and
// delivers one batch to each run.
func (rs *runs) arrived(a workerEvents, more <-chan workerEvents) {
	for a.engine != nil {
		e := a.engine
		over := e.over()
		batch, other := e.drained(a, more)
		e.apply(batch)
		if !over {
			rs.settle(e)
		}
		a = other
	}
}

// apply applies events from outside to a run.
func (rs *runs) apply(e *engine, events ...event.Data) {
	e.apply(events)
	rs.settle(e)
}

// settle answers gates and refuses held plans if no user can be asked, and waits for the
// workers of a finished run.
func (rs *runs) settle(e *engine) {
	approve := rs.terms.approve
	for _, g := range slices.Clone(e.current().Gates) {
		if decision, ok := approve.Answer(g.GateRequested); ok && !e.over() {
			e.apply([]event.Data{event.GateResolved{
				Gate: g.Gate, Call: g.Call, Decision: decision, Scope: event.ScopeOnce, By: approve.By(g.GateRequested),
			}})
		}
	}
	if !rs.terms.reviewer && e.awaitsReview() { // the run can be resumed with a user present
		e.apply([]event.Data{e.current().Review().Event(event.ReviewRefuse, policy.ByNobody)})
	}
	if e.over() {
		rs.leave(e)
	}
}

// leave waits, once, for the workers of a finished run.
func (rs *runs) leave(e *engine) {
	at := slices.IndexFunc(rs.active, func(r *activeRun) bool { return r.engine == e })
	if at < 0 || rs.active[at].leaving {
		return
	}
	r := rs.active[at]
	r.leaving = true
	rs.background.run(func() func() {
		e.wait()
		rs.ended <- r
		return nil
	})
}

// steer passes the user's remark to the current runs, innermost first; the outer
// runs learn of its results. It reports whether a run took it.
func (rs *runs) steer(text, by string) bool {
	for _, r := range slices.Backward(rs.active) {
		if r.engine.current().Steerable() {
			rs.apply(r.engine, event.RunSteered{Text: untrusted.Text(text), By: by})
			return true
		}
	}
	return false
}

// cancel stops one running step and reports whether there is one.
func (rs *runs) cancel(run, step string, why error) bool {
	e := rs.find(run)
	if e == nil || !e.cancel(step, why) {
		return false
	}
	rs.settle(e)
	return true
}

// stop stops the current runs, innermost first. An inner run is thus over
// before the run that requested it learns of its end.
func (rs *runs) stop(why error) {
	for _, r := range slices.Backward(rs.active) {
		rs.stopOne(r.engine, why)
	}
}

// stopOne stops a run.
func (rs *runs) stopOne(e *engine, why error) {
	e.stop(why)
	rs.settle(e)
}

// remove closes the journal of a run whose workers have stopped, and records what it has
// shown of its tools.
func (rs *runs) remove(r *activeRun) {
	if err := r.engine.close(); err != nil {
		rs.workers.log.Error("close the journal", "run", r.id, "error", err)
	}
	rs.active = slices.DeleteFunc(rs.active, func(other *activeRun) bool { return other == r })
	calls, durations := r.engine.called()
	rs.experience.add(r.engine.current().Catalog, calls, durations)
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
	e := rs.find(run)
	if e == nil {
		return plan.ToolCall{}, errGateClosed
	}
	return e.callAt(gate, args)
}

// reply returns the session's reply at the end of the run.
func (r *activeRun) reply() event.ChatReply {
	e := r.engine
	reply := event.ChatReply{Status: event.StatusFailed, Reason: event.ReasonStepFailed}
	if e.onDisk() {
		reply.Run = r.id
	}
	if problem := cmp.Or(r.unsaved, e.problem()); problem != nil {
		reply.Text = untrusted.Text(problem.Error())
	} else {
		reply.Status, reply.Reason = e.current().Result.Status, e.current().Result.Reason
		reply.Text, reply.Results = untrusted.Text(r.closing()), untrusted.Text(e.current().Results())
	}
	used, elapsed := e.spent()
	reply.Usage, reply.MS = &used, elapsed.Milliseconds()
	reply.Read = append([]rule.Provenance{}, e.current().Read()...)
	return reply
}

// closing returns the final words of a run: its answer, else its outcome.
func (r *activeRun) closing() string {
	run := r.engine.current()
	switch {
	case run.Result.Answer != "":
		return string(run.Result.Answer)
	case run.Result.Error != "":
		return string(run.Result.Error)
	case r.saved != "":
		return fmt.Sprintf("The plan `%[1]s` is stored: look at it with `/plan show %[1]s`, run it with `/plan run %[1]s`.", r.saved)
	case r.dryRun:
		return fmt.Sprintf("Dry run: %d of %d steps resolved, nothing was called.", run.Done(), len(run.Steps))
	default:
		return fmt.Sprintf("%s: %d of %d steps done.", run.Plan.Title, run.Done(), len(run.Steps))
	}
}

// remarks returns the user's remarks that the run did not take; none if the user stopped
// it.
func (r *activeRun) remarks() []string {
	if result := r.engine.current().Result; result != nil && result.Status == event.StatusCanceled {
		return nil
	}
	return r.engine.current().UserMessages
}

// run returns the run as its events have made it.
func (r *activeRun) run() *agent.Run { return r.engine.current() }

// mentions returns what the goal mentions.
func (r *activeRun) mentions() []prompt.Mention { return r.engine.mentions() }

// inner reports whether another run requested this one.
func (r *activeRun) inner() bool { return r.child != nil }

// finishCall passes the result of an inner run to the call that requested it.
func (r *activeRun) finishCall() {
	r.child.finish(r.engine.current(), r.engine.onDisk(), cmp.Or(r.engine.problem(), r.unsaved), r.attended)
}

// askedModel reports whether the run has asked a model since it began or was resumed.
func (r *activeRun) askedModel() bool {
	used, _ := r.engine.spent()
	return used.ModelCalls > 0
}
