package lines

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/ask"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/internal/untrusted"
	"replan/mcpclient"
	"replan/planning/plan"
	"replan/tui/wording"
)

// Job is the work of a session without the full screen.
type Job struct {
	// Commands are sent at once; the session answers each that starts something.
	Commands []session.Command
	// Prepare, if not nil, inspects the services before the session starts and
	// returns the commands.
	Prepare  func(context.Context, *app.Services) ([]session.Command, error)
	About    *string                                     // the only server whose problems are printed, known once prepared; nil prints all
	InDoubt  event.DoubtDecision                         // the answer for steps in doubt; "" asks a user who is present
	Restored *runner.Restored                            // the session to continue; nil starts a new one
	SavePlan func(plan.Plan) (plan.Plan, error)          // stores a created plan; nil stores it among the plans
	Observe  func(event.Event)                           // receives every event; may be nil
	Printer  func(session string, out io.Writer) Printer // nil chooses by --output
	Again    string                                      // the command that runs a deleted run again; "" if runs are kept

	// Remote is the run of a worker that the job follows to the end of its session. It
	// returns how that ended; nil is the session's own work.
	Remote func(reply *event.ChatReply, written error) error
	Whole  bool // past events are printed too
}

// Conversation is what a job needs of a session.
type Conversation interface {
	ID() string
	Events() <-chan event.Event
	Send(session.Command)
}

// Run carries out a job in a session of its own and prints it as lines or as JSON. It returns the
// outcome of the last command.
func Run(ctx context.Context, a *app.App, job Job) (err error) {
	if c := a.Chat(); c != nil {
		return aside(ctx, a, c.Services(), job)
	}
	if err := CheckReview(a); err != nil {
		return err
	}
	asks := a.Asks() && !a.Gates().Decided
	if !asks && a.Gates().Approve == policy.ApproveAsk {
		a = a.With((*config.Options).AskNobody)
	}
	trust := mcpclient.TrustNone
	if asks {
		trust = mcpclient.TrustAskServers
	}
	how := app.Opening{Trust: trust, Runs: true}
	for _, c := range job.Commands {
		if r, ok := c.(session.Resume); ok {
			how.Resume = r.Run
		}
	}
	w, err := a.Prepare(ctx, how)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, exit.Wrap("end in order", w.Close()))
		a.Out().Notes(w.ExitNotes())
	}()
	a.Out().Notes(w.Notes())
	if job.About == nil {
		a.Out().Notes(w.Ignored(""))
	}
	warnOfThinking(ctx, a, w)
	var input *app.Input // nil if no user is present to answer
	if a.Asks() {
		if input, err = a.Input("read standard input"); err != nil {
			return err
		}
	}
	if job.Prepare != nil {
		if asks {
			if err := askForServers(ctx, a, w.Tools(), input); err != nil {
				return err
			}
		}
		if job.Commands, err = job.Prepare(ctx, w); err != nil {
			return err
		}
		job.Prepare = nil // it may hold a large plan file
	}
	// Approving all gates is no decision about failures, so the user is still
	// asked. Denying all gates is one.
	how = app.Opening{Runs: true, Attended: a.Asks() && a.Gates().Approve != policy.ApproveNone, InDoubt: job.InDoubt, Restored: job.Restored, SavePlan: job.SavePlan}
	if job.About != nil {
		how.About = *job.About
	}
	if err := w.Begin(ctx, how); err != nil {
		return err
	}
	err = Follow(ctx, a, w.Session(), job, input, asks)
	if unanswered := (Changes{a, w.Changes()}).Answer(ctx, input); err == nil {
		err = unanswered
	}
	return err
}

// aside carries out a job that was typed into the chat, in a session beside that of the
// chat. Its output becomes the answer.
func aside(ctx context.Context, a *app.App, w *app.Services, job Job) (err error) {
	if job.Prepare != nil {
		if job.Commands, err = job.Prepare(ctx, w); err != nil {
			return err
		}
	}
	s, err := w.Aside(ctx, a)
	if err != nil {
		return err
	}
	defer app.CloseSession(s)
	return Follow(ctx, a, s, job, nil, false)
}

// warnOfThinking warns on standard error if --think has no effect on the model that will
// answer.
func warnOfThinking(ctx context.Context, a *app.App, w *app.Services) {
	asked, level := a.Planning().Think()
	if level == nil {
		return
	}
	info, err := w.Model().Describe(ctx, a.Planning().Model())
	if word := wording.NoThinking(info, *level); err == nil && word != "" { // otherwise whoever needs a model reports the error
		a.Out().Note("--think %s: %s", asked, word)
	}
}

// lastRestored returns the number of the last event of the continued session.
func (job Job) lastRestored() (seq uint64) {
	if job.Restored != nil {
		for _, event := range job.Restored.Events {
			seq = max(seq, event.Seq)
		}
	}
	return seq
}

// Follow sends the commands of a job to a session and prints the events until the last
// command is answered. Input, nil if no user is present, answers questions; gates only if
// asks.
func Follow(ctx context.Context, a *app.App, s Conversation, job Job, input *app.Input, asks bool) error {
	text := ask.NewOutput(a.Out().Colored(a.IO().Out), a.Out().Styles())
	defer text.EndLive()
	defer context.AfterFunc(ctx, text.EndLive)() // a warning of the second interrupt gets its own line
	out := job.printer(a, s.ID(), text)
	var questions *ask.Questions
	if input != nil {
		questions = input.Questions(text, s.Send, ask.Options{Gates: asks, ASCII: a.Appearance().ASCII})
		defer questions.Close()
		defer context.AfterFunc(ctx, questions.Stop)() // the terminal is as before while the run stops
	}
	beat, live := beatOf(a, out)
	defer beat.Stop()
	for _, c := range job.Commands {
		s.Send(c)
	}
	unanswered, restored := len(job.Commands), job.lastRestored()
	var written error
	var last *event.ChatReply
	for events := s.Events(); ; {
		var found event.Event
		select {
		case now := <-beat.C:
			text.Live(live(now))
			continue
		case next, more := <-events:
			if !more && job.Remote != nil {
				return job.Remote(last, nil)
			}
			if !more {
				return endedEarly(ctx)
			}
			found = next
		}
		if found.Run == s.ID() && found.Seq <= restored {
			continue // from an earlier life of the session
		}
		if job.Observe != nil {
			job.Observe(found)
		}
		_, repeats := found.Data.(session.Resuming)
		if written == nil && (!repeats || !job.Whole) {
			written = out.Event(found)
			switch {
			case written != nil && job.Remote != nil:
				return job.Remote(nil, written)
			case written != nil:
				// The reader may be gone. Stop the run then, rather than continue it
				// unseen.
				s.Send(session.Stop{})
			}
		}
		if questions != nil {
			questions.Observe(found)
		}
		if ends, err := job.endedBy(a, found.Data, written); ends {
			return err
		}
		if reply, ok := found.Data.(event.ChatReply); ok {
			last = &reply
			if unanswered--; unanswered == 0 || written != nil {
				text.Live("")
				order, err := job.meant(ctx, a, input, reply, written)
				if order == "" {
					return err
				}
				s.Send(session.Submit{Text: order})
				unanswered = 1
			}
		}
	}
}

// endedBy reports whether an event that is no reply ends the job, and with which error: its
// words were given back, or its side question is answered.
func (job Job) endedBy(a *app.App, data event.Data, written error) (ends bool, err error) {
	switch d := data.(type) {
	case session.Returned:
		return true, exit.Usage("%s", d.Reason)
	case event.ChatSide:
		if job.asksSide() {
			return true, sideEnded(a, d, written)
		}
	}
	return false, nil
}

// endedEarly is the error for a session that ended before its commands were answered.
func endedEarly(ctx context.Context) error {
	if ctx.Err() != nil {
		return &exit.Error{Status: exit.Interrupted, Code: string(event.ReasonInterrupted), Err: errors.New("stopped before the run began")}
	}
	return exit.Wrap("run", errors.New("the session ended without an answer"))
}

// beatOf returns the clock of the live line, and what it shows. Without a terminal the
// clock stands still.
func beatOf(a *app.App, out Printer) (*time.Ticker, func(time.Time) string) {
	const pace = 100 * time.Millisecond
	beat := time.NewTicker(pace)
	log, ok := out.(interface{ Live(time.Time) string })
	if !ok || a.Out().Styles() == nil {
		beat.Stop()
		return beat, nil
	}
	return beat, log.Live
}

// Ended converts the end of a run to an error with its exit code.
func Ended(a *app.App, reply event.ChatReply, written error) error {
	var f *exit.Error
	switch {
	case errors.As(written, &f):
		return f
	case written != nil:
		return unwritten(written)
	case reply.Run == "" && reply.Reason == "" && a.Out().JSON(): // of a chat command
		return a.Out().PrintJSON(map[string]untrusted.Text{"text": reply.Text})
	case reply.Run == "" && reply.Reason == "":
		return a.Out().Print(reply.Text.Visible() + "\n")
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

// askForServers asks whether the project's servers may start, if that must be
// known before the session starts.
func askForServers(ctx context.Context, a *app.App, tools *mcpclient.Pool, input *app.Input) error {
	for _, p := range tools.Pending() {
		words := strings.ReplaceAll(wording.ServerWords(p.Whole()), "\n", "\n    ")
		if err := a.Out().Print("  " + untrusted.Line(p.Name) + ": " + untrusted.Visible(words) + "\n"); err != nil {
			return err
		}
		question := "start the tool server " + untrusted.Line(p.Name) + " of this project? the answer is remembered until its entry changes [y]es, [n]o: "
		yes, err := input.Confirm(ctx, question)
		if err != nil {
			return err
		}
		if err := tools.Answer(ctx, []plan.PendingServer{p}, yes); err != nil {
			return exit.Wrap("remember the answer", err)
		}
	}
	return nil
}
