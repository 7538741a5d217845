package cli

import (
	"context"

	"github.com/spf13/pflag"

	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/slash"
	"replan/planning/plan"
)

// planRun runs a plan, for replan plan run.
type planRun struct {
	app        *app.App
	vars       variables
	onFailure  string // value of --on-failure
	synthesize bool
	inDoubt    string // of a run of workers
}

func newPlanRun(a *app.App) slash.Command {
	o := planRun{app: a}
	return slash.Command{
		Name: "run", Args: "ID|FILE", Short: "Run a saved plan, or one from a file",
		Long: "run checks a plan and runs it. The argument is a file if it exists, contains a path separator\n" +
			"or ends in .json, otherwise the id of a saved plan; - is standard input. Steps that call tools\n" +
			"need no model. With --dry-run every step is resolved and printed, and nothing is called.",
		Examples: []string{"plan run deploy.json --var env=staging --dry-run", "plan run refactor-auth --approve safe --output json"},
		Flags: func(f *pflag.FlagSet) {
			registerVars(f, (*[]string)(&o.vars))
			a.Settings().RegisterStrict(f)
			f.StringVar(&o.onFailure, "on-failure", "", "after a failed step without its own setting, `DO` abort, skip or replan") // in the chat too
			f.BoolVar(&o.synthesize, "synthesize", false, "let the model write an answer at the end")
			registerInDoubt(f, &o.inDoubt)
		},
		Check: one("ID|FILE"),
		Do: func(ctx context.Context, c slash.Call) error {
			return o.run(ctx, c.Args[0])
		},
	}
}

// run reads the plan and has it carried out.
func (o planRun) run(ctx context.Context, name string) error {
	onFailure, err := config.ParseOnFailure(o.onFailure)
	if err != nil {
		return exit.Usage("--on-failure %w", err)
	}
	named, err := planFiles{o.app}.read(name)
	if err != nil {
		return err
	}
	return hostOf(o.app).execute(ctx, named, planTerms{vars: o.vars, onFailure: onFailure, synthesize: o.synthesize, inDoubt: o.inDoubt})
}

// planTerms are the terms on which a plan runs.
type planTerms struct {
	vars       variables
	onFailure  plan.OnFailure
	synthesize bool
	inDoubt    string // value of --in-doubt, of a run of workers
}

// command returns the command that runs a plan on these terms.
func (t planTerms) command(p plan.Plan, strict bool) session.Execute {
	return session.Execute{Plan: p, OnFailure: t.onFailure, Synthesize: t.synthesize, Strict: strict}
}

// planResume resumes a run, for replan plan resume.
type planResume struct {
	app     *app.App
	inDoubt string // value of --in-doubt
}

func newPlanResume(a *app.App) slash.Command {
	o := planResume{app: a}
	return slash.Command{
		Name: "resume", Args: "[RUN]", Short: "Resume an interrupted or failed run",
		Long: "resume continues a run where it stopped. Steps that are done never run again; a failed step is tried\n" +
			"again. A step that started and may or may not have taken effect is in doubt: --in-doubt decides about\n" +
			"it. RUN may also be a plan, which means its latest unfinished run; without it, it is the newest run of\n" +
			"this folder. The run keeps its own limits;\n" +
			"flags raise them. A completed run stays as it is, unless its answer failed: then the model\n" +
			"writes the answer again, and no step runs.",
		Examples: []string{"plan resume", "plan resume a61ec9", "plan resume deploy --in-doubt rerun --max-steps 30"},
		Flags:    func(f *pflag.FlagSet) { registerInDoubt(f, &o.inDoubt) },
		Check:    atMostOne("RUN"),
		Do: func(ctx context.Context, c slash.Call) error {
			return hostOf(o.app).resume(ctx, c.Args, o.inDoubt)
		},
	}
}
