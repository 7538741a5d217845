package oauth_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/zalando/go-keyring"

	"replan/mcpclient/config"
	"replan/mcpclient/oauth"
	"replan/mcpclient/oauth/oauthtest"
)

// world is an authorization server, a server that it protects and the logins of a
// user.
type world struct {
	authority *oauthtest.Authority
	resource  *oauthtest.Resource
	dir       string // of the logins
	store     *oauth.Store
	server    config.Server
}

func newWorld(t *testing.T, s oauthtest.Settings, p oauthtest.Protection) *world {
	t.Helper()
	w := &world{authority: oauthtest.NewAuthority(t, s), dir: t.TempDir()}
	w.resource = oauthtest.NewResource(t, w.authority, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, _ = w.Write(append([]byte("got "), body...))
		}
	}))
	w.store = oauth.NewStore(w.dir, nil)
	w.server = config.Server{Name: "far", URL: w.resource.Address()}
	return w
}

// login logs in with a browser on this machine.
func (w *world) login(t *testing.T, change ...func(*oauth.Login)) (scopes []string, err error) {
	t.Helper()
	var browsers sync.WaitGroup
	defer browsers.Wait()
	l := oauth.Login{Server: w.server, Store: w.store, Show: func(address string) {
		browsers.Go(func() { _, _, _ = oauthtest.Browse(context.Background(), address) })
	}}
	for _, c := range change {
		c(&l)
	}
	return l.Run(t.Context())
}

// transport returns the transport of a session, and its log.
func (w *world) transport(t *testing.T) (*oauth.Transport, *strings.Builder) {
	t.Helper()
	log := &strings.Builder{}
	tr := &oauth.Transport{
		Base: http.DefaultTransport, Direct: http.DefaultTransport, Server: w.server, Store: w.store,
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	}
	t.Cleanup(tr.Close)
	return tr, log
}

// send sends a request and returns the status and the body of the answer.
func (w *world) send(ctx context.Context, tr http.RoundTripper, text string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.server.URL, strings.NewReader(text))
	if err != nil {
		return 0, "", err
	}
	response, err := (&http.Client{Transport: tr}).Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

func (w *world) mustSend(t *testing.T, tr http.RoundTripper, text string, status int) {
	t.Helper()
	if got, body, err := w.send(t.Context(), tr, text); err != nil || got != status {
		t.Fatalf("%s: got %d, %q, %v; want status %d", text, got, body, err, status)
	}
}

// mustNotTell fails if a text holds one of the tokens, codes or secrets given out.
func (w *world) mustNotTell(t *testing.T, text string) {
	t.Helper()
	secrets := w.authority.Secrets()
	for _, s := range secrets {
		if strings.Contains(text, s) {
			t.Errorf("a secret is in %q", text)
		}
	}
}

// files returns the text of all files of logins.
func (w *world) files(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(w.dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// ring is a keyring in memory. With an error it fails.
type ring struct {
	mu      sync.Mutex
	secrets map[string]string
	err     error
}

func (r *ring) Get(_, user string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	secret, ok := r.secrets[user]
	if !ok {
		return "", keyring.ErrNotFound
	}
	return secret, r.err
}

func (r *ring) Set(_, user, secret string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.secrets[user] = secret
	}
	return r.err
}

func (r *ring) Delete(_, user string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.secrets, user)
	return r.err
}
