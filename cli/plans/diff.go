package plans

import (
	"context"
	"fmt"
	"maps"
	"slices"
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
	changed := func(name string, was, is any) {
		p.Line("      %s %s%s%s", p.Faint("%s:", name), plain.Ink{Text: fmt.Sprint(was), Style: p.Styles().Removed}, arrow,
			plain.Ink{Text: fmt.Sprint(is), Style: p.Styles().Added})
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
		if old.Title != s.Title {
			changed("title", old.Title, s.Title)
		}
		if Executor(old) != Executor(s) {
			changed("tool", Executor(old), Executor(s))
		}
		for _, c := range changedArgs(old.Args, s.Args) {
			changed(c.name, c.was, c.is)
		}
		none := func(words string) string { return config.First(strings.ReplaceAll(words, "\n", "; "), "(none)") }
		if was, is := wording.EachWords(old.ForEach), wording.EachWords(s.ForEach); was != is {
			changed("for each", none(was), none(is))
		}
		if old.When != s.When {
			changed("when", none(old.When), none(s.When))
		}
		if was, is := untilWords(old.Until), untilWords(s.Until); was != is {
			changed("until", none(was), none(is))
		}
		if was, is := wording.ChecksWords(old.Checks), wording.ChecksWords(s.Checks); was != is {
			changed("check", none(was), none(is))
		}
	}
	for _, index := range d.Added {
		if s, ok := d.Plan.Step(index); ok {
			row(p.Signs.Added, s)
		}
	}
}

// untilWords says what a step waits for, "" if it does not.
func untilWords(u *plan.Until) string {
	if u == nil {
		return ""
	}
	return wording.UntilWords(*u)
}

// argShown is how much of an argument is shown, in characters.
const argShown = 80

// argChange is an argument that a revision changed, as it is shown.
type argChange struct{ name, was, is string }

// changedArgs returns the changed arguments, sorted by name.
func changedArgs(before, after map[string]any) []argChange {
	names := maps.Clone(before)
	if names == nil {
		names = map[string]any{}
	}
	maps.Copy(names, after)
	value := func(args map[string]any, name string) string {
		v, ok := args[name]
		if !ok {
			return "(none)"
		}
		return plan.CanonicalJSON(v)
	}
	var changes []argChange
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := value(before, name), value(after, name)
		if was != is {
			changes = append(changes, argChange{name, wording.Excerpt(untrusted.Text(was), argShown), wording.Excerpt(untrusted.Text(is), argShown)})
		}
	}
	return changes
}

// Executor names the executor of a step.
func Executor(s plan.Step) string {
	if s.Executor == plan.ExecutorAgent && s.Profile != "" {
		return "agent " + s.Profile
	}
	return config.First(s.Tool, string(s.Executor))
}
