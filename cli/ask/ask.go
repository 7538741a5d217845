package ask

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/wording"
)

// Output is a writer shared by the line log, the questions and the live line. Text
// written while a question is open gets its own lines, and the question is repeated
// below. The live line stays the last one, until a question takes its place.
type Output struct {
	mu     sync.Mutex
	out    io.Writer
	styles *draw.Styles // nil without a terminal
	prompt string       // of the open question; "" if there is none
	shown  bool         // nothing was written after the prompt
	live   string       // drawn now; "" if there is none
	ended  bool         // there is no live line any more
}

// Write writes p without interleaving.
func (s *Output) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown {
		s.shown = false
		if _, err := io.WriteString(s.out, "\n"); err != nil {
			return 0, err
		}
	}
	if s.live != "" {
		_, err := io.WriteString(s.out, eraseLine+string(p)+s.live)
		return len(p), err
	}
	n, err := s.out.Write(p)
	if err == nil && s.prompt != "" && strings.HasSuffix(string(p), "\n") {
		_, err = io.WriteString(s.out, s.prompt)
		s.shown = true
	}
	return n, err
}

// NewOutput returns a shared writer to out. look is nil without a terminal.
func NewOutput(out io.Writer, styles *draw.Styles) *Output { return &Output{out: out, styles: styles} }

// eraseLine clears the line of the cursor and returns to its beginning.
const eraseLine = "\r" + ansi.EraseEntireLine

// Live draws the live line, which replaces the previous one; "" removes it. While a
// question is open there is none.
func (s *Output) Live(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawLive(line)
}

func (s *Output) drawLive(line string) {
	if s.prompt != "" || s.ended {
		line = ""
	}
	if line != s.live {
		s.live = line
		_, _ = io.WriteString(s.out, eraseLine+line)
	}
}

// EndLive removes the live line for good, so that others can write to the terminal.
func (s *Output) EndLive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.drawLive("")
}

// answerKey matches the key of an answer in a question.
var answerKey = lazyregexp.New(`\[[^\]]+\]`)

// painted returns a question with its keys in color.
func painted(styles *draw.Styles, prompt string) string {
	if styles == nil {
		return prompt
	}
	return answerKey.ReplaceAllStringFunc(prompt, func(key string) string { return styles.Key.Render(key) })
}

// ask shows a question, which stays open until answered, and returns true.
func (s *Output) ask(prompt string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawLive("")
	prompt = painted(s.styles, prompt)
	_, _ = io.WriteString(s.out, prompt)
	s.prompt, s.shown = prompt, true
	return true
}

// echo shows the key that answered the question.
func (s *Output) echo(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown {
		_, _ = io.WriteString(s.out, untrusted.Line(key)+"\n")
		s.shown = false
	}
}

// answered closes the question. If the user has not ended the line with enter, it
// writes the line break.
func (s *Output) answered(entered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown && !entered {
		_, _ = io.WriteString(s.out, "\n")
	}
	s.prompt, s.shown = "", false
}

// withdraw takes the open question away, which needs no answer any more.
func (s *Output) withdraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown {
		_, _ = io.WriteString(s.out, eraseLine)
	}
	s.prompt, s.shown = "", false
}

// Questions asks about held plans, gates, steps in doubt and failed steps on
// standard input, one after another.
type Questions struct {
	out   *Output
	input *Input
	send  func(session.Command)
	open  chan question
	ended chan struct{}

	options  Options
	runs     map[string]*agent.Run // current state, to know which steps wait for a decision; includes runs started by plan tools
	reported map[string]uint64     // by run: the last event that is only a repetition

	mu    sync.Mutex
	asked map[string]uint64 // the question number of each waiting gate and step
	count uint64            // number of questions so far
	now   uint64            // number of the open question; 0 is none
}

// question is a question that waits for a slot.
type question struct {
	id     string // of the gate or step
	number uint64 // number of the question
	prompt string
	keys   bool     // each answer is one key, on a terminal that can deliver it
	help   []string // descriptions of the answers, one per line
	// answer returns the meaning of a line, the zero value if it is no answer.
	answer func(line string) answer
	// careful is the command to send at the end of input.
	careful session.Command
	final   bool // send careful without asking
}

// answer is the meaning of a line.
type answer struct {
	send    session.Command
	then    *question // follow-up question; nil is none
	message string    // text to show before asking again

	beside session.Command // to send while the question stays open; nil is none
}

// understand returns the meaning of a line, or why it has none.
func (q question) understand(line string) answer {
	if len(q.help) > 0 && (line == "?" || strings.EqualFold(line, "help")) {
		return answer{message: "    " + strings.Join(append(slices.Clone(q.help), sideHelp), "\n    ") + "\n"}
	}
	if reply, ok := q.sideQuestion(line); ok {
		return reply
	}
	reply := q.answer(line)
	if reply.send == nil && reply.then == nil && reply.message == "" && line != "" && len(q.help) > 0 {
		const most = 40 // runes
		reply.message = "  " + wording.Excerpt(untrusted.Text(line), most) + " is not an answer; ? lists the answers\n"
	}
	return reply
}

// Options configure what to ask about and how to show it.
type Options struct {
	Gates bool // ask about gates
	ASCII bool // draw plans in ASCII only
}

// New starts asking questions and passes the answers to send. The caller must
// close it.
func New(input *Input, out *Output, send func(session.Command), options Options) *Questions {
	q := &Questions{
		options: options, out: out, input: input, send: send,
		open: make(chan question, 64), ended: make(chan struct{}),
		asked: map[string]uint64{}, runs: map[string]*agent.Run{}, reported: map[string]uint64{},
	}
	go q.listen()
	return q
}

// Observe takes an event of the session and asks about whatever now waits for a
// decision. It asks according to the current state of the run: repeated events of
// a resumed run were answered already, or are still open.
func (q *Questions) Observe(e event.Event) {
	switch d := e.Data.(type) {
	case session.Resuming:
		q.reported[d.Run] = d.Upto
		return
	case event.RunStarted:
		q.runs[e.Run] = agent.NewRun(nil)
		q.onlyWaiting(e.Run, nil)
	case event.GateRequested:
		if q.runs[e.Run] == nil {
			q.put(gateQuestion(e.Run, d, nil, false)) // of the session itself
			return
		}
	case event.GateResolved:
		q.decided(e.Run, d.Gate)
	}
	run := q.runs[e.Run]
	// The output of the run already reports events that cannot be applied.
	if run == nil || run.Apply(e) != nil || e.Seq <= q.reported[e.Run] {
		return
	}
	if run.Result != nil { // nothing in it waits any more; a resume starts over
		delete(q.runs, e.Run)
	}
	var waiting []question
	if q.options.Gates {
		for _, g := range run.Gates {
			waiting = append(waiting, gateQuestion(e.Run, g.GateRequested, run.EditCheck(g.Gate), wording.Repeats(run, g.GateRequested)))
		}
	}
	for _, d := range run.Elicitations {
		waiting = append(waiting, elicitationQuestion(e.Run, d))
	}
	if v := run.Review(); v != nil {
		waiting = append(waiting, reviewQuestion(v, q.options.ASCII))
	}
	for _, w := range run.Questions() {
		waiting = append(waiting, stepQuestion(e.Run, w))
	}
	q.onlyWaiting(e.Run, waiting)
	for _, w := range waiting {
		q.put(w)
	}
}

// onlyWaiting drops the questions about a run that no longer wait.
func (q *Questions) onlyWaiting(run string, waiting []question) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id := range q.asked {
		if of, _, _ := strings.Cut(id, " "); of == run && !slices.ContainsFunc(waiting, func(w question) bool { return w.id == id }) {
			q.drop(id)
		}
	}
}

// drop forgets a question, and takes it away if it is open, since another user who
// follows the run has answered it. The caller holds the lock.
func (q *Questions) drop(id string) {
	if q.asked[id] == q.now && q.now != 0 && q.input.onTerminal() {
		q.out.withdraw()
		q.input.skip()
	}
	delete(q.asked, id)
}

// turn sets which question is open.
func (q *Questions) turn(number uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.now = number
}

// decided drops the question about a gate.
func (q *Questions) decided(run, gate string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(gateID(run, gate))
}

// waits reports whether a question still needs an answer.
func (q *Questions) waits(ask question) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.asked[ask.id] == ask.number
}

// put queues a question, once.
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

// gateID and stepID return the ids of questions; both start with the run.
func gateID(run, gate string) string { return run + " gate " + gate }
func stepID(run, step string) string { return run + " step " + step }

// endOfInput follows the help for the answer that the end of input gives.
const endOfInput = "; also at the end of input"

// stepQuestion asks about a step that is in doubt or failed.
func stepQuestion(run string, w agent.Question) question {
	what := untrusted.Line(strings.TrimSpace(w.Step + " " + cmp.Or(w.Tool, w.Title.Visible())))
	if w.Doubt {
		settle := func(d event.DoubtDecision) session.Command {
			return session.ResolveDoubt{Run: run, Step: w.Step, Decision: d}
		}
		return question{
			id:     stepID(run, w.Step),
			keys:   true,
			prompt: fmt.Sprintf("  %s is in doubt: %s; [d]one, it took effect, [r]un it again, [a]bort, [?]: ", what, w.Reason.Line()),
			help: []string{
				"d, done: " + wording.OfDoubt(event.DoubtDone).Help,
				"r, rerun: " + wording.OfDoubt(event.DoubtRerun).Help,
				"a, abort: " + wording.OfDoubt(event.DoubtAbort).Help + endOfInput,
			},
			answer: oneOf(map[string]session.Command{
				"d done": settle(event.DoubtDone), "r rerun": settle(event.DoubtRerun), "a abort": settle(event.DoubtAbort),
			}),
			careful: settle(event.DoubtAbort),
		}
	}
	decide := func(d event.FailureDecision) session.Command {
		return session.ResolveFailure{Run: run, Step: w.Step, Decision: d}
	}
	answers := map[string]session.Command{
		"r retry": decide(event.FailureRetry), "s skip": decide(event.FailureSkip), "a abort": decide(event.FailureAbort),
	}
	replan := ""
	help := []string{"r, retry: " + wording.OfFailure(event.FailureRetry).Help, "s, skip: " + wording.OfFailure(event.FailureSkip).Help}
	if w.Replan {
		replan = "re[p]lan, "
		help = append(help, "p, replan: "+wording.OfFailure(event.FailureReplan).Help)
		answers["p replan"] = decide(event.FailureReplan)
	}
	return question{
		id:      stepID(run, w.Step),
		keys:    true,
		prompt:  fmt.Sprintf("  %s %s: [r]etry, [s]kip it, %s[a]bort, [?]: ", what, wording.QuestionState(w), replan),
		help:    append(help, "a, abort: "+wording.OfFailure(event.FailureAbort).Help+endOfInput),
		answer:  oneOf(answers),
		careful: decide(event.FailureAbort),
		final:   w.Reason == plan.DeniedAtGate, // a no needs no second question
	}
}

// listen asks each waiting question until a line is a valid answer. At the end of
// input it sends the careful command.
func (q *Questions) listen() {
	defer close(q.ended)
	for asked := range q.open {
		if asked.final {
			q.send(asked.careful)
			continue
		}
		q.turn(asked.number)
		for ask := &asked; q.waits(asked); {
			if q.input.over() {
				return
			}
			line, keyed, more := q.input.ask(ask.keys, func() bool { return q.waits(asked) && q.out.ask(ask.prompt) })
			if keyed {
				q.out.echo(line)
			}
			q.out.answered(more)
			if q.input.over() {
				return
			}
			reply := answer{send: ask.careful}
			if more {
				reply = ask.understand(strings.TrimSpace(line))
			}
			if reply.beside != nil {
				q.send(reply.beside)
			}
			// The question may have been decided while the user was typing.
			if reply.send != nil && q.waits(asked) {
				q.send(reply.send)
				break
			}
			if reply.message != "" {
				_, _ = io.WriteString(q.out, reply.message)
			}
			if reply.then != nil {
				ask = reply.then
			}
		}
		q.turn(0)
	}
}

// Stop ends the open question and all later ones, and gives the terminal back.
func (q *Questions) Stop() { q.input.cancel() }

// Close stops asking and waits until no question is open.
func (q *Questions) Close() {
	close(q.open)
	q.input.cancel()
	<-q.ended
}
