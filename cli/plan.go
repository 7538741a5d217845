package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/slash"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plain"
	"replan/tui/telling"
)

// newPlan returns the command replan plan, which is /plan in the chat.
func newPlan(o *options) slash.Command {
	return slash.Command{
		Name:  "plan",
		Short: "Create, save, check and run plans",
		Long: "A plan is a JSON file: a graph of steps, each a tool call, a task for a sub-agent or a text by\n" +
			"the model. These commands create plans with the model, save them, check them without running anything,\n" +
			"and run them; an interrupted or failed run resumes where it stopped. ID may be shortened to a unique\n" +
			"beginning. RUN is the id that the screen shows, a unique beginning or end of the whole id, or last.",
		Below: []slash.Command{
			newPlanCreate(o), newPlanList(o), newPlanShow(o), newPlanCheck(o), newPlanRun(o), newPlanResume(o),
			newPlanDelete(o), newPlanImport(o), newPlanExport(o), newPlanDiff(o),
		},
	}
}

// one requires exactly one argument and names it in the error.
func one(what string) func(path string, args []string) error {
	return func(path string, args []string) error {
		if len(args) == 1 && strings.TrimSpace(args[0]) != "" {
			return nil
		}
		if len(args) > 1 {
			return exit.Usage("%s takes one %s, got %d", path, what, len(args))
		}
		return exit.Usage("name one: %s %s", path, what)
	}
}

// atMostOne requires one argument or none.
func atMostOne(what string) func(path string, args []string) error {
	return func(path string, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return one(what)(path, args)
	}
}

// anyNumber accepts any arguments.
func anyNumber(string, []string) error { return nil }

func newPlanCreate(o *options) slash.Command {
	return slash.Command{
		Name: "create", Args: "GOAL", Short: "Plan a goal with the model and save the plan; nothing runs",
		Examples: []string{"plan create \"rename X to Y and run the tests\""},
		Check:    anyNumber,
		Do: func(ctx context.Context, c slash.Call) error {
			goal := strings.Join(c.Args, " ")
			if strings.TrimSpace(goal) == "" {
				return exit.Usage("name the goal: %s GOAL", c.Path)
			}
			return o.plans().planCreate(ctx, goal)
		},
	}
}

func newPlanList(o *options) slash.Command {
	return slash.Command{
		Name: "list", Short: "List saved plans and their runs",
		Do: func(context.Context, slash.Call) error { return o.plans().planList() },
	}
}

func newPlanShow(o *options) slash.Command {
	return slash.Command{
		Name: "show", Args: "ID", Short: "Show a plan as a text graph, or with --output json as saved", Check: one("ID"),
		Do: func(_ context.Context, c slash.Call) error { return o.plans().planShow(c.Args[0]) },
	}
}

func newPlanCheck(o *options) slash.Command {
	var vars []string
	return slash.Command{
		Name: "check", Args: "FILE", Short: "Check a plan: every error, and how it would run",
		Long: "check reports every error of a plan at once, each with its place in the file, including references to\n" +
			"fields that the tool's output schema does not have. For a valid plan it prints\n" +
			"the batches that can run at the same time, the critical path by the durations of earlier runs,\n" +
			"and the steps that would wait at a gate. A step whose call a rule denies is a warning. Nothing\n" +
			"is called. FILE may be - for standard input, or the id of a saved plan.",
		Examples: []string{"plan check deploy.json", "plan check deploy.json --var env=staging --output json"},
		Flags: func(f *pflag.FlagSet) {
			registerVars(f, &vars)
			o.RegisterStrict(f)
		},
		Check: one("FILE"),
		Do: func(ctx context.Context, c slash.Call) error {
			return o.plans().planCheck(ctx, c.Args[0], vars)
		},
	}
}

func registerVars(f *pflag.FlagSet, vars *[]string) {
	f.StringArrayVar(vars, "var", nil, "set a variable of the plan: `NAME=VALUE`, as JSON or else as text; repeat for more")
}

func newPlanRun(o *options) slash.Command {
	var how planRun
	var onFailure string
	return slash.Command{
		Name: "run", Args: "ID|FILE", Short: "Run a saved plan, or one from a file",
		Long: "run checks a plan and runs it. The argument is a file if it exists, contains a path separator\n" +
			"or ends in .json, otherwise the id of a saved plan; - is standard input. Steps that call tools\n" +
			"need no model. With --dry-run every step is resolved and printed, and nothing is called.",
		Examples: []string{"plan run deploy.json --var env=staging --dry-run", "plan run refactor-auth --approve safe --output json"},
		Flags: func(f *pflag.FlagSet) {
			registerVars(f, (*[]string)(&how.vars))
			o.RegisterStrict(f)
			f.StringVar(&onFailure, "on-failure", "", "after a failed step without its own setting, `DO` abort, skip or replan") // in the chat too
			f.BoolVar(&how.synthesize, "synthesize", false, "let the model write an answer at the end")
			registerInDoubt(f, &how.inDoubt)
		},
		Check: one("ID|FILE"),
		Do: func(ctx context.Context, c slash.Call) error {
			var err error
			if how.onFailure, err = config.ParseOnFailure(onFailure); err != nil {
				return exit.Usage("--on-failure %w", err)
			}
			return o.plans().planRun(ctx, c.Args[0], how)
		},
	}
}

func newPlanResume(o *options) slash.Command {
	var inDoubt string
	return slash.Command{
		Name: "resume", Args: "[RUN]", Short: "Resume an interrupted or failed run",
		Long: "resume continues a run where it stopped. Steps that are done never run again; a failed step is tried\n" +
			"again. A step that started and may or may not have taken effect is in doubt: --in-doubt decides about\n" +
			"it. RUN may also be a plan, which means its latest unfinished run; without it, it is the newest run of\n" +
			"this folder. The run keeps its own limits;\n" +
			"flags raise them. A completed run stays as it is, unless its answer failed: then the model\n" +
			"writes the answer again, and no step runs.",
		Examples: []string{"plan resume", "plan resume a61ec9", "plan resume deploy --in-doubt rerun --max-steps 30"},
		Flags:    func(f *pflag.FlagSet) { registerInDoubt(f, &inDoubt) },
		Check:    atMostOne("RUN"),
		Do: func(ctx context.Context, c slash.Call) error {
			if o.elsewhere() {
				return o.resumeAway(ctx, c.Args, inDoubt)
			}
			decision, err := o.parseInDoubt(inDoubt)
			if err != nil {
				return err
			}
			return o.plans().planResume(ctx, c.Args, decision)
		},
	}
}

func registerInDoubt(f *pflag.FlagSet, inDoubt *string) {
	f.StringVar(inDoubt, "in-doubt", "",
		"on a resume, or of a run with --on, decide about steps in doubt: `DECISION` ask (on a terminal), rerun, done (it took effect; its result is null) or abort")
}

func newPlanDelete(o *options) slash.Command {
	return slash.Command{
		Name: "delete", Args: "ID", Short: "Delete a saved plan, not its runs, and print its name", Check: one("ID"),
		Do: func(_ context.Context, c slash.Call) error { return o.plans().planDelete(c.Args[0]) },
	}
}

func newPlanImport(o *options) slash.Command {
	var as string
	return slash.Command{
		Name: "import", Args: "FILE", Short: "Save a plan from a file of replan or mcp-cli",
		Long: "import reads a plan file of replan or mcp-cli and saves it among the plans. Tool names are not\n" +
			"checked. A plan whose id is taken is refused, unless --as names another. FILE may be - for standard input.",
		Flags: func(f *pflag.FlagSet) { f.StringVar(&as, "as", "", "save it under this `ID`") },
		Check: one("FILE"),
		Do:    func(_ context.Context, c slash.Call) error { return o.plans().planImport(c.Args[0], as) },
	}
}

func newPlanExport(o *options) slash.Command {
	return slash.Command{
		Name: "export", Args: "ID", Short: "Write a plan in mcp-cli's format to standard output", Check: one("ID"),
		Do: func(_ context.Context, c slash.Call) error { return o.plans().planExport(c.Args[0]) },
	}
}

func newPlanDiff(o *options) slash.Command {
	return slash.Command{
		Name: "diff", Args: "[RUN]", Short: "Show how each replan of a run changed its plan, and why", Check: atMostOne("RUN"),
		Do: func(_ context.Context, c slash.Call) error { return o.plans().planDiff(c.Args) },
	}
}

// deleted prints which files were removed, or would be.
func (o *options) deleted(files []string) error {
	if o.Output == config.OutputJSON {
		return o.printJSON(map[string][]string{"deleted": noNil(files)})
	}
	if len(files) == 0 && o.DryRun {
		return o.print("nothing would be removed\n")
	}
	if len(files) == 0 {
		return o.print("nothing was removed\n")
	}
	var b strings.Builder
	did := "removed"
	if o.DryRun {
		did = "would be removed:"
	}
	for _, f := range files {
		_, _ = fmt.Fprintf(&b, "%s %s\n", did, f)
	}
	return o.print(b.String())
}

// replanned collects the results of a run's replans.
type replanned struct {
	summaries []event.RevisionSummary
	tried     int
	lines     []func(*plain.Printer) // one per revision and per replan without one
	open      *event.ReplanStarted
}

// planDiff implements replan plan diff, for a run or a plan's latest run. With
// JSON it prints only the revisions.
func (o plans) planDiff(args []string) error {
	run, err := o.resumable(args)
	if err != nil {
		return err
	}
	events, err := o.store.ReadRun(run.ID)
	if err != nil {
		return o.unopened(err)
	}
	replans := o.replans(events)
	if o.Output == config.OutputJSON {
		return o.printJSON(replans.summaries)
	}
	return o.printed(func(p *plain.Printer) {
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

// replans extracts the replans from the events of a run.
func (o plans) replans(events []event.Event) replanned {
	r := replanned{summaries: []event.RevisionSummary{}}
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
				Removed: noNil(d.Removed), Added: noNil(d.Added), Revised: noNil(d.Revised),
			})
			was := before
			r.lines = append(r.lines, func(p *plain.Printer) { o.writeRevision(p, was, d) })
			before = d.Plan
		}
	}
	r.none("still active")
	return r
}

// none records that the current replan, if any, made no revision, and why.
func (r *replanned) none(why string) {
	if r.open == nil {
		return
	}
	open := r.open
	r.lines = append(r.lines, func(p *plain.Printer) {
		p.Line("%s, because step %s failed (%s): %s", p.Strong(fmt.Sprintf("replan %d", open.Attempt)), open.Step, telling.Excerpt(open.Error, 120), telling.Excerpt(untrusted.Text(why), 200))
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
func (o plans) writeRevision(p *plain.Printer, before plan.Plan, d event.PlanDiff) {
	arrow := " → "
	if o.ASCII {
		arrow = " -> "
	}
	row := func(sign plain.Ink, s plan.Step) {
		p.Line("  %s %s. %s  %s", sign, s.Index, s.Title, p.Faint("[%s]", by(s)))
	}
	changed := func(name string, was, is any) {
		p.Line("      %s %s%s%s", p.Faint("%s:", name), plain.Ink{Text: fmt.Sprint(was), Style: p.Styles().Removed}, arrow,
			plain.Ink{Text: fmt.Sprint(is), Style: p.Styles().Added})
	}
	p.Line("%s: %s", p.Strong(fmt.Sprintf("revision %d", d.Revision)), telling.Excerpt(d.Reason, 200))
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
		if by(old) != by(s) {
			changed("tool", by(old), by(s))
		}
		for _, c := range changedArgs(old.Args, s.Args) {
			changed(c.name, c.was, c.is)
		}
		none := func(words string) string { return config.First(strings.ReplaceAll(words, "\n", "; "), "(none)") }
		if was, is := telling.EachWords(old.ForEach), telling.EachWords(s.ForEach); was != is {
			changed("for each", none(was), none(is))
		}
		if old.When != s.When {
			changed("when", none(old.When), none(s.When))
		}
		if was, is := untilWords(old.Until), untilWords(s.Until); was != is {
			changed("until", none(was), none(is))
		}
		if was, is := telling.ChecksWords(old.Checks), telling.ChecksWords(s.Checks); was != is {
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
	return telling.UntilWords(*u)
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
			changes = append(changes, argChange{name, telling.Excerpt(untrusted.Text(was), argShown), telling.Excerpt(untrusted.Text(is), argShown)})
		}
	}
	return changes
}

// by names the executor of a step.
func by(s plan.Step) string {
	if s.Executor == plan.ExecutorAgent && s.Profile != "" {
		return "agent " + s.Profile
	}
	return config.First(s.Tool, string(s.Executor))
}
