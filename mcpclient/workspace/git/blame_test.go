package git_test

import (
	"strings"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// lineLog is the result of vcs.log of a line.
type lineLog struct {
	Commits []struct{ Hash, Author, Subject string }
	Note    string
}

func TestLogOfALineIsItsLastCommit(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "in")
	r.Write(t, map[string]string{"a.go": "one\ntwo\nthree\n", "b.go:1": "a file\n"})
	r.commit(t, "first")
	r.Write(t, map[string]string{"a.go": "one\nTWO\nthree\n"})
	r.commit(t, "second")
	r.Write(t, map[string]string{"a.go": "zero\none\nTWO\nthree\n"}) // not committed
	for path, want := range map[string]string{"a.go:2": "first", "a.go:3": "second", "a.go:4": "first", "b.go:1": "first"} {
		got := workspacetest.Into[lineLog](t, r.Must(t, "vcs.log", args{"path": path}).Data)
		if len(got.Commits) != 1 || got.Commits[0].Subject != want || len(got.Commits[0].Hash) < 40 || got.Commits[0].Author == "" {
			t.Errorf("%s: got %+v, want the commit %q", path, got, want)
		}
	}
	if got := workspacetest.Into[lineLog](t, r.Must(t, "vcs.log", args{"path": "a.go:1"}).Data); len(got.Commits) != 0 || got.Note != "line 1 of a.go is not committed" {
		t.Errorf("got %+v", got)
	}
	r.Refused(t, "vcs.log", args{"path": "a.go:9"}, "say who changed line 9 of a.go", "has only")
	r.Refused(t, "vcs.log", args{"path": "none.go:1"}, "none.go")
}

func TestLogOfALineOfAHiddenFileIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Hidden: []string{"secret*"}})
	r := &repo{bench: b, top: b.Dir, environ: gitEnviron(t)}
	r.git(t, "init", "--quiet")
	r.Write(t, map[string]string{"secret.txt": "one\n"})
	r.commit(t, "first")
	if got := r.Ask(t, "vcs.log", args{"path": "secret.txt:1"}, nil); !got.IsError || !strings.Contains(got.Text, "hidden") {
		t.Errorf("got %+v", got)
	}
}
