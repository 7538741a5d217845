package connection

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
	"replan/planning/plan"
)

// StartProblem explains why the server did not list its tools within ctx. It returns nil
// if err is nil.
func (c *Connection) StartProblem(ctx context.Context, err error) error {
	var answered *AnsweredError
	switch {
	case err == nil:
		return nil
	case c.IsLost():
		return errors.New(c.LossReason())
	case ctx.Err() != nil:
		return errors.New(c.lateStart())
	case c.Unauthorized(err) != nil:
		return c.Unauthorized(err)
	case errors.As(err, &answered) && (answered.status == http.StatusNotFound || answered.status == http.StatusMethodNotAllowed):
		return errors.New(wrongTransport(c.target.Server, answered.status))
	case errors.As(err, &answered) && answered.status > 0 && answered.message == "":
		return fmt.Errorf("refuses the first request (%s)", statusWords(answered.status))
	default:
		return Plain(err)
	}
}

// lateStart says that the server has not listed its tools in time, and what may be the
// reason.
func (c *Connection) lateStart() string {
	text := fmt.Sprintf("did not answer within %s", c.target.StartTimeout)
	process := c.link.process
	if process == nil {
		return text
	}
	text = process.withLastWords(text)
	if strays := process.noMessages().tell(0); strays != "" {
		text += "; " + strays
	}
	if box := c.settings.Box; box != nil && !box.Network() {
		text += "; it has no network here, which programs such as npx may wait for (npx --offline does not)"
	}
	return text
}

// wrongTransport says that a server does not answer as its configuration says.
func wrongTransport(s config.Server, status int) string {
	if s.SSE {
		return fmt.Sprintf(`does not speak the older SSE transport at its url (%s); newer servers need "type": "http"`, statusWords(status))
	}
	return fmt.Sprintf(`does not speak streamable HTTP at its url (%s); older servers need "type": "sse"`, statusWords(status))
}

// loginError reports that a server can be used only after a login.
type loginError struct{ text string }

func (e *loginError) Error() string { return e.text }

// Unauthorized explains why an HTTP server refused a request that lacks a login or
// rights. It returns nil for any other error.
func (c *Connection) Unauthorized(err error) error {
	s := c.target.Server
	login := fmt.Sprintf("run replan mcp login %s, or use the login key in the servers view", s.Name)
	var answered *AnsweredError
	switch {
	case errors.Is(err, transport.ErrAuthorizationRequired) && OwnKey(s):
		return errors.New(`refuses the key (401 Unauthorized); check "headers" in its configuration`)
	case errors.Is(err, transport.ErrAuthorizationRequired) && c.link.login == nil:
		return errors.New(`asks for authorization (401 Unauthorized); put it into "headers" in its configuration`)
	case errors.Is(err, transport.ErrAuthorizationRequired):
		return &loginError{"needs a login: " + login}
	case !errors.As(err, &answered) || answered.status != http.StatusForbidden:
		return nil
	case c.link.login != nil && len(c.link.login.Lacking(answered.scopes)) > 0:
		rights := plan.OneLine(strings.Join(c.link.login.Lacking(answered.scopes), ", "), maxRefusal)
		return &loginError{fmt.Sprintf("asks for more rights (%s): %s", rights, login)}
	case answered.message != "":
		return fmt.Errorf("refuses access (403 Forbidden): %s", answered.message)
	}
	return errors.New(`refuses access (403 Forbidden); check its login, or the keys in "headers" in its configuration`)
}

// OwnKey reports whether the configuration of a server brings the key itself.
func OwnKey(s config.Server) bool {
	return s.HeadersHelper != "" || slices.ContainsFunc(slices.Collect(maps.Keys(s.Headers)), func(name string) bool {
		return http.CanonicalHeaderKey(name) == "Authorization"
	})
}

// IsLogin reports whether an error says that a server needs a login.
func IsLogin(err error) bool {
	_, ok := errors.AsType[*loginError](err)
	return ok
}
