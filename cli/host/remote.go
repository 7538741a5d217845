package host

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
	"replan/cli/app"
	"replan/cli/check"
	"replan/cli/exit"
	"replan/cli/lines"
	"replan/cli/logs"
	"replan/cli/screen"
	"replan/cli/workers"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui"
	"replan/tui/wording"
)

// Workers returns the host of --on, for commands that are about workers alone.
func Workers(a *app.App) Remote { return Remote{a} }

// Remote has the workers of --on carry out runs.
type Remote struct{ app *app.App }

// withWorkers calls a function with the worker program.
func (o Remote) withWorkers(do func(remote.Options) error) (err error) {
	log, err := logs.Open(o.app.Folders().Dirs.Logs())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exit.Wrap("end in order", log.Close())) }()
	with, err := workers.Program(o.app.Workers().On, o.app.SaveSetting, log.Logger())
	if err != nil {
		return exit.Usage("%w", err)
	}
	return do(with)
}

// refused returns the error for a request that the worker program did not carry out.
func refused(ctx context.Context, err error) error {
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

// Open gives a goal to the workers and follows its run, on the full screen if that can
// be opened.
func (o Remote) Open(ctx context.Context, how Opening) error {
	return o.submitGoal(ctx, how.Goal, how.InDoubt, o.app.Screen())
}

// Goal gives a goal to the workers and follows its run without the full screen.
func (o Remote) Goal(ctx context.Context, goal, inDoubt string) error {
	return o.submitGoal(ctx, goal, inDoubt, false)
}

// submitGoal gives a goal to the workers and follows its run.
func (o Remote) submitGoal(ctx context.Context, goal, inDoubt string, screen bool) error {
	if goal == "" {
		return exit.Usage("a run of workers begins with its goal: replan GOAL; to follow one that is under way: replan runs follow RUN; --on '' opens the chat of this machine")
	}
	return o.submit(ctx, inDoubt, screen, func(t *remote.Task) { t.Goal = untrusted.Text(goal) })
}

// Execute gives a plan to the workers and follows its run. They check it against
// their tools.
func (o Remote) Execute(ctx context.Context, named check.Plan, terms Terms) error {
	data, err := terms.Vars.Into(named.Data)
	if err != nil {
		return err
	}
	var v check.Verdict
	v.Plan, v.Faults, v.Warnings = plan.CheckPlan(data, plan.Rules{PartialArgs: true, Strict: o.app.Planning().Strict(), EmptyArgs: !named.Stored})
	if len(v.Faults) > 0 {
		return v.Print(o.app)
	}
	for _, f := range check.Without(v.Warnings, plan.CodeUncheckedTools) {
		o.app.Out().Note("warning: %s", exit.OneLine(f.Message))
	}
	return o.submit(ctx, terms.InDoubt, false, func(t *remote.Task) {
		workers.Execute(t, v.Plan)
		t.OnFailure, t.Synthesize, t.Strict = terms.OnFailure, terms.Synthesize, o.app.Planning().Strict()
	})
}

// submit gives a run to the workers and follows it.
func (o Remote) submit(ctx context.Context, inDoubt string, screen bool, complete func(*remote.Task)) error {
	return o.onTerms(inDoubt, screen, func(with remote.Options, task *remote.Task) error {
		complete(task)
		return o.attach(ctx, with, remote.Request{Submit: task, NoWait: o.app.Workers().NoWait}, followOptions{screen: screen})
	})
}

// onTerms calls do with a new task that has the terms of the command line.
func (o Remote) onTerms(inDoubt string, screen bool, do func(remote.Options, *remote.Task) error) error {
	gates, detach := o.app.Gates(), o.app.Workers().Detach
	if !detach && !screen {
		if err := lines.CheckReview(o.app); err != nil {
			return err
		}
	}
	var decision event.DoubtDecision
	if inDoubt != "" || !detach && !screen {
		var err error
		if decision, err = parseInDoubt(o.app, inDoubt); err != nil {
			return err
		}
	}
	asks := screen || o.app.Asks()
	here := workers.Present{Asked: asks && (screen || !gates.Decided), Attends: asks && (screen || gates.Approve != policy.ApproveNone)}
	return o.withWorkers(func(with remote.Options) error {
		settings := workers.Settings{Workers: o.app.Workers(), Execution: o.app.Execution(), Approve: gates.Approve, Model: o.app.Model(), Servers: o.app.ToolSettings().Servers}
		return do(with, settings.Task(app.NewID(time.Now()), here, decision, with))
	})
}

// followOptions says how to follow a run.
type followOptions struct {
	screen bool
	whole  bool // print what happened before too
}

// Resume resumes a run of workers and follows it.
func (o Remote) Resume(ctx context.Context, args []string, inDoubt string) error {
	return o.onTerms(inDoubt, false, func(with remote.Options, task *remote.Task) error {
		terms := task.Terms()
		return o.attach(ctx, with, remote.Request{Resume: &remote.Follow{Run: remoteRun(args)}, Terms: &terms}, followOptions{})
	})
}

// Follow follows a run of workers that is under way.
func (o Remote) Follow(ctx context.Context, args []string) error {
	return o.withWorkers(func(with remote.Options) error {
		return o.attach(ctx, with, remote.Request{Follow: &remote.Follow{Run: remoteRun(args)}}, followOptions{screen: o.app.Screen(), whole: true})
	})
}

// Stop stops a run of workers.
func (o Remote) Stop(ctx context.Context, args []string) error {
	out := o.app.Out()
	return o.withWorkers(func(with remote.Options) error {
		o.app.FollowWorkers()
		s, err := remote.Attach(ctx, with, remote.Request{Follow: &remote.Follow{Run: remoteRun(args)}})
		if err != nil {
			return refused(ctx, err)
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
					out.Note("%s", d.Text.Line())
				}
			}
		}
		switch id := wording.ShortID(s.Run()); {
		case ctx.Err() != nil:
			return &exit.Error{Status: exit.Interrupted, Code: "detached", Err: fmt.Errorf("run %s was asked to stop and has not ended yet. %s", id, o.comeBack(s))}
		case reply == nil:
			return o.left(ctx, s, nil, nil)
		case reply.Status != event.StatusCanceled:
			return exit.Usage("the run %s has ended: %s", id, reply.Status)
		case out.JSON():
			return out.PrintJSON(map[string]string{"run": s.Run(), "status": string(reply.Status)})
		default:
			return out.Print("Run " + id + " is stopped. Resume it: replan plan resume " + id + o.Again() + "\n")
		}
	})
}

// ListedRuns is the number of runs of workers that a list shows without --all.
const ListedRuns = 100

// List returns the runs of workers, or the newest.
func (o Remote) List(ctx context.Context, all bool) (list []agent.Summary, err error) {
	newest := ListedRuns + 1 // one more shows whether the list is cut
	if all {
		newest = 0
	}
	err = o.withWorkers(func(with remote.Options) error {
		list, err = remote.Runs(ctx, with, newest)
		return refused(ctx, err)
	})
	if err != nil {
		return nil, err
	}
	if !all && len(list) > ListedRuns {
		list = list[:ListedRuns]
		o.app.Out().Note("these are the newest %d runs; --all lists all", ListedRuns)
	}
	return app.NoNil(list), nil
}

// remoteRun returns the run that an argument means; "" is the newest.
func remoteRun(args []string) string {
	if len(args) == 0 || args[0] == LastRun {
		return ""
	}
	return args[0]
}

// Show returns a run of workers in its current state.
func (o Remote) Show(ctx context.Context, args []string) (Shown, error) {
	run, summary, _, err := o.journal(ctx, args)
	if err != nil {
		return Shown{}, err
	}
	if summary.Status == agent.StatusWaiting || summary.Status == agent.StatusRunning {
		run.Reopen() // it ended for a worker that was stopped, or has been resumed
	}
	return Shown{&run, summary, run.Snapshot(run.Result == nil)}, nil
}

// Recorded returns the full id of a run of workers and its events.
func (o Remote) Recorded(ctx context.Context, args []string) (id string, events []event.Event, err error) {
	_, s, events, err := o.journal(ctx, args)
	if err == nil && len(events) == 0 {
		err = exit.Usage("%s", NotBegun(s))
	}
	return s.Run, events, err
}

// journal returns a run of workers in its current state, with its summary and its
// events, which are none before it has begun.
func (o Remote) journal(ctx context.Context, args []string) (run agent.Run, s agent.Summary, events []event.Event, err error) {
	run = *agent.NewRun(nil)
	err = o.withWorkers(func(with remote.Options) error {
		var all []event.Event
		if s, all, err = remote.Journal(ctx, with, remoteRun(args)); err != nil {
			return refused(ctx, err)
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

// NotBegun says why a run of workers has no events.
func NotBegun(s agent.Summary) string {
	id := "the run " + wording.ShortID(s.Run)
	switch s.Status {
	case agent.StatusRunning:
		return id + " has not begun: a worker prepares it"
	case agent.StatusWaiting:
		return id + " has not begun: " + cmp.Or(s.Why.Line(), "it waits for a worker")
	default:
		return id + " ended before it began: " + cmp.Or(s.Why.Line(), "it was no run")
	}
}

// attach submits, follows or resumes a run of workers, unless the user leaves it to them.
func (o Remote) attach(ctx context.Context, with remote.Options, r remote.Request, how followOptions) (err error) {
	o.app.FollowWorkers()
	if o.app.Workers().Detach {
		return o.leave(ctx, with, r)
	}
	with.Tell = how.screen
	s, err := remote.Attach(ctx, with, r)
	if err != nil {
		return refused(ctx, err)
	}
	defer s.Close()
	if how.screen {
		return o.watch(ctx, s)
	}
	var input *app.Input // nil if no user is present to answer
	if o.app.Asks() {
		if input, err = o.app.Input("read standard input"); err != nil {
			return err
		}
	}
	var over event.Event // the end of a run that was completed before its resume; the zero value if it continues
	upto := uint64(0)
	return lines.Follow(ctx, o.app, s, lines.Job{Whole: how.whole, Again: "submit the run again with", Observe: func(e event.Event) {
		switch d := e.Data.(type) {
		case session.Resuming:
			upto = max(upto, d.Upto)
		case event.RunCompleted:
			if over = (event.Event{}); r.Resume != nil && e.Run == s.Run() && e.Seq <= upto {
				over = e
			}
		}
	}, Remote: func(reply *event.ChatReply, written error) error {
		err := o.left(ctx, s, reply, written)
		if err == nil && over.Data != nil {
			return printCompleted(o.app.Out(), over)
		}
		return err
	}}, input, o.app.Asks() && !o.app.Gates().Decided)
}

// leave submits or resumes a run, and prints its id.
func (o Remote) leave(ctx context.Context, with remote.Options, r remote.Request) error {
	out := o.app.Out()
	accepted, err := remote.Submit(ctx, with, r, func(note untrusted.Text) {
		out.Note("%s", note.Line())
	})
	if err != nil {
		return refused(ctx, err)
	}
	if out.JSON() {
		return out.PrintJSON(accepted)
	}
	return out.Print(accepted.Run + "\n")
}

// watch shows a run of workers on the full screen, and says how to come back to it.
func (o Remote) watch(ctx context.Context, s *remote.Session) error {
	watch := o.app.NewWatch()
	if watch != nil {
		defer watch.Stop()
	}
	err := exit.Wrap("the screen", screen.Show(ctx, o.app, s, watch, tui.Options{Intro: "Workers carry this run out."}))
	s.Close()
	words := "Run " + wording.ShortID(s.Run()) + " has ended. Show it: replan runs show " + wording.ShortID(s.Run()) + o.Again()
	if !s.Over() {
		words = "Run " + wording.ShortID(s.Run()) + " continues. " + o.comeBack(s)
	}
	printed := o.app.Out().PrintFaint(words)
	return errors.Join(err, refused(ctx, s.Err()), printed)
}

// left returns how the following of a run ended: with its reply, because the reader of
// the output is gone, or before.
func (o Remote) left(ctx context.Context, s *remote.Session, reply *event.ChatReply, written error) error {
	id := wording.ShortID(s.Run())
	switch {
	case written != nil:
		if f, ok := errors.AsType[*exit.Error](written); ok {
			return f
		}
		return exit.Wrap(exit.Writing, fmt.Errorf("%w; the run %s continues", written, id))
	case ctx.Err() != nil:
		return &exit.Error{Status: exit.Interrupted, Code: "detached", Err: fmt.Errorf("the run %s continues. %s", id, o.comeBack(s))}
	case s.Err() != nil:
		return refused(ctx, fmt.Errorf("%w. The run %s continues. %s", s.Err(), id, o.comeBack(s)))
	case reply == nil:
		return exit.Wrap("follow the run "+id, errors.New("it ended without an answer"))
	default:
		return lines.Ended(o.app, *reply, nil)
	}
}

// comeBack says how to follow a run again.
func (o Remote) comeBack(s *remote.Session) string {
	return "Come back: replan runs follow " + wording.ShortID(s.Run()) + o.Again()
}

// Again names --on where it was given. The address may hold a password.
func (o Remote) Again() string {
	if o.app.Workers().Named {
		return " --on ADDRESS"
	}
	return ""
}
