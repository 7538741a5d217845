package cli

import (
	"context"
	"errors"
	"time"

	"replan/agent/ollama/ollamatest"
	"replan/agent/runner"
	"replan/cli/app"
	"replan/cli/chat"
	"replan/cli/config"
	"replan/cli/demo"
	"replan/mcpclient"
)

// DemoSession is everything below the demo's screen: the unpacked project, the
// scripted model and a session with the workspace's operators.
type DemoSession struct {
	services  *app.Services
	model     *ollamatest.Server
	workspace string
}

// OpenDemo does in folder what the demo command does before it draws. Pace is the
// delay between two chunks of the model; 0 sends them at once.
func OpenDemo(ctx context.Context, folder string, pace time.Duration) (*DemoSession, error) {
	home := folder + "/home"
	a, err := appIn(folder, map[string]string{"REPLAN_HOME": home})
	if err != nil {
		return nil, err
	}
	project, err := demo.Prepare(folder, "pages")
	if err != nil {
		return nil, err
	}
	model, err := demo.Start(ctx, pace, demo.Next(a.Appearance().KeyName, false))
	if err != nil {
		return nil, err
	}
	a = a.With(func(o *config.Options) {
		o.Demonstrate(config.Project{Folder: project, Home: home, Model: demo.Model, Host: model.URL()})
	})
	services, err := a.Open(ctx, app.Opening{Trust: mcpclient.TrustAsk, Attended: true})
	if err != nil {
		return nil, errors.Join(err, model.Close())
	}
	return &DemoSession{services, model, project}, nil
}

// appIn returns an app in a folder, with an environment.
func appIn(folder string, environment map[string]string) (*app.App, error) {
	a := app.New(Version, IO{
		Getenv: func(name string) string { return environment[name] },
		Getwd:  func() (string, error) { return folder, nil },
	}, chat.Commands)
	return a, a.Complete(newRoot(a).PersistentFlags())
}

// Session returns the running session.
func (d *DemoSession) Session() *runner.Session { return d.services.Session() }

// Workspace returns the folder that the session works in.
func (d *DemoSession) Workspace() string { return d.workspace }

// Close stops everything and waits until it has ended.
func (d *DemoSession) Close() error {
	return errors.Join(d.services.Close(), d.model.Close())
}
