package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
)

const (
	// batchInterval is the minimum time between two batches of events: about one
	// frame, because every message costs a View.
	batchInterval = 30 * time.Millisecond
	// batchSize bounds a batch, so that a flood of events is still drawn as it
	// arrives.
	batchSize = 4096
)

// eventsMsg is a batch of events in order. Adjacent events that only stream
// text are merged.
type eventsMsg struct {
	events  []event.Event
	arrived time.Time
	closed  bool // the channel is closed
}

// Forward passes the session's events to send in batches until they end or ctx
// does. It waits for events, never for the screen, and blocks until done. [Run]
// calls it; a test that drives a [Model] calls Forward with its program's Send.
func Forward(ctx context.Context, events <-chan event.Event, send func(tea.Msg)) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		batch, open := collect(ctx, events, pause.C)
		if ctx.Err() != nil {
			return
		}
		if len(batch) > 0 || !open {
			send(eventsMsg{events: coalesce(batch), arrived: time.Now(), closed: !open})
		}
		if !open {
			return
		}
		pause.Reset(batchInterval)
	}
}

// collect waits for at least one event and for ready, then returns the events
// received. It reports whether more can follow.
func collect(ctx context.Context, events <-chan event.Event, ready <-chan time.Time) ([]event.Event, bool) {
	var batch []event.Event
	due := false
	for {
		if due && len(batch) > 0 {
			return drain(batch, events)
		}
		in := events
		if len(batch) >= batchSize {
			in = nil
		}
		select {
		case <-ctx.Done():
			return batch, true
		case <-ready:
			due = true
		case e, ok := <-in:
			if !ok {
				return batch, false
			}
			batch = append(batch, e)
		}
	}
}

// drain adds the events that are available without waiting.
func drain(batch []event.Event, events <-chan event.Event) ([]event.Event, bool) {
	for len(batch) < batchSize {
		select {
		case e, ok := <-events:
			if !ok {
				return batch, false
			}
			batch = append(batch, e)
		default:
			return batch, true
		}
	}
	return batch, true
}

// coalesce merges adjacent events that only stream text or progress of the same
// thing. The merged event keeps the number and time of the last.
func coalesce(events []event.Event) []event.Event {
	var out []event.Event
	for _, e := range events {
		if n := len(out); n > 0 && out[n-1].Run == e.Run {
			if data, ok := join(out[n-1].Data, e.Data); ok {
				out[n-1] = event.Event{Seq: e.Seq, Time: e.Time, Run: e.Run, Data: data}
				continue
			}
		}
		out = append(out, e)
	}
	return out
}

// join merges the data of two events if that loses nothing.
func join(a, b event.Data) (event.Data, bool) {
	switch b := b.(type) {
	case event.PhaseDelta:
		if a, ok := a.(event.PhaseDelta); ok && a.Phase == b.Phase {
			a.Text += b.Text
			a.Thinking += b.Thinking
			return a, true
		}
	case event.ReplanDelta:
		if a, ok := a.(event.ReplanDelta); ok {
			a.Text += b.Text
			a.Thinking += b.Thinking
			return a, true
		}
	case event.SynthesisDelta:
		if a, ok := a.(event.SynthesisDelta); ok {
			a.Text += b.Text
			a.Thinking += b.Thinking
			return a, true
		}
	case event.StepOutput:
		if a, ok := a.(event.StepOutput); ok && a.Index == b.Index {
			a.Chunk += b.Chunk
			return a, true
		}
	case event.StepProgress:
		if a, ok := a.(event.StepProgress); ok && a.Index == b.Index {
			return b, true
		}
	case session.PullProgress:
		if a, ok := a.(session.PullProgress); ok && a.Model == b.Model && !a.Ended {
			return b, true
		}
	case session.SideProgress:
		if a, ok := a.(session.SideProgress); ok && a.ID == b.ID && !a.Waits {
			return b, true
		}
	case session.Status:
		if _, ok := a.(session.Status); ok {
			return b, true
		}
	}
	return nil, false
}
