package cli

import (
	"context"
	"errors"
	"time"

	"replan/agent/ollama/ollamatest"
	"replan/agent/runner"
	"replan/cli/config"
	"replan/cli/demo"
	"replan/mcpclient"
	"replan/mcpclient/workspace/code/lsp"
)

// DemoSession is everything below the demo's screen: the unpacked project, the
// scripted model and a session with the workspace's operators.
type DemoSession struct {
	services  *services
	model     *ollamatest.Server
	workspace string
}

// OpenDemo does in folder what the demo command does before it draws. Pace is the
// delay between two chunks of the model; 0 sends them at once.
func OpenDemo(ctx context.Context, folder string, pace time.Duration) (*DemoSession, error) {
	o := &options{io: IO{
		Getenv: func(string) string { return "" },
		Getwd:  func() (string, error) { return folder, nil },
	}}
	flags := newRoot(o).PersistentFlags()
	o.DataDir = folder + "/home" // after the flag's declaration has set the default
	if err := o.complete(flags); err != nil {
		return nil, err
	}
	var err error
	if o.Workspace, err = prepareDemo(folder, "pages"); err != nil {
		return nil, err
	}
	model, err := demo.Start(ctx, pace, demo.Next(o.Keys.Name, false))
	if err != nil {
		return nil, err
	}
	o.Host, o.Model, o.Trusted = model.URL(), demo.Model, true
	o.LSP = lsp.Section{Enabled: new(bool)} // keeps the output the same on every machine
	o.Manner = config.Manner{}
	services, err := o.wiring().open(ctx, opening{trust: mcpclient.TrustAsk, attended: true})
	if err != nil {
		return nil, errors.Join(err, model.Close())
	}
	return &DemoSession{services, model, o.Workspace}, nil
}

// Session returns the running session.
func (d *DemoSession) Session() *runner.Session { return d.services.session }

// Workspace returns the folder that the session works in.
func (d *DemoSession) Workspace() string { return d.workspace }

// Close stops everything and waits until it has ended.
func (d *DemoSession) Close() error {
	return errors.Join(d.services.close(), d.model.Close())
}
