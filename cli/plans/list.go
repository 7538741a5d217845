package plans

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/slash"
	"replan/cli/tty"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/plain"
	"replan/tui/plantext"
	"replan/tui/wording"
)

// listOptions are the options of replan plan list.
type listOptions struct{ app *app.App }

func newList(a *app.App) slash.Command {
	o := listOptions{a}
	return slash.Command{
		Name: "list", Short: "List saved plans and their runs",
		Do: func(context.Context, slash.Call) error { return o.run() },
	}
}

// planLine is a plan in the output of replan plan list.
type planLine struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Steps   int       `json:"steps"`
	Created time.Time `json:"created"`
	Runs    []string  `json:"runs"` // newest first
}

// run lists the plans. It reports an invalid plan file on
// standard error and still lists the others.
func (o listOptions) run() error {
	out := o.app.Out()
	entries, err := o.app.Store().Plans.List()
	if err != nil {
		return exit.Wrap("list the plans", err)
	}
	runs, err := o.app.Store().RunsByPlan()
	if err != nil {
		return exit.Wrap("list the runs", err)
	}
	lines := []planLine{}
	for _, e := range entries {
		if e.Error != nil {
			out.Note("%s", exit.OneLine(e.Error.Error()))
			continue
		}
		lines = append(lines, planLine{ID: e.ID, Title: e.Title, Steps: e.Steps, Created: e.Created, Runs: app.NoNil(runs[e.ID])})
	}
	if out.JSON() {
		return out.PrintJSON(lines)
	}
	if len(lines) == 0 {
		return out.Print(fmt.Sprintf("no plans are saved; create one with %s GOAL or %s FILE\n", out.Named("plan create"), out.Named("plan import")))
	}
	if t := out.Terminal(); t != nil {
		return out.Print(t.List(plansListing(t.Styles, lines)))
	}
	table := tabwriter.NewWriter(o.app.IO().Out, 0, 4, 2, ' ', 0)
	for _, l := range lines {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", l.ID, l.Created.Local().Format(app.TimeShown),
			english.Count(l.Steps, "step"), english.Count(len(l.Runs), "run"), wording.Excerpt(untrusted.Text(l.Title), 60))
	}
	return exit.Wrap(exit.Writing, table.Flush())
}

// plansListing lists plans for a terminal.
func plansListing(l *draw.Styles, lines []planLine) tty.Listing {
	out := tty.Listing{Heads: []string{"plan", "title", "steps", "runs", "created"}, Wide: 1}
	for _, line := range lines {
		out.Rows = append(out.Rows, []tty.Cell{
			{Text: line.ID, Style: l.Accent},
			{Text: line.Title, Style: l.Text},
			{Text: strconv.Itoa(line.Steps), Style: l.Muted},
			{Text: strconv.Itoa(len(line.Runs)), Style: l.Muted},
			{Text: line.Created.Local().Format(app.TimeShown), Style: l.Muted},
		})
	}
	return out
}

// showOptions are the options of replan plan show.
type showOptions struct{ app *app.App }

func newShow(a *app.App) slash.Command {
	o := showOptions{a}
	return slash.Command{
		Name: "show", Args: "ID", Short: "Show a plan as a text graph, or with --output json as saved", Check: args.One("ID"),
		Do: func(_ context.Context, c slash.Call) error { return o.run(c.Args[0]) },
	}
}

// run prints a plan, as stored or as a text graph.
func (o showOptions) run(prefix string) error {
	p, err := storedPlan(o.app, prefix)
	if err != nil {
		return err
	}
	if o.app.Out().JSON() {
		return o.app.Out().PrintJSON(p)
	}
	return o.app.Out().Lines(func(out *plain.Printer) { Write(out, p, o.app.Appearance().ASCII) })
}

// storedPlan returns the plan with the given id or id prefix.
func storedPlan(a *app.App, prefix string) (plan.Plan, error) {
	p, err := a.Store().LoadPlan(prefix)
	if err != nil {
		return plan.Plan{}, a.Out().Unopened(err)
	}
	return p, nil
}

// Write prints a plan as a text graph, with what surrounds it.
func Write(out *plain.Printer, p plan.Plan, ascii bool) {
	out.Line("%s  %s", out.Strong(p.Title.Line()), out.Faint("(%s)", config.First(p.ID, "not kept")))
	goal := p.Goal
	if goal == p.Title {
		goal = ""
	}
	out.Fields(plain.Field{Name: "goal", Value: goal}, plain.Field{Name: "done when", Value: p.DoneWhen})
	out.Line("")
	out.Plan("", plantext.Plan(p, ascii))
	if len(p.Variables) > 0 {
		out.Heading("variables")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
		out.Line("  %s = %s", name, wording.Excerpt(untrusted.Text(plan.CanonicalJSON(p.Variables[name])), 100))
	}
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.When != "" || s.Until != nil }) {
		out.Heading("conditions")
	}
	for _, s := range p.Steps {
		if s.When != "" {
			out.Line("  %s. if %s", s.Name(), untrusted.Line(s.When))
		}
		if s.Until != nil {
			out.Line("  %s. until %s", s.Name(), wording.UntilWords(*s.Until))
		}
	}
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return len(s.Checks) > 0 }) {
		out.Heading("checks")
	}
	for _, s := range p.Steps {
		for _, c := range s.Checks {
			out.Line("  %s. %s", s.Name(), wording.CheckWords(c))
		}
	}
	if len(p.Acceptance) > 0 {
		out.Heading("acceptance")
	}
	for _, c := range p.Acceptance {
		out.Line("  %s", wording.CheckWords(c))
	}
	if len(p.Milestones) > 0 {
		out.Heading("milestones")
	}
	for _, m := range p.Milestones {
		if len(m.Steps) == 0 {
			out.Line("  %s", m.Title)
			continue
		}
		out.Line("  %s: %s", m.Title, out.Faint("%s", strings.Join(m.Steps, ", ")))
	}
	if len(p.Risks) > 0 {
		out.Heading("risks")
	}
	for _, r := range p.Risks {
		out.Line("  %s", r)
	}
}
