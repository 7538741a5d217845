package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/remote"
	"replan/agent/session"
	"replan/cli/ask"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/workers"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui"
	"replan/tui/plain"
	"replan/tui/telling"
)

// elsewhere reports whether this command is about runs of workers.
func (o *options) elsewhere() bool { return o.Distributed.On != "" && o.chatContext == nil }

// withWorkers calls a function with the worker program.
func (o *options) withWorkers(do func(remote.Options) error) (err error) {
	var w services // its log alone
	log, err := w.openLog(o.store.Dirs.Logs())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exit.Wrap("end in order", w.close())) }()
	with, err := workers.Program(&o.Options, log)
	if err != nil {
		return exit.Usage("%w", err)
	}
	return do(with)
}

// away returns the error for a request that the worker program did not carry out.
func away(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	problem, ok := errors.AsType[*remote.Problem](err)
	switch {
	case !ok:
		return &exit.Error{Status: exit.Failed, Code: "failed", Err: err}
	case problem.Code == remote.CodeDatabase:
		return &exit.Error{Status: exit.Failed, Code: problem.Code, Err: problem}
	default:
		return &exit.Error{Status: exit.BadUsage, Code: problem.Code, Err: problem}
	}
}

// submitGoal gives a goal to the workers and follows its run.
func (o *options) submitGoal(ctx context.Context, goal string, screen bool) error {
	if goal == "" {
		return exit.Usage("a run of workers begins with its goal: replan GOAL; to follow one that is under way: replan runs follow RUN; --on '' opens the chat of this machine")
	}
	return o.submit(ctx, o.inDoubt, screen, func(t *remote.Task) { t.Goal = untrusted.Text(goal) })
}

// submitPlan gives a plan to the workers and follows its run. They check it against
// their tools.
func (o plans) submitPlan(ctx context.Context, named namedPlan, how planRun) error {
	data, err := how.vars.into(named.data)
	if err != nil {
		return err
	}
	var v verdict
	v.plan, v.faults, v.warnings = plan.CheckPlan(data, plan.Rules{PartialArgs: true, Strict: o.strict(), EmptyArgs: !named.stored})
	if len(v.faults) > 0 {
		return o.printVerdict(v)
	}
	for _, f := range without(v.warnings, plan.CodeUncheckedTools) {
		_, _ = fmt.Fprintf(o.io.Err, "replan: warning: %s\n", exit.OneLine(f.Message))
	}
	return o.submit(ctx, how.inDoubt, false, func(t *remote.Task) {
		workers.Execute(t, v.plan)
		t.OnFailure, t.Synthesize, t.Strict = how.onFailure, how.synthesize, o.strict()
	})
}

// submit gives a run to the workers and follows it.
func (o *options) submit(ctx context.Context, inDoubt string, screen bool, complete func(*remote.Task)) error {
	return o.onTerms(inDoubt, screen, func(with remote.Options, task *remote.Task) error {
		complete(task)
		return o.follow(ctx, with, remote.Request{Submit: task, NoWait: o.Distributed.NoWait}, following{screen: screen})
	})
}

// onTerms calls do with a new task that has the terms of the command line.
func (o *options) onTerms(inDoubt string, screen bool, do func(remote.Options, *remote.Task) error) error {
	detach := o.Distributed.Detach
	if !detach && !screen {
		if err := o.checkReview(); err != nil {
			return err
		}
	}
	var decision event.DoubtDecision
	if inDoubt != "" || !detach && !screen {
		var err error
		if decision, err = o.parseInDoubt(inDoubt); err != nil {
			return err
		}
	}
	asks := screen || o.asks()
	here := workers.Present{Asked: asks && (screen || o.ApproveText == ""), Attends: asks && (screen || o.ApproveText != string(policy.ApproveNone))}
	return o.withWorkers(func(with remote.Options) error {
		return do(with, workers.Task(&o.Options, newID(time.Now()), here, decision, with))
	})
}

// following says how to follow a run.
type following struct {
	screen bool
	whole  bool // print what happened before too
}

// resumeAway resumes a run of workers and follows it.
func (o *options) resumeAway(ctx context.Context, args []string, inDoubt string) error {
	return o.onTerms(inDoubt, false, func(with remote.Options, task *remote.Task) error {
		terms := task.Terms()
		return o.follow(ctx, with, remote.Request{Resume: &remote.Follow{Run: runAway(args)}, Terms: &terms}, following{})
	})
}

// followAway follows a run of workers that is under way.
func (o *options) followAway(ctx context.Context, args []string) error {
	return o.withWorkers(func(with remote.Options) error {
		return o.follow(ctx, with, remote.Request{Follow: &remote.Follow{Run: runAway(args)}}, following{screen: o.screen(), whole: true})
	})
}

// stopAway stops a run of workers.
func stopAway(ctx context.Context, o *options, args []string) error {
	return o.withWorkers(func(with remote.Options) error {
		o.follows.Store(true)
		s, err := remote.Attach(ctx, with, remote.Request{Follow: &remote.Follow{Run: runAway(args)}})
		if err != nil {
			return away(ctx, err)
		}
		defer s.Close()
		s.Send(session.Stop{})
		var reply *event.ChatReply
		for e := range s.Events() {
			switch d := e.Data.(type) {
			case event.ChatReply:
				reply = &d
			case event.Note:
				if e.Run == s.ID() {
					_, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", d.Text.Line())
				}
			}
		}
		switch id := telling.ShortID(s.Run()); {
		case ctx.Err() != nil:
			return &exit.Error{Status: exit.Interrupted, Code: "detached", Err: fmt.Errorf("the run %s is to stop, and has not ended yet. %s", id, o.comeBack(s))}
		case reply == nil:
			return o.left(ctx, s, nil, nil)
		case reply.Status != event.StatusCancelled:
			return exit.Usage("the run %s has ended: %s", id, reply.Status)
		case o.Output == config.OutputJSON:
			return o.printJSON(map[string]string{"run": s.Run(), "status": string(reply.Status)})
		default:
			return o.print("Run " + id + " is stopped. Resume it: replan plan resume " + id + o.onAgain() + "\n")
		}
	})
}

// listedRuns is the number of runs of workers that a list shows without --all.
const listedRuns = 100

// listAway lists runs of workers.
func (o runs) listAway(ctx context.Context, with remote.Options, all bool) error {
	newest := listedRuns + 1 // one more shows whether the list is cut
	if all {
		newest = 0
	}
	list, err := remote.Runs(ctx, with, newest)
	if err != nil {
		return away(ctx, err)
	}
	if !all && len(list) > listedRuns {
		list = list[:listedRuns]
		_, _ = fmt.Fprintf(o.io.Err, "replan: these are the newest %d runs; --all lists all\n", listedRuns)
	}
	return o.printRuns(noNil(list))
}

// runAway returns the run that an argument means; "" is the newest.
func runAway(args []string) string {
	if len(args) == 0 || args[0] == lastRun {
		return ""
	}
	return args[0]
}

// recordedAway returns the full id of a run of workers and its events.
func (o *options) recordedAway(ctx context.Context, args []string) (id string, events []event.Event, err error) {
	_, s, events, err := o.journalAway(ctx, args)
	if err == nil && len(events) == 0 {
		err = exit.Usage("%s", notBegun(s))
	}
	return s.Run, events, err
}

// journalAway returns a run of workers in its current state, with its summary and its
// events, which are none before it has begun.
func (o *options) journalAway(ctx context.Context, args []string) (run agent.Run, s agent.Summary, events []event.Event, err error) {
	run = *agent.NewRun(nil)
	err = o.withWorkers(func(with remote.Options) error {
		var all []event.Event
		if s, all, err = remote.Journal(ctx, with, runAway(args)); err != nil {
			return away(ctx, err)
		}
		for _, e := range all {
			if e.Run != s.Run {
				continue
			}
			events = append(events, e)
			if err := run.Apply(e); err != nil {
				return exit.Wrap("read the run", err)
			}
		}
		return nil
	})
	return run, s, events, err
}

// notBegun says why a run of workers has no events.
func notBegun(s agent.Summary) string {
	id := "the run " + telling.ShortID(s.Run)
	switch s.Status {
	case agent.StatusRunning:
		return id + " has not begun: a worker prepares it"
	case agent.StatusWaiting:
		return id + " has not begun: " + cmp.Or(s.Why.Line(), "it waits for a worker")
	default:
		return id + " ended before it began: " + cmp.Or(s.Why.Line(), "it was no run")
	}
}

// submittedText prints a run of workers that has no events.
func (o runs) submittedText(p *plain.Printer, s agent.Summary) {
	p.Line("%s  %s", p.Strong(s.Run), telling.RunWords(s))
	p.Fields(
		plain.Field{Name: "goal", Value: config.First(s.Goal, s.Title)},
		plain.Field{Name: "submitted", Value: s.Started.Local().Format(timeShown)},
	)
	p.Line("")
	p.Line("%s", english.Capital(notBegun(s)))
	if s.Resumable {
		p.Line("resume it: %s %s%s", o.named("plan resume"), telling.ShortID(s.Run), o.onAgain())
	}
}

// follow submits, follows or resumes a run of workers, unless the user leaves it to them.
func (o *options) follow(ctx context.Context, with remote.Options, r remote.Request, how following) (err error) {
	o.follows.Store(true)
	if o.Distributed.Detach {
		return o.leave(ctx, with, r)
	}
	with.Tell = how.screen
	s, err := remote.Attach(ctx, with, r)
	if err != nil {
		return away(ctx, err)
	}
	defer s.Close()
	if how.screen {
		return o.watch(ctx, s)
	}
	o.again = "submit the run again with"
	var input *ask.Input // nil if nobody is present to answer
	if o.asks() {
		if input, err = ask.NewInput(o.io.In, o.io.Quiet); err != nil {
			return exit.Wrap("read standard input", err)
		}
	}
	var over event.Event // the end of a run that was completed before its resume; the zero value if it continues
	upto := uint64(0)
	return o.carryOut(ctx, s, headlessJob{whole: how.whole, observe: func(e event.Event) {
		switch d := e.Data.(type) {
		case session.Resuming:
			upto = max(upto, d.Upto)
		case event.RunCompleted:
			if over = (event.Event{}); r.Resume != nil && e.Run == s.Run() && e.Seq <= upto {
				over = e
			}
		}
	}, away: func(reply *event.ChatReply, written error) error {
		err := o.left(ctx, s, reply, written)
		if err == nil && over.Data != nil {
			return o.printCompleted(over)
		}
		return err
	}}, input, o.asks() && o.ApproveText == "")
}

// leave submits or resumes a run, and prints its id.
func (o *options) leave(ctx context.Context, with remote.Options, r remote.Request) error {
	accepted, err := remote.Submit(ctx, with, r, func(note untrusted.Text) {
		_, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", note.Line())
	})
	if err != nil {
		return away(ctx, err)
	}
	if o.Output == config.OutputJSON {
		return o.printJSON(accepted)
	}
	return o.print(accepted.Run + "\n")
}

// watch shows a run of workers on the full screen, and says how to come back to it.
func (o *options) watch(ctx context.Context, s *remote.Session) error {
	watch := o.wiring().newWatch()
	if watch != nil {
		defer watch.Stop()
	}
	err := exit.Wrap("the screen", o.screens().show(ctx, s, watch, o.screens().dressed(tui.Options{Elsewhere: true, Intro: "Workers carry this run out."})))
	s.Close()
	words := "Run " + telling.ShortID(s.Run()) + " has ended. Show it: replan runs show " + telling.ShortID(s.Run()) + o.onAgain()
	if !s.Over() {
		words = "Run " + telling.ShortID(s.Run()) + " continues. " + o.comeBack(s)
	}
	if l := o.look(); l != nil {
		words = l.Faint.Render(words)
	}
	_, printed := fmt.Fprintln(o.coloured(o.io.Out), words)
	return errors.Join(err, away(ctx, s.Err()), exit.Wrap(exit.Writing, printed))
}

// left returns how the following of a run ended: with its reply, because the reader of
// the output is gone, or before.
func (o *options) left(ctx context.Context, s *remote.Session, reply *event.ChatReply, written error) error {
	id := telling.ShortID(s.Run())
	switch {
	case written != nil:
		if f, ok := errors.AsType[*exit.Error](written); ok {
			return f
		}
		return exit.Wrap(exit.Writing, fmt.Errorf("%w; the run %s continues", written, id))
	case ctx.Err() != nil:
		return &exit.Error{Status: exit.Interrupted, Code: "detached", Err: fmt.Errorf("the run %s continues. %s", id, o.comeBack(s))}
	case s.Err() != nil:
		return away(ctx, fmt.Errorf("%w. The run %s continues. %s", s.Err(), id, o.comeBack(s)))
	case reply == nil:
		return exit.Wrap("follow the run "+id, errors.New("it ended without an answer"))
	default:
		return o.ended(*reply, nil)
	}
}

// comeBack says how to follow a run again.
func (o *options) comeBack(s *remote.Session) string {
	return "Come back: replan runs follow " + telling.ShortID(s.Run()) + o.onAgain()
}

// onAgain names --on where it was given. The address may hold a password.
func (o *options) onAgain() string {
	if o.elsewhere() && o.Changed("on") {
		return " --on ADDRESS"
	}
	return ""
}
