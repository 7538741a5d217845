package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"replan/agent/session"
	"replan/internal/untrusted"
)

// servers carries out commands about the tool servers.
type servers struct {
	events     *publisher
	background *background
	tools      Tools
	overview   *overview

	login       string // the server that is being logged in to; "" is none
	cancelLogin func()
}

// command carries out a command about servers.
func (v *servers) command(ctx context.Context, c session.Command) {
	switch c := c.(type) {
	case session.Recheck:
		if err := v.tools.Reload(); err != nil {
			v.events.note("warn", err.Error())
		}
	case session.Revoke:
		if err := v.tools.Revoke(c.Server); err != nil {
			v.events.note("warn", err.Error())
		}
	case session.Restart:
		if err := v.tools.Restart(c.Server); err != nil {
			v.events.note("warn", err.Error())
			return
		}
		v.overview.forget(c.Server) // report its next failure again
	case session.Disable:
		v.toggle(c.Server, func(ctx context.Context) (string, error) { return v.tools.Disable(ctx, c.Server, c.ForGood) })
	case session.Enable:
		v.toggle(c.Server, func(ctx context.Context) (string, error) { return v.tools.Enable(ctx, c.Server) })
	case session.Login:
		v.logIn(ctx, c.Server)
	case session.CancelLogin:
		if v.login != "" {
			v.cancelLogin()
		}
	}
}

// logIn starts to log in to a server.
func (v *servers) logIn(ctx context.Context, server string) {
	if v.login != "" {
		problem := untrusted.Text("a login to " + v.login + " is under way: finish it, or cancel it first")
		_ = v.events.publish(session.LoginProgress{Server: server, Ended: true, Problem: problem})
		return
	}
	within, cancel := context.WithCancel(ctx)
	v.login, v.cancelLogin = server, cancel
	_ = v.events.publish(session.LoginProgress{Server: server})
	v.background.run(func() func() {
		err := v.tools.Login(within, server, func(address string) {
			v.background.publishLater(session.LoginProgress{Server: server, Address: untrusted.Text(address)})
		}, nil)
		end := session.LoginProgress{Server: server, Ended: true, Canceled: errors.Is(err, context.Canceled)}
		if err != nil && !end.Canceled {
			end.Problem = untrusted.Text(err.Error())
		}
		return func() { v.loggedIn(end) }
	})
}

// loggedIn reports the end of a login.
func (v *servers) loggedIn(end session.LoginProgress) {
	v.cancelLogin()
	v.login = ""
	_ = v.events.publish(end)
	if end.Problem == "" && !end.Canceled {
		v.overview.forget(end.Server) // report its next failure again
	}
}

// disableWithin limits how long a file with disabled servers is waited for.
const disableWithin = 5 * time.Second

// toggle disables or enables a server, and reports the changed file or why it
// was not possible.
func (v *servers) toggle(server string, do func(context.Context) (file string, err error)) {
	v.background.run(func() func() {
		ctx, cancel := context.WithTimeout(context.Background(), disableWithin)
		defer cancel()
		file, err := do(ctx)
		return func() {
			v.overview.forget(server) // report its next failure again
			switch {
			case err != nil:
				v.events.note("warn", err.Error())
			case file != "":
				v.events.note("info", fmt.Sprintf("the choice about the MCP server %q is saved in %s", server, file))
			}
			v.overview.publishStatus()
		}
	})
}
