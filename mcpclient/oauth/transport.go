package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"replan/mcpclient/config"
)

// Transport sends requests to one server with the token of the login to it, if there
// is one. It refreshes tokens that have ended. It never asks for a login: without
// one, the server's refusal is the answer. It is safe for concurrent use.
type Transport struct {
	Base   http.RoundTripper // for requests to the server
	Direct http.RoundTripper // for requests to its authorization server, whose bodies are secrets
	Server config.Server
	Store  *Store
	Logger *slog.Logger

	mu      sync.Mutex
	grant   *grant   // as last read or written; nil is none
	renewal *renewal // under way; nil is none
	work    sync.WaitGroup
}

// renewal is a refresh that several requests may wait for.
type renewal struct {
	done  chan struct{}
	stop  context.CancelFunc
	token string // "" if there is no token that may be used
	err   error
}

// RefreshError reports that a token could not be refreshed for a reason that may
// pass. The request was not sent.
type RefreshError struct{ err error }

func (e *RefreshError) Error() string { return "refreshing the login failed: " + e.err.Error() }
func (e *RefreshError) Unwrap() error { return e.err }

// RoundTrip sends a request with a token. If the server refuses the token and there
// is a newer one, it sends the request once more. A request with an Authorization
// header is sent as it is.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Authorization") != "" || !t.isServer(r.URL) {
		return t.Base.RoundTrip(r)
	}
	sent, err := t.token(r.Context(), "")
	if err != nil {
		return nil, err
	}
	response, err := t.Base.RoundTrip(authorized(r, sent))
	if err != nil {
		return response, err
	}
	var next string
	scopes, lacking := Wanted(response)
	switch {
	case lacking:
		if next, err = t.widened(r.Context(), sent, scopes); err != nil {
			// The server has refused the call anyway.
			t.Logger.Warn("the scopes that a server asks for are not noted", "server", t.Server.Name, "error", err)
			return response, nil
		}
	case response.StatusCode == http.StatusUnauthorized:
		next, err = t.token(r.Context(), sent)
	default:
		return response, nil
	}
	if err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	if next == "" || next == sent || r.Body != nil && r.GetBody == nil {
		return response, nil
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxReply))
	_ = response.Body.Close()
	again := authorized(r, next)
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return t.Base.RoundTrip(again)
}

// Lacking returns those of some scopes that the login does not have.
func (t *Transport) Lacking(scopes []string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.grant.lacking(scopes)
}

// closeWait is how long Close leaves a refresh: one that is canceled may have used up
// the refresh token without a new one.
const closeWait = 3 * time.Second

// Close waits until no refresh is under way, and cancels one that hangs. No request
// may follow.
func (t *Transport) Close() {
	t.mu.Lock()
	under := t.renewal
	t.mu.Unlock()
	if under != nil {
		defer time.AfterFunc(closeWait, under.stop).Stop()
	}
	t.work.Wait()
}

// isServer reports whether an address is one of the server.
func (t *Transport) isServer(at *url.URL) bool {
	own, err := url.Parse(t.Server.URL)
	return err == nil && sameOrigin(own, at)
}

// authorized returns a request with a token, if there is one.
func authorized(r *http.Request, token string) *http.Request {
	r = r.Clone(r.Context())
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

func (t *Transport) account() account { return account{t.Server.Name, t.Server.URL} }

// token returns a token other than the one that the server has rejected, or "" if
// there is none.
func (t *Transport) token(ctx context.Context, rejected string) (string, error) {
	t.mu.Lock()
	if g := t.grant; g != nil && g.live(time.Now()) && g.Token.AccessToken != rejected {
		t.mu.Unlock()
		return g.Token.AccessToken, nil
	}
	if t.renewal == nil {
		// It does not end with the request that started it. The server has used up the old
		// refresh token, and others wait for the new one.
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
		next := &renewal{done: make(chan struct{}), stop: cancel}
		t.renewal = next
		t.work.Go(func() {
			defer cancel()
			next.token, next.err = t.renew(within, rejected)
			t.mu.Lock()
			t.renewal = nil
			t.mu.Unlock()
			close(next.done)
		})
	}
	under := t.renewal
	t.mu.Unlock()
	select {
	case <-under.done:
		return under.token, under.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// renew reads the login, which another process may have renewed, and refreshes it if
// its token has ended or was rejected.
func (t *Transport) renew(ctx context.Context, rejected string) (string, error) {
	g, err := t.Store.read(ctx, t.account())
	if err != nil {
		return "", &RefreshError{err}
	}
	if g == nil || g.Token.AccessToken == "" && g.Token.RefreshToken == "" {
		return t.store(g), nil
	}
	if g.live(time.Now()) && g.Token.AccessToken != rejected {
		return t.store(g), nil
	}
	release, err := t.Store.lock(ctx, t.account().key())
	if err != nil {
		return "", &RefreshError{err}
	}
	defer release()
	if g, err = t.Store.read(ctx, t.account()); err != nil {
		return "", &RefreshError{err}
	}
	switch {
	case g == nil:
		return t.store(g), nil
	case g.live(time.Now()) && g.Token.AccessToken != rejected:
		return t.store(g), nil
	case g.Token.RefreshToken == "":
		g.Token.AccessToken = ""
		return t.store(g), nil
	}
	return t.refresh(ctx, g)
}

// store remembers a login and returns its token.
func (t *Transport) store(g *grant) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.grant = g; g == nil {
		return ""
	}
	return g.Token.AccessToken
}

// refresh gets new tokens and stores them. The caller holds the lock.
func (t *Transport) refresh(ctx context.Context, g *grant) (string, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Token.RefreshToken}, "resource": {g.Resource}}
	token, err := g.Client.tokens(ctx, httpClient(t.Direct), g.Endpoint, form, time.Now())
	var refused *refusal
	switch {
	case errors.As(err, &refused) && refused.ends():
		t.Logger.Warn("the login has ended", "server", t.Server.Name, "error", refused)
		g.Token.AccessToken, g.Token.RefreshToken = "", ""
	case err != nil:
		return "", &RefreshError{err}
	default:
		if token.RefreshToken == "" {
			token.RefreshToken = g.Token.RefreshToken
		}
		if token.Scope != "" {
			g.Scopes = strings.Fields(token.Scope)
		}
		g.Token = token
	}
	err = t.Store.write(ctx, t.account(), g)
	if ctx.Err() != nil {
		// The server has already replaced the old tokens, and the keyring is too slow.
		err = t.Store.writeFile(ctx, t.account(), g)
	}
	if err != nil {
		t.Logger.Warn("the refreshed login is not saved", "server", t.Server.Name, "error", err)
	}
	return t.store(g), nil
}

// widened returns the token of a login that was widened since a request was refused
// for lack of scopes. If there is none, it stores which scopes the next login needs.
func (t *Transport) widened(ctx context.Context, sent string, scopes []string) (string, error) {
	release, err := t.Store.lock(ctx, t.account().key())
	if err != nil {
		return "", err
	}
	defer release()
	g, err := t.Store.read(ctx, t.account())
	if err != nil || g == nil {
		return "", err
	}
	if g.Token.AccessToken != sent && g.live(time.Now()) {
		return t.store(g), nil
	}
	if all := union(g.Wanted, g.lacking(scopes)); len(all) > len(g.Wanted) {
		g.Wanted = all
		if err := t.Store.write(ctx, t.account(), g); err != nil {
			return "", fmt.Errorf("noting what the server asks for: %w", err)
		}
	}
	return "", nil
}

// union returns all scopes once, in order.
func union(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		for _, scope := range list {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	return all
}

// httpClient returns a client for requests to an authorization server. It follows
// redirects of plain requests within a host alone.
func httpClient(direct http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: direct, Timeout: requestTimeout,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > 5 || via[0].Method != http.MethodGet || !sameOrigin(r.URL, via[0].URL) {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}
