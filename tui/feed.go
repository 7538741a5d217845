package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
)

const (
	// feedTime is the shortest time between two batches of events: about one
	// drawn frame, because every message costs a View.
	feedTime = 30 * time.Millisecond
	// feedSize bounds a batch, so that a flood is still drawn as it comes.
	feedSize = 4096
)

// eventsMsg is a batch of events in their order, neighbours that only stream
// text folded into one.
type eventsMsg struct {
	events  []event.Event
	arrived time.Time
	closed  bool // no more will come
}

// Forward hands the session's events to send in batches until they end or ctx
// does. It waits for events, never for the screen, and returns when it is done;
// [Run] does this by itself, while a test that drives a [Model] calls Forward
// with its program's Send.
func Forward(ctx context.Context, events <-chan event.Event, send func(tea.Msg)) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		batch, open := collect(ctx, events, pause.C)
		if ctx.Err() != nil {
			return
		}
		if len(batch) > 0 || !open {
			send(eventsMsg{events: fold(batch), arrived: time.Now(), closed: !open})
		}
		if !open {
			return
		}
		pause.Reset(feedTime)
	}
}

// collect waits for at least one event and for ready, and returns what has come
// by then. It reports whether more can come.
func collect(ctx context.Context, events <-chan event.Event, ready <-chan time.Time) ([]event.Event, bool) {
	var batch []event.Event
	due := false
	for {
		if due && len(batch) > 0 {
			return drain(batch, events)
		}
		in := events
		if len(batch) >= feedSize {
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

// drain adds what can be had without waiting.
func drain(batch []event.Event, events <-chan event.Event) ([]event.Event, bool) {
	for len(batch) < feedSize {
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

// fold joins neighbouring events that only stream text or progress of the same
// thing. The joined event keeps the number and time of the last.
func fold(events []event.Event) []event.Event {
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

// join makes one of two events' data, where that loses nothing.
func join(a, b event.Data) (event.Data, bool) {
	switch b := b.(type) {
	case event.PhaseDelta:
		if a, ok := a.(event.PhaseDelta); ok && a.Phase == b.Phase {
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
	case session.Status:
		if _, ok := a.(session.Status); ok {
			return b, true
		}
	}
	return nil, false
}
