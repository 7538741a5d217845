package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/muesli/cancelreader"

	"replan/agent"
	"replan/agent/runner"
	"replan/planning"
	"replan/tui/untrusted"
)

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

// questions asks about gates, steps in doubt and failed steps on standard input,
// one after another.
type questions struct {
	out   io.Writer
	input cancelreader.CancelReader
	send  func(runner.Command)
	open  chan question
	ended chan struct{} // closed when nobody is to be asked any more
	gone  chan struct{}

	gates bool              // gates are asked about
	run   *agent.Run        // folded, to know which of its steps wait for a word
	past  uint64            // the last event of that run that is only told again
	asked map[string]bool   // its gates and steps that were asked about and still wait
	told  map[string]uint64 // by run: what is past
}

// question is something to be asked about when its turn comes.
type question struct {
	prompt string
	// answer is the command that a line means; "" stands for the end of input too.
	answer func(line string) runner.Command
}

// newQuestions starts to read answers from in and to send them.
func newQuestions(in io.Reader, out io.Writer, send func(runner.Command)) (*questions, error) {
	input, err := cancelreader.NewReader(in)
	if err != nil {
		return nil, err
	}
	q := &questions{
		out: out, input: input, send: send,
		open: make(chan question, 64), ended: make(chan struct{}), gone: make(chan struct{}),
		asked: map[string]bool{}, told: map[string]uint64{},
	}
	go q.listen()
	return q, nil
}

// hear takes an event of the session and asks about what waits for a word since:
// the gates and the steps of a run as it stands now, since what is told again of
// a run that is resumed was answered, or is still open.
func (q *questions) hear(e agent.Event) {
	switch d := e.Data.(type) {
	case agent.SessionResuming:
		q.told[d.Run] = d.Upto
		return
	case agent.RunStarted:
		q.run, q.past = &agent.Run{}, q.told[e.Run]
		clear(q.asked)
	case agent.GateRequested:
		if q.run == nil || e.Run != q.run.ID {
			q.put(e.Run, d) // the session's own
			return
		}
	}
	// What cannot be folded has been told to be so by whoever tells the run.
	if q.run == nil || e.Run != q.run.ID && q.run.ID != "" || q.run.Apply(e) != nil || e.Seq <= q.past {
		return
	}
	waiting := map[string]bool{}
	if q.gates {
		for _, g := range q.run.Gates {
			if id := "gate " + g.Gate; !q.asked[id] {
				q.put(e.Run, g.GateRequested)
			}
			waiting["gate "+g.Gate] = true
		}
	}
	for _, w := range q.run.Questions() {
		if id := "step " + w.Step; !q.asked[id] {
			q.open <- stepQuestion(e.Run, w)
		}
		waiting["step "+w.Step] = true
	}
	q.asked = waiting
}

// put asks about one gate, which the line log has shown already, once those
// before it are answered.
func (q *questions) put(run string, g agent.GateRequested) {
	what := strings.TrimSpace(untrusted.Line(g.Step) + " " + untrusted.Line(g.Tool))
	q.open <- question{
		fmt.Sprintf("  open this gate? (%s) [y]es once, [r] for this run, [n]o: ", what),
		func(line string) runner.Command {
			answer := runner.Resolve{Run: run, Gate: g.Gate, Decision: agent.Deny, Scope: agent.ScopeOnce}
			switch line {
			case "y", "yes":
				answer.Decision = agent.Allow
			case "r", "run":
				answer.Decision, answer.Scope = agent.Allow, agent.ScopeRun
			}
			return answer
		},
	}
}

// stepQuestion asks what becomes of a step that is in doubt or failed.
func stepQuestion(run string, w agent.Question) question {
	what := untrusted.Line(strings.TrimSpace(w.Step + " " + first(w.Tool, w.Title)))
	if w.Doubt {
		return question{
			fmt.Sprintf("  %s is in doubt: %s; [d]one, it took effect, [r]un it again, [a]bort: ", what, untrusted.Line(w.Reason)),
			func(line string) runner.Command {
				answer := runner.Settle{Run: run, Step: w.Step, Decision: agent.DoubtAbort}
				switch line {
				case "d", "done":
					answer.Decision = agent.DoubtDone
				case "r", "rerun":
					answer.Decision = agent.DoubtRerun
				}
				return answer
			},
		}
	}
	replan := ""
	if w.Replan {
		replan = "re[p]lan, "
	}
	return question{
		fmt.Sprintf("  %s failed: [r]etry, [s]kip it, %s[a]bort: ", what, replan),
		func(line string) runner.Command {
			answer := runner.Decide{Run: run, Step: w.Step, Decision: agent.FailureAbort}
			switch line {
			case "r", "retry":
				answer.Decision = agent.FailureRetry
			case "s", "skip":
				answer.Decision = agent.FailureSkip
			case "p", "replan":
				if w.Replan {
					answer.Decision = agent.FailureReplan
				}
			}
			return answer
		},
	}
}

// listen asks each question and takes the next line as its answer; the end of
// input is the careful one.
func (q *questions) listen() {
	defer close(q.gone)
	lines := bufio.NewScanner(q.input)
	for ask := range q.open {
		select {
		case <-q.ended:
			return
		default:
		}
		_, _ = io.WriteString(q.out, ask.prompt)
		var line string
		if lines.Scan() {
			line = strings.ToLower(strings.TrimSpace(lines.Text()))
		}
		q.send(ask.answer(line))
	}
}

func (q *questions) close() {
	close(q.ended)
	close(q.open)
	q.input.Cancel()
	<-q.gone
}

// askForServers asks whether the servers that the project names may start, where
// that is to be known before the session starts.
func (o *options) askForServers(ctx context.Context, w *workshop) error {
	pending := w.tools.Pending()
	if len(pending) == 0 {
		return nil
	}
	for _, p := range pending {
		if err := o.print(untrusted.Line(fmt.Sprintf("  %s: %s", p.Name, planning.CanonicalJSON(p.Whole()))) + "\n"); err != nil {
			return err
		}
	}
	if err := o.print("start the tool servers that this project names? a yes is remembered until they change [y]es, [n]o: "); err != nil {
		return err
	}
	line, err := readLine(ctx, o.io.In)
	if err != nil {
		return err
	}
	return wrap("remember the answer", w.tools.Answer(ctx, line == "y" || line == "yes"))
}

// readLine reads one line and not a byte more, since others read on. The end of
// input is an empty line.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	input, err := cancelreader.NewReader(in)
	if err != nil {
		return "", wrap("read standard input", err)
	}
	defer context.AfterFunc(ctx, func() { input.Cancel() })()
	var line []byte
	for b := make([]byte, 1); ; {
		n, err := input.Read(b)
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case n == 1 && b[0] != '\n':
			line = append(line, b[0])
		case n == 1 || err != nil:
			return strings.ToLower(strings.TrimSpace(string(line))), nil
		}
	}
}
