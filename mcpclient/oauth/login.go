package oauth

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/config"
)

// DefaultTimeout limits how long a login waits for the user.
const DefaultTimeout = 5 * time.Minute

// Login logs in to a server. It sends the user to the authorization server in a browser,
// receives the answer on a local address, and stores the tokens.
type Login struct {
	Server    config.Server
	Store     *Store
	Transport http.RoundTripper // nil is http.DefaultTransport
	// Headers are sent with the request that finds out how to log in; may be nil.
	Headers map[string]string
	// Show receives the address that the user must open. It may open it in a browser.
	// Run has then begun to wait for the answer.
	Show func(address string)
	// Pasted receives addresses that the user copied from a browser on another machine,
	// to which it was sent at the end; may be nil.
	Pasted  <-chan string
	Timeout time.Duration // for the user; 0 means DefaultTimeout
	Version string        // of this program
}

// attempt is a login under way.
type attempt struct {
	Login
	http      *http.Client
	authority authority
	client    client
	redirect  string
	state     string
	verifier  string
	scopes    []string
}

// Run logs in and returns the granted scopes. It replaces an earlier login and asks
// for the scopes of that too, and for those that the server has since asked for.
func (l Login) Run(ctx context.Context) (scopes []string, err error) {
	if l.Server.URL == "" {
		return nil, errors.New("only servers with a url have logins")
	}
	direct := cmp.Or[http.RoundTripper](l.Transport, http.DefaultTransport)
	a := &attempt{Login: l, http: httpClient(direct)}
	owner := account{l.Server.Name, l.Server.URL}
	before, err := l.Store.read(ctx, owner)
	if err != nil {
		return nil, err
	}
	asked, err := a.challenge(ctx)
	if err != nil {
		return nil, err
	}
	if a.authority, err = discover(ctx, a.http, l.Server.URL, *asked); err != nil {
		return nil, err
	}
	a.scopes = a.wantedScopes(before, *asked)
	if a.state, err = transport.GenerateState(); err != nil {
		return nil, err
	}
	back, err := listen(a.settings().CallbackPort, a.state)
	if err != nil {
		return nil, err
	}
	defer back.close()
	a.redirect = back.redirect()
	if err := a.choose(ctx, before); err != nil {
		return nil, err
	}
	code, err := a.ask(ctx, back)
	if err != nil {
		return nil, err
	}
	g, err := a.exchange(ctx, code)
	if err != nil {
		return nil, err
	}
	release, err := l.Store.lock(ctx, owner.key())
	if err != nil {
		return nil, err
	}
	defer release()
	return g.Scopes, l.Store.write(ctx, owner, g)
}

func (l Login) settings() config.OAuth {
	if l.Server.OAuth == nil {
		return config.OAuth{}
	}
	return *l.Server.OAuth
}

// challenge asks the server without a token how to log in. Some servers refuse nothing but
// what needs rights, so it sends the first requests of either protocol until one is refused.
func (a *attempt) challenge(ctx context.Context) (*challenge, error) {
	if a.Server.SSE {
		refused, _, err := a.sendBare(ctx, http.MethodGet, nil, nil)
		return cmp.Or(refused, &challenge{}), err
	}
	info := map[string]any{"name": "replan", "version": a.Version}
	newer := map[string]any{"_meta": map[string]any{
		mcp.MetaKeyProtocolVersion: mcp.ProtocolVersion20260728, mcp.MetaKeyClientInfo: info, mcp.MetaKeyClientCapabilities: map[string]any{},
	}}
	older := map[string]any{"protocolVersion": mcp.LATEST_LEGACY_PROTOCOL_VERSION, "capabilities": map[string]any{}, "clientInfo": info}
	session := ""
	for i, one := range []struct {
		method  mcp.MCPMethod
		version string // in the header; initialize has none
		params  map[string]any
	}{
		{mcp.MethodServerDiscover, mcp.ProtocolVersion20260728, newer},
		{mcp.MethodToolsList, mcp.ProtocolVersion20260728, newer},
		{mcp.MethodInitialize, "", older},
		{mcp.MethodToolsList, mcp.LATEST_LEGACY_PROTOCOL_VERSION, map[string]any{}},
	} {
		text, err := json.Marshal(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": i + 1, "method": one.method, "params": one.params})
		if err != nil {
			return nil, err
		}
		headers := map[string]string{transport.HeaderKeyProtocolVersion: one.version, transport.HeaderKeySessionID: session}
		maps.Copy(headers, mcp.StandardHeaders(one.version, one.method, text))
		refused, begun, err := a.sendBare(ctx, http.MethodPost, headers, text)
		if err != nil || refused != nil {
			return refused, err
		}
		session = begun
	}
	return &challenge{}, nil
}

// sendBare sends a request without a token. It returns what the server says about the token
// that it wants, and the session that it has begun. The former is nil if it does not refuse
// the request for want of a token.
func (a *attempt) sendBare(ctx context.Context, method string, headers map[string]string, body []byte) (refused *challenge, session string, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, a.Server.URL, bytes.NewReader(body))
	if err != nil {
		return nil, "", errors.New("its url cannot be read")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, more := range []map[string]string{headers, a.Headers} {
		for name, value := range more {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
	}
	r.Header.Del("Authorization")
	response, err := a.http.Do(r)
	if err != nil {
		return nil, "", fmt.Errorf("the server cannot be reached: %w", plain(err))
	}
	_ = response.Body.Close() // a stream may not end
	c := readChallenge(response.Header)
	if response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden && c.code != "" {
		return &c, "", nil
	}
	return nil, response.Header.Get(transport.HeaderKeySessionID), nil
}

// wantedScopes returns the scopes to ask for. These are those of the configuration, or of
// the server, and of the login before. Those that the server has asked for since then are
// added.
func (a *attempt) wantedScopes(before *grant, asked challenge) []string {
	first := a.settings().Scopes
	if len(first) == 0 {
		first = asked.scopes
	}
	if len(first) == 0 {
		first = a.authority.scopes
	}
	if before != nil && before.Issuer == a.authority.metadata.Issuer {
		first = union(before.Scopes, before.Wanted, first)
	}
	if len(first) > 0 && slices.Contains(a.authority.metadata.ScopesSupported, "offline_access") {
		first = union(first, []string{"offline_access"}) // without it there may be no refresh token
	}
	return first
}

// choose decides who this program is for the authorization server. That is the client of
// the configuration, the one that a document describes, or one that it registers now.
func (a *attempt) choose(ctx context.Context, before *grant) error {
	m, own := a.authority.metadata, a.settings()
	neither, or := "", ""
	if m.ClientDocuments {
		or = `; or put a document about this program at an https address, and write that as "clientMetadataUrl" into "oauth", see docs/mcp.md`
	} else if own.ClientMetadata != "" {
		neither = `, nor reads the document at "clientMetadataUrl"`
	}
	switch {
	case own.ClientID != "":
		if before != nil && before.Client.ID == own.ClientID && before.Issuer != m.Issuer {
			return fmt.Errorf("the server now names another authorization server, %s in place of %s, for which the client id of its configuration is not meant; if that is right, log out first", inQuotes(m.Issuer), inQuotes(before.Issuer))
		}
		a.client = client{ID: own.ClientID, Secret: own.ClientSecret}
	case own.ClientMetadata != "" && m.ClientDocuments:
		a.client = client{ID: own.ClientMetadata}
	case m.RegistrationEndpoint != "":
		var err error
		if a.client, err = a.register(ctx); err != nil && a.authority.assumed {
			return errNoLogin
		} else if err != nil {
			return fmt.Errorf(`registering with the authorization server: %w; if it has given you a client id, write it into "oauth" in the server's configuration%s`, err, or)
		}
	default:
		return errors.New(`the authorization server registers no programs by itself` + neither + `: register one there with the redirect address http://127.0.0.1:PORT/callback, and write "oauth": {"clientId": "…", "callbackPort": PORT} into the server's configuration` + or)
	}
	a.client = a.client.settled(m.TokenEndpointAuthMethodsSupported)
	return nil
}

// register registers this program (RFC 7591).
func (a *attempt) register(ctx context.Context) (client, error) {
	text, err := json.Marshal(map[string]any{
		"client_name": "replan", "redirect_uris": []string{a.redirect}, "application_type": "native",
		"token_endpoint_auth_method": methodNone, "response_types": []string{"code"},
		"grant_types": []string{"authorization_code", "refresh_token"}, "scope": strings.Join(a.scopes, " "),
	})
	if err != nil {
		return client{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.authority.metadata.RegistrationEndpoint, bytes.NewReader(text))
	if err != nil {
		return client{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	response, err := a.http.Do(r)
	if err != nil {
		return client{}, plain(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return client{}, plain(err)
	}
	var c struct {
		client
		refusal
	}
	if err := json.Unmarshal(body, &c); err == nil && c.Code != "" {
		return client{}, &c.refusal
	} else if response.StatusCode != http.StatusCreated && response.StatusCode != http.StatusOK {
		return client{}, fmt.Errorf("it answered %s", response.Status)
	} else if err != nil || c.ID == "" {
		return client{}, errors.New("its answer holds no client id")
	}
	return c.client, nil
}

// ask sends the user to the authorization server and returns the code that it gives.
func (a *attempt) ask(ctx context.Context, back *callback) (code string, err error) {
	if a.verifier, err = transport.GenerateCodeVerifier(); err != nil {
		return "", err
	}
	address, err := a.address()
	if err != nil {
		return "", err
	}
	limit := cmp.Or(a.Timeout, DefaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("nobody logged in within %s", limit))
	defer cancel()
	a.Show(address)
	for {
		select {
		case answer := <-back.answered():
			code, err := a.read(answer.query)
			answer.said <- err
			return code, err
		case text, open := <-a.Pasted:
			if !open {
				a.Pasted = nil
				continue
			}
			pasted, err := url.Parse(strings.TrimSpace(text))
			if err != nil || pasted.Query().Get("state") == "" {
				return "", errors.New("this is not the address at which the browser ended: copy all of it, from http:// on")
			}
			return a.read(pasted.Query())
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// address returns where the user logs in.
func (a *attempt) address() (string, error) {
	at, err := url.Parse(a.authority.metadata.AuthorizationEndpoint)
	if err != nil {
		return "", errors.New("the address of the login cannot be read")
	}
	q := at.Query()
	q.Set("response_type", "code")
	q.Set("client_id", a.client.ID)
	q.Set("redirect_uri", a.redirect)
	q.Set("state", a.state)
	q.Set("code_challenge", transport.GenerateCodeChallenge(a.verifier))
	q.Set("code_challenge_method", "S256")
	q.Set("resource", a.authority.resource)
	if len(a.scopes) > 0 {
		q.Set("scope", strings.Join(a.scopes, " "))
	}
	at.RawQuery, at.Fragment = q.Encode(), ""
	return at.String(), nil
}

// read returns the code in the answer of an authorization server. It must come from the
// server that was asked, for this login. Before that is certain, nothing of it is used or
// shown (RFC 9207, section 2.4).
func (a *attempt) read(answer url.Values) (code string, err error) {
	if !ofLogin(answer, a.state) {
		return "", errOtherLogin
	}
	m := a.authority.metadata
	switch iss := answer.Get("iss"); {
	case answer.Has("iss") && iss != m.Issuer:
		return "", errors.New("the answer comes from another authorization server than the one that was asked; nothing was sent to either")
	case !answer.Has("iss") && m.IssParameter:
		return "", errors.New("the answer does not say which authorization server it comes from, though that server always does; nothing was sent to it")
	}
	if answer.Has("error") {
		return "", fmt.Errorf("the login was refused: %w", &refusal{answer.Get("error"), answer.Get("error_description")})
	}
	if code = answer.Get("code"); code == "" {
		return "", errors.New("the answer of the authorization server holds no code")
	}
	return code, nil
}

// exchange gets the tokens for a code.
func (a *attempt) exchange(ctx context.Context, code string) (*grant, error) {
	m := a.authority.metadata
	token, err := a.client.tokens(ctx, a.http, m.TokenEndpoint, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.redirect},
		"code_verifier": {a.verifier}, "resource": {a.authority.resource},
	}, time.Now())
	if err != nil {
		return nil, fmt.Errorf("getting the tokens: %w", err)
	}
	g := &grant{
		Issuer: m.Issuer, Resource: a.authority.resource, Endpoint: m.TokenEndpoint, Revocation: m.RevocationEndpoint,
		Client: a.client, Scopes: a.scopes, Token: token,
	}
	if token.Scope != "" {
		g.Scopes = strings.Fields(token.Scope)
	}
	return g, nil
}
