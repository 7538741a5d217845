package doctor

import (
	"context"
	"io"
	"os"
	"runtime"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"replan/agent/ollama"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/exit"
	"replan/cli/tty"
	"replan/mcpclient"
	"replan/mcpclient/workspace/code/lsp"
)

// New returns the command replan doctor.
func New(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check Ollama, tool servers, git, terminal and configuration",
		Long: "doctor checks what replan needs from this machine and names the fix of each problem: Ollama and its\n" +
			"models, MCP servers, language servers, git, isolation, the terminal, folders and the configuration. It starts the\n" +
			"MCP servers that you trust, and stops them again. It exits with 1 if a check failed.",
		Example: "  replan doctor\n  replan doctor --output json",
		Args:    args.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return checkMachine(cmd.Context(), a, a.Complete(cmd.Flags()))
		},
	}
}

// checkMachine prints a report on this machine. Wrong is an error in the configuration or
// the flags.
func checkMachine(ctx context.Context, a *app.App, wrong error) error {
	out := a.Out()
	report, err := ExamineMachine(ctx, a, wrong)
	if err != nil {
		return err
	}
	if out.JSON() {
		err = out.PrintJSON(report)
	} else {
		room := 0
		if a.IO().Terminal {
			room = tty.Width(a.IO().Out)
		}
		err = out.Print(report.Text(room, func(state State) string { return Sign(a, state) }))
	}
	if err == nil && !report.OK {
		return &exit.Error{Status: exit.Failed, Code: "failed", Err: exit.ErrReported}
	}
	return err
}

// ExamineMachine makes the checks of replan
func ExamineMachine(ctx context.Context, a *app.App, wrong error) (report Report, err error) {
	in, languages := a.Folders(), a.ToolSettings().Languages
	servers, err := lsp.New(lsp.Config{Dir: in.Workspace, Environ: os.Environ(), Commands: languages.Commands()})
	if err != nil {
		return report, exit.Wrap("look for language servers", err)
	}
	model, err := ollama.New(a.ModelServer())
	if err != nil {
		return report, exit.Usage("%w", err)
	}
	tools := a.Servers().PoolConfig(mcpclient.TrustNone)
	if wrong == nil {
		tools.Servers, wrong = a.Servers().Read(nil)
	}
	var doubts []string
	if wrong == nil {
		doubts, wrong = a.Gates().CheckToolNames(len(tools.Servers) > 0)
	}
	var terminal io.Writer
	if a.IO().Terminal {
		terminal = a.IO().Out
	}
	var refused error
	if wrong == nil {
		tools.Box, refused = a.Box()
	}
	defer tools.Box.Close() //nolint:errcheck // it has only temporary files
	if refused != nil {
		tools.Servers = nil // they must not run outside
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	report = Examine(ctx,
		Ollama(model, a.Planning().Prompting.Models.Names()...), ToolServers(tools), LanguageServers(servers, languages.On()), Git(in.Workspace), Path(a.PathLeft()), Isolation(a.Isolation().On, refused),
		Terminal(a.IO().In, terminal, os.Environ(), runtime.GOOS, stop),
		Folders([]Folder{{Name: "configuration", Path: in.Dirs.Config}, {Name: "data", Path: in.Dirs.Data}, {Name: "runs and logs", Path: in.Dirs.State}}),
		Configuration(in.Dirs.ConfigFile(), wrong, doubts...))
	if err := model.Close(); err != nil {
		return report, exit.Wrap("close the connection to Ollama", err)
	}
	return report.Without(a.Servers().Secrets().Text), ctx.Err()
}

// Sign returns the sign of a check's outcome.
func Sign(a *app.App, state State) string {
	sign := map[State]string{OK: "✓", Warning: "!", Failed: "✗", Off: "-"}[state]
	if a.Appearance().ASCII {
		sign = map[State]string{OK: "+", Warning: "!", Failed: "x", Off: "-"}[state]
	}
	if l := a.Out().Styles(); l != nil {
		return map[State]lipgloss.Style{OK: l.Success, Warning: l.Warning, Failed: l.Danger, Off: l.Faint}[state].Render(sign)
	}
	return sign
}
