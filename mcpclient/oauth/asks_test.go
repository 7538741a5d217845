package oauth_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"testing"

	"replan/mcpclient/oauth/oauthtest"
)

// Servers refuse different requests first. Each names the scopes there alone.
func TestLoginAsksForTheScopesOfTheFirstRefusal(t *testing.T) {
	for name, passes := range map[string]func(r *http.Request, body []byte) bool{
		"any request":                  func(*http.Request, []byte) bool { return false },
		"none but initialize is free":  func(_ *http.Request, body []byte) bool { return bytes.Contains(body, []byte(`"initialize"`)) },
		"none but discovery is free":   func(_ *http.Request, body []byte) bool { return bytes.Contains(body, []byte(`"server/discover"`)) },
		"the newer protocol is needed": func(r *http.Request, _ []byte) bool { return r.Header.Get("MCP-Protocol-Version") != "2026-07-28" },
		"a session is needed":          func(r *http.Request, _ []byte) bool { return r.Header.Get("Mcp-Session-Id") == "" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{Asks: "mcp:basic", Scopes: []string{"mcp:profile", "mcp:write"}})
			inner, err := url.Parse(w.resource.URL)
			if err != nil {
				t.Fatal(err)
			}
			to := httputil.NewSingleHostReverseProxy(inner)
			front := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				if r.URL.Path == oauthtest.Path && r.Header.Get("Authorization") == "" && passes(r, body) {
					out.Header().Set("Mcp-Session-Id", "s")
					return
				}
				to.ServeHTTP(out, r)
			}))
			defer front.Close()
			w.resource.Change(func(p *oauthtest.Protection) {
				p.Resource, p.Named = front.URL+oauthtest.Path, front.URL+"/.well-known/oauth-protected-resource"+oauthtest.Path
			})
			w.server.URL = front.URL + oauthtest.Path
			if got, err := w.login(t); err != nil || !slices.Equal(got, []string{"mcp:basic"}) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}
