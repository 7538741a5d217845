package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/agent/store"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plain"
	"replan/tui/telling"
)

// planRun holds the options for running a plan.
type planRun struct {
	vars       variables
	onFailure  plan.OnFailure
	synthesize bool
	inDoubt    string // of a run of workers
}

// execute returns the command that runs a plan with these options.
func (o plans) execute(p plan.Plan, how planRun) session.Execute {
	return session.Execute{Plan: p, OnFailure: how.onFailure, Synthesize: how.synthesize, Strict: o.strict()}
}

// planRun implements replan plan run.
func (o plans) planRun(ctx context.Context, name string, how planRun) error {
	named, err := o.readPlan(name)
	if err != nil {
		return err
	}
	if o.elsewhere() {
		return o.submitPlan(ctx, named, how)
	}
	if how.inDoubt != "" {
		return exit.Usage("--in-doubt applies to a resumed run, or one of workers: use %s RUN%s", o.named("plan resume"), o.outsideChat(", or add --on ADDRESS"))
	}
	if o.chatContext != nil && !o.DryRun {
		v, err := o.check(ctx, o.chatContext.services, named, how.vars)
		if err != nil {
			return err
		}
		if len(v.faults) > 0 {
			return o.printVerdict(v)
		}
		o.chatContext.then = o.execute(v.plan, how)
		return nil
	}
	return o.headless(ctx, headlessJob{prepare: func(ctx context.Context, w *services) ([]session.Command, error) {
		v, err := o.check(ctx, w, named, how.vars)
		if err != nil {
			return nil, err
		}
		if len(v.faults) > 0 {
			o.printTroubles(w, "", v.awaited)
			return nil, o.printVerdict(v)
		}
		for _, f := range v.warnings {
			_, _ = fmt.Fprintf(o.io.Err, "replan: warning: %s\n", exit.OneLine(f.Message))
		}
		return []session.Command{o.execute(v.plan, how)}, nil
	}})
}

// planCreate implements replan plan create. With JSON it prints only the plan.
func (o plans) planCreate(ctx context.Context, goal string) error {
	if o.DryRun {
		return exit.Usage("plan create calls no tools: omit --dry-run")
	}
	o.Review = false // nothing runs that could be reviewed first
	if o.chatContext != nil {
		o.chatContext.then = session.Create{Goal: goal}
		return nil
	}
	var kept plan.Plan
	var unkept error
	e := headlessJob{commands: []session.Command{session.Create{Goal: goal}}, keep: func(p plan.Plan) (plan.Plan, error) {
		kept, unkept = o.store.SavePlan(p)
		return kept, unkept
	}}
	e.printer = func(session string, out io.Writer) eventPrinter {
		if o.Output == config.OutputJSON {
			return notesOnly{o.options, session}
		}
		return uncrowned{o.log(out, session)}
	}
	// The session has ended when headless returns, so nobody else writes to kept.
	if err := o.headless(ctx, e); err != nil {
		return err
	}
	switch {
	case unkept != nil:
		return exit.Wrap("save the plan", unkept)
	case kept.ID == "":
		return &exit.Error{Status: event.ReasonNoPlan.ExitCode(), Code: string(event.ReasonNoPlan), Err: errors.New("the model answered directly and made no plan: add --force-plan")}
	}
	if o.Output == config.OutputJSON {
		return o.printJSON(kept)
	}
	return o.print(fmt.Sprintf("plan %s: %s, saved; run it with %s %s\n", kept.ID, english.Count(len(kept.Steps), "step"), o.named("plan run"), kept.ID))
}

// uncrowned suppresses the line for a successful end of a run, for callers that
// print something better.
type uncrowned struct{ *plain.Log }

// Event prints one event.
func (u uncrowned) Event(e event.Event) error {
	if d, ok := e.Data.(event.RunCompleted); ok && d.Reason.ExitCode() == 0 {
		return nil
	}
	return u.Log.Event(e)
}

// notesOnly prints the session's notes and a run's failure on standard error, and
// nothing else.
type notesOnly struct {
	o       *options
	session string
}

// Event prints a note.
func (n notesOnly) Event(e event.Event) error {
	switch d := e.Data.(type) {
	case event.Note:
		_, _ = fmt.Fprintf(n.o.io.Err, "replan: %s\n", d.Text.Line())
	case event.RunCompleted:
		if d.Reason.ExitCode() != 0 {
			return &exit.Error{Status: d.Reason.ExitCode(), Code: string(d.Reason), Err: errors.New(config.First(string(d.Error), string(d.Reason)))}
		}
	}
	return nil
}

// parseInDoubt parses --in-doubt; "" means ask. If nobody can be asked, it
// returns an error, since the run must not continue on a guess.
func (o *options) parseInDoubt(text string) (event.DoubtDecision, error) {
	switch text {
	case "":
		if o.chatContext != nil || o.asks() {
			return "", nil
		}
		return event.DoubtAbort, nil
	case "ask":
		if o.chatContext == nil && !o.asks() {
			return "", exit.Usage("there is no terminal to ask on: use --in-doubt rerun, done or abort")
		}
		return "", nil
	case string(event.DoubtRerun), string(event.DoubtDone), string(event.DoubtAbort):
		if o.chatContext != nil {
			return "", exit.Usage("the chat asks about steps in doubt: omit --in-doubt")
		}
		return event.DoubtDecision(text), nil
	default:
		return "", exit.Usage("--in-doubt takes ask, rerun, done or abort, not %q", text)
	}
}

// planResume implements replan plan resume.
func (o plans) planResume(ctx context.Context, args []string, inDoubt event.DoubtDecision) error {
	if o.DryRun {
		return o.noDryResume()
	}
	id, err := o.toResume(args)
	if err != nil || id == "" {
		return err
	}
	if o.chatContext != nil {
		o.chatContext.then = session.Resume{Run: id}
		return nil
	}
	err = o.headless(ctx, headlessJob{commands: []session.Command{session.Resume{Run: id}}, inDoubt: inDoubt})
	return errors.Join(err, o.printDoubts(id, err))
}

// toResume returns the run that an argument means. It reports a run that has nothing left
// to do, and returns "". The session reads the run again: it may be large.
func (o plans) toResume(args []string) (id string, err error) {
	run, err := o.resumable(args)
	if err != nil {
		return "", err
	}
	if run.Undone != nil {
		again := "start its goal or plan again"
		if _, err := o.store.Plans.Load(run.Plan.ID); err == nil {
			again = "start its plan again with " + o.named("plan run") + " " + run.Plan.ID
		}
		return "", &exit.Error{Status: exit.BadUsage, Code: string(event.ReasonNotOpened), Err: fmt.Errorf("the run %s is undone, so its steps cannot be continued: %s", telling.ShortID(run.ID), again)}
	}
	if !run.Resumable() {
		return "", o.printCompleted(event.Event{Seq: run.Seq, Time: run.Now, Run: run.ID, Data: event.RunCompleted{Result: *run.Result}})
	}
	if o.chatContext == nil {
		err = o.canReview(&run)
	}
	return run.ID, err
}

// printDoubts lists all steps in doubt on standard error if a run ended because of
// doubt and has several, since its end names only one.
func (o plans) printDoubts(id string, ended error) error {
	var f *exit.Error
	if !errors.As(ended, &f) || f.Code != string(event.ReasonInDoubt) {
		return nil
	}
	run, err := o.store.FoldRun(id)
	if err != nil {
		return o.unopened(err)
	}
	var names []string
	for _, index := range run.Snapshot(false).InDoubt {
		names = append(names, fmt.Sprintf("%s (%s)", index, run.Step(index).Step.Title))
	}
	if len(names) > 1 {
		_, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", untrusted.Line("steps in doubt: "+strings.Join(names, ", ")))
	}
	return nil
}

// printCompleted says that a run to resume is completed. As JSON it is the run's last
// event, as a resume with work to do would print.
func (o *options) printCompleted(end event.Event) error {
	if o.Output == config.OutputJSON {
		return o.printJSON(end)
	}
	return o.print(fmt.Sprintf("the run %s is completed; there is nothing left to do\n", telling.ShortID(end.Run)))
}

// resumable returns the run that an argument means: a run, or a plan's latest
// run.
func (o plans) resumable(args []string) (agent.Run, error) {
	if len(args) == 0 || args[0] == lastRun {
		return o.runs().foldedRun(args)
	}
	run, err := o.store.ResumableRun(args[0])
	var none *store.NoRunError
	switch {
	case errors.As(err, &none):
		return run, exit.Usage("%w: start one with %s %s", err, o.named("plan run"), none.Plan)
	case err != nil:
		return run, o.unopened(err)
	}
	return run, nil
}
