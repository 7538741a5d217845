package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"replan/agent/event"
	"replan/agent/ollama"
	"replan/cli/ask"
	"replan/cli/config"
	"replan/cli/doctor"
	"replan/cli/fit"
	"replan/cli/tty"
	"replan/internal/untrusted"
	"replan/mcpclient"
	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace/code/lsp"
	planfit "replan/planning/fit"
	"replan/planning/plan"
	"replan/planning/prompt"
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
		return &failure{exit: 1, code: "failed", err: errSaid}
	}
	return err
}

// examine makes the checks of replan doctor.
func (o *options) examine(ctx context.Context, wrong error) (report doctor.Report, err error) {
	servers, err := lsp.New(lsp.Config{Dir: o.Workspace, Environ: os.Environ(), Commands: o.LSP.Commands()})
	if err != nil {
		return report, wrap("look for language servers", err)
	}
	model, err := ollama.New(ollama.Config{Host: o.Host, Model: o.Model, ContextWindow: o.ContextWindow, Learned: o.Dirs.Servers()})
	if err != nil {
		return report, usage("%w", err)
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
		doctor.Ollama(model, o.Manner.Prompting.Models.Names()...), doctor.ToolServers(tools), doctor.LanguageServers(servers, o.LSP.On()), doctor.Git(o.Workspace), doctor.Isolation(o.Isolate.On, refused),
		doctor.Terminal(o.io.In, terminal, os.Environ(), runtime.GOOS, stop),
		doctor.Folders([]doctor.Folder{{Name: "configuration", Path: o.Dirs.Config}, {Name: "data", Path: o.Dirs.Data}, {Name: "runs and logs", Path: o.Dirs.State}}),
		doctor.Configuration(o.Dirs.ConfigFile(), wrong, doubts...))
	if err := model.Close(); err != nil {
		return report, wrap("close the connection to Ollama", err)
	}
	return report, ctx.Err()
}

func newFit(o *options) *cobra.Command {
	var how fitting
	cmd := &cobra.Command{
		Use:   "fit [MODEL]...",
		Short: "Measure which of your models can plan with tools",
		Long: "fit lets each MODEL, by default every installed one that can answer, plan 40 goals with known good plans, beside\n" +
			"5, 20, 60 and 200 foreign tools, and scores the plans by rule. Nothing of a plan is executed. Results are kept\n" +
			"after each goal: after ctrl+c, the same command continues. At the end it offers to plan with the best model.",
		Example: "  replan fit\n  replan fit qwen3:8b gemma3:12b --goals 8\n  replan fit --tools mine --output json",
		RunE: func(cmd *cobra.Command, models []string) error {
			if how.models = models; len(models) == 0 && o.Changed("model") {
				how.models = []string{o.Model}
			}
			return o.fit(cmd.Context(), how)
		},
	}
	cmd.Flags().IntVar(&how.goals, "goals", 0, "plan only the first `N` goals")
	cmd.Flags().StringVar(&how.tools, "tools", bundledTools, "put `TOOLS` beside the goals: bundled, or mine (those of your MCP servers)")
	cmd.Flags().BoolVar(&how.again, "again", false, "measure again what was measured before")
	return cmd
}

// The foreign tools that replan fit offers beside those of its goals.
const (
	bundledTools = "bundled"
	ownTools     = "mine"
)

// fitting says what replan fit measures.
type fitting struct {
	models []string // none means all
	goals  int      // 0 means all
	tools  string   // bundledTools or ownTools
	again  bool
}

// fit measures how well models plan, and offers the best one.
func (o *options) fit(ctx context.Context, how fitting) error {
	if how.goals < 0 {
		return usage("--goals takes a number above 0, not %d", how.goals)
	}
	set, err := o.fitSet(ctx, how.tools)
	if err != nil {
		return err
	}
	cold, prompting := 0.0, o.Manner.Prompting // at 0, a model makes the same plans each time
	prompting.Models = prompt.Models{}
	m := fit.Measurement{
		Set: set, Goals: how.goals, OwnTools: how.tools == ownTools, Prompting: prompting, Limits: o.Limits, File: o.Dirs.Fit(), Again: how.again,
		Server: ollama.Config{Host: o.Host, ContextWindow: o.ContextWindow, KeepAlive: o.KeepAlive, Learned: o.Dirs.Servers(), Temperature: &cold},
	}
	models, err := fit.Settle(ctx, m.Server, how.models)
	if err != nil {
		return unfit(ctx, err)
	}
	stop := func() {}
	if look := o.look(); look != nil && !o.Plain {
		m.Progress, stop = fit.Watch(ask.NewOutput(o.coloured(o.io.Out), look), look, func() int { return tty.Width(o.io.Out) })
	} else {
		m.Progress = func(now fit.Progress) { _, _ = fmt.Fprintln(o.io.Err, now.Line()) }
	}
	report, err := m.Run(ctx, models)
	stop()
	var failed *failure
	if err != nil {
		failed = unfit(ctx, err)
	}
	if o.Output == config.OutputJSON {
		if failed != nil {
			report.Stopped = untrusted.Text(failed.Error())
		}
		err = o.printJSON(report)
	} else {
		err = o.print(report.Text(o.tty()))
	}
	switch {
	case err != nil:
		return err
	case failed != nil && o.Output == config.OutputJSON:
		_, _ = fmt.Fprintln(o.io.Err, "replan:", oneLine(failed.Error()))
		failed.err = errSaid
		return failed
	case failed != nil:
		return failed
	case report.Nothing():
		return &failure{exit: 1, code: "failed", err: errSaid}
	default:
		return o.offerPlanner(ctx, report.Best)
	}
}

// fitSet returns the goals, with the operators and the tools beside them.
func (o *options) fitSet(ctx context.Context, tools string) (set planfit.Set, err error) {
	from := *o
	from.NoWorkspaceTools = false
	switch tools {
	case ownTools:
	case bundledTools:
		from.Servers, from.MCPConfig = []string{builtin.ServerName}, ""
	default:
		return set, usage("--tools takes %s or %s, not %q", bundledTools, ownTools, tools)
	}
	return set, from.withCatalogue(ctx, "", func(_ *services, all plan.Catalogue) error {
		var operators, own plan.Catalogue
		for _, t := range all {
			if t.Trusted {
				operators = append(operators, t)
			} else {
				own = append(own, t)
			}
		}
		if tools == ownTools && len(own) == 0 {
			return usage("there are no tools of MCP servers to put beside the goals: configure a server in mcp.json, or use --tools %s", bundledTools)
		}
		set, err = planfit.NewSet(operators, own)
		return err
	})
}

// unfit converts the error that ended a measurement.
func unfit(ctx context.Context, err error) *failure {
	switch {
	case ctx.Err() != nil:
		return &failure{exit: exitInterrupted, code: string(event.ReasonInterrupted), err: errors.New("stopped; the results so far are kept: the same command continues from there")}
	case errors.Is(err, prompt.ErrNoModel):
		return &failure{exit: event.ReasonNoModel.ExitCode(), code: string(event.ReasonNoModel), err: err}
	default:
		return &failure{exit: 1, code: "failed", err: err}
	}
}

// plannerKey is the setting of the model that plans.
const plannerKey = "planning.planner_model"

// offerPlanner offers to plan with a model from now on, or says how.
func (o *options) offerPlanner(ctx context.Context, best string) error {
	switch {
	case best == "" || o.Output == config.OutputJSON:
		return nil
	case prompt.SameModel(best, o.Manner.Prompting.Models.Planner.Name):
		return o.print(untrusted.Line(best) + " plans already.\n")
	case !o.asks():
		return o.print(untrusted.Line(fmt.Sprintf("To plan with %s, set planner_model = %q in [planning] of %s.", best, best, o.Dirs.ConfigFile())) + "\n")
	}
	input, err := ask.NewInput(o.io.In, o.io.Quiet)
	if err != nil {
		return wrap("read standard input", err)
	}
	yes, err := input.Confirm(ctx, o.coloured(o.io.Out), "use "+untrusted.Line(best)+" for planning? [y]es, [n]o: ", o.look())
	if err != nil || !yes {
		return wrap(writing, err)
	}
	file, err := o.Keep(plannerKey, &best)
	if err != nil {
		return wrap("save the setting", err)
	}
	return o.print("saved in " + untrusted.Line(file) + "\n")
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
