package plans

import (
	"context"

	"github.com/spf13/pflag"

	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/check"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/host"
	"replan/cli/slash"
)

// runOptions are the options of replan plan run.
type runOptions struct {
	app        *app.App
	vars       check.Variables
	onFailure  string // value of --on-failure
	synthesize bool
	inDoubt    string // of a run of workers
}

func newRun(a *app.App) slash.Command {
	o := runOptions{app: a}
	return slash.Command{
		Name: "run", Args: "ID|FILE", Short: "Run a saved plan, or one from a file",
		Long: "run checks a plan and runs it. The argument is a file if it exists, contains a path separator\n" +
			"or ends in .json, otherwise the id of a saved plan; - is standard input. Steps that call tools\n" +
			"need no model. With --dry-run every step is resolved and printed, and nothing is called.",
		Examples: []string{"plan run deploy.json --var env=staging --dry-run", "plan run refactor-auth --approve safe --output json"},
		Flags: func(f *pflag.FlagSet) {
			registerVars(f, (*[]string)(&o.vars))
			a.RegisterStrict(f)
			f.StringVar(&o.onFailure, "on-failure", "", "after a failed step without its own setting, `DO` abort, skip or replan") // in the chat too
			f.BoolVar(&o.synthesize, "synthesize", false, "let the model write an answer at the end")
			host.RegisterInDoubt(f, &o.inDoubt)
		},
		Check: args.One("ID|FILE"),
		Do: func(ctx context.Context, c slash.Call) error {
			return o.run(ctx, c.Args[0])
		},
	}
}

// run reads the plan and has it carried out.
func (o runOptions) run(ctx context.Context, name string) error {
	onFailure, err := config.ParseOnFailure(o.onFailure)
	if err != nil {
		return exit.Usage("--on-failure %w", err)
	}
	named, err := check.Read(o.app, name)
	if err != nil {
		return err
	}
	return host.Of(o.app).Execute(ctx, named, host.Terms{Vars: o.vars, OnFailure: onFailure, Synthesize: o.synthesize, InDoubt: o.inDoubt})
}

// resumeOptions are the options of replan plan resume.
type resumeOptions struct {
	app     *app.App
	inDoubt string // value of --in-doubt
}

func newResume(a *app.App) slash.Command {
	o := resumeOptions{app: a}
	return slash.Command{
		Name: "resume", Args: "[RUN]", Short: "Resume an interrupted or failed run",
		Long: "resume continues a run where it stopped. Steps that are done never run again; a failed step is tried\n" +
			"again. A step that started and may or may not have taken effect is in doubt: --in-doubt decides about\n" +
			"it. RUN may also be a plan, which means its latest unfinished run; without it, it is the newest run of\n" +
			"this folder. The run keeps its own limits;\n" +
			"flags raise them. A completed run stays as it is, unless its answer failed: then the model\n" +
			"writes the answer again, and no step runs.",
		Examples: []string{"plan resume", "plan resume a61ec9", "plan resume deploy --in-doubt rerun --max-steps 30"},
		Flags:    func(f *pflag.FlagSet) { host.RegisterInDoubt(f, &o.inDoubt) },
		Check:    args.AtMostOne("RUN"),
		Do: func(ctx context.Context, c slash.Call) error {
			return host.Of(o.app).Resume(ctx, c.Args, o.inDoubt)
		},
	}
}
