package tui

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
)

// angry is a session that panics on every command.
type angry struct{ silent }

func (angry) Send(session.Command) { panic("sent") }

func TestScreenPanicKeepsItsStack(t *testing.T) {
	var armed atomic.Bool
	now := func() time.Time {
		if armed.Load() {
			panic("asked for the time")
		}
		return time.Unix(0, 0)
	}
	for name, c := range map[string]struct {
		session Session
		options Options
		keys    string
		where   string // in the stack
	}{
		"in Update":    {session: silent{Queries: runner.Closed(), events: make(chan event.Event)}, options: Options{Now: now}, keys: "x", where: "Update"},
		"in a command": {session: angry{silent{Queries: runner.Closed(), events: make(chan event.Event)}}, keys: "g", where: "Send"},
		"on resize":    {session: silent{Queries: runner.Closed(), events: make(chan event.Event)}, options: Options{Drawn: func() { panic("drawn") }}, where: "resize"},
		"in View":      {session: silent{Queries: runner.Closed(), events: make(chan event.Event)}, options: Options{Intro: "x"}, keys: "\x00", where: "View"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.where == "View" {
				m := New(c.session, c.options)
				m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
				m.view.chat = nil
				g := newPanicKeeper(m)
				func() {
					defer func() { _ = recover() }()
					g.View()
				}()
				held(t, g.caught.Load(), c.where)
				return
			}
			armed.Store(false)
			out, err := ran(c.session, c.options, func() string { armed.Store(true); return c.keys })
			var p *Panic
			if !errors.As(err, &p) {
				t.Fatalf("got error %v, want a Panic", err)
			}
			held(t, p, c.where)
			if strings.LastIndex(out, "\x1b[?1049h") > strings.LastIndex(out, "\x1b[?1049l") {
				t.Error("the alternate screen is left on")
			}
		})
	}
}

// held checks that a panic was kept with its place.
func held(t *testing.T, p *Panic, where string) {
	t.Helper()
	if p == nil || p.Value == nil || !strings.Contains(string(p.Stack), where) {
		t.Fatalf("kept %+v", p)
	}
}

// ran runs the screen to its end, typing keys as soon as it is drawn.
func ran(s Session, o Options, keys func() string) (string, error) {
	o.Theme, o.NoColor = "dark", true
	in, written, over := runningWith(context.Background(), s, o, "replan")
	typed, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(typed)
		select {
		case <-written.found:
			_, _ = in.Write([]byte(keys())) // fails if the program has ended
		case <-gone:
		}
	}()
	err := <-over
	close(gone)
	_ = in.Close()
	<-typed
	written.mu.Lock()
	defer written.mu.Unlock()
	return written.buf.String(), err
}
