package plans

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/check"
	"replan/cli/exit"
	"replan/cli/slash"
	"replan/mcpclient"
)

// checkOptions are the options of replan plan check.
type checkOptions struct {
	app  *app.App
	vars check.Variables
}

func newCheck(a *app.App) slash.Command {
	o := checkOptions{app: a}
	return slash.Command{
		Name: "check", Args: "FILE", Short: "Check a plan: every error, and how it would run",
		Long: "check reports every error of a plan at once, each with its place in the file, including references to\n" +
			"fields that the tool's output schema does not have. For a valid plan it prints\n" +
			"the batches that can run at the same time, the critical path by the durations of earlier runs,\n" +
			"and the steps that would wait at a gate. A step whose call a rule denies is a warning. Nothing\n" +
			"is called. FILE may be - for standard input, or the id of a saved plan.",
		Examples: []string{"plan check deploy.json", "plan check deploy.json --var env=staging --output json"},
		Flags: func(f *pflag.FlagSet) {
			registerVars(f, (*[]string)(&o.vars))
			a.RegisterStrict(f)
		},
		Check: args.One("FILE"),
		Do: func(ctx context.Context, c slash.Call) error {
			return o.run(ctx, c.Args[0])
		},
	}
}

// run checks a plan, with the tools of the chat, or new ones that it starts and stops.
func (o checkOptions) run(ctx context.Context, name string) (err error) {
	named, err := check.Read(o.app, name)
	if err != nil {
		return err
	}
	var w *app.Services
	if c := o.app.Chat(); c != nil {
		w = c.Services()
	} else {
		if w, err = o.app.Prepare(ctx, app.Opening{Trust: mcpclient.TrustNone}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, exit.Wrap("end in order", w.Close())) }()
	}
	v, err := check.With(o.app, w).Check(ctx, named, o.vars)
	if err != nil {
		return err
	}
	o.app.Out().Notes(w.Ignored(""))
	check.PrintTroubles(o.app.Out(), w.Tools(), "", v.Awaited)
	return v.Print(o.app)
}
