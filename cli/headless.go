package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"

	"github.com/muesli/cancelreader"

	"replan/agent"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/tui/plain"
	"replan/tui/untrusted"
)

// teller tells a run to somebody who reads lines.
type teller interface {
	Event(agent.Event) error
}

// runHeadless plans and runs one goal, told as lines or as JSON.
func (o *options) runHeadless(ctx context.Context, goal string) error {
	asks := o.asks() && o.approveText == ""
	if !asks && o.approve == policy.ApproveAsk {
		o.approve = policy.ApproveNone
	}
	w, err := o.open(ctx, asks)
	if err != nil {
		return err
	}
	for _, note := range w.notes {
		_, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", untrusted.Line(note))
	}
	err = o.tell(ctx, w, goal, asks)
	return errors.Join(err, wrap("end in order", w.close()))
}

// tell sends the goal and tells what comes of it until the answer is there.
func (o *options) tell(ctx context.Context, w *workshop, goal string, asks bool) error {
	text := &shared{out: o.io.Out}
	var out teller = plain.New(text, w.session.ID(), o.ascii)
	if o.output == outputJSON {
		out = &jsonLines{out: o.io.Out, notes: o.io.Err, session: w.session.ID()}
	}
	var ask *questions
	if asks {
		var err error
		if ask, err = newQuestions(o.io.In, text, w.session.Send); err != nil {
			return wrap("read standard input", err)
		}
		defer ask.close()
	}
	w.session.Send(runner.Submit{Text: goal})
	var written error
	for event := range w.session.Events() {
		if written == nil {
			// The reader may have gone away: then nothing can be told, and the
			// run is stopped rather than carried on unseen.
			if written = out.Event(event); written != nil {
				w.session.Send(runner.Stop{})
			}
		}
		if gate, ok := event.Data.(agent.GateRequested); ok && ask != nil {
			ask.put(event.Run, gate)
		}
		if reply, ok := event.Data.(agent.ChatReply); ok {
			return o.ended(reply, written)
		}
	}
	if ctx.Err() != nil {
		return &failure{exit: exitInterrupted, code: string(agent.ReasonInterrupted), err: errors.New("stopped before the run began")}
	}
	return wrap("run", errors.New("the session ended without an answer"))
}

// ended turns the end of a run into an error with its exit code.
func (o *options) ended(reply agent.ChatReply, written error) error {
	switch {
	case written != nil:
		return unwritten(written)
	case reply.Reason.ExitCode() == 0:
		return nil
	case reply.Run == "":
		return &failure{exit: reply.Reason.ExitCode(), code: string(reply.Reason), err: errors.New(reply.Text)}
	default:
		return &failure{exit: reply.Reason.ExitCode(), code: string(reply.Reason), err: errSaid}
	}
}

// unwritten says why a run was stopped that could not be told.
func unwritten(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		err = errors.New("nobody reads it any more, so the run was stopped")
	}
	return wrap("write to standard output", err)
}

// jsonLines writes the events of the runs, one a line. The session's own are for
// the screen, but for its notes.
type jsonLines struct {
	out     io.Writer
	notes   io.Writer
	session string
}

// Event writes one event.
func (j *jsonLines) Event(e agent.Event) error {
	if e.Run == j.session {
		if note, ok := e.Data.(agent.Note); ok {
			_, _ = fmt.Fprintf(j.notes, "replan: %s\n", untrusted.Line(note.Text))
		}
		return nil
	}
	line, err := e.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = j.out.Write(append(line, '\n'))
	return err
}

// shared is a writer that the line log and the questions write to at once.
type shared struct {
	mu  sync.Mutex
	out io.Writer
}

// Write writes p in one piece.
func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

// questions asks about gates on standard input, one after another.
type questions struct {
	out   io.Writer
	input cancelreader.CancelReader
	send  func(runner.Command)
	open  chan question
	ended chan struct{} // closed when nobody is to be asked any more
	gone  chan struct{}
}

// question is a gate whose turn to be asked about will come.
type question struct{ run, gate, what string }

// newQuestions starts to read answers from in and to send them.
func newQuestions(in io.Reader, out io.Writer, send func(runner.Command)) (*questions, error) {
	input, err := cancelreader.NewReader(in)
	if err != nil {
		return nil, err
	}
	q := &questions{
		out: out, input: input, send: send,
		open: make(chan question, 64), ended: make(chan struct{}), gone: make(chan struct{}),
	}
	go q.listen()
	return q, nil
}

// put asks about one gate, which the line log has shown already, once those
// before it are answered.
func (q *questions) put(run string, g agent.GateRequested) {
	what := strings.TrimSpace(untrusted.Line(g.Step) + " " + untrusted.Line(g.Tool))
	q.open <- question{run, g.Gate, what}
}

// listen asks each question and takes the next line as its answer; the end of
// input denies.
func (q *questions) listen() {
	defer close(q.gone)
	lines := bufio.NewScanner(q.input)
	for ask := range q.open {
		select {
		case <-q.ended:
			return
		default:
		}
		_, _ = fmt.Fprintf(q.out, "  open this gate? (%s) [y]es once, [r] for this run, [n]o: ", ask.what)
		answer := runner.Resolve{Run: ask.run, Gate: ask.gate, Decision: agent.Deny, Scope: agent.ScopeOnce}
		if lines.Scan() {
			switch strings.ToLower(strings.TrimSpace(lines.Text())) {
			case "y", "yes":
				answer.Decision = agent.Allow
			case "r", "run":
				answer.Decision, answer.Scope = agent.Allow, agent.ScopeRun
			}
		}
		q.send(answer)
	}
}

func (q *questions) close() {
	close(q.ended)
	close(q.open)
	q.input.Cancel()
	<-q.gone
}
