package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/timelimit"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Journal stores the durable events of a run in order and returns once they are
// on disk. It must not retain the slice. It is an alias, so that implementations
// of [Store] need not import this package.
type Journal = interface {
	Append(events ...event.Event) error
	Close() error
}

// AttachmentStore stores content of results that is no text, such as pictures, and returns
// once it is on disk. It is safe for concurrent use. A [Journal] may also implement
// AttachmentStore; without one, the content stays in the values of steps, in base64.
type AttachmentStore interface {
	SaveAttachment(content []byte, mediaType string) (plan.Attachment, error)
}

// caller carries out the calls of a run.
type caller interface {
	Call(ctx context.Context, call plan.ToolCall) (any, error)
	Preview(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error)
	Accept(ctx context.Context, seen plan.ServerChange) error
}

// workerEvents carries events from a worker.
type workerEvents struct {
	engine *engine
	data   event.Data
}

// engineParts are what an engine is given: a run and all that it works with.
type engineParts struct {
	run      *agent.Run
	id       string
	journal  Journal
	model    Model
	tools    caller
	admit    func(context.Context, plan.Tool) (end func(), err error) // nil admits all
	log      *slog.Logger
	now      func() time.Time
	arrivals chan<- workerEvents
	publish  func(event.Event) // nil if there are no listeners

	warnings *warnings // of the session, or of the run alone

	// crashed reports a panic and describes it; nil lets it end the program.
	crashed func(value any, stack []byte) string
	// amend may change a record before it is stored; nil changes none.
	amend func(event.Data) event.Data
	// offer adds the rules that a gate offers to save; nil offers none.
	offer func(event.GateRequested, plan.Tool) event.GateRequested
	// plan carries out a call of a plan tool, in a worker; nil if there are no
	// plan tools.
	plan func(ctx context.Context, under *call, c agent.CallPlan) event.Data

	// For runs of a session.
	prompting prompt.Prompting // at the start of the run
	attended  bool             // a user can answer questions of servers
}

// engine carries out one run. Only its owner, a [Session] or [Run], calls its
// methods, from a single goroutine. Its workers run concurrently and send their
// events through arrivals, which the owner reads.
type engine struct {
	engineParts

	ctx           context.Context // of the workers
	stopAll       context.CancelCauseFunc
	workers       sync.WaitGroup
	calling       chan func()     // to idle workers
	opening       <-chan struct{} // closed when the most recently requested gate is open
	seq           uint64
	begun         map[string]bool         // gates and timers in progress
	calls         map[event.Attempt]*call // steps in progress
	questions     openQuestions           // of servers
	published     bool                    // its first event is on disk and published
	usageBefore   event.Usage             // before it was started or resumed
	elapsedBefore time.Duration           // at that time
	historyBefore int                     // number of earlier history items
	broken        error                   // why the journal cannot be written any more

	// Buffers of one batch, reused because a run may have thousands of steps.
	batch   []event.Data
	records []event.Data
	events  []event.Event
	effects []agent.Effect
}

// newEngine returns an engine that has not begun.
func newEngine(parts engineParts) *engine { return &engine{engineParts: parts} }

// call is a running attempt of a step.
type call struct {
	cancel context.CancelFunc
	limit  *timelimit.Limit      // its clock stands while the call waits for others or the user; nil is none
	why    atomic.Pointer[error] // set if this call alone was stopped
}

// stop cancels the call while the run continues.
func (c *call) stop(why error) {
	c.why.CompareAndSwap(nil, &why)
	c.cancel()
}

// stopped returns why the call alone was stopped, nil if it was not.
func (c *call) stopped() error {
	if why := c.why.Load(); why != nil {
		return *why
	}
	return nil
}

// Causes for canceling workers. All are canceled when the user stops a run and when it
// ends, one when the user cancels its step. Those of a sub-agent are when its step has
// ended.
var (
	errInterrupted = errors.New("stopped by the user")
	errOver        = errors.New("the run is over")
	errUnwanted    = errors.New("the step that made this call has ended")
)

// current returns the run as its events have made it.
func (e *engine) current() *agent.Run { return e.run }

// takeUp applies an earlier event of the run.
func (e *engine) takeUp(past event.Event) error {
	if err := e.run.Apply(past); err != nil {
		return err
	}
	e.id = past.Run
	return nil
}

// begin starts the run, or resumes a run whose events are already applied. ctx
// bounds its workers.
func (e *engine) begin(ctx context.Context, first ...event.Data) {
	e.ctx, e.stopAll = context.WithCancelCause(ctx)
	e.begun, e.calls, e.calling = map[string]bool{}, map[event.Attempt]*call{}, make(chan func())
	e.seq, e.published, e.historyBefore = e.run.Seq, e.run.Seq > 0, len(e.run.History)
	e.usageBefore, e.elapsedBefore = e.run.Usage, e.run.Elapsed()
	e.advance(first)
}

// over reports whether the run has ended.
func (e *engine) over() bool { return e.run.Result != nil || e.broken != nil }

// apply advances the run with a batch of events. Once the run is over, it drops
// them.
func (e *engine) apply(batch []event.Data) {
	if !e.over() {
		e.advance(batch)
	}
}

// advance applies the arrived events and all that follows from them as one batch.
// It writes the batch to disk with one sync, publishes it, and only then carries
// out the effects.
func (e *engine) advance(batch []event.Data) {
	var crash error
	defer func() {
		if crash != nil {
			e.fail(fmt.Errorf("the run cannot go on: %w", crash))
			e.stopAll(errOver)
		}
	}()
	defer e.catch(&crash)
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
			// The core then rejected an event that it had requested itself.
			// Continuing would act on events that are in no journal.
			e.fail(fmt.Errorf("the run cannot go on: %w", refused))
			break
		}
	}
	if e.broken == nil {
		e.record(events)
	}
	e.events, e.effects, e.records = events, effects, records // keep the buffers
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

// interruption is why a run stops when ctx has ended: the user said so, unless ctx has a
// cause of its own.
func interruption(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && cause != context.Canceled && cause != context.DeadlineExceeded { //nolint:errorlint // one of its own may be a context.Canceled
		return fmt.Errorf("stopped: %w", cause)
	}
	return errInterrupted
}

// stop stops the run.
func (e *engine) stop(why error) {
	if e.over() || e.run.Paused {
		return
	}
	e.stopAll(why)
	e.apply([]event.Data{event.RunPaused{Reason: untrusted.Text(why.Error())}})
}

// fold numbers and applies the events of a batch. It returns events with the
// accepted ones appended, and why one was refused.
func (e *engine) fold(events []event.Event, batch []event.Data) (_ []event.Event, refused error) {
	now := e.now().UTC().Round(0) // without the monotonic clock, as a journal stores it
	if now.Before(e.run.Now) {
		now = e.run.Now // the clock was set back; a run's time never is
	}
	for _, data := range batch {
		next := event.Event{Seq: e.seq + 1, Time: now, Run: e.id, Data: data}
		asked := slices.Clone(e.run.Elicitations)
		if q, ok := data.(event.ElicitationRequested); ok {
			asked = append(asked, q)
		}
		err := e.run.Apply(next)
		e.withdraw(asked)
		if err != nil {
			// Workers may return after the run is over; nothing is lost.
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
		case event.CheckCompleted:
			e.ended(event.Attempt{Index: d.Index, Number: d.Attempt})
		case event.StepInDoubt:
			e.ended(event.Attempt{Index: d.Index, Number: d.Attempt})
		case event.TimerFired:
			delete(e.begun, agent.Wake{ID: d.ID}.Once()) // the timer may be set again
		case event.GuardBlocked:
			if d.Guard == event.GuardTime {
				// Nothing else would end a call before its time limit.
				e.stopAll(errors.New(string(d.Reason)))
			}
		}
	}
	return events, refused
}

// ended releases a step that is no longer running, and the calls it made.
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

// record writes the durable events to disk with one sync, and only then publishes
// all of them.
func (e *engine) record(events []event.Event) {
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

// fail ends a run whose journal cannot be written, since nothing may act on
// events that are not on disk. A run that was never on disk has not started for
// anybody.
func (e *engine) fail(err error) {
	e.broken = err
	e.log.Error("journal", "run", e.id, "error", err)
	if !e.published || e.publish == nil {
		return
	}
	e.publish(event.Event{Seq: e.seq, Time: e.now().UTC(), Run: e.id, Data: event.RunCompleted{Result: event.Result{
		Status: event.StatusFailed, Reason: event.ReasonStepFailed, Error: untrusted.Text(err.Error()),
		Variables: e.run.Variables(), History: []plan.HistoryItem{}, Revisions: []event.RevisionSummary{}, Usage: e.run.Usage,
	}}})
}

// fresh reports whether to carry out an effect now. The core requests gates and
// timers repeatedly until their event arrives.
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
		weight := e.weight()
		e.work(func() { e.callModel(ctx, c, f, weight) })
	case agent.CallTool:
		ctx, c := e.under(event.Attempt{Index: f.Index, Number: f.Attempt}, f.Timeout)
		e.work(func() { e.callTool(ctx, c, effect.(agent.CallTool)) }) // f would be copied into the closure, large as it is
	case agent.CallPlan:
		ctx, c := e.under(event.Attempt{Index: f.Index, Number: f.Attempt}, 0)
		e.workers.Go(func() { e.callPlan(ctx, c, f) })
	case agent.CallCheck:
		ctx, c := e.under(event.Attempt{Index: f.Check.Index, Number: f.Check.Attempt}, 0)
		e.work(func() { e.callCheck(ctx, c, f) })
	case agent.OpenGate:
		before, done := e.opening, make(chan struct{})
		e.opening = done
		e.workers.Go(func() {
			defer close(done)
			e.openGate(f, before)
		})
	case agent.Wake:
		wait := f.At.Sub(e.run.Now) // whatever the clock shows meanwhile
		e.workers.Go(func() { e.wake(f, wait) })
	}
}

// under returns the context of one attempt of a step. It ends with the run, at
// the time limit, or when the attempt alone is canceled.
func (e *engine) under(a event.Attempt, timeout time.Duration) (context.Context, *call) {
	if a.Index == "" {
		return e.ctx, &call{}
	}
	if earlier := e.calls[a]; earlier != nil {
		earlier.cancel() // of a sub-agent's last turn, which has returned
	}
	c := &call{}
	var ctx context.Context
	if timeout > 0 {
		ctx, c.limit = timelimit.New(e.ctx, timeout)
		c.cancel = c.limit.Stop
	} else {
		ctx, c.cancel = context.WithCancel(e.ctx)
	}
	e.calls[a] = c
	return ctx, c
}

// drained collects the events that workers have sent by now into one batch that
// starts with first. The next batch reuses its memory. An arrival for another run
// ends the batch and is returned as well.
func (e *engine) drained(first workerEvents, arrivals <-chan workerEvents) (batch []event.Data, other workerEvents) {
	e.batch = append(e.batch[:0], first.data)
	for {
		select {
		case a := <-arrivals:
			if a.engine != e {
				return e.batch, a
			}
			e.batch = append(e.batch, a.data)
		default:
			return e.batch, workerEvents{}
		}
	}
}

// emit sends an event to the owner. It blocks until the owner reads it; the
// owner reads until every worker has stopped.
func (e *engine) emit(data event.Data) {
	if data != nil {
		e.arrivals <- workerEvents{e, data}
	}
}

// leave waits for the workers of a finished run to stop and drops their events.
func (e *engine) leave(arrivals <-chan workerEvents) {
	ended := make(chan struct{})
	go func() {
		e.workers.Wait()
		close(ended)
	}()
	for {
		select {
		case <-arrivals:
		case <-ended:
			return
		}
	}
}
