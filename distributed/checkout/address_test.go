package checkout_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"replan/agent/remote"
	"replan/distributed/checkout"
)

func TestErrorOfWhatTheRunAsksForIsNoErrorOfTheMachine(t *testing.T) {
	bare, cache, kept := origin(t), t.TempDir(), database(t)
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	missing := filepath.Join(t.TempDir(), "none")
	for name, c := range map[string]struct {
		source remote.Source
		cache  string
		ofRun  bool
	}{
		"relative address":                {remote.Source{Repository: "shop"}, cache, true},
		"revision like an option":         {remote.Source{Repository: bare, Revision: "-x"}, cache, true},
		"unknown branch":                  {remote.Source{Repository: bare, Revision: "nothing"}, cache, true},
		"unknown ref":                     {remote.Source{Repository: bare, Revision: "refs/none"}, cache, true},
		"unknown commit":                  {remote.Source{Repository: bare, Revision: "0123456789012345678901234567890123456789"}, cache, true},
		"no repository for this login":    {remote.Source{Repository: empty.URL + "/shop"}, cache, false},
		"no repository in a path":         {remote.Source{Repository: missing}, cache, false},
		"server that cannot be reached":   {remote.Source{Repository: "http://127.0.0.1:1/shop"}, cache, false},
		"folder that cannot be written":   {remote.Source{}, blocked, false},
		"folder of clones that is a file": {remote.Source{Repository: bare}, blocked, false},
	} {
		_, err := checkout.Open(t.Context(), c.cache, c.source, run, kept)
		problem, ofRun := errors.AsType[*remote.Problem](err)
		if err == nil || ofRun != c.ofRun || ofRun && problem.Code != remote.CodeUsage {
			t.Errorf("%s gives %v", name, err)
		}
	}
}
