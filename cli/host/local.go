package host

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
	"replan/cli/check"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/lines"
	"replan/cli/screen"
	"replan/internal/untrusted"
	"replan/tui"
	"replan/tui/wording"
)

// local carries out runs on this machine.
type local struct{ app *app.App }

// Open opens the full screen, or without one carries out the goal.
func (o local) Open(ctx context.Context, how Opening) error {
	if how.GoOn {
		return o.continueSession(ctx, how)
	}
	if how.InDoubt != "" {
		return exit.Usage("--in-doubt applies to a resumed run: add --continue, or use replan plan resume RUN")
	}
	if !o.app.Screen() {
		if how.Goal == "" {
			return exit.Usage("%s: use replan run GOAL", o.noScreen())
		}
		return o.Goal(ctx, how.Goal, "")
	}
	return screen.Open(ctx, o.app, tui.Options{Goal: how.Goal}, screen.Continued{})
}

// noScreen returns why the full screen cannot be opened.
func (o local) noScreen() string {
	switch form := o.app.Form(); {
	case !o.app.IO().Terminal:
		return "there is no terminal for the full screen"
	case form.Format != config.OutputText:
		return "--output " + form.Format + " has no full screen"
	case form.Plain:
		return "--plain has no full screen"
	default:
		return "a terminal of TERM=dumb has no full screen"
	}
}

// Goal plans and runs a goal and prints it as lines or as JSON.
func (o local) Goal(ctx context.Context, goal, inDoubt string) error {
	if inDoubt != "" {
		return exit.Usage("--in-doubt applies to a resumed run, or one of workers: use replan plan resume RUN, or add --on ADDRESS")
	}
	return lines.Run(ctx, o.app, lines.Job{Commands: []session.Command{session.Submit{Text: goal}}})
}

// Execute checks a plan and runs it.
func (o local) Execute(ctx context.Context, named check.Plan, terms Terms) error {
	out, strict := o.app.Out(), o.app.Planning().Strict()
	if terms.InDoubt != "" {
		return exit.Usage("--in-doubt applies to a resumed run, or one of workers: use %s RUN%s", out.Named("plan resume"), out.OutsideChat(", or add --on ADDRESS"))
	}
	if c := o.app.Chat(); c != nil && !o.app.Execution().DryRun {
		v, err := check.With(o.app, c.Services()).Check(ctx, named, terms.Vars)
		if err != nil {
			return err
		}
		if len(v.Faults) > 0 {
			return v.Print(o.app)
		}
		c.HandOver(terms.Command(v.Plan, strict))
		return nil
	}
	return lines.Run(ctx, o.app, lines.Job{Prepare: func(ctx context.Context, w *app.Services) ([]session.Command, error) {
		v, err := check.With(o.app, w).Check(ctx, named, terms.Vars)
		if err != nil {
			return nil, err
		}
		if len(v.Faults) > 0 {
			check.PrintTroubles(out, w.Tools(), "", v.Awaited)
			return nil, v.Print(o.app)
		}
		for _, f := range v.Warnings {
			out.Note("warning: %s", exit.OneLine(f.Message))
		}
		return []session.Command{terms.Command(v.Plan, strict)}, nil
	}})
}

// Resume continues a run where it stopped.
func (o local) Resume(ctx context.Context, args []string, inDoubt string) error {
	decision, err := parseInDoubt(o.app, inDoubt)
	if err != nil {
		return err
	}
	if o.app.Execution().DryRun {
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
func (o local) toResume(args []string) (id string, err error) {
	run, err := RunsOn(o.app).Resumable(args)
	if err != nil {
		return "", err
	}
	if run.Undone != nil {
		again := "start its goal or plan again"
		if _, err := o.app.Store().Plans.Load(run.Plan.ID); err == nil {
			again = "start its plan again with " + o.app.Out().Named("plan run") + " " + run.Plan.ID
		}
		return "", &exit.Error{Status: exit.BadUsage, Code: string(event.ReasonNotOpened), Err: fmt.Errorf("the run %s is undone, so its steps cannot be continued: %s", wording.ShortID(run.ID), again)}
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
	return out.Print(fmt.Sprintf("the run %s is completed; there is nothing left to do\n", wording.ShortID(end.Run)))
}

// List returns the runs. Those that successfully made a plan are left out without all,
// since their result is among the plans.
func (o local) List(_ context.Context, all bool) ([]agent.Summary, error) {
	list, broken, err := o.app.Store().Summaries()
	if err != nil {
		return nil, exit.Wrap("list the runs", err)
	}
	if !all {
		list = slices.DeleteFunc(list, func(s agent.Summary) bool { return s.PlanOnly && s.Status == event.StatusCompleted })
	}
	for _, err := range broken {
		o.app.Out().Note("%s", exit.OneLine(err.Error()))
	}
	if len(list) == 0 && len(broken) > 0 && !o.app.Out().JSON() {
		return nil, nil
	}
	return list, nil
}

// Show returns a run in its current state.
func (o local) Show(_ context.Context, args []string) (Shown, error) {
	id, err := RunsOn(o.app).ID(args)
	if err != nil {
		return Shown{}, err
	}
	// Check first: a run that ends later has its end in the journal too.
	held, err := o.app.Store().Locked(id)
	if err != nil {
		return Shown{}, exit.Wrap("list the runs", err)
	}
	run, err := o.app.Store().FoldRun(id)
	if err != nil {
		return Shown{}, o.app.Out().Unopened(err)
	}
	summary, snapshot := store.Summary(&run, held), run.Snapshot(held)
	all, err := o.app.Store().RunSummaries()
	if err != nil {
		return Shown{}, exit.Wrap("list the runs", err)
	}
	if at := slices.IndexFunc(all, func(s agent.Summary) bool { return s.Run == id }); at >= 0 {
		summary.Resumable = summary.Resumable && all[at].Resumable // a run that it started may be undone
	}
	return Shown{&run, summary, snapshot}, nil
}

// Recorded returns the full id of a run, and its events.
func (o local) Recorded(_ context.Context, args []string) (id string, events []event.Event, err error) {
	run, err := RunsOn(o.app).Folded(args)
	if err != nil {
		return "", nil, err
	}
	events, err = o.app.Store().ReadRun(run.ID)
	if err != nil {
		return "", nil, o.app.Out().Unopened(err)
	}
	return run.ID, events, nil
}

// Again returns "": commands about these runs need no flag.
func (local) Again() string { return "" }
