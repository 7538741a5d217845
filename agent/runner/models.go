package runner

import (
	"context"
	"errors"
	"strings"
	"time"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// installer starts the session's model server, and pulls and removes its models, one pull at a
// time.
type installer struct {
	model      Model
	now        func() time.Time
	events     *publisher
	background *background
	overview   *overview
	scout      *scout

	pulling string // the model that is pulled; "" is none
	cancel  func() // of that pull; never nil

	stop func() // of the start of the server under way; nil for none
}

// errNoInstaller reports that models cannot be changed through the session.
const errNoInstaller = "the model server of this session does not install models"

// command carries out a command about models of the server. busy tells that a run is in
// progress.
func (n *installer) command(ctx context.Context, c session.Command, busy bool) {
	switch c := c.(type) {
	case session.Pull:
		n.pull(ctx, c.Model)
	case session.CancelPull:
		n.cancel()
	case session.Remove:
		n.remove(ctx, c.Model, busy)
	case session.StartModelServer:
		n.start(ctx)
	case session.CancelStart:
		if n.stop != nil {
			n.stop()
		}
	}
}

// pull starts to download a model.
func (n *installer) pull(ctx context.Context, name string) {
	name = strings.TrimSpace(name)
	server, ok := n.model.(ModelInstaller)
	problem := untrusted.Text("")
	switch {
	case !ok:
		problem = errNoInstaller
	case name == "":
		problem = "name the model to pull, like qwen3:8b"
	case n.pulling != "":
		problem = untrusted.Text(n.pulling + " is being pulled: wait for its end, or cancel it first")
	}
	if problem != "" {
		_ = n.events.publish(session.PullProgress{Model: name, Ended: true, Problem: problem})
		return
	}
	pulling, cancel := context.WithCancel(ctx)
	n.pulling, n.cancel = name, cancel
	_ = n.events.publish(session.PullProgress{Model: name})
	n.background.run(func() func() {
		m := session.NewPullMeter(name, n.now)
		err := server.Pull(pulling, name, func(step string, done, total int64) {
			if report, due := m.Read(step, done, total); due {
				n.background.publishLater(report)
			}
		})
		end := m.Last()
		end.Model, end.Ended, end.Rate, end.Canceled = name, true, 0, errors.Is(err, context.Canceled)
		if err != nil && !end.Canceled {
			end.Problem = untrusted.Text(err.Error())
		}
		return func() { n.pulled(ctx, end) }
	})
}

// pulled reports the end of a pull. A session without a model looks again.
func (n *installer) pulled(ctx context.Context, end session.PullProgress) {
	n.cancel()
	n.pulling, n.cancel = "", func() {}
	_ = n.events.publish(end)
	if own := n.overview.model(); end.Problem == "" && !end.Canceled && (own == "" || prompt.SameModel(end.Model, own)) {
		n.scout.discover(ctx)
	}
}

// start starts the model server.
func (n *installer) start(ctx context.Context) {
	server, ok := n.model.(ModelStarter)
	switch {
	case !ok:
		_ = n.events.publish(session.ModelServerStart{Ended: true, Problem: "the model server of this session cannot be started from here"})
		return
	case n.stop != nil: // it is being started
		return
	}
	starting, stop := context.WithCancel(ctx)
	n.stop = stop
	_ = n.events.publish(session.ModelServerStart{})
	n.background.run(func() func() {
		log, err := server.Serve(starting)
		return func() {
			stop()
			n.stop = nil
			end := session.ModelServerStart{Ended: true, Log: log, Canceled: errors.Is(err, context.Canceled)}
			if err != nil && !end.Canceled {
				end.Problem = untrusted.Text(err.Error())
			}
			_ = n.events.publish(end)
			n.scout.discover(ctx)
		}
	})
}

// remove deletes a model, then looks what the session works with if it was its
// own.
func (n *installer) remove(ctx context.Context, name string, busy bool) {
	server, ok := n.model.(ModelInstaller)
	own := prompt.SameModel(name, n.overview.model())
	switch {
	case !ok:
		_ = n.events.publish(session.Removed{Model: name, Problem: errNoInstaller})
		return
	case own && busy:
		_ = n.events.publish(session.Removed{Model: name, Problem: untrusted.Text("a run uses " + name + ": wait for its end, or stop it first")})
		return
	}
	n.background.run(func() func() {
		removed := session.Removed{Model: name}
		if err := server.Remove(ctx, name); err != nil {
			removed.Problem = untrusted.Text(err.Error())
		}
		return func() {
			_ = n.events.publish(removed)
			if own {
				n.scout.discover(ctx)
			}
		}
	})
}
