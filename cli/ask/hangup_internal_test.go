//go:build unix

package ask

import (
	"errors"
	"testing"

	"github.com/creack/pty"

	"replan/agent/event"
	"replan/agent/session"
)

func TestQuestionThatSomebodyElseAnsweredIsTakenAway(t *testing.T) {
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(screen.Close(), tty.Close()) }()
	input, err := NewInput(tty, 0)
	if err != nil {
		t.Fatal(err)
	}
	a := &asker{t: t, output: make(chan string, 100), sent: make(chan session.Command, 100)}
	a.q = New(input, NewOutput(a, nil), func(c session.Command) { a.sent <- c }, Options{Gates: true})
	defer a.q.Close()
	a.q.put(gateOf("first", "1", "fs.patch"))
	a.q.put(gateOf("second", "2", "fs.write"))
	a.wantOutput("  Allow fs.patch in step 1?" + choice)
	a.q.decided("r", "first")
	a.wantOutput(eraseLine)
	a.wantOutput("  Allow fs.write in step 2?" + choice)
	if _, err := screen.WriteString("y"); err != nil {
		t.Fatal(err)
	}
	a.wantSent(session.Resolve{Run: "r", Gate: "second", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestClosedTerminalAnswersNothing(t *testing.T) {
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	input, err := NewInput(tty, 0)
	if err != nil {
		t.Fatal(err)
	}
	a := &asker{t: t, output: make(chan string, 100), sent: make(chan session.Command, 100)}
	t.Cleanup(func() { a.q.Close() })
	a.q = New(input, NewOutput(a, nil), func(c session.Command) { a.sent <- c }, Options{Gates: true})
	a.q.put(gateOf("g", "1", "fs.patch"))
	a.wantOutput("  Allow fs.patch in step 1?" + choice)
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case c := <-a.sent:
		t.Errorf("it answered with %+v", c)
	case <-a.q.ended:
	}
}
