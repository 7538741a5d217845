package cli

import (
	"context"
	"errors"

	"replan/agent/ollama/ollamatest"
	"replan/agent/runner"
	"replan/cli/config"
	"replan/cli/demo"
	"replan/mcpclient/workspace/code/lsp"
)

// DemoSession is all that the demo's screen stands on: the unpacked project, the
// scripted model and a session over the workspace's own operators.
type DemoSession struct {
	workshop  *workshop
	model     *ollamatest.Server
	workspace string
}

// OpenDemo prepares in folder what the demo command does before it draws, with a
// model that speaks at once.
func OpenDemo(ctx context.Context, folder string) (*DemoSession, error) {
	o := &options{io: IO{
		Getenv: func(string) string { return "" },
		Getwd:  func() (string, error) { return folder, nil },
	}}
	flags := newRoot(o).PersistentFlags()
	o.DataDir = folder + "/home" // behind what declaring the flag sets it to
	if err := o.complete(flags); err != nil {
		return nil, err
	}
	var err error
	if o.Workspace, err = prepareDemo(folder, "pages"); err != nil {
		return nil, err
	}
	model, err := demo.Start(ctx, 0)
	if err != nil {
		return nil, err
	}
	o.Host, o.Model, o.Trusted = model.URL(), demo.Model, true
	o.LSP = lsp.Section{Enabled: new(bool)} // what it shows is the same on every machine
	o.Manner = config.Manner{}
	shop, err := o.wiring().open(ctx, opening{ask: true, attended: true})
	if err != nil {
		return nil, errors.Join(err, model.Close())
	}
	return &DemoSession{shop, model, o.Workspace}, nil
}

// Session is the running session.
func (d *DemoSession) Session() *runner.Session { return d.workshop.session }

// Workspace is the folder the session works in.
func (d *DemoSession) Workspace() string { return d.workspace }

// Close stops everything and waits for it.
func (d *DemoSession) Close() error {
	return errors.Join(d.workshop.close(), d.model.Close())
}
