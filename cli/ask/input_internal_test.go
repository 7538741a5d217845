package ask

import (
	"io"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/session"

	"github.com/muesli/cancelreader"
)

// keyboard is the input of a terminal: it keeps typed lines until they are read
// or dropped.
type keyboard struct {
	lines chan string
}

// Read delivers one line, as a terminal does.
func (k keyboard) Read(p []byte) (int, error) {
	line, ok := <-k.lines
	if !ok {
		return 0, io.EOF
	}
	return copy(p, line), nil
}

func (k keyboard) waits() bool { return len(k.lines) > 0 }

func (k keyboard) drop() {
	for k.waits() {
		<-k.lines
	}
}

// newTypist returns an asker that reads from a keyboard. pauses receives each
// pause as it begins; a send on over ends it.
func newTypist(t *testing.T) (a *asker, typed keyboard, pauses <-chan struct{}, over chan<- time.Time) {
	t.Helper()
	typed = keyboard{make(chan string, 10)}
	input, err := NewInput(typed, QuietTime)
	if err != nil {
		t.Fatal(err)
	}
	begun, quiet := make(chan struct{}), make(chan time.Time)
	input.ahead = typed
	input.quiet = func() <-chan time.Time {
		begun <- struct{}{}
		return quiet
	}
	a = &asker{t: t, output: make(chan string, 100), sent: make(chan session.Command, 100)}
	a.q = New(input, NewOutput(a, nil), func(c session.Command) { a.sent <- c }, Options{Gates: true})
	return a, typed, begun, quiet
}

func TestInputTypedAheadDoesNotAnswerQuestions(t *testing.T) {
	a, typed, pauses, over := newTypist(t)
	t.Cleanup(func() {
		close(typed.lines)
		a.q.Close()
	})

	typed.lines <- "y\n"
	a.q.put(gateOf("first", "1", "fs.patch"))
	a.q.put(gateOf("second", "2", "test.run"))
	for _, step := range []string{"fs.patch in step 1", "test.run in step 2"} {
		// Typing during a pause starts another pause.
		<-pauses
		if typed.waits() {
			t.Error("input typed before the pause is still there")
		}
		typed.lines <- "y\n"
		over <- time.Time{}
		<-pauses
		over <- time.Time{}
		a.wantOutput("  Allow " + step + "?" + choice)
		typed.lines <- "n\n"
		typed.lines <- "y\n" // typed ahead of the next question
		gate := map[string]string{"fs.patch in step 1": "first", "test.run in step 2": "second"}[step]
		a.wantSent(session.Resolve{Run: "r", Gate: gate, Decision: event.Deny, Scope: event.ScopeOnce})
	}
}

func TestQuestionDecidedDuringPauseIsNotAsked(t *testing.T) {
	a, typed, pauses, over := newTypist(t)
	a.q.put(gateOf("g", "1", "fs.patch"))
	<-pauses
	a.q.decided("r", "g")
	over <- time.Time{}
	close(typed.lines)
	a.q.Close()
	select {
	case output := <-a.output:
		t.Errorf("got output %q, want none", output)
	default:
	}
}

// pieces is a terminal whose input arrives in the given pieces.
type pieces struct {
	cancelreader.CancelReader
	left []string
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.left[0])
	p.left = p.left[1:]
	return n, nil
}

func TestOnlySingleKeyAnswersAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		typed    []string
		key      string
		answered bool
	}{
		"a key":                   {[]string{"y"}, "y", true},
		"a key with enter":        {[]string{"y\n"}, "y", true},
		"a line in one piece":     {[]string{"yes\n"}, "yes", true},
		"enter":                   {[]string{"\n"}, "", true},
		"arrows are no answer":    {[]string{"\x1b[A", "n"}, "n", true},
		"a paste is no answer":    {[]string{"y\ny\n", "n"}, "n", true},
		"ctrl+d ends the input":   {[]string{"\x04", "y"}, "", false},
		"the end of the terminal": {nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := (&Input{input: &pieces{left: c.typed}}).key()
			if key != c.key || (err == nil) != c.answered {
				t.Errorf("got %q, %v; want %q, %v", key, err, c.key, c.answered)
			}
		})
	}
}

func TestLiveLineStaysLastAndMakesWayForQuestions(t *testing.T) {
	var b strings.Builder
	out := NewOutput(&b, nil)
	write := func(text string) {
		if n, err := io.WriteString(out, text); err != nil || n != len(text) {
			t.Fatalf("got %d, %v", n, err)
		}
	}
	out.Live("* step 1")
	write("done\n")
	out.ask("open? ")
	out.Live("* step 2")
	out.echo("y")
	out.answered(false)
	out.Live("* step 2")
	out.Live("")
	const erase = "\r\x1b[2K"
	want := erase + "* step 1" + erase + "done\n* step 1" + erase + "open? y\n" + erase + "* step 2" + erase
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestEndedLiveLineStaysAway(t *testing.T) {
	var b strings.Builder
	out := NewOutput(&b, nil)
	out.Live("* step 1")
	out.EndLive()
	out.Live("* step 2")
	out.EndLive()
	const erase = "\r\x1b[2K"
	if want := erase + "* step 1" + erase; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
