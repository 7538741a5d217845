package cli

import (
	"context"

	"github.com/spf13/pflag"

	"replan/agent/runner"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/chat"
	"replan/cli/exit"
	"replan/mcpclient"
)

// Hosted opens what runs of another host work with in a folder, which std names. That is
// the configuration of their sessions, with the tools and the model that replan has there.
// The flags are those of replan, such as --mcp-config. The caller closes it after its
// sessions.
func Hosted(ctx context.Context, std IO, flags []string) (cfg runner.Config, end func() error, err error) {
	a := app.New(Version, std, chat.Commands)
	set := pflag.NewFlagSet("replan", pflag.ContinueOnError)
	a.Register(set)
	if err := set.Parse(flags); err != nil {
		return cfg, nil, exit.Usage("%w", args.WrongFlag(set, err, ""))
	}
	if set.NArg() > 0 {
		return cfg, nil, exit.Usage("%q is no flag of replan", set.Arg(0))
	}
	if err := a.Complete(set); err != nil {
		return cfg, nil, err
	}
	w, err := a.Prepare(ctx, app.Opening{Trust: mcpclient.TrustNone})
	if err != nil {
		return cfg, nil, err
	}
	cfg = w.Config()
	cfg.InputHelp = nil
	return cfg, w.Close, nil
}
