package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	planfiles "replan/agent/store/plans"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/tty"
	"replan/internal/english"
	"replan/internal/redact"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/plain"
	"replan/tui/plantext"
	"replan/tui/telling"
)

// planLine is a plan in the output of replan plan list.
type planLine struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Steps   int       `json:"steps"`
	Created time.Time `json:"created"`
	Runs    []string  `json:"runs"` // newest first
}

// planList implements replan plan list. It reports an invalid plan file on
// standard error and still lists the others.
func (o plans) planList() error {
	entries, err := o.store.Plans.List()
	if err != nil {
		return exit.Wrap("list the plans", err)
	}
	runs, err := o.store.RunsByPlan()
	if err != nil {
		return exit.Wrap("list the runs", err)
	}
	lines := []planLine{}
	for _, e := range entries {
		if e.Error != nil {
			_, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", exit.OneLine(e.Error.Error()))
			continue
		}
		lines = append(lines, planLine{ID: e.ID, Title: e.Title, Steps: e.Steps, Created: e.Created, Runs: noNil(runs[e.ID])})
	}
	if o.Output == config.OutputJSON {
		return o.printJSON(lines)
	}
	if len(lines) == 0 {
		return o.print(fmt.Sprintf("no plans are saved; create one with %s GOAL or %s FILE\n", o.named("plan create"), o.named("plan import")))
	}
	if t := o.tty(); t != nil {
		return o.print(t.List(plansListing(t.Look, lines)))
	}
	table := tabwriter.NewWriter(o.io.Out, 0, 4, 2, ' ', 0)
	for _, l := range lines {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", l.ID, l.Created.Local().Format(timeShown),
			english.Count(l.Steps, "step"), english.Count(len(l.Runs), "run"), telling.Excerpt(untrusted.Text(l.Title), 60))
	}
	return exit.Wrap(exit.Writing, table.Flush())
}

// plansListing lists plans for a terminal.
func plansListing(l *draw.Look, lines []planLine) tty.Listing {
	out := tty.Listing{Heads: []string{"plan", "title", "steps", "runs", "created"}, Wide: 1}
	for _, line := range lines {
		out.Rows = append(out.Rows, []tty.Cell{
			{Text: line.ID, Style: l.Accent},
			{Text: line.Title, Style: l.Text},
			{Text: strconv.Itoa(line.Steps), Style: l.Muted},
			{Text: strconv.Itoa(len(line.Runs)), Style: l.Muted},
			{Text: line.Created.Local().Format(timeShown), Style: l.Muted},
		})
	}
	return out
}

// timeShown is the time format of lists.
const timeShown = "2006-01-02 15:04"

// storedPlan returns the plan with the given id or id prefix.
func (o plans) storedPlan(prefix string) (plan.Plan, error) {
	p, err := o.store.LoadPlan(prefix)
	if err != nil {
		return plan.Plan{}, o.unopened(err)
	}
	return p, nil
}

// planShow implements replan plan show.
func (o plans) planShow(prefix string) error {
	plan, err := o.storedPlan(prefix)
	if err != nil {
		return err
	}
	return o.printPlan(plan)
}

// printPlan prints a plan, as stored or as a text graph.
func (o plans) printPlan(p plan.Plan) error {
	if o.Output == config.OutputJSON {
		return o.printJSON(p)
	}
	return o.printed(func(out *plain.Printer) { o.writePlan(out, p) })
}

// writePlan prints a plan as a text graph, with what surrounds it.
func (o plans) writePlan(out *plain.Printer, p plan.Plan) {
	out.Line("%s  %s", out.Strong(p.Title.Line()), out.Faint("(%s)", config.First(p.ID, "not kept")))
	goal := p.Goal
	if goal == p.Title {
		goal = ""
	}
	out.Fields(plain.Field{Name: "goal", Value: goal}, plain.Field{Name: "done when", Value: p.DoneWhen})
	out.Line("")
	out.Plan("", plantext.Plan(p, o.ASCII))
	if len(p.Variables) > 0 {
		out.Heading("variables")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
		out.Line("  %s = %s", name, telling.Excerpt(untrusted.Text(plan.CanonicalJSON(p.Variables[name])), 100))
	}
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.When != "" || s.Until != nil }) {
		out.Heading("conditions")
	}
	for _, s := range p.Steps {
		if s.When != "" {
			out.Line("  %s. if %s", s.Name(), untrusted.Line(s.When))
		}
		if s.Until != nil {
			out.Line("  %s. until %s", s.Name(), telling.UntilWords(*s.Until))
		}
	}
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return len(s.Checks) > 0 }) {
		out.Heading("checks")
	}
	for _, s := range p.Steps {
		for _, c := range s.Checks {
			out.Line("  %s. %s", s.Name(), telling.CheckWords(c))
		}
	}
	if len(p.Acceptance) > 0 {
		out.Heading("acceptance")
	}
	for _, c := range p.Acceptance {
		out.Line("  %s", telling.CheckWords(c))
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

// planDelete implements replan plan delete.
func (o plans) planDelete(prefix string) error {
	id, err := o.store.FindPlan(prefix)
	if err != nil {
		return o.unopened(err)
	}
	if o.DryRun {
		return o.deleted([]string{filepath.Join(o.store.Plans.Dir, id+".json")})
	}
	removed, err := o.store.Plans.Delete(id)
	if err != nil {
		return o.unopened(err)
	}
	return o.deleted(removed)
}

// planImport implements replan plan import. It does not check tool names, since
// the plan may run with other servers.
func (o plans) planImport(name, as string) error {
	data, err := o.readFile(name)
	if err != nil {
		return err
	}
	if inner, wrapped := unwrap(data); wrapped {
		data = inner
	}
	p, faults, warnings := plan.CheckPlan(data, plan.Rules{})
	if as != "" {
		if plan.CheckID(as) != nil {
			return exit.Usage("--as takes at most 128 letters, digits, dots, dashes and underscores, and starts with a letter or digit, not %q", as)
		}
		p.ID = as
		faults = without(faults, plan.CodeBadID)
	}
	if len(faults) > 0 {
		return o.printVerdict(verdict{faults: faults})
	}
	for _, w := range without(warnings, plan.CodeUncheckedTools) {
		_, _ = fmt.Fprintf(o.io.Err, "replan: warning: %s\n", exit.OneLine(w.Message))
	}
	if o.DryRun {
		return o.wouldKeep(p)
	}
	kept, err := o.store.Plans.Save(p, time.Now())
	if err != nil {
		return o.unopened(err)
	}
	if o.Output == config.OutputJSON {
		return o.printJSON(kept)
	}
	return o.print(fmt.Sprintf("saved as %s; run it with: %s %s\n", kept.ID, o.named("plan run"), kept.ID))
}

// wouldKeep reports what an import would store, or that the id is taken.
func (o plans) wouldKeep(plan plan.Plan) error {
	if plan.ID != "" {
		_, err := os.Lstat(filepath.Join(o.store.Plans.Dir, plan.ID+".json"))
		switch {
		case err == nil:
			return o.unopened(fmt.Errorf("%s: %w", plan.ID, planfiles.ErrExists))
		case !errors.Is(err, fs.ErrNotExist):
			return exit.Wrap("look among the plans", err)
		}
	}
	if o.Output == config.OutputJSON {
		return o.printJSON(plan)
	}
	return o.print(fmt.Sprintf("would be saved as %s: %s\n", config.First(plan.ID, "an id from its title"), english.Count(len(plan.Steps), "step")))
}

// without filters out the faults with one code.
func without(faults []plan.Fault, code string) []plan.Fault {
	var rest []plan.Fault
	for _, f := range faults {
		if f.Code != code {
			rest = append(rest, f)
		}
	}
	return rest
}

// withoutSecrets returns a copy of a plan that is safe to share.
func withoutSecrets(p plan.Plan, hide func(string) string) plan.Plan {
	text := func(t untrusted.Text) untrusted.Text { return untrusted.Text(hide(string(t))) }
	object := func(values map[string]any) map[string]any {
		if values == nil {
			return nil // a step without args differs from one with none
		}
		values, _ = redact.Value(values, hide).(map[string]any)
		return values
	}
	p.Title, p.Goal, p.DoneWhen = text(p.Title), text(p.Goal), text(p.DoneWhen)
	p.Variables, p.Extra = object(p.Variables), object(p.Extra)
	checks := func(list []plan.Check) []plan.Check {
		list = slices.Clone(list)
		for i, c := range list {
			c.Title, c.Expect, c.Args, c.Extra = text(c.Title), hide(c.Expect), object(c.Args), object(c.Extra)
			list[i] = c
		}
		return list
	}
	p.Acceptance = checks(p.Acceptance)
	p.Steps, p.Milestones, p.Risks = slices.Clone(p.Steps), slices.Clone(p.Milestones), slices.Clone(p.Risks)
	for i, s := range p.Steps {
		s.Title, s.ExpectedOutcome, s.Args, s.Extra = text(s.Title), text(s.ExpectedOutcome), object(s.Args), object(s.Extra)
		s.Checks, s.When = checks(s.Checks), hide(s.When)
		if s.Until != nil {
			until := *s.Until
			until.Expect, until.Extra = hide(until.Expect), object(until.Extra)
			s.Until = &until
		}
		if s.ForEach != nil {
			each := *s.ForEach
			each.Items = redact.Value(each.Items, hide)
			s.ForEach = &each
		}
		p.Steps[i] = s
	}
	for i, m := range p.Milestones {
		m.Title, m.Extra = text(m.Title), object(m.Extra)
		p.Milestones[i] = m
	}
	for i, risk := range p.Risks {
		p.Risks[i] = hide(risk)
	}
	return p
}

// planExport implements replan plan export. The output is always JSON, the format
// of plan files.
func (o plans) planExport(prefix string) error {
	p, err := o.storedPlan(prefix)
	if err != nil {
		return err
	}
	p = withoutSecrets(p, o.wiring().knownSecrets().Text)
	data, err := plan.ExportMCP(p)
	if err != nil {
		return &exit.Error{Status: exit.BadUsage, Code: "not_exported", Err: fmt.Errorf("the plan %s cannot be written in mcp-cli's format: %w", p.ID, err)}
	}
	checks := len(p.Acceptance)
	for _, s := range p.Steps {
		checks += len(s.Checks)
		if s.When != "" || s.Until != nil {
			_, _ = fmt.Fprintf(o.io.Err, "replan: warning: step %s has a condition, which mcp-cli ignores: it runs each step once\n", s.Index)
		}
		if s.Executor == plan.ExecutorTool && s.Args == nil {
			_, _ = fmt.Fprintf(o.io.Err, "replan: warning: step %s has no args and is written with empty ones: replan lets a model fill them in, mcp-cli calls %s without any\n", s.Index, exit.OneLine(s.Tool))
		}
	}
	if checks > 0 {
		_, _ = fmt.Fprintf(o.io.Err, "replan: warning: the plan is written with %s, which mcp-cli ignores: it takes every step that returns for done\n", english.Count(checks, "check"))
	}
	return o.print(strings.TrimRight(string(untrusted.JSON(data)), "\n") + "\n")
}
