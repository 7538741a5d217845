package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"

	"replan/mcpclient/config"
	"replan/mcpclient/oauth"
	"replan/planning/plan"
)

// loginError reports that a server can be used only after a login.
type loginError struct{ text string }

func (e *loginError) Error() string { return e.text }

// unauthorised explains why an HTTP server refused a request for want of a login or of
// rights. It returns nil for any other error.
func (c *connection) unauthorised(s config.Server, err error) error {
	login := fmt.Sprintf("run replan mcp login %s, or use the login key in the servers view", s.Name)
	var answered *answeredError
	switch {
	case errors.Is(err, transport.ErrAuthorizationRequired) && ownKey(s):
		return errors.New(`refuses the key (401 Unauthorized); check "headers" in its configuration`)
	case errors.Is(err, transport.ErrAuthorizationRequired) && c.login == nil:
		return errors.New(`asks for authorisation (401 Unauthorized); put it into "headers" in its configuration`)
	case errors.Is(err, transport.ErrAuthorizationRequired):
		return &loginError{"needs a login: " + login}
	case !errors.As(err, &answered) || answered.status != http.StatusForbidden:
		return nil
	case c.login != nil && len(c.login.Lacking(answered.scopes)) > 0:
		rights := plan.OneLine(strings.Join(c.login.Lacking(answered.scopes), ", "), maxRefusal)
		return &loginError{fmt.Sprintf("asks for more rights (%s): %s", rights, login)}
	case answered.message != "":
		return fmt.Errorf("refuses access (403 Forbidden): %s", answered.message)
	}
	return errors.New(`refuses access (403 Forbidden); check its login, or the keys in "headers" in its configuration`)
}

// ownKey reports whether the configuration of a server brings the key itself.
func ownKey(s config.Server) bool {
	return s.HeadersHelper != "" || slices.ContainsFunc(slices.Collect(maps.Keys(s.Headers)), func(name string) bool {
		return http.CanonicalHeaderKey(name) == "Authorization"
	})
}

// isLogin reports whether an error says that a server needs a login.
func isLogin(err error) bool {
	_, ok := errors.AsType[*loginError](err)
	return ok
}

// refused notes that a server refused a call. If it wants a login, it has failed until
// the user logs in; if it wants more rights for a tool, its other tools still work.
func (p *Pool) refused(e *entry, conn *connection, err, why error) {
	switch {
	case errors.Is(err, transport.ErrAuthorizationRequired):
		p.suspend(e, conn, why)
	case isLogin(why):
		p.set(func() { e.problem, e.login = why.Error(), true })
	}
}

// Login logs in to an HTTP server and restarts it. It opens the address of the
// login in a browser, see [Config.Browse], and calls show with it, from the goroutine
// of the caller. It then waits, for five minutes at most, until the user has logged in
// there, or the address at which a browser on another machine ended comes from pasted,
// which may be nil.
func (p *Pool) Login(ctx context.Context, name string, show func(address string), pasted <-chan string) error {
	p.mu.Lock()
	e, err := p.startable(name)
	switch {
	case err != nil:
	case p.cfg.Logins == nil:
		err = errors.New("this program keeps no logins")
	case e.server.URL == "":
		err = fmt.Errorf("%s is no HTTP server, so it has no login", name)
	case ownKey(e.server):
		err = fmt.Errorf(`%s brings its key in "headers" or "headersHelper" in its configuration: remove that to log in`, name)
	}
	if err != nil {
		p.mu.Unlock()
		return err
	}
	p.work.Add(1)
	p.mu.Unlock()
	defer p.work.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()
	login := oauth.Login{Server: e.server, Store: p.cfg.Logins, Headers: e.server.Headers, Pasted: pasted, Version: p.cfg.Version, Show: func(address string) {
		if p.cfg.Browse != nil {
			if err := p.cfg.Browse(address); err != nil {
				p.log.Info("no browser", "error", err)
			}
		}
		show(address)
	}}
	if _, err := login.Run(ctx); err != nil {
		return fmt.Errorf("logging in to %s: %w", name, err)
	}
	p.mu.Lock()
	defer p.notify()
	defer p.mu.Unlock()
	if e, err = p.startable(name); err == nil {
		p.restart(e)
	}
	return err
}
