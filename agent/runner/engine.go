package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"replan/agent"
	"replan/planning"
)

// Journal takes the durable events of a run in order and returns once they are
// on disk.
type Journal interface {
	Append(events ...agent.Event) error
	Close() error
}

// arrival is what a worker brings back.
type arrival struct {
	engine *engine
	data   agent.Data
}

// engine carries out one run. Its methods are called from the session's
// goroutine alone; only its workers run beside it, and what they bring back
// goes through arrivals.
type engine struct {
	run      agent.Run
	id       string
	journal  Journal
	model    Model
	tools    Tools
	log      *slog.Logger
	now      func() time.Time
	arrivals chan<- arrival
	publish  func(agent.Event)

	ctx     context.Context // of the workers
	stopAll context.CancelCauseFunc
	workers sync.WaitGroup
	seq     uint64
	begun   map[string]bool // gates and timers under way
	told    bool            // its first event is on disk and known
	broken  error           // the journal cannot be written any more
	leaving bool            // the session waits for the workers to go
}

// errInterrupted is why workers are cancelled when the user stops a run, and
// errOver when a run is over.
var (
	errInterrupted = errors.New("stopped by the user")
	errOver        = errors.New("the run is over")
)

// begin starts the run. ctx bounds its workers.
func (e *engine) begin(ctx context.Context, started agent.RunStarted) {
	e.ctx, e.stopAll = context.WithCancelCause(ctx)
	e.begun = map[string]bool{}
	e.take([]agent.Data{started})
}

// over reports whether the run has ended.
func (e *engine) over() bool { return e.run.Result != nil || e.broken != nil }

// take folds what has arrived, as one batch, and carries out what may be done
// then.
func (e *engine) take(batch []agent.Data) {
	_ = e.commit(batch) // what comes back late may be refused
	for !e.over() {
		var records []agent.Data
		var effects []agent.Effect
		for _, a := range e.run.Next() {
			if a.Record != nil {
				records = append(records, a.Record)
			}
			if a.Effect != nil && e.fresh(a.Effect) {
				effects = append(effects, a.Effect)
			}
		}
		if len(records) == 0 && len(effects) == 0 {
			break
		}
		if refused := e.commit(records); refused != nil {
			// The core asked for what it then did not take: to go on would be to
			// act on what is in no journal.
			e.fail(fmt.Errorf("the run cannot go on: %w", refused))
		}
		if e.broken != nil {
			break
		}
		e.cutShort(records)
		for _, effect := range effects {
			e.carryOut(effect)
		}
	}
	if e.over() {
		e.stopAll(errOver)
	}
}

// cutShort stops what is under way where the time of the run is up: nothing
// else would end a call before its own time.
func (e *engine) cutShort(records []agent.Data) {
	for _, record := range records {
		if blocked, ok := record.(agent.GuardBlocked); ok && blocked.Guard == agent.GuardTime {
			e.stopAll(errors.New(blocked.Reason))
		}
	}
}

// stop has the user's word that nothing more is to be done.
func (e *engine) stop() {
	if e.over() || e.run.Paused {
		return
	}
	_ = e.commit([]agent.Data{agent.RunPaused{Reason: "stopped by the user"}})
	e.stopAll(errInterrupted)
	e.take(nil)
}

// commit numbers the events of a batch, folds them, brings the durable ones to
// disk with one sync, and only then tells anybody. It returns why one of them was not taken.
func (e *engine) commit(batch []agent.Data) (refused error) {
	if len(batch) == 0 || e.broken != nil {
		return nil
	}
	now := e.now().UTC()
	if now.Before(e.run.Now) {
		now = e.run.Now // the clock was set back; a run's time never is
	}
	events := make([]agent.Event, 0, len(batch))
	var durable []agent.Event
	for _, data := range batch {
		event := agent.Event{Seq: e.seq + 1, Time: now, Run: e.id, Data: data}
		if err := e.run.Apply(event); err != nil {
			// A worker may come back after the run is over; nothing is lost.
			e.log.Warn("event refused", "run", e.id, "error", err)
			refused = err
			continue
		}
		e.seq++
		events = append(events, event)
		if !data.Kind().Passing() {
			durable = append(durable, event)
		}
	}
	if err := e.journal.Append(durable...); err != nil {
		e.fail(fmt.Errorf("the run cannot go on, because what it does cannot be kept; make room or choose another folder with --data-dir: %w", err))
		return nil
	}
	for _, event := range events {
		e.told = true
		e.publish(event)
	}
	return refused
}

// fail ends a run whose journal cannot be written: what is not on disk must not
// be acted upon. One that never was on disk has not begun for anybody.
func (e *engine) fail(err error) {
	e.broken = err
	e.log.Error("journal", "run", e.id, "error", err)
	if !e.told {
		return
	}
	e.publish(agent.Event{Seq: e.seq, Time: e.now().UTC(), Run: e.id, Data: agent.RunCompleted{Result: agent.Result{
		Status: agent.StatusFailed, Reason: agent.ReasonStepFailed, Error: err.Error(),
		Variables: e.run.Variables(), History: []planning.HistoryItem{}, Revisions: []agent.RevisionSummary{}, Usage: e.run.Usage,
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

// fresh reports whether an effect is to be carried out now: gates and timers
// are asked for again until their event comes.
func (e *engine) fresh(effect agent.Effect) bool {
	id := effect.Once()
	seen := id != "" && e.begun[id]
	e.begun[id] = true
	return !seen
}

// carryOut starts a worker for an effect.
func (e *engine) carryOut(effect agent.Effect) {
	e.workers.Go(func() {
		switch f := effect.(type) {
		case agent.CallModel:
			e.callModel(f)
		case agent.CallTool:
			e.callTool(f)
		case agent.OpenGate:
			e.openGate(f)
		case agent.Wake:
			e.wake(f)
		}
	})
}

// bring hands an event to the session. It waits for the session, which reads
// until every worker has gone.
func (e *engine) bring(data agent.Data) {
	if data != nil {
		e.arrivals <- arrival{e, data}
	}
}

// close releases the journal. The workers must have gone.
func (e *engine) close() error { return e.journal.Close() }
