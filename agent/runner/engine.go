package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Journal takes the durable events of a run in order and returns once they are
// on disk. It does not keep the list that it is given. It is an alias, so that
// what implements [Store] need not import this package.
type Journal = interface {
	Append(events ...event.Event) error
	Close() error
}

// caller carries out the calls of a run.
type caller interface {
	Call(ctx context.Context, call plan.ToolCall) (any, error)
	Preview(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error)
}

// arrival is what a worker brings back.
type arrival struct {
	engine *engine
	data   event.Data
}

// engine carries out one run. Its methods are called from the goroutine of its
// owner alone, a [Session] or [Run]; only its workers run beside it, and what
// they bring back goes through arrivals, which the owner reads.
type engine struct {
	run      *agent.Run
	id       string
	journal  Journal
	model    Model
	tools    caller
	log      *slog.Logger
	now      func() time.Time
	arrivals chan<- arrival
	publish  func(event.Event) // nil where nobody listens

	// amend may change a record before it is kept; nil changes none.
	amend func(event.Data) event.Data
	// offer makes the rule that a gate offers to save; nil offers none.
	offer func(event.GateRequested, plan.Tool) (always *event.Always, why string)
	// plan carries out a call of a plan tool, in a worker; nil where there are
	// none.
	plan func(ctx context.Context, under *call, c agent.CallPlan) event.Data

	// Of a run of a session.
	prompting prompt.Prompting // it was started with
	priors    map[string]int64
	child     *child // the call of another run that it was started for; nil for none
	stored    string // the id under which the plan it made is stored
	unstored  error  // why it is not

	ctx           context.Context // of the workers
	stopAll       context.CancelCauseFunc
	workers       sync.WaitGroup
	calling       chan func()     // to workers that have done what they were for
	opening       <-chan struct{} // closed when the gate that was asked for last is open
	seq           uint64
	begun         map[string]bool         // gates and timers under way
	calls         map[event.Attempt]*call // steps under way
	published     bool                    // its first event is on disk and known
	usageBefore   event.Usage             // before it was started or resumed
	elapsedBefore time.Duration           // by then
	historyBefore int                     // items of history that are there since an earlier time
	broken        error                   // the journal cannot be written any more
	leaving       bool                    // the owner waits for the workers to go

	// What one batch needs, kept for its place alone: steps come by the thousand.
	batch   []event.Data
	records []event.Data
	events  []event.Event
	effects []agent.Effect
}

// call is one attempt of a step under way.
type call struct {
	cancel context.CancelFunc
	why    atomic.Pointer[error] // it was stopped alone
}

// stop ends the call while the run goes on.
func (c *call) stop(why error) {
	c.why.CompareAndSwap(nil, &why)
	c.cancel()
}

// stopped says why the call was stopped alone, nil where it was not.
func (c *call) stopped() error {
	if why := c.why.Load(); why != nil {
		return *why
	}
	return nil
}

// Why workers are cancelled: all of them when the user stops a run and when it
// is over, one alone when the user cancels its step, and those of a sub-agent
// whose step has ended.
var (
	errInterrupted = errors.New("stopped by the user")
	errOver        = errors.New("the run is over")
	errCancelled   = errors.New("cancelled by the user")
	errUnwanted    = errors.New("the step that made this call has ended")
)

// begin starts the run, or takes one up again whose events are folded already.
// ctx bounds its workers.
func (e *engine) begin(ctx context.Context, first ...event.Data) {
	e.ctx, e.stopAll = context.WithCancelCause(ctx)
	e.begun, e.calls, e.calling = map[string]bool{}, map[event.Attempt]*call{}, make(chan func())
	e.seq, e.published, e.historyBefore = e.run.Seq, e.run.Seq > 0, len(e.run.History)
	e.usageBefore, e.elapsedBefore = e.run.Usage, e.run.Elapsed()
	e.advance(first)
}

// over reports whether the run has ended.
func (e *engine) over() bool { return e.run.Result != nil || e.broken != nil }

// take advances a run that is not over; what comes back late is not wanted any
// more.
func (e *engine) take(batch []event.Data) {
	if !e.over() {
		e.advance(batch)
	}
}

// advance folds what has arrived, as one batch, with all that follows from it,
// brings it to disk with one sync, tells it, and only then does what is to be
// done.
func (e *engine) advance(batch []event.Data) {
	events, _ := e.fold(e.events[:0], batch)
	effects, records := e.effects[:0], e.records
	for e.run.Result == nil {
		records = records[:0]
		more := false
		for _, a := range e.run.Next() {
			if a.Record != nil {
				records = append(records, e.amended(a.Record))
			}
			if a.Effect != nil && e.fresh(a.Effect) {
				effects, more = append(effects, a.Effect), true
			}
		}
		if len(records) == 0 && !more {
			break
		}
		var refused error
		if events, refused = e.fold(events, records); refused != nil {
			// The core asked for what it then did not take: to go on would be to
			// act on what is in no journal.
			e.fail(fmt.Errorf("the run cannot go on: %w", refused))
			break
		}
	}
	if e.broken == nil {
		e.keep(events)
	}
	e.events, e.effects, e.records = events, effects, records // only their place is used again
	if e.over() {
		e.stopAll(errOver)
		return
	}
	for _, effect := range effects {
		e.carryOut(effect)
	}
}

func (e *engine) amended(record event.Data) event.Data {
	if e.amend == nil {
		return record
	}
	return e.amend(record)
}

// stop has the user's word that nothing more is to be done.
func (e *engine) stop() {
	if e.over() || e.run.Paused {
		return
	}
	e.stopAll(errInterrupted)
	e.take([]event.Data{event.RunPaused{Reason: "stopped by the user"}})
}

// cancel stops one step that is under way, and reports whether there is one.
func (e *engine) cancel(index string) bool {
	s := e.run.Step(index)
	if s == nil {
		return false
	}
	c := e.calls[event.Attempt{Index: index, Number: s.Attempt}]
	if l := s.Loop; l != nil && s.Status == agent.StepRunning && !l.Asking {
		// Its last turn has come back; what is under way are the calls of that.
		e.take([]event.Data{event.StepFailed{
			Index: index, Attempt: s.Attempt, Error: errCancelled.Error(), Failure: event.FailureInterrupted,
			MS: e.now().Sub(s.StartedAt).Milliseconds(),
		}})
		return true
	}
	if c == nil {
		return false
	}
	c.stop(errCancelled)
	return true
}

// fold numbers the events of a batch and applies them. It returns events with
// those that were taken added, and why one was not.
func (e *engine) fold(events []event.Event, batch []event.Data) (_ []event.Event, refused error) {
	now := e.now().UTC().Round(0) // as a journal will have it: without the monotonic clock
	if now.Before(e.run.Now) {
		now = e.run.Now // the clock was set back; a run's time never is
	}
	for _, data := range batch {
		next := event.Event{Seq: e.seq + 1, Time: now, Run: e.id, Data: data}
		if err := e.run.Apply(next); err != nil {
			// A worker may come back after the run is over; nothing is lost.
			e.log.Warn("event refused", "run", e.id, "error", err)
			refused = err
			continue
		}
		e.seq++
		events = append(events, next)
		switch d := data.(type) {
		case event.StepCompleted:
			e.ended(event.Attempt{Index: d.Index, Number: d.Attempt})
		case event.StepFailed:
			e.ended(event.Attempt{Index: d.Index, Number: d.Attempt})
		case event.StepInDoubt:
			e.ended(event.Attempt{Index: d.Index, Number: d.Attempt})
		case event.TimerFired:
			delete(e.begun, agent.Wake{ID: d.ID}.Once()) // it may be asked for again
		case event.GuardBlocked:
			if d.Guard == event.GuardTime {
				// Nothing else would end a call before its own time.
				e.stopAll(errors.New(d.Reason))
			}
		}
	}
	return events, refused
}

// ended lets go of a step that is not under way any more, and of the calls that
// it had made.
func (e *engine) ended(a event.Attempt) {
	if c := e.calls[a]; c != nil {
		c.cancel()
		delete(e.calls, a)
	}
	if s := e.run.Step(a.Index); s == nil || s.Step.Executor != plan.ExecutorAgent {
		return
	}
	for inner, c := range e.calls {
		if s := e.run.Step(inner.Index); s != nil && s.Parent == a.Index {
			c.stop(errUnwanted)
		}
	}
}

// keep brings the durable ones of the events to disk with one sync, and only
// then tells anybody.
func (e *engine) keep(events []event.Event) {
	durable := events
	for i, first := range events {
		if first.Data.Kind().Passing() {
			durable = append([]event.Event{}, events[:i]...)
			for _, later := range events[i:] {
				if !later.Data.Kind().Passing() {
					durable = append(durable, later)
				}
			}
			break
		}
	}
	if err := e.journal.Append(durable...); err != nil {
		e.fail(fmt.Errorf("the run cannot go on, because what it does cannot be kept; make room or choose another folder with --data-dir: %w", err))
		return
	}
	e.published = e.published || len(events) > 0
	if e.publish == nil {
		return
	}
	for _, kept := range events {
		e.publish(kept)
	}
}

// fail ends a run whose journal cannot be written: what is not on disk must not
// be acted upon. One that never was on disk has not begun for anybody.
func (e *engine) fail(err error) {
	e.broken = err
	e.log.Error("journal", "run", e.id, "error", err)
	if !e.published || e.publish == nil {
		return
	}
	e.publish(event.Event{Seq: e.seq, Time: e.now().UTC(), Run: e.id, Data: event.RunCompleted{Result: event.Result{
		Status: event.StatusFailed, Reason: event.ReasonStepFailed, Error: err.Error(),
		Variables: e.run.Variables(), History: []plan.HistoryItem{}, Revisions: []event.RevisionSummary{}, Usage: e.run.Usage,
	}}})
}

// open reports whether the run waits at this gate.
func (e *engine) open(gate string) bool {
	for _, g := range e.run.Gates {
		if g.Gate == gate {
			return true
		}
	}
	return false
}

// asks reports whether the run waits for the user's word about a step.
func (e *engine) asks(step string, doubt bool) bool {
	for _, q := range e.run.Questions() {
		if q.Step == step && q.Doubt == doubt {
			return true
		}
	}
	return false
}

// awaits reports whether something that was brought is still wanted: an answer
// is only while its question is open.
func (e *engine) awaits(data event.Data) bool {
	switch d := data.(type) {
	case event.GateResolved:
		return e.open(d.Gate)
	case event.PlanReviewed:
		return e.run.Held() && e.run.Revision == d.Revision
	case event.DoubtResolved:
		return e.asks(d.Step, true)
	case event.FailureResolved:
		return e.asks(d.Step, false)
	default:
		return true
	}
}

// fresh reports whether an effect is to be carried out now: gates and timers
// are asked for again until their event comes.
func (e *engine) fresh(effect agent.Effect) bool {
	id := effect.Once()
	if id == "" {
		return true
	}
	seen := e.begun[id]
	e.begun[id] = true
	return !seen
}

// carryOut starts a worker for an effect.
func (e *engine) carryOut(effect agent.Effect) {
	switch f := effect.(type) {
	case agent.CallModel:
		if f.Request.Model == "" {
			f.Request.Model = e.run.Model
		}
		ctx, c := e.under(event.Attempt{Index: f.Index, Number: f.Attempt}, f.Timeout)
		e.work(func() { e.callModel(ctx, c, f) })
	case agent.CallTool:
		ctx, c := e.under(event.Attempt{Index: f.Index, Number: f.Attempt}, f.Timeout)
		e.work(func() { e.callTool(ctx, c, effect.(agent.CallTool)) }) // f would be copied into the closure, large as it is
	case agent.CallPlan:
		ctx, c := e.under(event.Attempt{Index: f.Index, Number: f.Attempt}, 0)
		e.workers.Go(func() { e.callPlan(ctx, c, f) })
	case agent.OpenGate:
		before, done := e.opening, make(chan struct{})
		e.opening = done
		e.workers.Go(func() {
			defer close(done)
			e.openGate(f, before)
		})
	case agent.Wake:
		e.workers.Go(func() { e.wake(f) })
	}
}

// work has a call made by a worker that waits for one, else by a new one. Each
// waits for the next until the run is over or stopped, since a goroutine whose
// stack has grown already is worth more than a new one.
func (e *engine) work(do func()) {
	select {
	case e.calling <- do:
		return
	default:
	}
	e.workers.Go(func() {
		for {
			do()
			select {
			case do = <-e.calling:
			case <-e.ctx.Done():
				return
			}
		}
	})
}

// under returns the context of one attempt of a step, which ends with the run,
// at its time limit or when it is cancelled alone.
func (e *engine) under(a event.Attempt, timeout time.Duration) (context.Context, *call) {
	if a.Index == "" {
		return e.ctx, &call{}
	}
	if earlier := e.calls[a]; earlier != nil {
		earlier.cancel() // a sub-agent's last turn, which has come back
	}
	c := &call{}
	var ctx context.Context
	if timeout > 0 {
		ctx, c.cancel = context.WithTimeout(e.ctx, timeout)
	} else {
		ctx, c.cancel = context.WithCancel(e.ctx)
	}
	e.calls[a] = c
	return ctx, c
}

// drained is what the workers have brought by now, as one batch that begins
// with the arrival that was taken already. The next batch takes its place. What
// a worker of another run has brought ends the batch and is returned, too.
func (e *engine) drained(first arrival, arrivals <-chan arrival) (batch []event.Data, other arrival) {
	e.batch = append(e.batch[:0], first.data)
	for {
		select {
		case a := <-arrivals:
			if a.engine != e {
				return e.batch, a
			}
			e.batch = append(e.batch, a.data)
		default:
			return e.batch, arrival{}
		}
	}
}

// bring hands an event to the owner. It waits for the owner, who reads until
// every worker has gone.
func (e *engine) bring(data event.Data) {
	if data != nil {
		e.arrivals <- arrival{e, data}
	}
}

// leave waits until the workers of a run that is over have gone. What they
// still bring is not wanted any more.
func (e *engine) leave(arrivals <-chan arrival) {
	gone := make(chan struct{})
	go func() {
		e.workers.Wait()
		close(gone)
	}()
	for {
		select {
		case <-arrivals:
		case <-gone:
			return
		}
	}
}

// close releases the journal. The workers must have gone.
func (e *engine) close() error { return e.journal.Close() }
