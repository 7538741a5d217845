package oauthtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Settings say how an authorization server differs from the usual one, which
// registers programs, describes itself as RFC 8414 says and names itself in answers.
type Settings struct {
	Path           string            // of its issuer, such as /tenant
	OpenID         bool              // describes itself at openid-configuration alone
	Appended       bool              // with OpenID: the path of the issuer comes first
	Issuer         string            // that it claims to be; "" is the right one
	AnswerIssuer   string            // in answers; "" is the right one, "-" is none
	NoIssSupport   bool              // does not promise its issuer in answers
	NoRegistration bool              // registers no programs
	NoRevocation   bool              // takes no revocations
	NoPKCE         bool              // does not name PKCE
	Clients        map[string]string // known programs and their secrets; "" is none
	BasicOnly      bool              // takes secrets in the Authorization header alone
	Documents      *http.Client      // reads client id metadata documents; nil takes none
	Deny           bool              // the user says no
	Life           time.Duration     // of access tokens; 0 is an hour
	Scopes         []string          // that it knows
}

// Authority is an authorization server.
type Authority struct {
	*httptest.Server

	mu        sync.Mutex
	settings  Settings
	redirects map[string][]string // of registered programs
	codes     map[string]authorization
	tokens    map[string]*token // access tokens
	refreshes map[string]*token // refresh tokens
	secrets   []string
	requests  []string // the paths of requests to endpoints, in order
	refreshed int
	broken    bool // refreshes fail with 503
}

// authorization is what the user agreed to.
type authorization struct {
	client, redirect, challenge, resource, scope string
}

type token struct {
	authorization
	until   time.Time
	revoked bool
}

// NewAuthority starts an authorization server, which ends with the test.
func NewAuthority(t testing.TB, s Settings) *Authority {
	t.Helper()
	a := &Authority{
		settings: s, redirects: map[string][]string{}, codes: map[string]authorization{}, tokens: map[string]*token{}, refreshes: map[string]*token{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/authorize", a.authorize)
	mux.HandleFunc("POST /token", a.token)
	mux.HandleFunc("POST /register", a.register)
	mux.HandleFunc("POST /revoke", a.revoke)
	place := "/.well-known/oauth-authorization-server" + s.Path
	switch {
	case s.Appended:
		place = s.Path + "/.well-known/openid-configuration"
	case s.OpenID:
		place = "/.well-known/openid-configuration" + s.Path
	}
	mux.HandleFunc("GET "+place, a.metadata)
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

// Issuer returns the identifier of the server.
func (a *Authority) Issuer() string { return a.URL + a.settings.Path }

// Change changes the settings while the server runs. Its path stays.
func (a *Authority) Change(change func(*Settings)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.settings)
}

// Refreshes returns how often tokens were refreshed.
func (a *Authority) Refreshes() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refreshed
}

// Requests returns the paths of all requests to endpoints so far.
func (a *Authority) Requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// Secrets returns all tokens, codes and secrets that were given out.
func (a *Authority) Secrets() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.secrets)
}

// Expire ends all access tokens.
func (a *Authority) Expire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.tokens {
		t.until = time.Time{}
	}
}

// Forget ends all tokens, so that refreshes are refused too.
func (a *Authority) Forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, all := range []map[string]*token{a.tokens, a.refreshes} {
		for _, t := range all {
			t.revoked = true
		}
	}
}

// Unregister forgets all programs that have registered.
func (a *Authority) Unregister() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.redirects)
}

// Live returns how many tokens of either kind are not revoked.
func (a *Authority) Live() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, all := range []map[string]*token{a.tokens, a.refreshes} {
		for _, t := range all {
			if !t.revoked {
				n++
			}
		}
	}
	return n
}

// Break makes refreshes fail with 503, or work again.
func (a *Authority) Break(broken bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.broken = broken
}

// Allows returns the scopes of an access token for a resource. It reports false if
// the token is not good for that.
func (a *Authority) Allows(access, resource string) (scopes []string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tokens[access]
	if t == nil || t.revoked || time.Now().After(t.until) || t.resource != resource {
		return nil, false
	}
	return strings.Fields(t.scope), true
}

func (a *Authority) noted(path string) Settings {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, path)
	return a.settings
}

func (a *Authority) metadata(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	s := a.settings
	a.mu.Unlock()
	m := map[string]any{
		"issuer": a.Issuer(), "authorization_endpoint": a.URL + "/authorize?audience=all", "token_endpoint": a.URL + "/token",
		"response_types_supported": []string{"code"}, "scopes_supported": s.Scopes,
		"authorization_response_iss_parameter_supported": !s.NoIssSupport,
		"client_id_metadata_document_supported":          s.Documents != nil,
	}
	if s.Issuer != "" {
		m["issuer"] = s.Issuer
	}
	if !s.NoPKCE {
		m["code_challenge_methods_supported"] = []string{"S256"}
	}
	if !s.NoRegistration {
		m["registration_endpoint"] = a.URL + "/register"
	}
	if !s.NoRevocation {
		m["revocation_endpoint"] = a.URL + "/revoke"
	}
	if s.BasicOnly {
		m["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
	}
	reply(w, http.StatusOK, m)
}

func (a *Authority) register(w http.ResponseWriter, r *http.Request) {
	s := a.noted("/register")
	var asked struct {
		Redirects []string `json:"redirect_uris"`
		Type      string   `json:"application_type"`
		Method    string   `json:"token_endpoint_auth_method"`
		Grants    []string `json:"grant_types"`
	}
	err := json.NewDecoder(r.Body).Decode(&asked)
	if err != nil || s.NoRegistration || len(asked.Redirects) != 1 || asked.Type != "native" || asked.Method != "none" || !slices.Contains(asked.Grants, "refresh_token") {
		refuse(w, "invalid_client_metadata", fmt.Sprintf("%+v", asked))
		return
	}
	id := "program-" + rand.Text()[:6]
	a.mu.Lock()
	a.redirects[id] = asked.Redirects
	a.mu.Unlock()
	reply(w, http.StatusCreated, map[string]any{"client_id": id, "redirect_uris": asked.Redirects, "token_endpoint_auth_method": "none"})
}

// isRegistered reports whether a program may use a redirect address.
func (a *Authority) isRegistered(s Settings, id, redirect string) bool {
	at, err := url.Parse(redirect)
	if err != nil || at.Scheme != "http" || at.Hostname() != "127.0.0.1" {
		return false
	}
	if s.Documents != nil && strings.HasPrefix(id, "https://") {
		response, err := s.Documents.Get(id)
		if err != nil {
			return false
		}
		defer response.Body.Close() //nolint:errcheck // it was only read
		var document struct {
			ID        string   `json:"client_id"`
			Redirects []string `json:"redirect_uris"`
		}
		return json.NewDecoder(response.Body).Decode(&document) == nil && document.ID == id && slices.Contains(document.Redirects, redirect)
	}
	if _, known := s.Clients[id]; known {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.redirects[id], redirect)
}

func (a *Authority) authorize(w http.ResponseWriter, r *http.Request) {
	s, q := a.noted("/authorize"), r.URL.Query()
	asked := authorization{q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("resource"), q.Get("scope")}
	if !a.isRegistered(s, asked.client, asked.redirect) {
		http.Error(w, "unknown client or redirect address", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	switch s.AnswerIssuer {
	case "":
		back.Set("iss", a.Issuer())
	case "-":
	default:
		back.Set("iss", s.AnswerIssuer)
	}
	switch {
	case s.Deny:
		back.Set("error", "access_denied")
		back.Set("error_description", "the user said no")
	case q.Get("response_type") != "code" || asked.challenge == "" || q.Get("code_challenge_method") != "S256" || asked.resource == "" || q.Get("audience") != "all":
		back.Set("error", "invalid_request")
	default:
		code := a.secret()
		a.mu.Lock()
		a.codes[code] = asked
		a.mu.Unlock()
		back.Set("code", code)
	}
	http.Redirect(w, r, asked.redirect+"?"+back.Encode(), http.StatusFound)
}

func (a *Authority) secret() string {
	secret := "secret-" + rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.secrets = append(a.secrets, secret)
	return secret
}

// client returns the program that a request comes from.
func client(s Settings, r *http.Request) (id string, ok bool) {
	id, secret := r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	if user, password, basic := r.BasicAuth(); basic {
		id, _ = url.QueryUnescape(user) // they are encoded (RFC 6749, section 2.3.1)
		secret, _ = url.QueryUnescape(password)
	} else if s.BasicOnly {
		return id, s.Clients[id] == ""
	}
	return id, s.Clients[id] == secret
}

func (a *Authority) token(w http.ResponseWriter, r *http.Request) {
	s := a.noted("/token")
	id, ok := client(s, r)
	a.mu.Lock()
	_, given := s.Clients[id]
	known := given || a.redirects[id] != nil || s.Documents != nil
	a.mu.Unlock()
	switch {
	case !ok:
		refuse(w, "invalid_client", "wrong secret")
		return
	case !known:
		refuse(w, "invalid_client", "unknown client")
		return
	}
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		code := r.PostFormValue("code")
		a.mu.Lock()
		agreed, known := a.codes[code]
		delete(a.codes, code)
		a.mu.Unlock()
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if !known || agreed.client != id || agreed.redirect != r.PostFormValue("redirect_uri") || agreed.resource != r.PostFormValue("resource") ||
			agreed.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			refuse(w, "invalid_grant", "the code "+code+" is not good for this")
			return
		}
		a.give(w, s, agreed)
	case "refresh_token":
		a.refresh(w, r, s, id)
	default:
		refuse(w, "unsupported_grant_type", "")
	}
}

func (a *Authority) refresh(w http.ResponseWriter, r *http.Request, s Settings, id string) {
	text := r.PostFormValue("refresh_token")
	a.mu.Lock()
	if a.broken {
		a.mu.Unlock()
		http.Error(w, "come back later", http.StatusServiceUnavailable)
		return
	}
	a.refreshed++
	t := a.refreshes[text]
	good := t != nil && !t.revoked && t.client == id && t.resource == r.PostFormValue("resource")
	if good {
		t.revoked = true // each is good once (OAuth 2.1, section 4.3.1)
	}
	a.mu.Unlock()
	if !good {
		refuse(w, "invalid_grant", "the refresh token "+text+" is not good")
		return
	}
	a.give(w, s, t.authorization)
}

// give gives out tokens.
func (a *Authority) give(w http.ResponseWriter, s Settings, agreed authorization) {
	access, refresh := a.secret(), a.secret()
	life := s.Life
	if life == 0 {
		life = time.Hour
	}
	a.mu.Lock()
	a.tokens[access] = &token{authorization: agreed, until: time.Now().Add(life)}
	a.refreshes[refresh] = &token{authorization: agreed}
	a.mu.Unlock()
	reply(w, http.StatusOK, map[string]any{
		"access_token": access, "token_type": "bearer", "refresh_token": refresh, "expires_in": int(life.Seconds()), "scope": agreed.scope,
	})
}

func (a *Authority) revoke(w http.ResponseWriter, r *http.Request) {
	s := a.noted("/revoke")
	if _, ok := client(s, r); !ok {
		refuse(w, "invalid_client", "wrong secret")
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, all := range []map[string]*token{a.tokens, a.refreshes} {
		for text, t := range all {
			if text == r.PostFormValue("token") {
				t.revoked = true
			}
		}
	}
}

func refuse(w http.ResponseWriter, code, description string) {
	reply(w, http.StatusBadRequest, map[string]string{"error": code, "error_description": description})
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client may be gone
}
