package cli

import (
	"context"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"replan/agent/ollama"
	"replan/cli/config"
	"replan/cli/doctor"
	"replan/cli/exit"
	"replan/cli/tty"
	"replan/mcpclient"
	"replan/mcpclient/workspace/code/lsp"
	"replan/tui/plain"
)

func newDoctor(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check Ollama, tool servers, git, terminal and configuration",
		Long: "doctor checks what replan needs from this machine and names the fix of each problem: Ollama and its\n" +
			"models, MCP servers, language servers, git, isolation, the terminal, folders and the configuration. It starts the\n" +
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
	report, err := o.examine(ctx, wrong)
	if err != nil {
		return err
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
		return &exit.Error{Status: exit.Failed, Code: "failed", Err: exit.ErrReported}
	}
	return err
}

// examine makes the checks of replan doctor.
func (o *options) examine(ctx context.Context, wrong error) (report doctor.Report, err error) {
	servers, err := lsp.New(lsp.Config{Dir: o.Workspace, Environ: os.Environ(), Commands: o.LSP.Commands()})
	if err != nil {
		return report, exit.Wrap("look for language servers", err)
	}
	model, err := ollama.New(ollama.Config{Host: o.Host, Model: o.Model, ContextWindow: o.ContextWindow, Learned: o.Dirs.Servers(), Findings: o.Dirs.Findings()})
	if err != nil {
		return report, exit.Usage("%w", err)
	}
	tools := o.poolConfig(mcpclient.TrustNone)
	if wrong == nil {
		tools.Servers, wrong = o.wiring().readServers(nil)
	}
	var doubts []string
	if wrong == nil {
		doubts, wrong = o.CheckToolNames(len(tools.Servers) > 0)
	}
	var terminal io.Writer
	if o.io.Terminal {
		terminal = o.io.Out
	}
	boxed := &services{}
	var refused error
	if wrong == nil {
		refused = boxed.makeBox(o)
	}
	defer boxed.close() //nolint:errcheck // it has only temporary files
	if tools.Box = boxed.box; refused != nil {
		tools.Servers = nil // they must not run outside
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	report = doctor.Examine(ctx,
		doctor.Ollama(model, o.Manner.Prompting.Models.Names()...), doctor.ToolServers(tools), doctor.LanguageServers(servers, o.LSP.On()), doctor.Git(o.Workspace), doctor.Path(o.pathLeft), doctor.Isolation(o.Isolate.On, refused),
		doctor.Terminal(o.io.In, terminal, os.Environ(), runtime.GOOS, stop),
		doctor.Folders([]doctor.Folder{{Name: "configuration", Path: o.Dirs.Config}, {Name: "data", Path: o.Dirs.Data}, {Name: "runs and logs", Path: o.Dirs.State}}),
		doctor.Configuration(o.Dirs.ConfigFile(), wrong, doubts...))
	if err := model.Close(); err != nil {
		return report, exit.Wrap("close the connection to Ollama", err)
	}
	return report.Without(o.wiring().knownSecrets().Text), ctx.Err()
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

// Version is the version of the program, set by the build.
var Version = "0.1.0-dev"

// Stamp adds the commit of the build to the version of a development build, so that
// workers take no runs of other commits. The main function calls it first.
func Stamp() { Version = stamped(Version, commit()) }

// stamped returns a version with the commit of a development build, as semantic
// versions hold it. Whether files were changed is no part of it: a file beside the
// sources would be enough.
func stamped(version, commit string) string {
	const shown = 12 // digits, as in versions of Go
	revision, _, _ := strings.Cut(commit, "-")
	if !strings.HasSuffix(version, "-dev") || revision == "" {
		return version
	}
	return version + "+" + revision[:min(shown, len(revision))]
}

// commit returns the commit of the build, with "-dirty" if the sources were
// modified; "" if unknown.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return commitOf(info.Settings)
}

// commitOf returns the commit in the settings of a build.
func commitOf(settings []debug.BuildSetting) string {
	values := map[string]string{}
	for _, s := range settings {
		values[s.Key] = s.Value
	}
	revision := values["vcs.revision"]
	if revision != "" && values["vcs.modified"] == "true" {
		revision += "-dirty"
	}
	return revision
}

func newVersion(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and the commit it was built from",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			at := commit()
			if o.Output == config.OutputJSON {
				return o.printJSON(struct {
					Version string `json:"version"`
					Commit  string `json:"commit,omitempty"`
				}{Version, at})
			}
			if at != "" {
				at = ", commit " + at
			}
			return o.printed(func(p *plain.Printer) { p.Line("%s%s", p.Strong("replan "+Version), p.Faint("%s", at)) })
		},
	}
}
