package runner_test

import (
	"context"
	"errors"
	"testing"

	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
)

// lockedTools are tools of a server that needs a login.
type lockedTools struct {
	runner.Tools
	login func(ctx context.Context, server string, show func(address string)) error
}

func (l *lockedTools) Login(ctx context.Context, server string, show func(string), _ <-chan string) error {
	return l.login(ctx, server, show)
}

// locking makes a session use such tools.
func locking(login func(ctx context.Context, server string, show func(address string)) error) func(*stage) {
	return func(s *stage) {
		s.config = func(c *runner.Config) { c.Tools = &lockedTools{c.Tools, login} }
	}
}

func wantLogin(t *testing.T, s *stage, want ...session.LoginProgress) {
	t.Helper()
	for _, w := range want {
		if got := until[session.LoginProgress](t, s); got != w {
			t.Errorf("got %+v, want %+v", got, w)
		}
	}
}

func TestLoginReportsAddressAndEnd(t *testing.T) {
	failed := errors.New("logging in to far: the login was refused")
	var outcome error
	s := open(t, policy.ApproveAll, locking(func(_ context.Context, _ string, show func(string)) error {
		show("https://login.example.com/")
		return outcome
	}))
	at := session.LoginProgress{Server: "far", Address: "https://login.example.com/"}
	s.Send(session.Login{Server: "far"})
	wantLogin(t, s, session.LoginProgress{Server: "far"}, at, session.LoginProgress{Server: "far", Ended: true})
	outcome = failed
	s.Send(session.Login{Server: "far"})
	wantLogin(t, s, session.LoginProgress{Server: "far"}, at, session.LoginProgress{Server: "far", Ended: true, Problem: "logging in to far: the login was refused"})
}

func TestOneLoginAtATimeWhichMayBeCanceled(t *testing.T) {
	s := open(t, policy.ApproveAll, locking(func(ctx context.Context, _ string, show func(string)) error {
		show("https://login.example.com/")
		<-ctx.Done()
		return ctx.Err()
	}))
	s.Send(session.CancelLogin{}) // there is none
	s.Send(session.Login{Server: "far"})
	wantLogin(t, s, session.LoginProgress{Server: "far"}, session.LoginProgress{Server: "far", Address: "https://login.example.com/"})
	s.Send(session.Login{Server: "other"})
	wantLogin(t, s, session.LoginProgress{Server: "other", Ended: true, Problem: "a login to far is under way: finish it, or cancel it first"})
	s.Send(session.CancelLogin{})
	wantLogin(t, s, session.LoginProgress{Server: "far", Ended: true, Canceled: true})
	s.Send(session.Login{Server: "other"})
	wantLogin(t, s, session.LoginProgress{Server: "other"})
}

func TestSessionWithoutLoginsSaysSo(t *testing.T) {
	s := open(t, policy.ApproveAll, func(*stage) {})
	s.Send(session.Login{Server: "far"})
	wantLogin(t, s, session.LoginProgress{Server: "far"}, session.LoginProgress{Server: "far", Ended: true, Problem: "these servers have no logins here"})
}
