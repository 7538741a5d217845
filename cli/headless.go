package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"replan/agent"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/ask"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/internal/untrusted"
	"replan/mcpclient"
	"replan/planning/plan"
	"replan/tui/telling"
)

// eventPrinter prints a run for a line-oriented reader.
type eventPrinter interface {
	Event(event.Event) error
}

// headlessJob is the work of a session without the full screen.
type headlessJob struct {
	// commands are sent at once; the session answers each that starts something.
	commands []session.Command
	// prepare, if not nil, inspects the services before the session starts and
	// returns the commands.
	prepare  func(context.Context, *services) ([]session.Command, error)
	about    *string                                          // the only server whose problems are printed, known once prepared; nil prints all
	inDoubt  event.DoubtDecision                              // the answer for steps in doubt; "" asks if somebody is present
	restored *runner.Restored                                 // the session to continue; nil starts a new one
	keep     func(plan.Plan) (plan.Plan, error)               // stores a created plan; nil stores it among the plans
	observe  func(event.Event)                                // receives every event; may be nil
	printer  func(session string, out io.Writer) eventPrinter // nil chooses by --output

	// away is the run of a worker that the job follows to the end of its session,
	// which returns how it ended; nil is the session's own work.
	away  func(reply *event.ChatReply, written error) error
	whole bool // past events are printed too
}

// conversation is what a headless job needs of a session.
type conversation interface {
	ID() string
	Events() <-chan event.Event
	Send(session.Command)
}

// runHeadless plans and runs one goal and prints it as lines or as JSON.
func (o *options) runHeadless(ctx context.Context, goal string) error {
	if o.elsewhere() {
		return o.submitGoal(ctx, goal, false)
	}
	if o.inDoubt != "" {
		return exit.Usage("--in-doubt applies to a resumed run, or one of workers: use replan plan resume RUN, or add --on ADDRESS")
	}
	return o.headless(ctx, headlessJob{commands: []session.Command{session.Submit{Text: goal}}})
}

// headless runs a headless job and prints it as lines or as JSON. It returns the
// outcome of the last command.
func (o *options) headless(ctx context.Context, e headlessJob) (err error) {
	if o.chatContext != nil {
		return o.chat().aside(ctx, e)
	}
	if err := o.checkReview(); err != nil {
		return err
	}
	asks := o.asks() && o.ApproveText == ""
	if !asks && o.Approve == policy.ApproveAsk {
		o.Approve = policy.ApproveUnasked
	}
	trust := mcpclient.TrustNone
	if asks {
		trust = mcpclient.TrustAskServers
	}
	how := opening{trust: trust, runs: true}
	for _, c := range e.commands {
		if r, ok := c.(session.Resume); ok {
			how.resume = r.Run
		}
	}
	w, err := o.wiring().prepare(ctx, how)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, exit.Wrap("end in order", w.close()))
		o.printExitNote(w)
	}()
	o.printNotes(w.notes)
	if e.about == nil {
		o.printNotes(w.ignored(""))
	}
	o.printDecision(ctx, w)
	var input *ask.Input // nil if nobody is present to answer
	if o.asks() {
		if input, err = ask.NewInput(o.io.In, o.io.Quiet); err != nil {
			return exit.Wrap("read standard input", err)
		}
	}
	if e.prepare != nil {
		if asks {
			if err := o.askForServers(ctx, w, input); err != nil {
				return err
			}
		}
		if e.commands, err = e.prepare(ctx, w); err != nil {
			return err
		}
		e.prepare = nil // it may hold a large plan file
	}
	// Approving all gates is no decision about failures, so the user is still
	// asked. Denying all gates is one.
	how = opening{runs: true, attended: o.asks() && o.ApproveText != string(policy.ApproveNone), inDoubt: e.inDoubt, restored: e.restored, keep: e.keep}
	if e.about != nil {
		how.about = *e.about
	}
	if err := w.begin(ctx, o, how); err != nil {
		return err
	}
	err = o.carryOut(ctx, w.session, e, input, asks)
	if unanswered := o.answerChanges(ctx, w, input); err == nil {
		err = unanswered
	}
	return err
}

// printDecision warns on standard error if --think has no effect on the model that
// will answer.
func (o *options) printDecision(ctx context.Context, w *services) {
	if o.Level == nil {
		return
	}
	name := ""
	if at := slices.Index(o.Manner.Names(), o.Manner.Profile); at >= 0 {
		name = o.Manner.Profiles[at].Model
	}
	info, err := w.model.Describe(ctx, name)
	if word := telling.NoThinking(info, *o.Level); err == nil && word != "" { // otherwise whoever needs a model reports the error
		_, _ = fmt.Fprintf(o.io.Err, "replan: --think %s: %s\n", o.Think, word)
	}
}

// lastRestored returns the number of the last event of the continued session.
func (e headlessJob) lastRestored() (seq uint64) {
	if e.restored != nil {
		for _, event := range e.restored.Events {
			seq = max(seq, event.Seq)
		}
	}
	return seq
}

// carryOut sends the commands of a headless job and prints the events until the last
// command is answered.
func (o *options) carryOut(ctx context.Context, s conversation, e headlessJob, input *ask.Input, asks bool) error {
	text := ask.NewOutput(o.coloured(o.io.Out), o.look())
	defer text.EndLive()
	defer context.AfterFunc(ctx, text.EndLive)() // a warning of the second interrupt gets its own line
	out := o.printerOf(s.ID(), text, e)
	var questions *ask.Questions
	if input != nil {
		questions = ask.New(input, text, s.Send, ask.Options{Gates: asks, ASCII: o.ASCII})
		defer questions.Close()
		defer context.AfterFunc(ctx, questions.Stop)() // the terminal is as before while the run stops
	}
	beat, live := o.beat(out)
	defer beat.Stop()
	for _, c := range e.commands {
		s.Send(c)
	}
	unanswered, restored := len(e.commands), e.lastRestored()
	var written error
	var last *event.ChatReply
	for events := s.Events(); ; {
		var found event.Event
		select {
		case now := <-beat.C:
			text.Live(live(now))
			continue
		case next, more := <-events:
			if !more && e.away != nil {
				return e.away(last, nil)
			}
			if !more {
				return o.unanswered(ctx)
			}
			found = next
		}
		if found.Run == s.ID() && found.Seq <= restored {
			continue // from an earlier life of the session
		}
		if e.observe != nil {
			e.observe(found)
		}
		_, repeats := found.Data.(session.Resuming)
		if written == nil && (!repeats || !e.whole) {
			written = out.Event(found)
			switch {
			case written != nil && e.away != nil:
				return e.away(nil, written)
			case written != nil:
				// The reader may be gone. Stop the run then, rather than continue it
				// unseen.
				s.Send(session.Stop{})
			}
		}
		if questions != nil {
			questions.Observe(found)
		}
		if back, ok := found.Data.(session.Returned); ok {
			return exit.Usage("%s", back.Reason)
		}
		if reply, ok := found.Data.(event.ChatReply); ok {
			last = &reply
			if unanswered--; unanswered == 0 || written != nil {
				return o.ended(reply, written)
			}
		}
	}
}

// unanswered is the error for a session that ended before its commands were answered.
func (o *options) unanswered(ctx context.Context) error {
	if ctx.Err() != nil {
		return &exit.Error{Status: exit.Interrupted, Code: string(event.ReasonInterrupted), Err: errors.New("stopped before the run began")}
	}
	return exit.Wrap("run", errors.New("the session ended without an answer"))
}

// beat returns the clock of the live line, and what it shows. Without a terminal the
// clock stands still.
func (o *options) beat(out eventPrinter) (*time.Ticker, func(time.Time) string) {
	const pace = 100 * time.Millisecond
	beat := time.NewTicker(pace)
	log, ok := out.(interface{ Live(time.Time) string })
	if !ok || o.look() == nil {
		beat.Stop()
		return beat, nil
	}
	return beat, log.Live
}

// printerOf returns the printer for the events of a headless job.
func (o *options) printerOf(session string, text io.Writer, e headlessJob) eventPrinter {
	switch {
	case e.printer != nil:
		return e.printer(session, text)
	case o.Output == config.OutputJSON:
		return &jsonLines{out: o.io.Out, notes: o.io.Err, session: session, past: map[string]uint64{}}
	default:
		return o.log(text, session)
	}
}

// ended converts the end of a run to an error with its exit code.
func (o *options) ended(reply event.ChatReply, written error) error {
	var f *exit.Error
	switch {
	case errors.As(written, &f):
		return f
	case written != nil:
		return unwritten(written)
	case reply.Run == "" && reply.Reason == "" && o.Output == config.OutputJSON: // of a chat command
		return o.printJSON(map[string]untrusted.Text{"text": reply.Text})
	case reply.Run == "" && reply.Reason == "":
		return o.print(reply.Text.Visible() + "\n")
	case reply.Reason.ExitCode() == 0:
		return nil
	case reply.Run == "" && reply.Asks:
		reply.Text += "; replan undo RUN restores the files that a run changed"
		fallthrough
	case reply.Run == "":
		return &exit.Error{Status: reply.Reason.ExitCode(), Code: string(reply.Reason), Err: errors.New(string(reply.Text))}
	default:
		return &exit.Error{Status: reply.Reason.ExitCode(), Code: string(reply.Reason), Err: exit.ErrReported}
	}
}

// unwritten returns the error for a run stopped because its output failed.
func unwritten(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		err = errors.New("the reader closed the output, so the run was stopped")
	}
	return exit.Wrap(exit.Writing, err)
}

// jsonLines writes the events of runs, one per line. Of the session's own events,
// which are for the screen, it writes only the notes.
type jsonLines struct {
	out     io.Writer
	notes   io.Writer
	session string
	past    map[string]uint64 // by run: the last event that an earlier life already printed
}

// Event writes one event.
func (j *jsonLines) Event(e event.Event) error {
	if e.Run == j.session {
		switch d := e.Data.(type) {
		case event.Note:
			_, _ = fmt.Fprintf(j.notes, "replan: %s\n", d.Text.Line())
		case session.Resuming:
			j.past[d.Run] = d.Upto
		}
		return nil
	}
	if e.Seq <= j.past[e.Run] {
		return nil
	}
	line, err := e.Line()
	if err != nil {
		return err
	}
	line.JSON = append(line.JSON, '\n')
	_, err = line.WriteTo(safeJSON{j.out})
	return err
}

// safeJSON makes JSON safe to draw as it is written.
type safeJSON struct{ to io.Writer }

// Write writes JSON that does not end within a character.
func (w safeJSON) Write(text []byte) (int, error) { return w.to.Write(untrusted.JSON(text)) }

// askForServers asks whether the project's servers may start, if that must be
// known before the session starts.
func (o *options) askForServers(ctx context.Context, w *services, input *ask.Input) error {
	for _, p := range w.tools.Pending() {
		words := strings.ReplaceAll(telling.ServerWords(p.Whole()), "\n", "\n    ")
		if err := o.print("  " + untrusted.Line(p.Name) + ": " + untrusted.Visible(words) + "\n"); err != nil {
			return err
		}
		question := "start the tool server " + untrusted.Line(p.Name) + " of this project? the answer is remembered until its entry changes [y]es, [n]o: "
		yes, err := input.Confirm(ctx, o.coloured(o.io.Out), question, o.look())
		if err != nil {
			return exit.Wrap(exit.Writing, err)
		}
		if err := w.tools.Answer(ctx, []plan.PendingServer{p}, yes); err != nil {
			return exit.Wrap("remember the answer", err)
		}
	}
	return nil
}

// nobodyReviews says why plans cannot be reviewed here.
func (o *options) nobodyReviews() error {
	if o.Output == config.OutputJSON {
		return exit.Usage("--output json asks no questions, so it cannot show a plan for review: omit --review or --output json")
	}
	return exit.Usage("there is no terminal to review the plan on: omit --review")
}

// checkReview refuses to hold plans that nobody can review.
func (o *options) checkReview() error {
	if o.Review && !o.asks() && !o.DryRun {
		return o.nobodyReviews()
	}
	return nil
}

// canReview refuses to resume a run with a plan that waits, or will wait, for a
// review that nobody can give.
func (o *options) canReview(run *agent.Run) error {
	if !run.Resumable() || o.asks() || !run.ReviewPending() && (!run.ReviewsPlans() || run.Revision > 0) {
		return nil
	}
	return exit.Usage("the plan of the run %s waits for your review: resume it on a terminal, without --output json", run.ID)
}
