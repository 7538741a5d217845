package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"replan/mcpclient/config"
	"replan/mcpclient/oauth"
	"replan/mcpclient/oauth/oauthtest"
)

func TestLoginFindsMetadataInEachPlace(t *testing.T) {
	for name, c := range map[string]struct {
		settings   oauthtest.Settings
		protection oauthtest.Protection
	}{
		"named by the challenge":                {},
		"at the path of the server":             {protection: oauthtest.Protection{Silent: true}},
		"at the root of the host":               {protection: oauthtest.Protection{Silent: true, Metadata: "root"}},
		"issuer with a path":                    {settings: oauthtest.Settings{Path: "/tenant"}},
		"OpenID":                                {settings: oauthtest.Settings{OpenID: true}},
		"OpenID with a path":                    {settings: oauthtest.Settings{OpenID: true, Path: "/tenant"}},
		"OpenID below a path":                   {settings: oauthtest.Settings{OpenID: true, Appended: true, Path: "/tenant"}},
		"an address on another host is ignored": {protection: oauthtest.Protection{Named: "http://127.0.0.2/elsewhere"}},
		"nowhere: the default endpoints": {
			oauthtest.Settings{NoIssSupport: true, AnswerIssuer: "-"}, oauthtest.Protection{Silent: true, Metadata: "default"},
		},
		"the answer names no issuer, as allowed": {settings: oauthtest.Settings{NoIssSupport: true, AnswerIssuer: "-"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.settings, c.protection)
			tr, _ := w.transport(t)
			w.mustSend(t, tr, "before", http.StatusUnauthorized)
			if _, err := w.login(t); err != nil {
				t.Fatal(err)
			}
			w.mustSend(t, tr, "after", http.StatusOK)
		})
	}
}

func TestLoginRefusesWhatItMustNotTrust(t *testing.T) {
	for name, c := range map[string]struct {
		settings   oauthtest.Settings
		protection oauthtest.Protection
		want       string
		exchanges  bool // the code may be sent
	}{
		"metadata of another issuer":           {oauthtest.Settings{Issuer: "https://evil.example"}, oauthtest.Protection{}, `says that it is "https://evil.example"`, false},
		"metadata about another server":        {oauthtest.Settings{}, oauthtest.Protection{Resource: "https://victim.example/mcp"}, `about another server, "https://victim.example/mcp"`, false},
		"metadata about a longer path":         {oauthtest.Settings{}, oauthtest.Protection{Resource: "URL/mcp2"}, "about another server", false},
		"answer of another issuer":             {oauthtest.Settings{AnswerIssuer: "https://evil.example"}, oauthtest.Protection{}, "comes from another authorization server", false},
		"another issuer, unannounced":          {oauthtest.Settings{AnswerIssuer: "https://evil.example", NoIssSupport: true}, oauthtest.Protection{}, "comes from another authorization server", false},
		"another issuer with an error":         {oauthtest.Settings{AnswerIssuer: "https://evil.example", Deny: true}, oauthtest.Protection{}, "comes from another authorization server", false},
		"no issuer, though it always names it": {oauthtest.Settings{AnswerIssuer: "-"}, oauthtest.Protection{}, "does not say which authorization server", false},
		"no PKCE":                              {oauthtest.Settings{NoPKCE: true}, oauthtest.Protection{}, "PKCE", false},
		"an authorization server without TLS":  {oauthtest.Settings{}, oauthtest.Protection{Issuer: "http://login.example"}, `needs https, which "http://login.example" does not use`, false},
		"the user says no":                     {oauthtest.Settings{Deny: true}, oauthtest.Protection{}, "refused: the user said no (access_denied)", false},
		"no registration":                      {oauthtest.Settings{NoRegistration: true}, oauthtest.Protection{}, `"clientId"`, false},
		"no metadata at all":                   {oauthtest.Settings{}, oauthtest.Protection{Silent: true, Metadata: "none"}, "does not say where to log in", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.settings, c.protection)
			w.resource.Change(func(p *oauthtest.Protection) { p.Resource = strings.Replace(p.Resource, "URL", w.resource.URL, 1) })
			_, err := w.login(t)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if slices.Contains(w.authority.Requests(), "/token") {
				t.Error("the code was sent")
			}
			if text := w.files(t); text != "" {
				t.Errorf("something was stored: %s", text)
			}
		})
	}
}

func TestServerElsewhereCannotLeadTheLoginToThisMachine(t *testing.T) {
	for name, issuer := range map[string]string{
		"an authorization server on this machine": "",
		"endpoints on this machine":               "https://login.example",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, oauthtest.Settings{Issuer: issuer}, oauthtest.Protection{Resource: "https://far.example/mcp", Issuer: issuer})
			w.server.URL = "https://far.example/mcp"
			_, err := w.login(t, func(l *oauth.Login) {
				l.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
					at := map[string]string{"far.example": w.resource.Address(), "login.example": w.authority.Issuer()}[r.URL.Host]
					if there, err := url.Parse(at); at != "" && err == nil {
						r = r.Clone(r.Context())
						r.URL.Scheme, r.URL.Host = there.Scheme, there.Host
					}
					return http.DefaultTransport.RoundTrip(r)
				})
			})
			if err == nil || !strings.Contains(err.Error(), "leads the login to this machine") {
				t.Errorf("got %v", err)
			}
			for _, path := range w.authority.Requests() {
				if issuer == "" || !strings.Contains(path, "/.well-known/") {
					t.Errorf("%s was requested", path)
				}
			}
		})
	}
}

func TestLoginIgnoresAnswersWithoutItsState(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	var browsers sync.WaitGroup
	defer browsers.Wait()
	if _, err := w.login(t, func(l *oauth.Login) {
		l.Show = func(address string) {
			at, _ := url.Parse(address)
			browsers.Go(func() {
				for _, query := range []string{"?state=other&code=stolen", "?code=stolen", "?error=access_denied", ""} {
					status, page, err := oauthtest.Browse(context.Background(), at.Query().Get("redirect_uri")+query)
					if status != http.StatusBadRequest || !strings.Contains(page, "another login") || err != nil {
						t.Errorf("%s: got %d, %q, %v", query, status, page, err)
					}
				}
				if slices.Contains(w.authority.Requests(), "/token") {
					t.Error("a code of another login was used")
				}
				if status, page, err := oauthtest.Browse(context.Background(), address); status != http.StatusOK || err != nil {
					t.Errorf("the answer: got %d, %q, %v", status, page, err)
				}
			})
		}
	}); err != nil {
		t.Error(err)
	}
}

func TestPastedAnswerWithAnotherStateIsRefused(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	pasted := make(chan string, 1)
	pasted <- "http://127.0.0.1:1/callback?state=other&code=stolen&iss=" + url.QueryEscape(w.authority.Issuer())
	_, err := w.login(t, func(l *oauth.Login) { l.Pasted, l.Show = pasted, func(string) {} })
	if err == nil || !strings.Contains(err.Error(), "state") || slices.Contains(w.authority.Requests(), "/token") {
		t.Errorf("got %v; %v", err, w.authority.Requests())
	}
}

func TestPageSaysToGoBack(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	pages := make(chan string, 1)
	if _, err := w.login(t, func(l *oauth.Login) {
		l.Show = func(address string) {
			go func() {
				_, page, _ := oauthtest.Browse(context.Background(), address)
				pages <- page
			}()
		}
	}); err != nil {
		t.Fatal(err)
	}
	page := <-pages
	if !strings.Contains(page, "Go back to replan") {
		t.Errorf("got %q", page)
	}
	w.mustNotTell(t, page)
}

func TestWhoTheProgramIs(t *testing.T) {
	port := freePort(t)
	document := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"client_id": "https://" + r.Host + r.URL.Path, "client_name": "replan",
			"redirect_uris": []string{"http://127.0.0.1:" + strconv.Itoa(port) + "/callback"},
		})
	}))
	t.Cleanup(document.Close)
	documentURL := document.URL + "/replan.json"
	secret := "the client's own secret"
	for name, c := range map[string]struct {
		settings  oauthtest.Settings
		own       config.OAuth
		registers bool
		want      string // an error
	}{
		"a document, before a registration":                       {oauthtest.Settings{Documents: document.Client()}, config.OAuth{ClientMetadata: documentURL, CallbackPort: port}, false, ""},
		"a registration, if the server reads no documents":        {oauthtest.Settings{}, config.OAuth{ClientMetadata: documentURL, CallbackPort: port}, true, ""},
		"a registration, without a document":                      {oauthtest.Settings{Documents: document.Client()}, config.OAuth{}, true, ""},
		"a given id":                                              {oauthtest.Settings{NoRegistration: true, Clients: map[string]string{"mine": ""}}, config.OAuth{ClientID: "mine", CallbackPort: port}, false, ""},
		"a given id, before all others":                           {oauthtest.Settings{Documents: document.Client(), Clients: map[string]string{"mine": ""}}, config.OAuth{ClientID: "mine", ClientMetadata: documentURL}, false, ""},
		"a given id with a secret":                                {oauthtest.Settings{NoRegistration: true, Clients: map[string]string{"mine": secret}}, config.OAuth{ClientID: "mine", ClientSecret: secret}, false, ""},
		"a secret in the header, where the server wants it there": {oauthtest.Settings{BasicOnly: true, Clients: map[string]string{"mine": secret}}, config.OAuth{ClientID: "mine", ClientSecret: secret}, false, ""},
		"neither a registration nor an id":                        {oauthtest.Settings{NoRegistration: true}, config.OAuth{}, false, `registers no programs by itself: register one there with the redirect address http://127.0.0.1:PORT/callback, and write "oauth": {"clientId": "…", "callbackPort": PORT} into the server's configuration`},
		"a document could be given":                               {oauthtest.Settings{NoRegistration: true, Documents: document.Client()}, config.OAuth{}, false, `write that as "clientMetadataUrl" into "oauth"`},
		"a document that the server does not read":                {oauthtest.Settings{NoRegistration: true}, config.OAuth{ClientMetadata: documentURL}, false, `nor reads the document at "clientMetadataUrl": register one there`},
		"a wrong secret":                                          {oauthtest.Settings{Clients: map[string]string{"mine": secret}}, config.OAuth{ClientID: "mine", ClientSecret: "wrong one"}, false, "wrong secret (invalid_client)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.settings, oauthtest.Protection{})
			w.server.OAuth = &c.own
			_, err := w.login(t)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "wrong one") {
					t.Errorf("got %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(w.authority.Requests(), "/register"); got != c.registers {
				t.Errorf("registered: %v, want %v", got, c.registers)
			}
			tr, _ := w.transport(t)
			w.mustSend(t, tr, "x", http.StatusOK)
			w.authority.Expire()
			w.mustSend(t, tr, "refreshed", http.StatusOK)
		})
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only its number matters
	return l.Addr().(*net.TCPAddr).Port
}

func TestCallbackPortInUseIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	w.server.OAuth = &config.OAuth{CallbackPort: l.Addr().(*net.TCPAddr).Port}
	if _, err := w.login(t); err == nil || !strings.Contains(err.Error(), `"callbackPort"`) {
		t.Errorf("got %v", err)
	}
}

func TestGivenIdIsNotSentToANewAuthorizationServer(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{Clients: map[string]string{"mine": "s3cret"}}, oauthtest.Protection{})
	w.server.OAuth = &config.OAuth{ClientID: "mine", ClientSecret: "s3cret"}
	if _, err := w.login(t); err != nil {
		t.Fatal(err)
	}
	other := oauthtest.NewAuthority(t, oauthtest.Settings{Clients: map[string]string{"mine": "s3cret"}})
	w.resource.Change(func(p *oauthtest.Protection) { p.Issuer = other.Issuer() })
	if _, err := w.login(t); err == nil || !strings.Contains(err.Error(), "another authorization server") || len(other.Requests()) > 0 {
		t.Errorf("got %v; requests %v", err, other.Requests())
	}
	if _, err := (oauth.Logout{Store: w.store}).Named(t.Context(), "far"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.login(t); err != nil {
		t.Errorf("after a logout: %v", err)
	}
}

func TestPastedAddressFinishesLogin(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	pasted := make(chan string, 1)
	// The browser runs elsewhere, where no server answers at the last address.
	elsewhere := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	_, err := w.login(t, func(l *oauth.Login) {
		l.Pasted = pasted
		l.Show = func(address string) {
			response, err := elsewhere.Get(address)
			if err != nil {
				t.Error(err)
				return
			}
			_ = response.Body.Close()
			pasted <- "  " + response.Header.Get("Location") + "\n"
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	tr, _ := w.transport(t)
	w.mustSend(t, tr, "x", http.StatusOK)
	pasted <- "https://somewhere.example/"
	if _, err := w.login(t, func(l *oauth.Login) { l.Pasted, l.Show = pasted, func(string) {} }); err == nil || !strings.Contains(err.Error(), "copy all of it") {
		t.Errorf("got %v", err)
	}
}

func TestLoginEndsWithItsTimeAndLeavesNoPort(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	port := freePort(t)
	w.server.OAuth = &config.OAuth{CallbackPort: port}
	if _, err := w.login(t, func(l *oauth.Login) { l.Timeout, l.Show = time.Millisecond, func(string) {} }); err == nil || err.Error() != "nobody logged in within 1ms" {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := oauth.Login{Server: w.server, Store: w.store, Show: func(string) { cancel() }}
	if _, err := l.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	again, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		t.Fatalf("the port is still in use: %v", err)
	}
	_ = again.Close()
}

func TestScopesOfALogin(t *testing.T) {
	for name, c := range map[string]struct {
		own        []string
		protection oauthtest.Protection
		knows      []string
		want       []string
	}{
		"of the challenge":             {nil, oauthtest.Protection{Asks: "a b", Scopes: []string{"c"}}, nil, []string{"a", "b"}},
		"of the metadata":              {nil, oauthtest.Protection{Scopes: []string{"c"}}, nil, []string{"c"}},
		"of the configuration":         {[]string{"d"}, oauthtest.Protection{Asks: "a b"}, nil, []string{"d"}},
		"none":                         {nil, oauthtest.Protection{}, nil, nil},
		"and one to stay logged in":    {nil, oauthtest.Protection{Asks: "a"}, []string{"a", "offline_access"}, []string{"a", "offline_access"}},
		"none, even to stay logged in": {nil, oauthtest.Protection{}, []string{"offline_access"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, oauthtest.Settings{Scopes: c.knows}, c.protection)
			w.server.OAuth = &config.OAuth{Scopes: c.own}
			if got, err := w.login(t); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestNothingOfALoginIsFollowedToAnotherHost(t *testing.T) {
	var reached sync.Map
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reached.Store(r.URL.Path, string(body))
	}))
	t.Cleanup(elsewhere.Close)
	away := httptest.NewServer(nil)
	t.Cleanup(away.Close)
	away.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-authorization-server") {
			_ = json.NewEncoder(w).Encode(map[string]any{
				"issuer": away.URL, "authorization_endpoint": away.URL + "/a", "token_endpoint": away.URL + "/t", "registration_endpoint": away.URL + "/r",
				"code_challenge_methods_supported": []string{"S256"},
			})
			return
		}
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{Issuer: away.URL})
	if _, err := w.login(t); err == nil {
		t.Error("logged in")
	}
	reached.Range(func(path, body any) bool {
		t.Errorf("%v got %v", path, body)
		return true
	})
}
