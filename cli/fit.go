package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"replan/agent/event"
	"replan/agent/ollama"
	"replan/agent/policy"
	"replan/agent/session"
	"replan/agent/store"
	"replan/cli/ask"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/fit"
	"replan/cli/tty"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient"
	"replan/mcpclient/workspace/code/lsp"
	planfit "replan/planning/fit"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// fitting says what replan fit does.
type fitting struct {
	models []string // none means all
	goals  int      // 0 means all
	again  bool
	export bool
	load   string // a file that was exported; - is standard input, "" is none
}

func newFit(o *options) *cobra.Command {
	var how fitting
	cmd := &cobra.Command{
		Use:   "fit [MODEL]...",
		Short: "Measure what your models can do, and drive them accordingly",
		Long: "fit lets each MODEL, by default every installed one that can answer, try eight goals three times each in a\n" +
			"throw-away project: three questions and five changes, then a step for an agent. What comes of them is checked by\n" +
			"rule. From then on replan drives the model as it did best: with short or full plans, with agents or without.\n" +
			"Results are kept after each attempt: after ctrl+c, the same command continues. A model of 1.5 billion\n" +
			"parameters took about 10 minutes on two cores.",
		Example: "  replan fit\n  replan fit qwen3:8b gemma3:12b\n  replan fit --export > findings.json\n  replan fit --load findings.json",
		RunE: func(cmd *cobra.Command, models []string) error {
			if how.models = models; len(models) == 0 && o.Changed("model") {
				how.models = []string{o.Model}
			}
			return o.fit(cmd.Context(), how)
		},
	}
	cmd.Flags().IntVar(&how.goals, "goals", 0, "try only the first `N` goals")
	cmd.Flags().BoolVar(&how.again, "again", false, "measure again what was measured before")
	cmd.Flags().BoolVar(&how.export, "export", false, "print what was found as a file that others can load")
	cmd.Flags().StringVar(&how.load, "load", "", "take over what others found, from their `FILE`; - is standard input")
	cmd.MarkFlagsMutuallyExclusive("export", "load")
	return cmd
}

// fit measures what models can do, and offers the best one.
func (o *options) fit(ctx context.Context, how fitting) error {
	switch {
	case how.goals < 0:
		return exit.Usage("--goals takes a number above 0, not %d", how.goals)
	case how.export:
		data, err := fit.Export(o.Dirs.Findings())
		if err != nil {
			return exit.Usage("%w", err)
		}
		return o.print(string(data))
	case how.load != "":
		return o.loadFindings(ctx, how.load)
	}
	tasks, err := planfit.Tasks()
	if err != nil {
		return exit.Wrap("measure models", err)
	}
	if how.goals > 0 {
		tasks = tasks[:min(how.goals, len(tasks))]
	}
	home, err := os.MkdirTemp("", "replan-fit-home-")
	if err != nil {
		return exit.Wrap("create a folder for the runs; set TMPDIR to a writable folder", err)
	}
	defer os.RemoveAll(home) //nolint:errcheck // a leftover in the folder for temporary files
	m := fit.Measurement{
		Tasks: tasks, Attempts: o.Dirs.Attempts(), Again: how.again, Version: Version, Now: time.Now,
		Prompts: Version + " " + plan.CanonicalJSON(o.Manner.Prompting.Prompts),
		Server:  ollama.Config{Host: o.Host, ContextWindow: o.ContextWindow, KeepAlive: o.KeepAlive, Learned: o.Dirs.Servers()},
		Do:      func(ctx context.Context, job fit.Job) (fit.Outcome, error) { return o.attempt(ctx, home, job) },
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
	if found := report.Findings(); how.goals == 0 && len(found) > 0 { // a part of the goals is no finding
		err = errors.Join(err, fit.Store(context.WithoutCancel(ctx), o.Dirs.Findings(), found...))
	}
	return o.reportFit(ctx, report, err)
}

// reportFit prints what was measured, and offers the best model. Wrong is the error that
// ended the measurement.
func (o *options) reportFit(ctx context.Context, report fit.Report, wrong error) (err error) {
	var failed *exit.Error
	if wrong != nil {
		failed = unfit(ctx, wrong)
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
		_, _ = fmt.Fprintln(o.io.Err, "replan:", exit.OneLine(failed.Error()))
		failed.Err = exit.ErrReported
		return failed
	case failed != nil:
		return failed
	case report.Nothing():
		return &exit.Error{Status: exit.Failed, Code: "failed", Err: exit.ErrReported}
	default:
		return o.offerModel(ctx, report.Best)
	}
}

// loadFindings takes over what others found.
func (o *options) loadFindings(ctx context.Context, name string) error {
	read := func() ([]byte, error) { return os.ReadFile(name) } //nolint:gosec // the user names it
	if name == "-" {
		read = func() ([]byte, error) { return io.ReadAll(o.io.In) }
	}
	data, err := read()
	if err != nil {
		return exit.Usage("read the findings: %w", err)
	}
	n, err := fit.Load(ctx, o.Dirs.Findings(), data)
	if err != nil {
		return exit.Usage("load %s: %w", name, err)
	}
	return o.print("loaded the findings of " + english.Count(n, "model") + "; what you measure yourself takes precedence\n")
}

// attempt carries out a job of replan fit in a session of its own, which stores its files
// in home. Changes of files in the folder and its tests are allowed; programs and
// everything else are denied.
func (o *options) attempt(ctx context.Context, home string, job fit.Job) (outcome fit.Outcome, err error) {
	own := *o
	own.Workspace, own.Trusted, own.Model, own.settings = job.Folder, true, job.Model, &job.Settings
	own.Dirs = store.Dirs{Config: home, Data: home, State: home}
	own.store = newStore(own.Dirs)
	own.ApproveText, own.Approve, own.Rules = string(policy.ApproveSafe), policy.ApproveSafe, nil
	own.MCPConfig, own.Servers, own.NoWorkspaceTools, own.LSP = "", nil, false, lsp.Section{Enabled: new(bool)}
	own.Manner.Prompting, own.Manner.Profile = prompt.Prompting{Prompts: o.Manner.Prompting.Prompts, PhaseTimeout: o.Manner.Prompting.PhaseTimeout, Profiles: o.Manner.Prompting.Profiles}, ""
	own.Limits, own.SessionLimits = event.DefaultLimits(), event.SessionLimits{}
	own.Limits.MaxReplans, own.Limits.MaxDurationMS = 1, (10 * time.Minute).Milliseconds()
	own.DryRun, own.Review, own.RequireVerified, own.Isolate.On = false, false, false, false
	w, err := own.wiring().open(ctx, opening{trust: mcpclient.TrustNone, runs: true})
	if w != nil {
		defer func() { err = errors.Join(err, exit.Wrap("end in order", w.close())) }()
	}
	if err != nil {
		return outcome, err
	}
	began := time.Now()
	if job.Agent {
		w.session.Send(session.Execute{Plan: plan.Plan{Title: untrusted.Text(job.Goal), Steps: []plan.Step{
			{Index: "1", Title: untrusted.Text(job.Goal), Executor: plan.ExecutorAgent, Profile: "explorer", ResultVariable: agentResult},
		}}})
	} else {
		w.session.Send(session.Submit{Text: job.Goal})
	}
	for e := range w.session.Events() {
		switch d := e.Data.(type) {
		case event.PlanCreated:
			if outcome.Steps == nil { // an agent may make plans of its own
				outcome.Steps = d.Plan.Steps
			}
		case event.StepFailed:
			outcome.Failed = outcome.Failed || slices.ContainsFunc(outcome.Steps, func(s plan.Step) bool { return s.Index == d.Index })
		case event.RunCompleted:
			outcome.Answer, outcome.Error = d.Answer.Visible(), d.Error
			if job.Agent {
				outcome.Answer = fmt.Sprint(d.Variables[agentResult])
			}
		case event.ChatReply:
			if d.Reason == event.ReasonNoModel {
				return outcome, fmt.Errorf("%s: %w", d.Text, prompt.ErrNoModel)
			}
			outcome.MS = time.Since(began).Milliseconds()
			info, err := w.model.Describe(ctx, job.Model)
			outcome.Speed = info.Speed
			return outcome, err
		}
	}
	if err := ctx.Err(); err != nil {
		return outcome, err
	}
	return outcome, errors.New("the session ended without an answer")
}

// agentResult is the variable with the result of a step for an agent.
const agentResult = "found"

// unfit converts the error that ended a measurement.
func unfit(ctx context.Context, err error) *exit.Error {
	switch {
	case ctx.Err() != nil:
		return &exit.Error{Status: exit.Interrupted, Code: string(event.ReasonInterrupted), Err: errors.New("stopped; the results so far are kept: the same command continues from there")}
	case errors.Is(err, prompt.ErrNoModel):
		return &exit.Error{Status: event.ReasonNoModel.ExitCode(), Code: string(event.ReasonNoModel), Err: err}
	default:
		return &exit.Error{Status: exit.Failed, Code: "failed", Err: err}
	}
}

// modelKey is the setting of the model that answers.
const modelKey = "model.name"

// offerModel offers to work with a model from now on, or says how.
func (o *options) offerModel(ctx context.Context, best string) error {
	switch {
	case best == "" || o.Output == config.OutputJSON:
		return nil
	case prompt.SameModel(best, o.Model):
		return o.print(untrusted.Line(best) + " is your model already.\n")
	case !o.asks():
		return o.print(untrusted.Line(fmt.Sprintf("To work with %s, set name = %q in [model] of %s.", best, best, filepath.ToSlash(o.Dirs.ConfigFile()))) + "\n")
	}
	input, err := ask.NewInput(o.io.In, o.io.Quiet)
	if err != nil {
		return exit.Wrap("read standard input", err)
	}
	yes, err := input.Confirm(ctx, o.coloured(o.io.Out), "work with "+untrusted.Line(best)+" from now on? [y]es, [n]o: ", o.look())
	if err != nil || !yes {
		return exit.Wrap(exit.Writing, err)
	}
	file, err := o.Keep(modelKey, &best)
	if err != nil {
		return exit.Wrap("save the setting", err)
	}
	return o.print("saved in " + untrusted.Line(file) + "\n")
}
