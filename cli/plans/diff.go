package plans

import (
	"context"
	"fmt"
	"strings"

	"replan/agent/event"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/config"
	"replan/cli/host"
	"replan/cli/slash"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plain"
	"replan/tui/wording"
)

// diffOptions are the options of replan plan diff.
type diffOptions struct{ app *app.App }

func newDiff(a *app.App) slash.Command {
	o := diffOptions{a}
	return slash.Command{
		Name: "diff", Args: "[RUN]", Short: "Show how each replan of a run changed its plan, and why", Check: args.AtMostOne("RUN"),
		Do: func(_ context.Context, c slash.Call) error { return o.run(c.Args) },
	}
}

// run prints the replans of a run, or of a plan's latest run. With JSON it prints only
// the revisions.
func (o diffOptions) run(args []string) error {
	out := o.app.Out()
	run, err := host.RunsOn(o.app).Resumable(args)
	if err != nil {
		return err
	}
	events, err := o.app.Store().ReadRun(run.ID)
	if err != nil {
		return out.Unopened(err)
	}
	replans := replansOf(events, o.app.Appearance().ASCII)
	if out.JSON() {
		return out.PrintJSON(replans.summaries)
	}
	return out.Lines(func(p *plain.Printer) {
		switch {
		case len(replans.summaries) > 0:
		case replans.tried == 0:
			p.Line("the run %s kept its plan: there was no replan", p.Strong(run.ID))
		default:
			p.Line("the run %s kept its plan: %s %s tried, none was used", p.Strong(run.ID), english.Count(replans.tried, "replan"), english.Agree(replans.tried, "was", "were"))
		}
		for _, write := range replans.lines {
			write(p)
		}
	})
}

// replanResults collects the results of a run's replans.
type replanResults struct {
	summaries []event.RevisionSummary
	tried     int
	lines     []func(*plain.Printer) // one per revision and per replan without one
	open      *event.ReplanStarted
}

// replansOf extracts the replans from the events of a run.
func replansOf(events []event.Event, ascii bool) replanResults {
	r := replanResults{summaries: []event.RevisionSummary{}}
	var before plan.Plan
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.PlanCreated:
			before = d.Plan
		case event.PlanChosen:
			before = d.Plan
		case event.PlanReviewed:
			if d.Plan != nil {
				before = *d.Plan
			}
		case event.ReplanStarted:
			r.none("no answer came")
			r.open = &d
			r.tried++
		case event.ReplanRefused:
			r.none("refused: " + d.Reason.Visible())
		case event.RunCompleted:
			r.none(noPlanCame(d.Result))
		case event.PlanDiff:
			r.open = nil
			r.summaries = append(r.summaries, event.RevisionSummary{
				Revision: d.Revision, Reason: d.Reason,
				Removed: app.NoNil(d.Removed), Added: app.NoNil(d.Added), Revised: app.NoNil(d.Revised),
			})
			was := before
			r.lines = append(r.lines, func(p *plain.Printer) { writeRevision(p, was, d, ascii) })
			before = d.Plan
		}
	}
	r.none("still active")
	return r
}

// none records that the current replan, if any, made no revision, and why.
func (r *replanResults) none(why string) {
	if r.open == nil {
		return
	}
	open := r.open
	r.lines = append(r.lines, func(p *plain.Printer) {
		p.Line("%s, because step %s failed (%s): %s", p.Strong(fmt.Sprintf("replan %d", open.Attempt)), open.Step, wording.Excerpt(open.Error, 120), wording.Excerpt(untrusted.Text(why), 200))
	})
	r.open = nil
}

// noPlanCame says why a run ended in the middle of a replan.
func noPlanCame(r event.Result) string {
	if r.Reason == event.ReasonGaveUp {
		return "gave up: " + config.First(r.Error.Visible(), "the planner found no way to continue")
	}
	return fmt.Sprintf("the run ended (%s)", config.First(r.Error.Visible(), string(r.Reason)))
}

// writeRevision prints a revision: the removed, changed and added steps, and why.
func writeRevision(p *plain.Printer, before plan.Plan, d event.PlanDiff, ascii bool) {
	arrow := " → "
	if ascii {
		arrow = " -> "
	}
	row := func(sign plain.Ink, s plan.Step) {
		p.Line("  %s %s. %s  %s", sign, s.Index, s.Title, p.Faint("[%s]", Executor(s)))
	}
	p.Line("%s: %s", p.Strong(fmt.Sprintf("revision %d", d.Revision)), wording.Excerpt(d.Reason, 200))
	for _, index := range d.Removed {
		if s, ok := before.Step(index); ok {
			row(p.Signs.Removed, s)
		}
	}
	for _, index := range d.Revised {
		s, ok := d.Plan.Step(index)
		if !ok {
			continue
		}
		old, _ := before.Step(index)
		row(p.Signs.Revised, s)
		for _, c := range wording.StepChanges(&old, &s) {
			p.Line("      %s %s%s%s", p.Faint("%s:", c.Name), plain.Ink{Text: changeText(c, c.Before), Style: p.Styles().Removed}, arrow,
				plain.Ink{Text: changeText(c, c.After), Style: p.Styles().Added})
		}
	}
	for _, index := range d.Added {
		if s, ok := d.Plan.Step(index); ok {
			row(p.Signs.Added, s)
		}
	}
}

// changeText puts a value of a changed field on one line. An argument may be cut.
func changeText(c wording.FieldChange, value string) string {
	const most = 80 // characters of an argument
	switch {
	case value == "":
		return "(none)"
	case c.Arg:
		return wording.Excerpt(untrusted.Text(value), most)
	default:
		return strings.ReplaceAll(value, "\n", "; ")
	}
}

// Executor names the executor of a step.
func Executor(s plan.Step) string {
	if s.Executor == plan.ExecutorAgent && s.Profile != "" {
		return "agent " + s.Profile
	}
	return config.First(s.Tool, string(s.Executor))
}
