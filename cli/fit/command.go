package fit

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
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/ask"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/tty"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/mcpclient"
	planfit "replan/planning/fit"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// fitOptions are the options of replan fit.
type fitOptions struct {
	app    *app.App
	models []string // none means all
	goals  int      // 0 means all
	again  bool
	export bool
	load   string // a file that was exported; - is standard input, "" is none
}

// New returns the command replan fit.
func New(a *app.App) *cobra.Command {
	o := fitOptions{app: a}
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
			if o.models = models; len(models) == 0 && a.Model().Named {
				o.models = []string{a.Model().Name}
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().IntVar(&o.goals, "goals", 0, "try only the first `N` goals")
	cmd.Flags().BoolVar(&o.again, "again", false, "measure again what was measured before")
	cmd.Flags().BoolVar(&o.export, "export", false, "print what was found as a file that others can load")
	cmd.Flags().StringVar(&o.load, "load", "", "take over what others found, from their `FILE`; - is standard input")
	cmd.MarkFlagsMutuallyExclusive("export", "load")
	return cmd
}

// run measures what models can do, and offers the best one.
func (o fitOptions) run(ctx context.Context) error {
	out := o.app.Out()
	switch {
	case o.goals < 0:
		return exit.Usage("--goals takes a number above 0, not %d", o.goals)
	case o.export:
		data, err := Export(o.app.Folders().Dirs.Findings())
		if err != nil {
			return exit.Usage("%w", err)
		}
		return out.Print(string(data))
	case o.load != "":
		return o.loadFindings(ctx, o.load)
	}
	tasks, err := planfit.Tasks()
	if err != nil {
		return exit.Wrap("measure models", err)
	}
	if o.goals > 0 {
		tasks = tasks[:min(o.goals, len(tasks))]
	}
	home, err := os.MkdirTemp("", "replan-fit-home-")
	if err != nil {
		return exit.Wrap("create a folder for the runs; set TMPDIR to a writable folder", err)
	}
	defer os.RemoveAll(home) //nolint:errcheck // a leftover in the folder for temporary files
	server := o.app.ModelServer()
	server.Model, server.Findings = "", "" // nothing is known of what is measured
	m := Measurement{
		Tasks: tasks, Attempts: o.app.Folders().Dirs.Attempts(), Again: o.again, Version: o.app.Version(), Now: time.Now,
		Prompts: o.app.Version() + " " + plan.CanonicalJSON(o.app.Planning().Prompting.Prompts),
		Server:  server,
		Do:      func(ctx context.Context, job Job) (Outcome, error) { return Try(ctx, o.app, home, job) },
	}
	models, err := Settle(ctx, m.Server, o.models)
	if err != nil {
		return unfit(ctx, err)
	}
	stop := func() {}
	if styles := out.Styles(); styles != nil && !o.app.Form().Plain {
		m.Progress, stop = Watch(ask.NewOutput(out.Colored(o.app.IO().Out), styles), styles, func() int { return tty.Width(o.app.IO().Out) })
	} else {
		m.Progress = func(now Progress) { _, _ = fmt.Fprintln(o.app.IO().Err, now.Line()) }
	}
	report, err := m.Run(ctx, models)
	stop()
	if found := report.Findings(); o.goals == 0 && len(found) > 0 { // a part of the goals is no finding
		err = errors.Join(err, Store(context.WithoutCancel(ctx), o.app.Folders().Dirs.Findings(), found...))
	}
	return o.report(ctx, report, err)
}

// report prints what was measured, and offers the best model. Wrong is the error that
// ended the measurement.
func (o fitOptions) report(ctx context.Context, report Report, wrong error) (err error) {
	out := o.app.Out()
	var failed *exit.Error
	if wrong != nil {
		failed = unfit(ctx, wrong)
	}
	if out.JSON() {
		if failed != nil {
			report.Stopped = untrusted.Text(failed.Error())
		}
		err = out.PrintJSON(report)
	} else {
		err = out.Print(report.Text(out.Terminal()))
	}
	switch {
	case err != nil:
		return err
	case failed != nil && out.JSON():
		out.Note("%s", exit.OneLine(failed.Error()))
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
func (o fitOptions) loadFindings(ctx context.Context, name string) error {
	read := func() ([]byte, error) { return os.ReadFile(name) } //nolint:gosec // the user names it
	if name == "-" {
		read = func() ([]byte, error) { return io.ReadAll(o.app.IO().In) }
	}
	data, err := read()
	if err != nil {
		return exit.Usage("read the findings: %w", err)
	}
	n, err := Load(ctx, o.app.Folders().Dirs.Findings(), data)
	if err != nil {
		return exit.Usage("load %s: %w", name, err)
	}
	return o.app.Out().Print("loaded the findings of " + english.Count(n, "model") + "; what you measure yourself takes precedence\n")
}

// Try carries out a job of replan fit in a session of its own, which stores its files
// in home. Changes of files in the folder and its tests are allowed; programs and
// everything else are denied.
func Try(ctx context.Context, a *app.App, home string, job Job) (outcome Outcome, err error) {
	own := a.With(func(o *config.Options) {
		o.Measure(config.Project{Folder: job.Folder, Home: home, Model: job.Model})
	})
	w, err := own.Open(ctx, app.Opening{Trust: mcpclient.TrustNone, Runs: true, Driving: &job.Settings})
	if err != nil {
		return outcome, err
	}
	defer func() { err = errors.Join(err, exit.Wrap("end in order", w.Close())) }()
	began := time.Now()
	if job.Agent {
		w.Session().Send(session.Execute{Plan: plan.Plan{Title: untrusted.Text(job.Goal), Steps: []plan.Step{
			{Index: "1", Title: untrusted.Text(job.Goal), Executor: plan.ExecutorAgent, Profile: "explorer", ResultVariable: agentResult},
		}}})
	} else {
		w.Session().Send(session.Submit{Text: job.Goal})
	}
	for e := range w.Session().Events() {
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
			info, err := w.Model().Describe(ctx, job.Model)
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
func (o fitOptions) offerModel(ctx context.Context, best string) error {
	out := o.app.Out()
	switch {
	case best == "" || out.JSON():
		return nil
	case prompt.SameModel(best, o.app.Model().Name):
		return out.Print(untrusted.Line(best) + " is your model already.\n")
	case !o.app.Asks():
		return out.Print(untrusted.Line(fmt.Sprintf("To work with %s, set name = %q in [model] of %s.", best, best, filepath.ToSlash(o.app.Folders().Dirs.ConfigFile()))) + "\n")
	}
	input, err := o.app.Input("read standard input")
	if err != nil {
		return err
	}
	yes, err := input.Confirm(ctx, "work with "+untrusted.Line(best)+" from now on? [y]es, [n]o: ")
	if err != nil || !yes {
		return err
	}
	file, err := o.app.SaveSetting(modelKey, &best)
	if err != nil {
		return exit.Wrap("save the setting", err)
	}
	return out.Print("saved in " + untrusted.Line(file) + "\n")
}
