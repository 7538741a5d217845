package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace/workspacetest"
)

// marks records runs of programs that a repository configures.
type marks struct{ at string }

func newMarks(t *testing.T) (marks, string) {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "evil")
	at := filepath.Join(dir, "ran")
	if err := os.WriteFile(script, []byte(fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>'%s'\ncat\n", at)), 0o755); err != nil {
		t.Fatal(err)
	}
	return marks{at}, script
}

func (m marks) runs() string {
	data, _ := os.ReadFile(m.at)
	return string(data)
}

func TestReadingRunsNoConfiguredPrograms(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	m, evil := newMarks(t)
	r.Write(t, map[string]string{"a": "1\n", "b": "1\n", ".gitattributes": "* filter=x diff=y\n"})
	r.commit(t, "first")
	r.Write(t, map[string]string{"a": "2\n", "new": "n\n"})
	r.git(t, "add", "a")
	r.Write(t, map[string]string{"b": "2\n"})
	for _, set := range [][2]string{
		{"core.fsmonitor", evil},
		{"core.pager", evil},
		{"core.editor", evil},
		{"core.sshCommand", evil},
		{"diff.external", evil},
		{"diff.y.command", evil},
		{"diff.y.textconv", evil},
		{"filter.x.clean", evil},
		{"filter.x.smudge", evil},
		{"filter.x.process", evil},
		{"filter.x.required", "true"},
		{"log.showSignature", "true"},
		{"gpg.program", evil},
		{"status.submoduleSummary", "true"},
		{"pager.log", evil},
		{"pager.diff", evil},
		{"pager.status", evil},
	} {
		r.git(t, "config", set[0], set[1])
	}
	hooks := filepath.Join(r.top, ".git", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"post-index-change", "pre-commit", "post-checkout", "reference-transaction", "fsmonitor-watchman"} {
		if err := os.Symlink(evil, filepath.Join(hooks, hook)); err != nil {
			t.Fatal(err)
		}
	}
	before := r.tree(t)
	for _, c := range []struct {
		tool string
		args args
	}{
		{"vcs.status", nil},
		{"vcs.diff", nil},
		{"vcs.diff", args{"of": "staged"}},
		{"vcs.diff", args{"of": "unstaged"}},
		{"vcs.diff", args{"of": "commit"}},
		{"vcs.diff", args{"ref": "HEAD"}},
		{"vcs.log", nil},
		{"vcs.log", args{"path": "b:1"}},
		{"vcs.show", nil},
		{"vcs.branches", nil},
	} {
		if got := r.Must(t, c.tool, c.args); m.runs() != "" {
			t.Fatalf("%s %v ran %q: %s", c.tool, c.args, m.runs(), got.Text)
		}
	}
	for _, a := range []args{{"message": "m"}, {"message": "m", "all": true}, {"message": "m", "paths": []string{"b", "new"}}} {
		if got := r.Ask(t, "vcs.commit", a, map[string]any{builtin.MetaPreview: true}); got.IsError || m.runs() != "" {
			t.Fatalf("the preview of %v ran %q: %s", a, m.runs(), got.Text)
		}
	}
	if after := r.tree(t); !reflect.DeepEqual(before, after) {
		t.Errorf("reading changed the folder from %v to %v", before, after)
	}
	r.git(t, "config", "filter.a=b.clean", evil)
	r.Refused(t, "vcs.status", nil, "filter.a=b", "remove it from the configuration")
}

// A commit of nothing passes no gate, so it must run nothing that the repository
// configures.
func TestCommitOfNothingRunsNoConfiguredPrograms(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	m, evil := newMarks(t)
	r.Write(t, map[string]string{"a": "1\n", ".gitattributes": "* filter=x\n"})
	r.commit(t, "first")
	r.git(t, "config", "core.fsmonitor", evil)
	r.git(t, "config", "filter.x.clean", evil)
	r.Write(t, map[string]string{"a": "1\n"}) // git reads it again
	got := r.Ask(t, "vcs.commit", args{"message": "m"}, map[string]any{builtin.MetaHashes: map[string]any{}})
	if got.IsError || !strings.Contains(got.Text, "nothing to commit") {
		t.Errorf("got %s", got.Text)
	}
	if m.runs() != "" {
		t.Errorf("it ran %q", m.runs())
	}
}

// tree returns every file of the repository with its size and time.
func (r *repo) tree(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.Walk(r.top, func(at string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			all[at] = fmt.Sprint(info.Size(), info.Mode())
			if !strings.Contains(at, "/.git/objects/") { // git touches objects that it would write again
				all[at] += info.ModTime().String()
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSubmodulesAreNotRead(t *testing.T) {
	t.Parallel()
	r, other := newRepo(t, ""), newRepo(t, "")
	other.Write(t, map[string]string{"x": "1"})
	other.commit(t, "of the other")
	r.git(t, "submodule", "--quiet", "add", other.top, "sub")
	r.commit(t, "first")
	m, evil := newMarks(t)
	r.git(t, "-C", "sub", "config", "core.fsmonitor", evil)
	r.git(t, "-C", "sub", "config", "filter.x.clean", evil)
	r.Write(t, map[string]string{"sub/x": "2", "sub/.gitattributes": "* filter=x\n", "sub/new": "1"})
	if got := workspacetest.Into[statusResult](t, r.Must(t, "vcs.status", nil).Data); !got.Clean {
		t.Errorf("got %+v", got)
	}
	if got := workspacetest.Into[diffResult](t, r.Must(t, "vcs.diff", nil).Data); len(got.Files) != 0 {
		t.Errorf("got %+v", got)
	}
	r.nothingToCommit(t, "")
	if m.runs() != "" {
		t.Errorf("reading ran %q", m.runs())
	}
	r.git(t, "-C", "sub", "-c", "user.name=a", "-c", "user.email=b", "-c", "core.fsmonitor=false", "commit", "--quiet", "--allow-empty", "-m", "moved")
	if err := os.RemoveAll(m.at); err != nil { // left by the test's own commit
		t.Fatal(err)
	}
	got := r.Ask(t, "vcs.commit", args{"message": "m"}, map[string]any{builtin.MetaPreview: true})
	if diff := workspacetest.Into[previewResult](t, got.Data).Diff; !strings.Contains(diff, "+Subproject commit ") {
		t.Errorf("got preview %s", got.Text)
	}
	if m.runs() != "" {
		t.Errorf("reading ran %q", m.runs())
	}
	if got := workspacetest.Into[commitResult](t, r.Must(t, "vcs.commit", args{"message": "m"}).Data); len(got.Files) != 1 || got.Files[0].Path != "sub" {
		t.Errorf("got %+v", got)
	}
	r.git(t, "config", "submodule.recurse", "true")
	r.Write(t, map[string]string{"more": "1"})
	r.Must(t, "vcs.branch", args{"name": "topic", "create": true})
	r.git(t, "-C", "sub", "-c", "user.name=a", "-c", "user.email=b", "-c", "core.fsmonitor=false", "commit", "--quiet", "--allow-empty", "-m", "again")
	if err := os.RemoveAll(m.at); err != nil {
		t.Fatal(err)
	}
	r.Must(t, "vcs.commit", args{"message": "m"})
	r.Must(t, "vcs.branch", args{"name": "main"})
	if m.runs() != "" {
		t.Errorf("commits and branches ran %q", m.runs())
	}
}
