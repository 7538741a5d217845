package oauth_test

import (
	"strings"
	"testing"

	"replan/mcpclient/oauth"
	"replan/mcpclient/oauth/oauthtest"
)

func TestLogoutRevokesAndDeletes(t *testing.T) {
	for name, withRing := range map[string]bool{"files": false, "keyring": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
			secrets := &ring{secrets: map[string]string{}}
			if withRing {
				w.store = oauth.NewStore(w.dir, secrets)
			}
			if _, err := w.login(t); err != nil {
				t.Fatal(err)
			}
			if n := w.authority.Live(); n != 2 {
				t.Fatalf("%d tokens are live", n)
			}
			out, err := oauth.Logout{Store: w.store}.Named(t.Context(), "far")
			if err != nil || len(out) != 1 || out[0].Server != "far" || out[0].NotRevoked != nil {
				t.Errorf("got %+v, %v", out, err)
			}
			if n := w.authority.Live(); n != 0 {
				t.Errorf("%d tokens are live", n)
			}
			if left := w.files(t); left != "" || len(secrets.secrets) != 0 {
				t.Errorf("left: %q, %v", left, secrets.secrets)
			}
			if out, err := (oauth.Logout{Store: w.store}).All(t.Context()); len(out) != 0 || err != nil {
				t.Errorf("got %v, %v", out, err)
			}
		})
	}
}

func TestLogoutLeavesNothingInTheKeyringUnsaid(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	secrets := &ring{secrets: map[string]string{}}
	with, without := oauth.NewStore(w.dir, secrets), oauth.NewStore(w.dir, nil)
	for _, w.store = range []*oauth.Store{with, without} { // the second login hides the first
		if _, err := w.login(t); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := (oauth.Logout{Store: without}).Named(t.Context(), "far"); len(out) != 0 || err == nil || !strings.Contains(err.Error(), "far is in the keyring") {
		t.Errorf("without the keyring: got %+v, %v", out, err)
	}
	w.mustNotTell(t, w.files(t))
	if out, err := (oauth.Logout{Store: with}).Named(t.Context(), "far"); len(out) != 1 || err != nil || len(secrets.secrets) != 0 || w.files(t) != "" {
		t.Errorf("with it: got %+v, %v; left %v", out, err, secrets.secrets)
	}
}

func TestLogoutRevokesTheHiddenLoginInTheKeyring(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	with := oauth.NewStore(w.dir, &ring{secrets: map[string]string{}})
	for _, w.store = range []*oauth.Store{with, oauth.NewStore(w.dir, nil)} { // the second login hides the first
		if _, err := w.login(t); err != nil {
			t.Fatal(err)
		}
	}
	out, err := oauth.Logout{Store: with}.Named(t.Context(), "far")
	if err != nil || len(out) != 1 || out[0].NotRevoked != nil || w.authority.Live() > 0 {
		t.Errorf("got %+v, %v; %d tokens are live", out, err, w.authority.Live())
	}
}

func TestLogoutDeletesTokensThatCannotBeRevoked(t *testing.T) {
	w := newWorld(t, oauthtest.Settings{}, oauthtest.Protection{})
	if _, err := w.login(t); err != nil {
		t.Fatal(err)
	}
	w.authority.Close()
	out, err := oauth.Logout{Store: w.store}.All(t.Context())
	if err != nil || len(out) != 1 || out[0].NotRevoked == nil || w.files(t) != "" {
		t.Errorf("got %+v, %v", out, err)
	}
	w.mustNotTell(t, out[0].NotRevoked.Error())
}
