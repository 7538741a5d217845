package ask

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/plain"
)

// Output is a writer that the line log and the questions write to at once. What
// is written while a question is open stands on lines of its own, and the
// question is put again below it.
type Output struct {
	mu     sync.Mutex
	out    io.Writer
	prompt string // of the question that is open; "" where none is
	shown  bool   // the prompt is the last that was written
}

// Write writes p in one piece.
func (s *Output) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown {
		s.shown = false
		if _, err := io.WriteString(s.out, "\n"); err != nil {
			return 0, err
		}
	}
	n, err := s.out.Write(p)
	if err == nil && s.prompt != "" && strings.HasSuffix(string(p), "\n") {
		_, err = io.WriteString(s.out, s.prompt)
		s.shown = true
	}
	return n, err
}

// NewOutput returns the writer through which the log and the questions write to
// out.
func NewOutput(out io.Writer) *Output { return &Output{out: out} }

// ask puts a question, which is open until answered, and reports that it did.
func (s *Output) ask(prompt string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.out, prompt)
	s.prompt, s.shown = prompt, true
	return true
}

// answered says that the question is open no more. Where nobody ended its line
// by pressing enter, that is done for them.
func (s *Output) answered(entered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown && !entered {
		_, _ = io.WriteString(s.out, "\n")
	}
	s.prompt, s.shown = "", false
}

// Questions asks about held plans, gates, steps in doubt and failed steps on standard input,
// one after another.
type Questions struct {
	out   *Output
	input *Input
	send  func(runner.Command)
	open  chan question
	gone  chan struct{}

	options Options
	runs    map[string]*agent.Run // folded, to know which of their steps wait for a word; a run that plan tools start is one beside its own
	told    map[string]uint64     // by run: the last event that is only told again

	mu    sync.Mutex
	asked map[string]uint64 // the number of the question about each gate and step that waits for an answer
	count uint64            // of the questions
}

// question is something to be asked about when its turn comes.
type question struct {
	id     string // of the gate or the step
	number uint64 // which question it is
	prompt string
	help   []string // the answers in words, one a line
	// answer is what a line means; nothing at all where it is none of the answers.
	answer func(line string) answer
	// careful is the command where the input has ended.
	careful runner.Command
}

// answer is what a line comes to.
type answer struct {
	send runner.Command
	then *question // asked next about the same; nil for nothing
	tell string    // before the question is asked again
}

// understand is what a line means, or why it means nothing.
func (q *question) understand(line string) answer {
	if len(q.help) > 0 && (line == "?" || strings.EqualFold(line, "help")) {
		return answer{tell: "    " + strings.Join(q.help, "\n    ") + "\n"}
	}
	said := q.answer(line)
	if said.send == nil && said.then == nil && said.tell == "" && line != "" && len(q.help) > 0 {
		const most = 40 // runes
		said.tell = "  " + plain.OneLine(line, most) + " is no answer here; ? explains them\n"
	}
	return said
}

// Options say what is asked about, and how it is shown.
type Options struct {
	Gates bool // gates are asked about
	ASCII bool // plans are drawn with ASCII alone
}

// New starts to ask, and to send the answers. Close it.
func New(input *Input, out *Output, send func(runner.Command), options Options) *Questions {
	q := &Questions{
		options: options, out: out, input: input, send: send,
		open: make(chan question, 64), gone: make(chan struct{}),
		asked: map[string]uint64{}, runs: map[string]*agent.Run{}, told: map[string]uint64{},
	}
	go q.listen()
	return q
}

// Hear takes an event of the session and asks about what waits for a word since:
// the gates and the steps of a run as it stands now, since what is told again of
// a run that is resumed was answered, or is still open.
func (q *Questions) Hear(e event.Event) {
	switch d := e.Data.(type) {
	case session.Resuming:
		q.told[d.Run] = d.Upto
		return
	case event.RunStarted:
		q.runs[e.Run] = &agent.Run{}
		q.keep(e.Run, nil)
	case event.GateRequested:
		if q.runs[e.Run] == nil {
			q.put(gateQuestion(e.Run, d, nil)) // the session's own
			return
		}
	case event.GateResolved:
		q.decided(e.Run, d.Gate)
	}
	run := q.runs[e.Run]
	// What cannot be folded has been told to be so by whoever tells the run.
	if run == nil || run.Apply(e) != nil || e.Seq <= q.told[e.Run] {
		return
	}
	if run.Result != nil { // nothing of it waits any more; a resume begins anew
		delete(q.runs, e.Run)
	}
	var waiting []question
	if q.options.Gates {
		for _, g := range run.Gates {
			waiting = append(waiting, gateQuestion(e.Run, g.GateRequested, run.EditCheck(g.Gate)))
		}
	}
	if v := run.Review(); v != nil {
		waiting = append(waiting, reviewQuestion(v, q.options.ASCII))
	}
	for _, w := range run.Questions() {
		waiting = append(waiting, stepQuestion(e.Run, w))
	}
	q.keep(e.Run, waiting)
	for _, w := range waiting {
		q.put(w)
	}
}

// keep forgets what was asked about a run and waits no more.
func (q *Questions) keep(run string, waiting []question) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id := range q.asked {
		if of, _, _ := strings.Cut(id, " "); of == run && !slices.ContainsFunc(waiting, func(w question) bool { return w.id == id }) {
			delete(q.asked, id)
		}
	}
}

// decided forgets a gate.
func (q *Questions) decided(run, gate string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.asked, gateID(run, gate))
}

// waits reports whether a question still waits for an answer.
func (q *Questions) waits(ask question) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.asked[ask.id] == ask.number
}

// put asks a question, once, when those before it are answered.
func (q *Questions) put(ask question) {
	q.mu.Lock()
	_, again := q.asked[ask.id]
	if !again {
		q.count++
		ask.number = q.count
		q.asked[ask.id] = q.count
	}
	q.mu.Unlock()
	if !again {
		q.open <- ask
	}
}

// gateID and stepID name what is asked about; both begin with the run.
func gateID(run, gate string) string { return run + " gate " + gate }
func stepID(run, step string) string { return run + " step " + step }

// stepQuestion asks what becomes of a step that is in doubt or failed.
func stepQuestion(run string, w agent.Question) question {
	what := untrusted.Line(strings.TrimSpace(w.Step + " " + cmp.Or(w.Tool, w.Title)))
	if w.Doubt {
		settle := func(d event.DoubtDecision) runner.Command {
			return runner.Settle{Run: run, Step: w.Step, Decision: d}
		}
		return question{
			id:     stepID(run, w.Step),
			prompt: fmt.Sprintf("  %s is in doubt: %s; [d]one, it took effect, [r]un it again, [a]bort, [?]: ", what, untrusted.Line(w.Reason)),
			help: []string{
				"d, done: it took effect, and the run goes on after it",
				"r, rerun: it is run again",
				"a, abort: it stays in doubt, and the run ends; so does the end of the input",
			},
			answer: oneOf(map[string]runner.Command{
				"d done": settle(event.DoubtDone), "r rerun": settle(event.DoubtRerun), "a abort": settle(event.DoubtAbort),
			}),
			careful: settle(event.DoubtAbort),
		}
	}
	decide := func(d event.FailureDecision) runner.Command {
		return runner.Decide{Run: run, Step: w.Step, Decision: d}
	}
	answers := map[string]runner.Command{
		"r retry": decide(event.FailureRetry), "s skip": decide(event.FailureSkip), "a abort": decide(event.FailureAbort),
	}
	replan := ""
	help := []string{"r, retry: it is tried again", "s, skip: it is left out, with the steps that need it"}
	if w.Replan {
		replan = "re[p]lan, "
		help = append(help, "p, replan: a new plan replaces it and what is left")
		answers["p replan"] = decide(event.FailureReplan)
	}
	return question{
		id:      stepID(run, w.Step),
		prompt:  fmt.Sprintf("  %s failed: [r]etry, [s]kip it, %s[a]bort, [?]: ", what, replan),
		help:    append(help, "a, abort: the run ends; so does the end of the input"),
		answer:  oneOf(answers),
		careful: decide(event.FailureAbort),
	}
}

// listen asks each question that still waits, until a line is one of its
// answers; the end of input is the careful one.
func (q *Questions) listen() {
	defer close(q.gone)
	for asked := range q.open {
		for ask := &asked; q.waits(asked); {
			if q.input.over() {
				return
			}
			line, more := q.input.ask(func() bool { return q.waits(asked) && q.out.ask(ask.prompt) })
			q.out.answered(more)
			if q.input.over() {
				return
			}
			said := answer{send: ask.careful}
			if more {
				said = ask.understand(strings.TrimSpace(line))
			}
			// What was decided while it was typed is answered no more.
			if said.send != nil && q.waits(asked) {
				q.send(said.send)
				break
			}
			if said.tell != "" {
				_, _ = io.WriteString(q.out, said.tell)
			}
			if said.then != nil {
				ask = said.then
			}
		}
	}
}

// Close puts no question any more, and waits until none is open.
func (q *Questions) Close() {
	close(q.open)
	q.input.cancel()
	<-q.gone
}
