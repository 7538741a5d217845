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

	"replan/agent"
	"replan/agent/runner"
	"replan/themes"
)

func TestOnlyWhatStreamsIsJoined(t *testing.T) {
	event := func(seq uint64, run string, d agent.Data) agent.Event {
		return agent.Event{Seq: seq, Run: run, Data: d}
	}
	got := fold([]agent.Event{
		event(1, "r", agent.PhaseDelta{Phase: 1, Text: "a"}),
		event(2, "r", agent.PhaseDelta{Phase: 1, Text: "b", Thinking: "t"}),
		event(3, "r", agent.PhaseDelta{Phase: 2, Text: "c"}),
		event(4, "r", agent.StepOutput{Index: "1", Chunk: "x"}),
		event(5, "r", agent.StepOutput{Index: "2", Chunk: "y"}),
		event(6, "r", agent.StepOutput{Index: "2", Chunk: "z"}),
		event(7, "r", agent.StepProgress{Index: "2", Done: 1}),
		event(8, "r", agent.StepProgress{Index: "2", Done: 2}),
		event(9, "r", agent.Note{Text: "n"}),
		event(10, "r", agent.Note{Text: "n"}),
		event(11, "r", agent.SynthesisDelta{Text: "p"}),
		event(12, "q", agent.SynthesisDelta{Text: "q"}),
		event(13, "q", agent.SynthesisDelta{Text: "r"}),
	})
	want := []agent.Event{
		event(2, "r", agent.PhaseDelta{Phase: 1, Text: "ab", Thinking: "t"}),
		event(3, "r", agent.PhaseDelta{Phase: 2, Text: "c"}),
		event(4, "r", agent.StepOutput{Index: "1", Chunk: "x"}),
		event(6, "r", agent.StepOutput{Index: "2", Chunk: "yz"}),
		event(8, "r", agent.StepProgress{Index: "2", Done: 2}),
		event(9, "r", agent.Note{Text: "n"}),
		event(10, "r", agent.Note{Text: "n"}),
		event(11, "r", agent.SynthesisDelta{Text: "p"}),
		event(13, "q", agent.SynthesisDelta{Text: "qr"}),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestForwardHandsOverEveryEventInOrderAndEndsWithTheSession(t *testing.T) {
	events := make(chan agent.Event)
	go func() {
		for i := range 10_000 {
			events <- agent.Event{Seq: uint64(i + 1), Data: agent.Note{}}
		}
		close(events)
	}()
	next, batches, closed := uint64(1), 0, false
	Forward(context.Background(), events, func(m tea.Msg) {
		b := m.(eventsMsg)
		batches++
		for _, e := range b.events {
			if e.Seq != next {
				t.Fatalf("event %d comes where %d should", e.Seq, next)
			}
			next++
		}
		closed = b.closed
	})
	if next != 10_001 || !closed || batches >= 10_000 {
		t.Errorf("%d events in %d batches, closed %v", next-1, batches, closed)
	}
}

func TestForwardEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	events := make(chan agent.Event, 1)
	events <- agent.Event{Data: agent.Note{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Forward(ctx, events, func(tea.Msg) { cancel() })
	}()
	<-ended
}

// watched is an output that says when a text has been written to it.
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
	runner.Unanswered
	events chan agent.Event
}

func (s silent) Events() <-chan agent.Event { return s.events }
func (silent) Send(runner.Command)          {}

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

func TestRunShowsEventsAndEndsByKey(t *testing.T) {
	s := silent{events: make(chan agent.Event, 1)}
	keys, out, ended := running(context.Background(), s, "hello")
	t.Cleanup(func() { _ = keys.Close() })
	s.events <- agent.Event{Seq: 1, Time: time.Unix(0, 0), Run: "s", Data: agent.Note{Level: "info", Text: "hello"}}
	<-out.found
	if _, err := keys.Write([]byte{3}); err != nil { // ctrl+c
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	keys, out, ended := running(ctx, silent{events: make(chan agent.Event)}, "replan")
	t.Cleanup(func() { _ = keys.Close() })
	<-out.found
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRunOutlivesASessionThatCloses(t *testing.T) {
	s := silent{events: make(chan agent.Event)}
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

func TestRunLeavesAScreenThatIsBusyWhenItsContextEnds(t *testing.T) {
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
	keys, out, ended := runningWith(ctx, silent{events: make(chan agent.Event)}, Options{Theme: themes.Dark, NoColor: true, Now: now}, "replan")
	t.Cleanup(func() { _ = keys.Close() })
	<-out.found
	keyed.Store(true)
	if _, err := keys.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	<-busy
	cancel()
	if err := <-ended; !errors.Is(err, ErrStuck) {
		t.Errorf("it ends with %v", err)
	}
	out.mu.Lock()
	shown := out.buf.String()
	out.mu.Unlock()
	if !strings.Contains(shown, "\x1b[?1049l") {
		t.Error("the terminal was not given back")
	}
	close(released)
}
