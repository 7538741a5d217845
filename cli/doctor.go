package cli

import (
	"context"
	"io"
	"os"
	"runtime"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"replan/agent/ollama"
	"replan/cli/config"
	"replan/cli/doctor"
	"replan/cli/tty"
	"replan/mcpclient"
	"replan/mcpclient/workspace/code/lsp"
)

func newDoctor(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check Ollama, tool servers, git, the terminal and the configuration",
		Long: "doctor checks what replan needs from this machine and names the fix of each problem: Ollama and its\n" +
			"models, MCP servers, language servers, git, the terminal, folders and the configuration. It starts the\n" +
			"MCP servers that you trust, and stops them again. It exits with 1 if a check failed.",
		Example: "  replan doctor\n  replan doctor --output json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.doctor(cmd.Context(), o.complete(cmd.Flags()))
		},
	}
}

// doctor prints a report on this machine. Wrong is an error in the configuration or
// the flags.
func (o *options) doctor(ctx context.Context, wrong error) error {
	servers, err := lsp.New(lsp.Config{Dir: o.Workspace, Environ: os.Environ(), Commands: o.LSP.Commands()})
	if err != nil {
		return wrap("look for language servers", err)
	}
	model, err := ollama.New(ollama.Config{Host: o.Host, Model: o.Model, ContextWindow: o.ContextWindow, Learned: o.Dirs.Servers()})
	if err != nil {
		return usage("%w", err)
	}
	tools := mcpclient.Config{Dir: o.Workspace, Trust: mcpclient.TrustNone, TrustFile: o.Dirs.Trust()}
	if wrong == nil {
		tools.Servers, wrong = o.wiring().readServers()
	}
	var doubts []string
	if wrong == nil {
		doubts, wrong = o.CheckToolNames(len(tools.Servers) > 0)
	}
	var terminal io.Writer
	if o.io.Terminal {
		terminal = o.io.Out
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	report := doctor.Examine(ctx,
		doctor.Ollama(model), doctor.ToolServers(tools), doctor.LanguageServers(servers, o.LSP.On()), doctor.Git(o.Workspace),
		doctor.Terminal(o.io.In, terminal, os.Environ(), runtime.GOOS, stop),
		doctor.Folders([]doctor.Folder{{Name: "configuration", Path: o.Dirs.Config}, {Name: "data", Path: o.Dirs.Data}, {Name: "runs and logs", Path: o.Dirs.State}}),
		doctor.Configuration(o.Dirs.ConfigFile(), wrong, doubts...))
	if err := model.Close(); err != nil {
		return wrap("close the connection to Ollama", err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if o.Output == config.OutputJSON {
		err = o.printJSON(report)
	} else {
		room := 0
		if o.io.Terminal {
			room = tty.Width(o.io.Out)
		}
		err = o.print(report.Text(room, o.checkSign))
	}
	if err == nil && !report.OK {
		return &failure{exit: 1, code: "failed", err: errSaid}
	}
	return err
}

// checkSign returns the sign of a check's outcome.
func (o *options) checkSign(state doctor.State) string {
	sign := map[doctor.State]string{doctor.OK: "✓", doctor.Warning: "!", doctor.Failed: "✗", doctor.Off: "-"}[state]
	if o.ASCII {
		sign = map[doctor.State]string{doctor.OK: "+", doctor.Warning: "!", doctor.Failed: "x", doctor.Off: "-"}[state]
	}
	if l := o.look(); l != nil {
		return map[doctor.State]lipgloss.Style{doctor.OK: l.Success, doctor.Warning: l.Warning, doctor.Failed: l.Danger, doctor.Off: l.Faint}[state].Render(sign)
	}
	return sign
}
