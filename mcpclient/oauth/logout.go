package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Logout deletes logins and revokes their tokens.
type Logout struct {
	Store     *Store
	Transport http.RoundTripper // nil is http.DefaultTransport
}

// Outcome is the result of a logout.
type Outcome struct {
	Server     string
	NotRevoked error // why the tokens are not revoked; nil if they are, or if the server offers no revocation
}

// Named logs out of all servers of a name, at whatever address.
func (l Logout) Named(ctx context.Context, name string) ([]Outcome, error) {
	return l.each(ctx, func(r *record) bool { return r.Server == name })
}

// All logs out of all servers.
func (l Logout) All(ctx context.Context) ([]Outcome, error) {
	return l.each(ctx, func(*record) bool { return true })
}

func (l Logout) each(ctx context.Context, is func(*record) bool) ([]Outcome, error) {
	keys, err := l.Store.keys()
	if err != nil {
		return nil, err
	}
	var all []Outcome
	for _, key := range keys {
		r, failed := l.Store.record(key)
		if failed == nil && r != nil && !is(r) {
			continue
		}
		outcome, found, failed := l.end(ctx, key)
		if err = errors.Join(err, failed); found && failed == nil {
			all = append(all, outcome)
		}
	}
	return all, err
}

// end deletes a login after it has revoked the tokens. The login is deleted even if
// they cannot be revoked.
func (l Logout) end(ctx context.Context, key string) (out Outcome, found bool, err error) {
	release, err := l.Store.lock(ctx, key)
	if err != nil {
		return out, false, err
	}
	defer release()
	r, err := l.Store.record(key)
	if err != nil || r == nil {
		return out, false, err
	}
	out.Server = r.Server
	logins := []*grant{r.Login}
	if r.Keyring {
		var inRing *grant
		inRing, err = l.Store.inRing(ctx, key)
		logins = append(logins, inRing)
	}
	for _, g := range logins {
		if g != nil && g.Revocation != "" {
			out.NotRevoked = errors.Join(out.NotRevoked, l.revoke(ctx, g))
		}
	}
	return out, true, errors.Join(err, l.Store.remove(ctx, key))
}

// revoke revokes the tokens of a login, the refresh token first (RFC 7009).
func (l Logout) revoke(ctx context.Context, g *grant) error {
	c := httpClient(cmp.Or[http.RoundTripper](l.Transport, http.DefaultTransport))
	for _, t := range [][2]string{{"refresh_token", g.Token.RefreshToken}, {"access_token", g.Token.AccessToken}} {
		if t[1] == "" {
			continue
		}
		if _, err := g.Client.post(ctx, c, g.Revocation, url.Values{"token": {t[1]}, "token_type_hint": {t[0]}}); err != nil {
			return fmt.Errorf("revoking the tokens: %w", err)
		}
	}
	return nil
}
