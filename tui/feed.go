package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
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
	events  []agent.Event
	arrived time.Time
	closed  bool // no more will come
}

// Forward hands the session's events to send in batches until they end or ctx
// does. It waits for events, never for the screen, and returns when it is done;
// [Run] does this by itself, while a test that drives a [Model] calls Forward
// with its program's Send.
func Forward(ctx context.Context, events <-chan agent.Event, send func(tea.Msg)) {
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
func collect(ctx context.Context, events <-chan agent.Event, ready <-chan time.Time) ([]agent.Event, bool) {
	var batch []agent.Event
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
func drain(batch []agent.Event, events <-chan agent.Event) ([]agent.Event, bool) {
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
func fold(events []agent.Event) []agent.Event {
	var out []agent.Event
	for _, e := range events {
		if n := len(out); n > 0 && out[n-1].Run == e.Run {
			if data, ok := join(out[n-1].Data, e.Data); ok {
				out[n-1] = agent.Event{Seq: e.Seq, Time: e.Time, Run: e.Run, Data: data}
				continue
			}
		}
		out = append(out, e)
	}
	return out
}

// join makes one of two events' data, where that loses nothing.
func join(a, b agent.Data) (agent.Data, bool) {
	switch b := b.(type) {
	case agent.PhaseDelta:
		if a, ok := a.(agent.PhaseDelta); ok && a.Phase == b.Phase {
			a.Text += b.Text
			a.Thinking += b.Thinking
			return a, true
		}
	case agent.SynthesisDelta:
		if a, ok := a.(agent.SynthesisDelta); ok {
			a.Text += b.Text
			a.Thinking += b.Thinking
			return a, true
		}
	case agent.StepOutput:
		if a, ok := a.(agent.StepOutput); ok && a.Index == b.Index {
			a.Chunk += b.Chunk
			return a, true
		}
	case agent.StepProgress:
		if a, ok := a.(agent.StepProgress); ok && a.Index == b.Index {
			return b, true
		}
	case session.Status:
		if _, ok := a.(session.Status); ok {
			return b, true
		}
	}
	return nil, false
}
