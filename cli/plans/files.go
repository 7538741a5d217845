package plans

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	planfiles "replan/agent/store/plans"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/check"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/slash"
	"replan/internal/english"
	"replan/internal/redact"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// deleteOptions are the options of replan plan delete.
type deleteOptions struct{ app *app.App }

func newDelete(a *app.App) slash.Command {
	o := deleteOptions{a}
	return slash.Command{
		Name: "delete", Args: "ID", Short: "Delete a saved plan, not its runs, and print its name", Check: args.One("ID"),
		Do: func(_ context.Context, c slash.Call) error { return o.run(c.Args[0]) },
	}
}

// run deletes a plan.
func (o deleteOptions) run(prefix string) error {
	id, err := o.app.Store().FindPlan(prefix)
	if err != nil {
		return o.app.Out().Unopened(err)
	}
	if o.app.Execution().DryRun {
		return o.app.Out().PrintDeleted([]string{filepath.Join(o.app.Store().Plans.Dir, id+".json")})
	}
	removed, err := o.app.Store().Plans.Delete(id)
	if err != nil {
		return o.app.Out().Unopened(err)
	}
	return o.app.Out().PrintDeleted(removed)
}

// importOptions are the options of replan plan import.
type importOptions struct {
	app *app.App
	as  string // the id to save it under; "" is its own
}

func newImport(a *app.App) slash.Command {
	o := importOptions{app: a}
	return slash.Command{
		Name: "import", Args: "FILE", Short: "Save a plan from a file of replan or mcp-cli",
		Long: "import reads a plan file of replan or mcp-cli and saves it among the plans. Tool names are not\n" +
			"checked. A plan whose id is taken is refused, unless --as names another. FILE may be - for standard input.",
		Flags: func(f *pflag.FlagSet) { f.StringVar(&o.as, "as", "", "save it under this `ID`") },
		Check: args.One("FILE"),
		Do:    func(_ context.Context, c slash.Call) error { return o.run(c.Args[0]) },
	}
}

// run saves the plan of a file. It does not check tool names, since
// the plan may run with other servers.
func (o importOptions) run(name string) error {
	out := o.app.Out()
	data, err := check.ReadFile(o.app, name)
	if err != nil {
		return err
	}
	if inner, wrapped := check.Unwrap(data); wrapped {
		data = inner
	}
	p, faults, warnings := plan.CheckPlan(data, plan.Rules{})
	if o.as != "" {
		if plan.CheckID(o.as) != nil {
			return exit.Usage("--as takes at most 128 letters, digits, dots, dashes and underscores, and starts with a letter or digit, not %q", o.as)
		}
		p.ID = o.as
		faults = check.Without(faults, plan.CodeBadID)
	}
	if len(faults) > 0 {
		return check.Verdict{Faults: faults}.Print(o.app)
	}
	for _, w := range check.Without(warnings, plan.CodeUncheckedTools) {
		out.Note("warning: %s", exit.OneLine(w.Message))
	}
	if o.app.Execution().DryRun {
		return o.wouldKeep(p)
	}
	kept, err := o.app.Store().Plans.Save(p, time.Now())
	if err != nil {
		return out.Unopened(err)
	}
	if out.JSON() {
		return out.PrintJSON(kept)
	}
	return out.Print(fmt.Sprintf("saved as %s; run it with: %s %s\n", kept.ID, out.Named("plan run"), kept.ID))
}

// wouldKeep reports what an import would store, or that the id is taken.
func (o importOptions) wouldKeep(plan plan.Plan) error {
	if plan.ID != "" {
		_, err := os.Lstat(filepath.Join(o.app.Store().Plans.Dir, plan.ID+".json"))
		switch {
		case err == nil:
			return o.app.Out().Unopened(fmt.Errorf("%s: %w", plan.ID, planfiles.ErrExists))
		case !errors.Is(err, fs.ErrNotExist):
			return exit.Wrap("look among the plans", err)
		}
	}
	if o.app.Out().JSON() {
		return o.app.Out().PrintJSON(plan)
	}
	return o.app.Out().Print(fmt.Sprintf("would be saved as %s: %s\n", config.First(plan.ID, "an id from its title"), english.Count(len(plan.Steps), "step")))
}

// exportOptions are the options of replan plan export.
type exportOptions struct{ app *app.App }

func newExport(a *app.App) slash.Command {
	o := exportOptions{a}
	return slash.Command{
		Name: "export", Args: "ID", Short: "Write a plan in mcp-cli's format to standard output", Check: args.One("ID"),
		Do: func(_ context.Context, c slash.Call) error { return o.run(c.Args[0]) },
	}
}

// run writes a plan to standard output. The output is always JSON, the format
// of plan files.
func (o exportOptions) run(prefix string) error {
	out := o.app.Out()
	p, err := storedPlan(o.app, prefix)
	if err != nil {
		return err
	}
	p = withoutSecrets(p, o.app.Servers().Secrets().Text)
	data, err := plan.ExportMCP(p)
	if err != nil {
		return &exit.Error{Status: exit.BadUsage, Code: "not_exported", Err: fmt.Errorf("the plan %s cannot be written in mcp-cli's format: %w", p.ID, err)}
	}
	checks := len(p.Acceptance)
	for _, s := range p.Steps {
		checks += len(s.Checks)
		if s.When != "" || s.Until != nil {
			out.Note("warning: step %s has a condition, which mcp-cli ignores: it runs each step once", s.Index)
		}
		if s.Executor == plan.ExecutorTool && s.Args == nil {
			out.Note("warning: step %s has no args and is written with empty ones: replan lets a model fill them in, mcp-cli calls %s without any", s.Index, exit.OneLine(s.Tool))
		}
	}
	if checks > 0 {
		out.Note("warning: the plan is written with %s, which mcp-cli ignores: it takes every step that returns for done", english.Count(checks, "check"))
	}
	return out.Print(strings.TrimRight(string(untrusted.JSON(data)), "\n") + "\n")
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
