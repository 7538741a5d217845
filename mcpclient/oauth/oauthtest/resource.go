package oauthtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Protection says how a protected server behaves.
type Protection struct {
	Silent   bool     // its challenge does not name its metadata
	Metadata string   // where its metadata are: "path" of the server, "root" of its host, "none", or "default" for none with endpoints of its own at their default paths; "" is path
	Resource string   // that its metadata are about; "" is the right one
	Named    string   // the metadata that its challenge names; "" is the right one
	Issuer   string   // the authorization server that its metadata name; "" is the right one
	Scopes   []string // its metadata name
	Asks     string   // scopes that its challenge names
	Newest   bool     // refuses requests of the older protocols, before it looks at tokens
	// Needs are the scopes that requests with a text in their body need.
	Needs map[string]string
}

// Resource is a server that wants tokens of an authorization server.
type Resource struct {
	*httptest.Server
	authority *Authority

	mu         sync.Mutex
	protection Protection
	refused    int
}

// Path is where a protected server takes requests.
const Path = "/mcp"

// NewResource starts a server that passes requests with a good token on. It ends with
// the test.
func NewResource(t testing.TB, a *Authority, p Protection, inner http.Handler) *Resource {
	t.Helper()
	r := &Resource{authority: a, protection: p}
	mux := http.NewServeMux()
	switch p.Metadata {
	case "", "path":
		mux.HandleFunc("GET /.well-known/oauth-protected-resource"+Path, r.metadata)
	case "root":
		mux.HandleFunc("GET /.well-known/oauth-protected-resource", r.metadata)
	case "default":
		for _, endpoint := range []string{"/token", "/register"} {
			mux.Handle(endpoint, a.Config.Handler)
		}
		mux.HandleFunc("/authorize", func(w http.ResponseWriter, q *http.Request) {
			q.URL.RawQuery += "&audience=all" // as its metadata have it
			a.Config.Handler.ServeHTTP(w, q)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) { r.serve(w, q, inner) })
	r.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		r.CloseClientConnections() // clients keep streams open
		r.Close()
	})
	return r
}

// Address returns the address of the server.
func (r *Resource) Address() string { return r.URL + Path }

// Change changes the protection while the server runs; the place of its metadata stays.
func (r *Resource) Change(change func(*Protection)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.protection)
}

// Refused returns how many requests were refused.
func (r *Resource) Refused() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// named returns the identifier of the server.
func (r *Resource) named(p Protection) string {
	switch {
	case p.Resource != "":
		return p.Resource
	case p.Metadata == "root":
		return r.URL
	}
	return r.Address()
}

func (r *Resource) now() Protection {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.protection
}

func (r *Resource) metadata(w http.ResponseWriter, _ *http.Request) {
	p := r.now()
	issuer := p.Issuer
	if issuer == "" {
		issuer = r.authority.Issuer()
	}
	reply(w, http.StatusOK, map[string]any{"resource": r.named(p), "authorization_servers": []string{issuer}, "scopes_supported": p.Scopes})
}

func (r *Resource) serve(w http.ResponseWriter, q *http.Request, inner http.Handler) {
	p := r.now()
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	if p.Newest && q.Header.Get("MCP-Protocol-Version") != "2026-07-28" {
		reply(w, http.StatusBadRequest, map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": -32020, "message": "Missing MCP-Protocol-Version header"}})
		return
	}
	q.Body = io.NopCloser(bytes.NewReader(body))
	access, _ := strings.CutPrefix(q.Header.Get("Authorization"), "Bearer ")
	scopes, ok := r.authority.Allows(access, r.named(p))
	if !ok {
		challenge := "Bearer realm=\"a \\\"realm\\\"\""
		if named := p.Named; !p.Silent {
			if named == "" {
				named = r.URL + "/.well-known/oauth-protected-resource" + Path
			}
			challenge += fmt.Sprintf(`, resource_metadata=%q`, named)
		}
		if p.Asks != "" {
			challenge += fmt.Sprintf(`, scope=%q`, p.Asks)
		}
		r.refuse(w, http.StatusUnauthorized, challenge)
		return
	}
	for text, scope := range p.Needs {
		if bytes.Contains(body, []byte(text)) && !strings.Contains(" "+strings.Join(scopes, " ")+" ", " "+scope+" ") {
			r.refuse(w, http.StatusForbidden, fmt.Sprintf(`Basic realm="x", Bearer error="insufficient_scope", scope=%q`, scope))
			return
		}
	}
	inner.ServeHTTP(w, q)
}

func (r *Resource) refuse(w http.ResponseWriter, status int, challenge string) {
	r.mu.Lock()
	r.refused++
	r.mu.Unlock()
	w.Header().Add("WWW-Authenticate", "Negotiate")
	w.Header().Add("WWW-Authenticate", challenge)
	w.WriteHeader(status)
}

// Browse does what a user's browser does with the address of a login: it follows all
// redirects. It returns the last page.
func Browse(ctx context.Context, address string) (status int, page string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}
