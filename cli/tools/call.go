package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/check"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/lines"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plain"
	"replan/tui/story"
	"replan/tui/wording"
)

// callOptions are the options of replan tools call.
type callOptions struct {
	app  *app.App
	args string // JSON; - is standard input
}

func newCall(a *app.App) *cobra.Command {
	o := callOptions{app: a}
	command := &cobra.Command{
		Use:   "call NAME",
		Short: "Call one tool and print its result",
		Long: "call NAME calls one tool like a plan of one step: gates are answered as for plan run,\n" +
			"the call has a run and a journal of its own, and its changes can be undone. A call that only reads leaves none. The result is printed\n" +
			"as text, with --output json as JSON. Pictures and other files of it are kept with the run, and named. Text beside\n" +
			"structured content goes to standard error.",
		Example: "  replan tools call fs.search --args '{\"query\": \"TODO\"}'\n  replan tools call fs.mkdir --args '{\"path\": \"docs\"}' --approve safe\n  replan tools call vcs.log --output json",
		Args: func(_ *cobra.Command, names []string) error {
			switch len(names) {
			case 0:
				return exit.Usage("name the tool: replan tools call NAME --args JSON; replan tools lists them")
			case 1:
				return nil
			default:
				return exit.Usage("unexpected %q: pass the arguments of the tool as a JSON object to --args", names[1])
			}
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			return o.run(cmd.Context(), names[0])
		},
	}
	command.Flags().StringVar(&o.args, "args", "{}", "pass the arguments `JSON`, an object; - reads it from standard input")
	return command
}

// run carries out a plan of a single step and prints only its result.
func (o callOptions) run(ctx context.Context, name string) error {
	p, err := o.plan(name)
	if err != nil {
		return err
	}
	var server string
	job := lines.Job{About: &server, Prepare: func(ctx context.Context, w *app.Services) ([]session.Command, error) {
		v, err := check.With(o.app, w).Check(ctx, check.Plan{Data: p, Call: true}, nil)
		if err != nil {
			return nil, err
		}
		server = check.ServerOf(w.Tools(), name, v.Tools)
		o.app.Out().Notes(w.Ignored(server))
		if len(v.Faults) > 0 {
			check.PrintTroubles(o.app.Out(), w.Tools(), server, v.Awaited)
			what := check.NoServer(w.Tools(), name)
			if what == "" {
				what = o.callFault(name, v.Faults[0].Message, check.FailureOf(w.Tools(), server))
			}
			return nil, &exit.Error{Status: exit.BadUsage, Code: v.Faults[0].Code, Err: errors.New(what)}
		}
		return []session.Command{session.Execute{Plan: v.Plan, OnFailure: plan.OnFailureAbort, Strict: o.app.Planning().Strict()}}, nil
	}}
	if o.app.Execution().DryRun {
		return lines.Run(ctx, o.app, job)
	}
	var printed *resultOnly
	job.Printer = func(session string, out io.Writer) lines.Printer {
		printed = newResultOnly(o.app, session, out)
		return printed
	}
	if err := lines.Run(ctx, o.app, job); err != nil || printed == nil || !printed.brief || o.app.Chat() != nil {
		return err
	}
	return exit.Wrap("remove the journal of the call", o.app.Store().Forget(printed.run, printed.session))
}

// plan returns the plan of the call.
func (o callOptions) plan(name string) ([]byte, error) {
	text := []byte(o.args)
	if o.args == "-" {
		if o.app.Asks() {
			return nil, exit.Usage("standard input answers the gates: pass the arguments to --args itself")
		}
		var err error
		if text, err = io.ReadAll(o.app.IO().In); err != nil {
			return nil, exit.Usage("the arguments cannot be read from standard input: %w", err)
		}
	}
	value, err := plan.DecodeValue(text)
	if err != nil {
		return nil, exit.Usage("--args is not JSON: %w", err)
	}
	given, ok := value.(map[string]any)
	if !ok {
		return nil, exit.Usage("--args takes a JSON object such as {\"path\": \"a.txt\"}")
	}
	p, err := plan.EncodeJSON(map[string]any{
		"title": "Call " + name,
		"steps": []any{map[string]any{"index": "1", "title": "Call " + name, "tool": name, "args": plan.Literal(given)}},
	})
	if err != nil {
		return nil, exit.Usage("--args cannot be passed on: %w", err)
	}
	return p, nil
}

// callFault says what is wrong with a call in the words of a call: the user has
// written no plan. failure is why the server of the tool failed, if it did.
func (o callOptions) callFault(name, message, failure string) string {
	if failure != "" {
		return fmt.Sprintf("%s cannot be called: its MCP server failed: %s", name, failure)
	}
	if fault, ok := strings.CutPrefix(message, "step 1 calls "+name+" with bad args: "); ok {
		return "the arguments of " + name + " are wrong: " + fault + "; see " + o.app.Out().Named("tools show") + " " + name
	}
	return strings.TrimPrefix(message, "step 1: ")
}

// resultOnly prints the result of a run with a single call, its questions to the
// user, and why it failed.
type resultOnly struct {
	app    *app.App
	log    *plain.Log // draws the questions
	story  *story.Story
	call   *agent.Run // nil before it starts
	asked  event.GateRequested
	answer string        // the decision about its gate
	dirty  bool          // files had uncommitted changes when the run began
	held   []story.Entry // warnings that matter only if the call is made

	session string
	run     string // its id
	brief   bool   // its journal is not needed: it only reads, and no file of its result was kept
}

func newResultOnly(a *app.App, session string, out io.Writer) *resultOnly {
	return &resultOnly{
		app: a, log: a.Out().Log(out, session, plain.Options{}),
		story: story.New(story.Caller|story.Asked, story.NewOnce()), session: session,
	}
}

// Event prints one event.
func (r *resultOnly) Event(e event.Event) error {
	entries, err := r.entriesOf(e)
	if err != nil {
		return fmt.Errorf("print a run: %w", err)
	}
	for _, entry := range entries {
		if err := r.draw(entry); err != nil {
			return err
		}
	}
	return nil
}

// entriesOf returns what an event says.
func (r *resultOnly) entriesOf(e event.Event) ([]story.Entry, error) {
	if e.Run == r.session {
		return r.story.Session(e.Data), nil
	}
	if d, ok := e.Data.(event.RunStarted); ok {
		r.call, r.run, r.dirty = agent.NewRun(nil), e.Run, d.Dirty > 0
		r.story.Follow(r.call, false)
	}
	if r.call == nil {
		return nil, nil
	}
	return r.story.Apply(e)
}

// draw prints one entry.
func (r *resultOnly) draw(e story.Entry) error {
	switch e.Kind {
	case story.Goal:
		r.judge(e.Event.(event.RunStarted))
	case story.Noted:
		if r.dirty && e.Level == story.Warn {
			r.held = append(r.held, e)
		} else {
			r.note(e)
		}
	case story.Call:
		r.release()
	case story.Returned:
		return r.result(e.Event.(event.StepCompleted))
	case story.GateOpens:
		r.asked = *e.Gate
		return r.question(e)
	case story.GateAnswered:
		r.answer = e.Short()
		return r.question(e)
	case story.ServerAsks:
		return r.question(e)
	case story.ServerAnswered:
		if !r.app.Asks() {
			r.note(e)
		}
		return r.question(e)
	case story.Outcome:
		return r.completed(e.Ending)
	}
	return nil
}

// question prints what the user is asked or has answered, if there is one to ask.
func (r *resultOnly) question(e story.Entry) error {
	if !r.app.Asks() {
		return nil
	}
	if e.Kind == story.GateOpens {
		r.release()
	}
	return r.log.Print(r.call, e)
}

// note prints an entry on standard error.
func (r *resultOnly) note(e story.Entry) { r.app.Out().Note("%s", e.Short()) }

// result prints the result of the call.
func (r *resultOnly) result(d event.StepCompleted) error {
	r.brief = r.brief && len(d.Attachments) == 0
	if d.Text != "" {
		_, _ = fmt.Fprintln(r.app.IO().Err, d.Text.Visible())
	}
	if r.app.Out().JSON() {
		return r.app.Out().PrintJSON(d.Result)
	}
	return r.app.Out().Print(resultText(d.Result))
}

// completed says why the call failed.
func (r *resultOnly) completed(e *story.Ending) error {
	d, failed := e.Result, string(e.Failed)
	if e.Doubt != "" {
		err := fmt.Errorf("the call may or may not have taken effect: %s; find out, then say so with %s %s --in-doubt done, or rerun", string(e.Doubt), r.app.Out().Named("plan resume"), agent.ShortID(r.run))
		return &exit.Error{Status: d.Reason.ExitCode(), Code: string(d.Reason), Err: err}
	}
	if d.Reason == event.ReasonDenied && !r.app.Asks() && r.asked.Gate != "" {
		how := "add --approve " + string(policy.Least(r.asked))
		if r.asked.Changed != "" {
			how = "accept the change with " + policy.AcceptCommand(r.asked)
		}
		return &exit.Error{Status: d.Reason.ExitCode(), Code: string(d.Reason), Err: fmt.Errorf("the call was %s; to allow it, %s", r.answer, how)}
	}
	if d.Reason == event.ReasonDenied && failed != "" {
		failed = "the call was " + failed
	}
	if d.Reason == event.ReasonStepFailed || d.Reason == event.ReasonDenied {
		return &exit.Error{Status: d.Reason.ExitCode(), Code: string(d.Reason), Err: errors.New(config.First(failed, string(d.Error)))}
	}
	return lines.Failure(d)
}

// judge finds out whether the journal of the call may be needed.
func (r *resultOnly) judge(d event.RunStarted) {
	if d.Plan != nil && len(d.Plan.Steps) == 1 {
		tool, err := d.Catalog.Find(d.Plan.Steps[0].Tool)
		r.brief = err == nil && tool.ReadOnly
	}
}

// release prints the warnings that were held, and holds no more.
func (r *resultOnly) release() {
	for _, e := range r.held {
		r.note(e)
	}
	r.held, r.dirty = nil, false
}

// resultText formats a result for people: text as it is, with a line for each of its
// files, and everything else as JSON.
func resultText(result any) string {
	text, ok := result.(string)
	if with, found := wording.ResultText(result); found {
		text, ok = with, true
	}
	if !ok {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(result); err != nil {
			return fmt.Sprintln(result) // unreachable, since the result was JSON
		}
		text = b.String()
	}
	text = untrusted.Visible(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}
