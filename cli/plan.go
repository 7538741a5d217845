package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"replan/cli/config"
	"replan/cli/slash"
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
			return usage("%s takes one %s, got %d", path, what, len(args))
		}
		return usage("name one: %s %s", path, what)
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
				return usage("name the goal: %s GOAL", c.Path)
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
		},
		Check: one("ID|FILE"),
		Do: func(ctx context.Context, c slash.Call) error {
			var err error
			if how.onFailure, err = config.ParseOnFailure(onFailure); err != nil {
				return usage("--on-failure %w", err)
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
		"on a resume, decide about steps in doubt: `DECISION` ask (on a terminal), rerun, done (it took effect; its result is null) or abort")
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
