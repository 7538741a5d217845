package cli

import (
	"context"
	"errors"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/session"
	"replan/cli/config"
	"replan/cli/demo"
	"replan/cli/fit"
	"replan/mcpclient"
	"replan/mcpclient/workspace/code/lsp"
)

// Attempt carries out a job of replan fit against the server at host, in a session of its
// own that keeps its files in home.
func Attempt(ctx context.Context, host, home string, job fit.Job) (fit.Outcome, error) {
	o := &options{io: IO{
		Getenv: func(string) string { return "" },
		Getwd:  func() (string, error) { return job.Folder, nil },
	}}
	flags := newRoot(o).PersistentFlags()
	o.DataDir = home // after the flag's declaration has set the default
	if err := o.complete(flags); err != nil {
		return fit.Outcome{}, err
	}
	o.Host = host
	return o.attempt(ctx, home, job)
}

// PlaySecondAct sends the goals of the demo's second act to the model of the server at
// host, as the demo does without a terminal, and calls see with each event. The demo's
// files are in folder.
func PlaySecondAct(ctx context.Context, host, folder string, see func(event.Event)) (err error) {
	o := &options{io: IO{
		Getenv: func(string) string { return "" },
		Getwd:  func() (string, error) { return folder, nil },
	}}
	flags := newRoot(o).PersistentFlags()
	o.DataDir = folder + "/home" // after the flag's declaration has set the default
	if err := o.complete(flags); err != nil {
		return err
	}
	if o.Workspace, err = prepareDemo(folder, "pages"); err != nil {
		return err
	}
	o.Host, o.Model, o.Trusted = host, demo.RecordedModel, true
	o.LSP = lsp.Section{Enabled: new(bool)}
	o.Manner = config.Manner{}
	o.ApproveText, o.Approve = string(policy.ApproveAll), policy.ApproveAll
	services, err := o.wiring().open(ctx, opening{trust: mcpclient.TrustNone, runs: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, services.close()) }()
	for _, goal := range demo.Goals() {
		services.session.Send(session.Submit{Text: goal})
	}
	answers := 0
	for e := range services.session.Events() {
		see(e)
		if _, ok := e.Data.(event.ChatReply); ok {
			if answers++; answers == len(demo.Goals()) {
				return nil
			}
		}
	}
	return errors.New("the session ended without an answer to each goal")
}
