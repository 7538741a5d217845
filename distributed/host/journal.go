package host

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"replan/agent/event"
	"replan/distributed/records"
)

// journal is the journal of a run and its session: each call of Append is a record, which the
// workflow takes and confirms.
type journal struct {
	values   *records.Values
	owned    context.Context             // ends when this process no longer owns the run
	leave    context.Context             // ends when another worker is to take the run up
	snapshot func(context.Context) error // see [Opened.Snapshot]; may be nil
	batches  chan records.Record
	kept     chan struct{} // the last batch is in the database

	mu   sync.Mutex
	past []event.Event // recorded by now
}

// newJournal returns the journal of a run that this process owns until owned ends.
func newJournal(owned, leave context.Context, values *records.Values) *journal {
	return &journal{values: values, owned: owned, leave: leave, batches: make(chan records.Record), kept: make(chan struct{})}
}

// snapshotBefore calls snapshot before the end of a step is recorded. It is called before Append.
func (j *journal) snapshotBefore(snapshot func(context.Context) error) { j.snapshot = snapshot }

// Append returns once the events are in the database.
func (j *journal) Append(events ...event.Event) error {
	if j.leave.Err() != nil {
		// The run continues elsewhere, so its end here is no answer.
		events = slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { return e.Data.Kind() == event.KindChatReply })
	}
	if len(events) == 0 {
		return nil
	}
	if j.snapshot != nil && slices.ContainsFunc(events, endsStep) {
		if err := j.snapshot(j.owned); err != nil {
			return fmt.Errorf("keep what the run has changed: %w", err)
		}
	}
	record, err := j.values.Record(j.owned, events)
	if err != nil {
		return err
	}
	select {
	case j.batches <- record:
	case <-j.owned.Done():
		return errLeft
	}
	select {
	case <-j.kept:
		return nil
	case <-j.owned.Done():
		return errLeft
	}
}

// endsStep reports whether a step may have changed something before the event.
func endsStep(e event.Event) bool {
	switch e.Data.(type) {
	case event.StepCompleted, event.StepFailed, event.StepInDoubt:
		return true
	default:
		return false
	}
}

// Close does nothing.
func (*journal) Close() error { return nil }

// appended returns the channel of the records that Append waits for; see confirm.
func (j *journal) appended() <-chan records.Record { return j.batches }

// confirm lets Append return, since its record is in the database.
func (j *journal) confirm() { j.kept <- struct{}{} }

// whole returns a record that was read with all its large values.
func (j *journal) whole(ctx context.Context, r records.Record) (records.Record, error) {
	return j.values.PutBack(ctx, r)
}

// take takes in events that are in the database.
func (j *journal) take(events []event.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.past = append(j.past, events...)
}

// lastOf returns the number of the last recorded event of a run or session.
func (j *journal) lastOf(id string) uint64 {
	last := uint64(0)
	for _, e := range j.of(id) {
		last = e.Seq
	}
	return last
}

// of returns the recorded events of a run or session.
func (j *journal) of(id string) []event.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []event.Event
	for _, e := range j.past {
		if e.Run == id {
			out = append(out, e)
		}
	}
	return out
}

// all returns all recorded events.
func (j *journal) all() []event.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.past)
}
