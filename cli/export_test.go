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
	"replan/mcpclient/workspace/code/lsp"
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
	a, err := appIn(folder, folder+"/home")
	if err != nil {
		return nil, err
	}
	project, err := demo.Prepare(folder, "pages")
	if err != nil {
		return nil, err
	}
	model, err := demo.Start(ctx, pace, demo.Next(a.Settings().KeyName, false))
	if err != nil {
		return nil, err
	}
	a = a.With(func(s *config.Options) {
		s.Workspace, s.Host, s.Model, s.Trusted = project, model.URL(), demo.Model, true
		s.LSP = lsp.Section{Enabled: new(bool)} // keeps the output the same on every machine
		s.Manner = config.Manner{}
	})
	services, err := a.Open(ctx, app.Opening{Trust: mcpclient.TrustAsk, Attended: true})
	if err != nil {
		return nil, errors.Join(err, model.Close())
	}
	return &DemoSession{services, model, project}, nil
}

// appIn returns an app in a folder, which keeps its files in home.
func appIn(folder, home string) (*app.App, error) {
	a := app.New(Version, IO{
		Getenv: func(string) string { return "" },
		Getwd:  func() (string, error) { return folder, nil },
	}, chat.Commands)
	flags := newRoot(a).PersistentFlags()
	a.Settings().DataDir = home // after the flag's declaration has set the default
	return a, a.Complete(flags)
}

// Session returns the running session.
func (d *DemoSession) Session() *runner.Session { return d.services.Session() }

// Workspace returns the folder that the session works in.
func (d *DemoSession) Workspace() string { return d.workspace }

// Close stops everything and waits until it has ended.
func (d *DemoSession) Close() error {
	return errors.Join(d.services.Close(), d.model.Close())
}
