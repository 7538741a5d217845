package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newPlan is replan plan and, in the chat, /plan: the same commands.
func newPlan(o *options) *cobra.Command {
	command := &cobra.Command{
		Use:   "plan",
		Short: "Make, keep, check and run plans",
		Long: "A plan is a file of JSON: a graph of steps, each a call of a tool, a task for a sub-agent or words of\n" +
			"the model. These commands make plans with the model, keep them, check them without running anything,\n" +
			"and run them; a run that was interrupted or failed is resumed where it stopped. ID and RUN may be given\n" +
			"as a unique prefix.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	command.AddCommand(
		newPlanCreate(o), newPlanList(o), newPlanShow(o), newPlanCheck(o), newPlanRun(o), newPlanResume(o),
		newPlanDelete(o), newPlanImport(o), newPlanExport(o), newPlanDiff(o),
	)
	return command
}

// one demands exactly one argument and says which.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && strings.TrimSpace(args[0]) != "" {
			return nil
		}
		return usage("say which: %s %s", cmd.CommandPath(), what)
	}
}

func newPlanCreate(o *options) *cobra.Command {
	return &cobra.Command{
		Use:     "create GOAL",
		Short:   "Have the model plan a goal and keep the plan; nothing is run",
		Example: "  replan plan create \"rename X to Y and run the tests\"",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			goal := strings.Join(args, " ")
			if strings.TrimSpace(goal) == "" {
				return usage("say what is to be planned: %s GOAL", cmd.CommandPath())
			}
			return o.planCreate(cmd.Context(), goal)
		},
	}
}

func newPlanList(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the plans that are kept, and the runs of each", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.planList() },
	}
}

func newPlanShow(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a plan as a graph in text, or with --output json as it is kept", Args: one("ID"),
		RunE: func(_ *cobra.Command, args []string) error { return o.planShow(args[0]) },
	}
}

func newPlanCheck(o *options) *cobra.Command {
	var vars []string
	var strict bool
	command := &cobra.Command{
		Use:   "check FILE",
		Short: "Say what is wrong with a plan, all at once, and how it would run",
		Long: "check reads a plan and reports every fault of it at once, each with its place in the file. A plan without\n" +
			"faults is told with the batches that can run at the same time, the critical path by how long the tools\n" +
			"took so far, and the steps that would stop at a gate. A step whose call a rule denies is a warning. Nothing\n" +
			"is called. FILE may be - for standard input, or the id of a plan that is kept.",
		Example: "  replan plan check deploy.json\n  replan plan check deploy.json --var env=staging --output json",
		Args:    one("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.planCheck(cmd.Context(), args[0], vars, strict)
		},
	}
	registerVars(command, &vars)
	registerStrict(command, &strict)
	return command
}

func registerStrict(command *cobra.Command, strict *bool) {
	command.Flags().BoolVar(strict, "strict", false, "refuse args of another type than their tool asks for, such as \"7\" for 7")
}

func registerVars(command *cobra.Command, vars *[]string) {
	command.Flags().StringArrayVar(vars, "var", nil, "define a variable of the plan, NAME=VALUE, as JSON or else as text; repeat for more")
}

func newPlanRun(o *options) *cobra.Command {
	var how planRun
	var onFailure string
	command := &cobra.Command{
		Use:   "run ID|FILE",
		Short: "Run a plan that is kept, or one from a file",
		Long: "run checks a plan and carries it out. What names a plan is a file where it is there, holds a path\n" +
			"separator or ends in .json, and else the id of a plan that is kept; - is standard input. No model is\n" +
			"needed for steps that call tools. With --dry-run every step is resolved and told, and nothing is called.",
		Example: "  replan plan run deploy.json --var env=staging --dry-run\n  replan plan run refactor-auth --approve safe --output json",
		Args:    one("ID|FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if how.onFailure, err = parseOnFailure(onFailure); err != nil {
				return usage("--on-failure %w", err)
			}
			return o.planRun(cmd.Context(), args[0], how)
		},
	}
	registerVars(command, (*[]string)(&how.vars))
	registerStrict(command, &how.strict)
	command.Flags().StringVar(&onFailure, "on-failure", "", "what a failed step does that says nothing of its own: abort, skip or replan") // in the chat too
	command.Flags().BoolVar(&how.synthesize, "synthesize", false, "have the model write an answer at the end")
	return command
}

func newPlanResume(o *options) *cobra.Command {
	var inDoubt string
	command := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that was interrupted or failed",
		Long: "resume takes up a run where it stopped. Steps that are done never run again; a step that failed is tried\n" +
			"again. A step that had started and may or may not have taken effect is in doubt: --in-doubt says what\n" +
			"becomes of it. RUN may be a plan too, which means its latest unfinished run. Limits are the run's own;\n" +
			"flags raise them. A run that is completed is left alone, unless the model failed at its answer: that is asked\n" +
			"for again, and no step runs.",
		Example: "  replan plan resume r-20260102\n  replan plan resume deploy --in-doubt rerun --max-steps 30",
		Args:    one("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			decision, err := o.parseInDoubt(inDoubt)
			if err != nil {
				return err
			}
			return o.planResume(cmd.Context(), args[0], decision)
		},
	}
	registerInDoubt(command, &inDoubt)
	return command
}

func registerInDoubt(command *cobra.Command, inDoubt *string) {
	command.Flags().StringVar(inDoubt, "in-doubt", "",
		"what becomes of a step in doubt on a resume: ask (on a terminal), rerun, done (it took effect; its result is null) or abort")
}

func newPlanDelete(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "delete ID", Short: "Remove a plan that is kept, not its runs, and say what was removed", Args: one("ID"),
		RunE: func(_ *cobra.Command, args []string) error { return o.planDelete(args[0]) },
	}
}

func newPlanImport(o *options) *cobra.Command {
	var as string
	command := &cobra.Command{
		Use:   "import FILE",
		Short: "Keep a plan from a file, ours or mcp-cli's",
		Long: "import reads a plan file of this program or of mcp-cli and keeps it among the plans. Tool names are not\n" +
			"checked. A plan whose id is taken is refused, unless --as gives it another. FILE may be - for standard input.",
		Args: one("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return o.planImport(args[0], as) },
	}
	command.Flags().StringVar(&as, "as", "", "the id to keep it under")
	return command
}

func newPlanExport(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "export ID", Short: "Write a plan in mcp-cli's format to standard output", Args: one("ID"),
		RunE: func(_ *cobra.Command, args []string) error { return o.planExport(args[0]) },
	}
}

func newPlanDiff(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "diff RUN", Short: "Show how each replan of a run, or of a plan's latest run, changed its plan, and why", Args: one("RUN"),
		RunE: func(_ *cobra.Command, args []string) error { return o.planDiff(args[0]) },
	}
}

// deleted tells which files were removed, or would be.
func (o *options) deleted(files []string) error {
	if o.output == outputJSON {
		return o.printJSON(map[string][]string{"deleted": noNil(files)})
	}
	if len(files) == 0 && o.dryRun {
		return o.print("nothing would be removed\n")
	}
	if len(files) == 0 {
		return o.print("nothing was removed\n")
	}
	var b strings.Builder
	did := "removed"
	if o.dryRun {
		did = "would be removed:"
	}
	for _, f := range files {
		_, _ = fmt.Fprintf(&b, "%s %s\n", did, f)
	}
	return o.print(b.String())
}
