package cli

import (
	"context"

	"github.com/spf13/cobra"
	"replan/cli/mcp"

	"replan/cli/app"
	"replan/cli/ask"
	"replan/cli/doctor"
	"replan/cli/exit"
	"replan/cli/help"
	"replan/cli/slash"
	"replan/internal/untrusted"
	"replan/mcpclient"
	mcpconfig "replan/mcpclient/config"
	"replan/mcpclient/oauth"
)

// newMCP returns replan mcp.
func newMCP(a *app.App) *cobra.Command {
	var input *ask.Input
	return mcp.New(mcp.Host{
		In: a.IO().In, Getenv: a.IO().Getenv, AllLogins: func() *oauth.Store { return a.Servers().AllLogins() },
		Options: a.Settings(), Terminal: a.Out().Terminal, Print: a.Out().Print, JSON: a.Out().PrintJSON, Asks: a.Asks,
		Sign:    func(state doctor.State) string { return checkSign(a, state) },
		Warn:    func(text string) { a.Out().Note("%s", untrusted.Line(text)) },
		Servers: func() ([]mcpconfig.Server, error) { return a.Servers().Read(nil) },
		Usage:   exit.Usage,
		Failed: func(err error) error {
			if err == nil {
				err = exit.ErrReported
			}
			return &exit.Error{Status: exit.Failed, Code: "failed", Err: err}
		},
		Unknown: func(cmd *cobra.Command, word string) error {
			return exit.Usage("%w", slash.Unknown(word, cmd.CommandPath(), help.Names(cmd)))
		},
		Help: func(cmd *cobra.Command) error { return showHelp(a.IO().Out, cmd, false) },
		Confirm: func(ctx context.Context, question string) (yes bool, err error) {
			if input == nil {
				if input, err = a.Input("read standard input"); err != nil {
					return false, err
				}
			}
			return a.Confirm(ctx, input, question)
		},
		Pool: func() (mcpclient.Config, func(), error) {
			box, err := a.Box()
			watch := a.NewWatch()
			cfg := a.Servers().PoolConfig(mcpclient.TrustNone)
			cfg.Box = box
			if watch != nil {
				cfg.Watcher = watch
			}
			return cfg, func() {
				if watch != nil {
					watch.Stop()
				}
				_ = box.Close()
			}, err
		},
	})
}
