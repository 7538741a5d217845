package cli

import (
	"context"
	"errors"

	"replan/agent/event"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/config"
	"replan/cli/demo"
	"replan/cli/fit"
	"replan/mcpclient"
)

// Attempt carries out a job of replan fit against the server at host, in a session of its
// own that keeps its files in home.
func Attempt(ctx context.Context, host, home string, job fit.Job) (fit.Outcome, error) {
	a, err := appIn(job.Folder, map[string]string{"REPLAN_HOME": home, "OLLAMA_HOST": host})
	if err != nil {
		return fit.Outcome{}, err
	}
	return fit.Try(ctx, a, home, job)
}

// PlaySecondAct sends the goals of the demo's second act to the model of the server at
// host, as the demo does without a terminal, and calls see with each event. The demo's
// files are in folder.
func PlaySecondAct(ctx context.Context, host, folder string, see func(event.Event)) (err error) {
	home := folder + "/home"
	a, err := appIn(folder, map[string]string{"REPLAN_HOME": home})
	if err != nil {
		return err
	}
	project, err := demo.Prepare(folder, "pages")
	if err != nil {
		return err
	}
	a = a.With(func(o *config.Options) {
		o.Demonstrate(config.Project{Folder: project, Home: home, Model: demo.RecordedModel, Host: host})
		o.ApproveAll()
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
