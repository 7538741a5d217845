package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/agent/store"
	"replan/cli/app"
	"replan/cli/exit"
	"replan/cli/lines"
	"replan/internal/untrusted"
	"replan/tui"
	"replan/tui/telling"
)

// localHost carries out runs on this machine.
type localHost struct{ app *app.App }

// open opens the full screen, or without one carries out the goal.
func (o localHost) open(ctx context.Context, how opening) error {
	if how.goOn {
		return o.continueSession(ctx, how)
	}
	if how.inDoubt != "" {
		return exit.Usage("--in-doubt applies to a resumed run: add --continue, or use replan plan resume RUN")
	}
	if !o.app.Screen() {
		if how.goal == "" {
			return exit.Usage("there is no terminal for the full screen: use replan run GOAL")
		}
		return o.goal(ctx, how.goal, "")
	}
	return openScreen(ctx, o.app, tui.Options{Goal: how.goal}, continued{})
}

// goal plans and runs a goal and prints it as lines or as JSON.
func (o localHost) goal(ctx context.Context, goal, inDoubt string) error {
	if inDoubt != "" {
		return exit.Usage("--in-doubt applies to a resumed run, or one of workers: use replan plan resume RUN, or add --on ADDRESS")
	}
	return lines.Run(ctx, o.app, lines.Job{Commands: []session.Command{session.Submit{Text: goal}}})
}

// execute checks a plan and runs it.
func (o localHost) execute(ctx context.Context, named namedPlan, terms planTerms) error {
	set, out := o.app.Settings(), o.app.Out()
	if terms.inDoubt != "" {
		return exit.Usage("--in-doubt applies to a resumed run, or one of workers: use %s RUN%s", out.Named("plan resume"), out.OutsideChat(", or add --on ADDRESS"))
	}
	if c := o.app.Chat(); c != nil && !set.DryRun {
		v, err := (checker{o.app, c.Services()}).check(ctx, named, terms.vars)
		if err != nil {
			return err
		}
		if len(v.faults) > 0 {
			return v.print(o.app)
		}
		c.HandOver(terms.command(v.plan, strict(set)))
		return nil
	}
	return lines.Run(ctx, o.app, lines.Job{Prepare: func(ctx context.Context, w *app.Services) ([]session.Command, error) {
		v, err := (checker{o.app, w}).check(ctx, named, terms.vars)
		if err != nil {
			return nil, err
		}
		if len(v.faults) > 0 {
			printTroubles(out, w.Tools(), "", v.awaited)
			return nil, v.print(o.app)
		}
		for _, f := range v.warnings {
			out.Note("warning: %s", exit.OneLine(f.Message))
		}
		return []session.Command{terms.command(v.plan, strict(set))}, nil
	}})
}

// resume continues a run where it stopped.
func (o localHost) resume(ctx context.Context, args []string, inDoubt string) error {
	decision, err := parseInDoubt(o.app, inDoubt)
	if err != nil {
		return err
	}
	if o.app.Settings().DryRun {
		return o.app.Out().NoDryResume()
	}
	id, err := o.toResume(args)
	if err != nil || id == "" {
		return err
	}
	if c := o.app.Chat(); c != nil {
		c.HandOver(session.Resume{Run: id})
		return nil
	}
	err = lines.Run(ctx, o.app, lines.Job{Commands: []session.Command{session.Resume{Run: id}}, InDoubt: decision})
	return errors.Join(err, printDoubts(o.app, id, err))
}

// toResume returns the run that an argument means. It reports a run that has nothing left
// to do, and returns "". The session reads the run again: it may be large.
func (o localHost) toResume(args []string) (id string, err error) {
	run, err := runsOn(o.app).resumable(args)
	if err != nil {
		return "", err
	}
	if run.Undone != nil {
		again := "start its goal or plan again"
		if _, err := o.app.Store().Plans.Load(run.Plan.ID); err == nil {
			again = "start its plan again with " + o.app.Out().Named("plan run") + " " + run.Plan.ID
		}
		return "", &exit.Error{Status: exit.BadUsage, Code: string(event.ReasonNotOpened), Err: fmt.Errorf("the run %s is undone, so its steps cannot be continued: %s", telling.ShortID(run.ID), again)}
	}
	if !run.Resumable() {
		return "", printCompleted(o.app.Out(), event.Event{Seq: run.Seq, Time: run.Now, Run: run.ID, Data: event.RunCompleted{Result: *run.Result}})
	}
	if o.app.Chat() == nil {
		err = lines.CanReview(o.app, &run)
	}
	return run.ID, err
}

// printDoubts lists all steps in doubt on standard error if a run ended because of
// doubt and has several, since its end names only one.
func printDoubts(a *app.App, id string, ended error) error {
	var f *exit.Error
	if !errors.As(ended, &f) || f.Code != string(event.ReasonInDoubt) {
		return nil
	}
	run, err := a.Store().FoldRun(id)
	if err != nil {
		return a.Out().Unopened(err)
	}
	var names []string
	for _, index := range run.Snapshot(false).InDoubt {
		names = append(names, fmt.Sprintf("%s (%s)", index, run.Step(index).Step.Title))
	}
	if len(names) > 1 {
		a.Out().Note("%s", untrusted.Line("steps in doubt: "+strings.Join(names, ", ")))
	}
	return nil
}

// printCompleted says that a run to resume is completed. As JSON it is the run's last
// event, as a resume with work to do would print.
func printCompleted(out *app.Output, end event.Event) error {
	if out.JSON() {
		return out.PrintJSON(end)
	}
	return out.Print(fmt.Sprintf("the run %s is completed; there is nothing left to do\n", telling.ShortID(end.Run)))
}

// list prints the runs. Those that successfully made a plan are left out without all,
// since their result is among the plans.
func (o localHost) list(_ context.Context, all bool) error {
	list, broken, err := o.app.Store().Summaries()
	if err != nil {
		return exit.Wrap("list the runs", err)
	}
	if !all {
		list = slices.DeleteFunc(list, func(s agent.Summary) bool { return s.PlanOnly && s.Status == event.StatusCompleted })
	}
	for _, err := range broken {
		o.app.Out().Note("%s", exit.OneLine(err.Error()))
	}
	if len(list) == 0 && len(broken) > 0 && !o.app.Out().JSON() {
		return nil // there are runs
	}
	return printRuns(o.app, list)
}

// show returns a run in its current state.
func (o localHost) show(_ context.Context, args []string) (shownRun, error) {
	id, err := runsOn(o.app).id(args)
	if err != nil {
		return shownRun{}, err
	}
	// Check first: a run that ends later has its end in the journal too.
	held, err := o.app.Store().Locked(id)
	if err != nil {
		return shownRun{}, exit.Wrap("list the runs", err)
	}
	run, err := o.app.Store().FoldRun(id)
	if err != nil {
		return shownRun{}, o.app.Out().Unopened(err)
	}
	summary, snapshot := store.Summary(&run, held), run.Snapshot(held)
	all, err := o.app.Store().RunSummaries()
	if err != nil {
		return shownRun{}, exit.Wrap("list the runs", err)
	}
	if at := slices.IndexFunc(all, func(s agent.Summary) bool { return s.Run == id }); at >= 0 {
		summary.Resumable = summary.Resumable && all[at].Resumable // a run that it started may be undone
	}
	return shownRun{&run, summary, snapshot}, nil
}

// recorded returns the full id of a run, and its events.
func (o localHost) recorded(_ context.Context, args []string) (id string, events []event.Event, err error) {
	run, err := runsOn(o.app).folded(args)
	if err != nil {
		return "", nil, err
	}
	events, err = o.app.Store().ReadRun(run.ID)
	if err != nil {
		return "", nil, o.app.Out().Unopened(err)
	}
	return run.ID, events, nil
}

// again returns "": commands about these runs need no flag.
func (localHost) again() string { return "" }
