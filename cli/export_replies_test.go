package cli

import (
	"context"
	"errors"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/config"
	"replan/cli/demo"
	"replan/cli/fit"
	"replan/mcpclient"
	"replan/mcpclient/workspace/code/lsp"
)

// Attempt carries out a job of replan fit against the server at host, in a session of its
// own that keeps its files in home.
func Attempt(ctx context.Context, host, home string, job fit.Job) (fit.Outcome, error) {
	a, err := appIn(job.Folder, home)
	if err != nil {
		return fit.Outcome{}, err
	}
	a.Settings().Host = host
	return fit.Try(ctx, a, home, job)
}

// PlaySecondAct sends the goals of the demo's second act to the model of the server at
// host, as the demo does without a terminal, and calls see with each event. The demo's
// files are in folder.
func PlaySecondAct(ctx context.Context, host, folder string, see func(event.Event)) (err error) {
	a, err := appIn(folder, folder+"/home")
	if err != nil {
		return err
	}
	project, err := demo.Prepare(folder, "pages")
	if err != nil {
		return err
	}
	a = a.With(func(s *config.Options) {
		s.Workspace, s.Host, s.Model, s.Trusted = project, host, demo.RecordedModel, true
		s.LSP = lsp.Section{Enabled: new(bool)}
		s.Manner = config.Manner{}
		s.ApproveText, s.Approve = string(policy.ApproveAll), policy.ApproveAll
	})
	services, err := a.Open(ctx, app.Opening{Trust: mcpclient.TrustNone, Runs: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, services.Close()) }()
	for _, goal := range demo.Goals() {
		services.Session().Send(session.Submit{Text: goal})
	}
	answers := 0
	for e := range services.Session().Events() {
		see(e)
		if _, ok := e.Data.(event.ChatReply); ok {
			if answers++; answers == len(demo.Goals()) {
				return nil
			}
		}
	}
	return errors.New("the session ended without an answer to each goal")
}
