package oauth_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"replan/mcpclient/oauth"
	"replan/mcpclient/oauth/oauthtest"
)

func TestOneRefreshServesAllCalls(t *testing.T) {
	for name, end := range map[string]func(*world){
		"the token has ended": func(*world) {},
		"the server has ended it early": func(w *world) {
			w.authority.Expire()
		},
	} {
		t.Run(name, func(t *testing.T) {
			// A token within the margin of its end counts as ended.
			life := time.Second
			if name != "the token has ended" {
				life = time.Hour
			}
			w := newWorld(t, oauthtest.Settings{Life: life}, oauthtest.Protection{})
			if _, err := w.login(t); err != nil {
				t.Fatal(err)
			}
			w.authority.Change(func(s *oauthtest.Settings) { s.Life = time.Hour })
			// Two transports stand for two processes: they share nothing but the files.
			one, _ := w.transport(t)
			other, _ := w.transport(t)
			if life == time.Hour {
				w.mustSend(t, one, "first", http.StatusOK)
				w.mustSend(t, other, "first", http.StatusOK)
			}
			end(w)
			var calls sync.WaitGroup
			for i := range 20 {
				tr := []*oauth.Transport{one, other}[i%2]
				calls.Go(func() {
					if status, body, err := w.send(t.Context(), tr, "call"); err != nil || status != http.StatusOK || body != "got call" {
						t.Errorf("got %d, %q, %v", status, body, err)
					}
				})
			}
			calls.Wait()
			if n := w.authority.Refreshes(); n != 1 {
				t.Errorf("refreshed %d times, want once", n)
			}
		})
	}
}

func TestRefusedRefreshEndsTheLogin(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	if _, err := w.login(t); err != nil {
		t.Fatal(err)
	}
	tr, log := w.transport(t)
	w.mustSend(t, tr, "before", http.StatusOK)
	w.authority.Forget()
	w.mustSend(t, tr, "after", http.StatusUnauthorized)
	w.mustSend(t, tr, "again", http.StatusUnauthorized)
	if n := w.authority.Refreshes(); n != 1 {
		t.Errorf("refreshed %d times, want once", n)
	}
	if !strings.Contains(log.String(), "the login has ended") {
		t.Errorf("log: %s", log)
	}
	w.mustNotTell(t, log.String()+w.files(t))
	if _, err := w.login(t); err != nil {
		t.Fatal(err)
	}
	w.mustSend(t, tr, "after the next login", http.StatusOK)
}

func TestFailedRefreshKeepsTheLogin(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	if _, err := w.login(t); err != nil {
		t.Fatal(err)
	}
	tr, log := w.transport(t)
	w.mustSend(t, tr, "before", http.StatusOK)
	w.authority.Expire()
	w.authority.Break(true)
	_, _, err := w.send(t.Context(), tr, "meanwhile")
	var refresh *oauth.RefreshError
	if !errors.As(err, &refresh) || !strings.Contains(err.Error(), "503") {
		t.Errorf("got %v, want an error that may pass", err)
	}
	w.mustNotTell(t, err.Error()+log.String())
	w.authority.Break(false)
	w.mustSend(t, tr, "after", http.StatusOK)
}

func TestCanceledCallDoesNotLoseTheRefreshedToken(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	if _, err := w.login(t); err != nil {
		t.Fatal(err)
	}
	tr, _ := w.transport(t)
	w.mustSend(t, tr, "before", http.StatusOK)
	w.authority.Expire()
	ctx, cancel := context.WithCancel(t.Context())
	tr.Base = roundTrip(func(r *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && response.StatusCode == http.StatusUnauthorized {
			cancel() // the refresh begins now
		}
		return response, err
	})
	if _, _, err := w.send(ctx, tr, "cancelled"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	tr.Close()
	fresh, _ := w.transport(t)
	w.mustSend(t, fresh, "after", http.StatusOK)
	if n := w.authority.Refreshes(); n != 1 {
		t.Errorf("refreshed %d times, want once", n)
	}
}

func TestCloseCancelsARefreshThatHangs(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	if _, err := w.login(t); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{})
		tr := &oauth.Transport{
			Base: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusUnauthorized, Body: http.NoBody, Request: r}, nil
			}),
			Direct: roundTrip(func(r *http.Request) (*http.Response, error) {
				close(begun)
				<-r.Context().Done()
				return nil, r.Context().Err()
			}),
			Server: w.server, Store: w.store, Logger: slog.New(slog.DiscardHandler),
		}
		var calls sync.WaitGroup
		calls.Go(func() {
			var refresh *oauth.RefreshError
			if _, _, err := w.send(t.Context(), tr, "call"); !errors.As(err, &refresh) {
				t.Errorf("got %v, want a failed refresh", err)
			}
		})
		<-begun
		at := time.Now() // the clock of the bubble
		tr.Close()
		if took := time.Since(at); took > 5*time.Second {
			t.Errorf("Close took %s", took)
		}
		calls.Wait()
	})
}

// hangingRing is a keyring that takes its time to store secrets.
type hangingRing struct {
	*ring
	takes        time.Duration
	begun, ended chan struct{} // closed when it begins to store, and when it has stored
}

func (r hangingRing) Set(service, user, secret string) error {
	close(r.begun)
	<-time.After(r.takes)
	defer close(r.ended)
	return r.ring.Set(service, user, secret)
}

func TestCloseLosesNoTokenToASlowKeyring(t *testing.T) {
	for name, c := range map[string]struct {
		takes  time.Duration
		inFile bool
	}{
		"slow":  {2 * time.Second, false},
		"hangs": {time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
			secrets := &ring{secrets: map[string]string{}}
			w.store = oauth.NewStore(w.dir, secrets)
			if _, err := w.login(t); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				hanging := hangingRing{secrets, c.takes, make(chan struct{}), make(chan struct{})}
				session := func(keyring oauth.Keyring) *oauth.Transport {
					return &oauth.Transport{
						Base: roundTrip(func(r *http.Request) (*http.Response, error) {
							status := http.StatusUnauthorized
							if r.Header.Get("Authorization") == "Bearer fresh" {
								status = http.StatusOK
							}
							return &http.Response{StatusCode: status, Body: http.NoBody, Request: r}, nil
						}),
						Direct: roundTrip(func(r *http.Request) (*http.Response, error) {
							reply := `{"access_token":"fresh","token_type":"Bearer","refresh_token":"next","expires_in":3600}`
							return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(reply)), Request: r}, nil
						}),
						Server: w.server, Store: oauth.NewStore(w.dir, keyring), Logger: slog.New(slog.DiscardHandler),
					}
				}
				tr := session(hanging)
				var calls sync.WaitGroup
				calls.Go(func() { w.mustSend(t, tr, "call", http.StatusOK) })
				<-hanging.begun
				at := time.Now() // the clock of the bubble
				tr.Close()
				if took := time.Since(at); took > 5*time.Second {
					t.Errorf("Close took %s", took)
				}
				calls.Wait()
				if strings.Contains(w.files(t), "next") != c.inFile {
					t.Errorf("the files hold %s", w.files(t))
				}
				next := session(secrets)
				next.Direct = roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("it is refreshed again") })
				w.mustSend(t, next, "later", http.StatusOK)
				next.Close()
				<-hanging.ended
			})
			if _, err := (oauth.Logout{Store: w.store}).Named(t.Context(), "far"); err != nil || len(secrets.secrets) > 0 {
				t.Errorf("the logout left %v, %v", secrets.secrets, err)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestStepUpAsksForAllScopesTogether(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{Asks: "read", Needs: map[string]string{"write it": "write", "send it": "send"}})
	if got, err := w.login(t); err != nil || !slices.Equal(got, []string{"read"}) {
		t.Fatalf("got %v, %v", got, err)
	}
	tr, _ := w.transport(t)
	w.mustSend(t, tr, "read it", http.StatusOK)
	w.mustSend(t, tr, "write it", http.StatusForbidden)
	if got := tr.Lacking([]string{"read", "write"}); !slices.Equal(got, []string{"write"}) {
		t.Errorf("lacks %v", got)
	}
	w.mustSend(t, tr, "send it", http.StatusForbidden)
	w.mustSend(t, tr, "read it", http.StatusOK)
	if got, err := w.login(t); err != nil || !slices.Equal(got, []string{"read", "write", "send"}) {
		t.Fatalf("got %v, %v", got, err)
	}
	// The session notices the new login by the refusal of its old token.
	w.mustSend(t, tr, "write it", http.StatusOK)
	w.mustSend(t, tr, "send it", http.StatusOK)
}

func TestRefusalStaysOneIfItsScopesCannotBeNoted(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{Asks: "read", Needs: map[string]string{"write it": "write"}})
	if _, err := w.login(t); err != nil {
		t.Fatal(err)
	}
	tr, log := w.transport(t)
	w.mustSend(t, tr, "read it", http.StatusOK)
	locks, err := filepath.Glob(filepath.Join(w.dir, "*.lock"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("got %q, %v", locks, err)
	}
	if err := errors.Join(os.Remove(locks[0]), os.Mkdir(locks[0], 0o700)); err != nil {
		t.Fatal(err)
	}
	w.mustSend(t, tr, "write it", http.StatusForbidden)
	if !strings.Contains(log.String(), "not noted") {
		t.Errorf("log: %s", log)
	}
}

func TestScopesThatALoginHasAreNotAskedForAgain(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{Asks: "read write", Needs: map[string]string{"write it": "write"}})
	if _, err := w.login(t); err != nil {
		t.Fatal(err)
	}
	refused := 0
	tr, _ := w.transport(t)
	tr.Base = roundTrip(func(*http.Request) (*http.Response, error) {
		refused++
		h := http.Header{"Www-Authenticate": {`Bearer error=insufficient_scope, scope="write"`}}
		return &http.Response{StatusCode: http.StatusForbidden, Header: h, Body: http.NoBody}, nil
	})
	w.mustSend(t, tr, "write it", http.StatusForbidden)
	if got := tr.Lacking([]string{"write"}); got != nil || refused != 1 || strings.Contains(w.files(t), `"wanted"`) {
		t.Errorf("lacks %v after %d requests; want nothing after one", got, refused)
	}
}

func TestTokensGoToTheServerAlone(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	if _, err := w.login(t); err != nil {
		t.Fatal(err)
	}
	tr, _ := w.transport(t)
	var sent []string
	tr.Base = roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.Header.Get("Authorization"))
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})
	for _, address := range []string{"http://127.0.0.2/mcp", "https" + strings.TrimPrefix(w.server.URL, "http"), w.server.URL} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.RoundTrip(r); err != nil {
			t.Fatal(err)
		}
	}
	if sent[0] != "" || sent[1] != "" || !strings.HasPrefix(sent[2], "Bearer ") {
		t.Errorf("got %q", sent)
	}
}

func TestConfiguredKeyIsNotReplaced(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	if _, err := w.login(t); err != nil {
		t.Fatal(err)
	}
	tr, _ := w.transport(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer own")
	response, err := tr.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusUnauthorized {
		t.Fatalf("got %v, %v", response, err)
	}
	_ = response.Body.Close()
}

func TestTokensAreInTheKeyringOrInAPrivateFile(t *testing.T) {
	for name, c := range map[string]struct {
		ring   *ring
		inFile bool
	}{
		"keyring":             {&ring{secrets: map[string]string{}}, false},
		"no keyring":          {nil, true},
		"one that is not run": {&ring{secrets: map[string]string{}, err: errors.New("no bus")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
			if c.ring != nil {
				w.store = oauth.NewStore(w.dir, c.ring)
			}
			if _, err := w.login(t); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(w.files(t), `"access_token"`); got != c.inFile {
				t.Errorf("in a file: %v, want %v", got, c.inFile)
			}
			names, err := filepath.Glob(filepath.Join(w.dir, "*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
					t.Errorf("%s: %v, %v", name, info.Mode(), err)
				}
			}
			if !c.inFile {
				w.mustNotTell(t, w.files(t))
			}
			tr, _ := w.transport(t)
			w.mustSend(t, tr, "x", http.StatusOK)
		})
	}
}

// slowRing is a keyring that does not store at once.
type slowRing struct {
	*ring
	asked, answer chan struct{}
}

func (r slowRing) Set(service, user, secret string) error {
	r.asked <- struct{}{}
	<-r.answer
	return r.ring.Set(service, user, secret)
}

func TestCanceledCallKeepsTokensOutOfFiles(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{Asks: "read", Needs: map[string]string{"write it": "write"}})
	secrets := slowRing{&ring{secrets: map[string]string{}}, make(chan struct{}), make(chan struct{})}
	w.store = oauth.NewStore(w.dir, secrets.ring)
	if _, err := w.login(t); err != nil {
		t.Fatal(err)
	}
	w.store = oauth.NewStore(w.dir, secrets)
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	tr, _ := w.transport(t)
	calls.Go(func() { _, _, _ = w.send(ctx, tr, "write it") })
	<-secrets.asked
	cancel()
	calls.Wait()
	close(secrets.answer)
	w.mustNotTell(t, w.files(t))
}

func TestHelperPrintsHeaders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	run := func(script string) (map[string]string, error) {
		return oauth.Helper{Script: script, Dir: t.TempDir(), Environ: []string{"PATH=" + os.Getenv("PATH"), "SECRET=hunter2"}}.Print(t.Context())
	}
	got, err := run(`echo noise >&2; printf '{"X-Key": "%s"}' "$SECRET"`)
	if err != nil || got["X-Key"] != "hunter2" {
		t.Errorf("got %v, %v", got, err)
	}
	for script, want := range map[string]string{
		`echo hunter2; exit 3`:                 "exit status 3",
		`echo hunter2`:                         "one JSON object",
		`echo null`:                            "one JSON object",
		`echo '{"X-Key": 1}'`:                  "one JSON object",
		`printf '%s' '{"hunter2\n": "x"}'`:     "HTTP does not allow",
		`printf '%s' '{"X-Key": "hunter2\r"}'`: "HTTP does not allow",
		`head -c 100000 /dev/zero`:             "one JSON object",
		`no-such-program-hunter2 --help`:       "exit status 127",
	} {
		if got, err := run(script); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, %v; want %q", script, got, err, want)
		}
	}
}

func TestHelperRunsAgainOnceAfterARefusal(t *testing.T) {
	ran := 0
	good := "key 1"
	var sent []string
	tr := &oauth.HelperTransport{
		Print: func(context.Context) (map[string]string, error) {
			ran++
			return map[string]string{"X-Key": "key " + string(rune('0'+min(ran, 2)))}, nil
		},
		Base: roundTrip(func(r *http.Request) (*http.Response, error) {
			sent = append(sent, r.Header.Get("X-Key"))
			status := http.StatusOK
			if r.Header.Get("X-Key") != good {
				status = http.StatusUnauthorized
			}
			return &http.Response{StatusCode: status, Body: http.NoBody}, nil
		}),
	}
	send := func(want int) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		if response, err := tr.RoundTrip(r); err != nil || response.StatusCode != want {
			t.Fatalf("got %v, %v", response, err)
		}
	}
	send(http.StatusOK)
	send(http.StatusOK)
	good = "key 2"
	send(http.StatusOK)
	good = "key 3"
	send(http.StatusUnauthorized)
	if want := []string{"key 1", "key 1", "key 1", "key 2", "key 2"}; !slices.Equal(sent, want) || ran != 3 {
		t.Errorf("sent %q after %d runs; want %q after 3", sent, ran, want)
	}
}
