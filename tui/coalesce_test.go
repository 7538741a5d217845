package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/themes"
)

func TestCoalesceJoinsOnlyStreamedEvents(t *testing.T) {
	at := func(seq uint64, run string, d event.Data) event.Event {
		return event.Event{Seq: seq, Run: run, Data: d}
	}
	got := coalesce([]event.Event{
		at(1, "r", event.PhaseDelta{Phase: 1, Text: "a"}),
		at(2, "r", event.PhaseDelta{Phase: 1, Text: "b", Thinking: "t"}),
		at(3, "r", event.PhaseDelta{Phase: 2, Text: "c"}),
		at(4, "r", event.StepOutput{Index: "1", Chunk: "x"}),
		at(5, "r", event.StepOutput{Index: "2", Chunk: "y"}),
		at(6, "r", event.StepOutput{Index: "2", Chunk: "z"}),
		at(7, "r", event.StepProgress{Index: "2", Done: 1}),
		at(8, "r", event.StepProgress{Index: "2", Done: 2}),
		at(9, "r", event.Note{Text: "n"}),
		at(10, "r", event.Note{Text: "n"}),
		at(11, "r", event.SynthesisDelta{Text: "p"}),
		at(12, "q", event.SynthesisDelta{Text: "q"}),
		at(13, "q", event.SynthesisDelta{Text: "r"}),
	})
	want := []event.Event{
		at(2, "r", event.PhaseDelta{Phase: 1, Text: "ab", Thinking: "t"}),
		at(3, "r", event.PhaseDelta{Phase: 2, Text: "c"}),
		at(4, "r", event.StepOutput{Index: "1", Chunk: "x"}),
		at(6, "r", event.StepOutput{Index: "2", Chunk: "yz"}),
		at(8, "r", event.StepProgress{Index: "2", Done: 2}),
		at(9, "r", event.Note{Text: "n"}),
		at(10, "r", event.Note{Text: "n"}),
		at(11, "r", event.SynthesisDelta{Text: "p"}),
		at(13, "q", event.SynthesisDelta{Text: "qr"}),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestForwardDeliversAllEventsInOrder(t *testing.T) {
	events := make(chan event.Event)
	go func() {
		for i := range 10_000 {
			events <- event.Event{Seq: uint64(i + 1), Data: event.Note{}}
		}
		close(events)
	}()
	next, batches, closed := uint64(1), 0, false
	Forward(context.Background(), events, func(m tea.Msg) {
		b := m.(eventsMsg)
		batches++
		for _, e := range b.events {
			if e.Seq != next {
				t.Fatalf("got event %d, want %d", e.Seq, next)
			}
			next++
		}
		closed = b.closed
	})
	if next != 10_001 || !closed || batches >= 10_000 {
		t.Errorf("got %d events in %d batches, closed %v", next-1, batches, closed)
	}
}

func TestForwardStopsWhenContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	events := make(chan event.Event, 1)
	events <- event.Event{Data: event.Note{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Forward(ctx, events, func(tea.Msg) { cancel() })
	}()
	<-ended
}

// watched is an output that reports when a text has been written to it.
type watched struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	text  string
	found chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	if w.text != "" && strings.Contains(w.buf.String(), w.text) {
		w.text = ""
		close(w.found)
	}
	return len(p), nil
}

// silent is a session in which nothing happens by itself.
type silent struct {
	session.Queries
	events chan event.Event
}

func (s silent) Events() <-chan event.Event { return s.events }
func (silent) Send(session.Command)         {}
func (silent) Abilities() session.Abilities { return session.Abilities{} }

// running starts Run with an input and an output of its own.
func running(ctx context.Context, s Session, text string) (keys *io.PipeWriter, out *watched, ended chan error) {
	return runningWith(ctx, s, Options{Theme: themes.Dark, NoColor: true}, text)
}

// runningWith is running with options.
func runningWith(ctx context.Context, s Session, o Options, text string) (keys *io.PipeWriter, out *watched, ended chan error) {
	in, keys := io.Pipe()
	out = &watched{text: text, found: make(chan struct{})}
	ended = make(chan error, 1)
	go func() {
		ended <- Run(ctx, s, o, tea.WithInput(in), tea.WithOutput(out),
			tea.WithWindowSize(80, 24), tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithoutSignals())
	}()
	return keys, out, ended
}

func TestRunShowsEventsAndQuitsByKey(t *testing.T) {
	s := silent{Queries: runner.Closed(), events: make(chan event.Event, 1)}
	keys, out, ended := running(context.Background(), s, "hello")
	t.Cleanup(func() { _ = keys.Close() })
	s.events <- event.Event{Seq: 1, Time: time.Unix(0, 0), Run: "s", Data: event.Note{Level: "info", Text: "hello"}}
	<-out.found
	if _, err := keys.Write([]byte{3}); err != nil { // ctrl+c
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRunStopsWhenContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	keys, out, ended := running(ctx, silent{Queries: runner.Closed(), events: make(chan event.Event)}, "replan")
	t.Cleanup(func() { _ = keys.Close() })
	<-out.found
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRunContinuesAfterSessionCloses(t *testing.T) {
	s := silent{Queries: runner.Closed(), events: make(chan event.Event)}
	keys, out, ended := running(context.Background(), s, "closed")
	t.Cleanup(func() { _ = keys.Close() })
	close(s.events)
	<-out.found
	if _, err := keys.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRunAbandonsBusyScreenWhenContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	busy, released := make(chan struct{}), make(chan struct{})
	var keyed atomic.Bool
	now := func() time.Time {
		if keyed.CompareAndSwap(true, false) {
			close(busy)
			<-released
		}
		return time.Unix(0, 0)
	}
	keys, out, ended := runningWith(ctx, silent{Queries: runner.Closed(), events: make(chan event.Event)}, Options{Theme: themes.Dark, NoColor: true, Now: now}, "replan")
	t.Cleanup(func() { _ = keys.Close() })
	<-out.found
	keyed.Store(true)
	if _, err := keys.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	<-busy
	cancel()
	if err := <-ended; !errors.Is(err, ErrStuck) {
		t.Errorf("got error %v, want ErrStuck", err)
	}
	out.mu.Lock()
	shown := out.buf.String()
	out.mu.Unlock()
	if !strings.Contains(shown, "\x1b[?1049l") {
		t.Error("the terminal was not restored")
	}
	close(released)
}
