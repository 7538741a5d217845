package git_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

type showResult struct {
	Hash, Author, Date, Subject, Body string
	diffResult
}

// show returns the result of vcs.show, and its text.
func (r *repo) show(t *testing.T, a args) (showResult, string) {
	t.Helper()
	got := r.Must(t, "vcs.show", a)
	return workspacetest.Into[showResult](t, got.Data), got.Text
}

func TestShowTellsWhatACommitChangedAndWhy(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Refused(t, "vcs.show", nil, "no commit yet")
	r.Write(t, map[string]string{"a": "1\n", "b": "1\n"})
	r.commit(t, "Start")
	r.git(t, "tag", "v1")
	body := "Two users asked for it.\n\n" + strings.Repeat("Why, in many words. ", 400)
	r.Write(t, map[string]string{"a": "2\n", "LICENSE": "free\nand open\n"})
	r.commit(t, "Add a license\n\n"+body)
	r.Write(t, map[string]string{"b": "not committed\n"})

	got, text := r.show(t, nil)
	if got.Subject != "Add a license" || got.Body != strings.TrimSpace(body) || got.Author != "Ada" || len(got.Hash) != 40 || len(got.Date) < 20 {
		t.Errorf("got %+v", got)
	}
	if got.Added != 3 || got.Removed != 1 || len(got.Files) != 2 || got.Files[0].Path != "LICENSE" || got.Files[0].Added != 2 || !strings.Contains(got.Diff, "+and open") || got.Truncated {
		t.Errorf("got %+v", got)
	}
	for _, part := range []string{got.Hash, "Ada", "Add a license\n\nTwo users asked", "in many words.\n", "2 files changed, 3 added and 1 removed", "+and open"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}

	hash := got.Hash
	for name, c := range map[string]struct {
		args    args
		subject string
		files   map[string]string // status by path
	}{
		"a hash":                    {args{"ref": hash[:10]}, "Add a license", map[string]string{"LICENSE": "added", "a": "modified"}},
		"a branch":                  {args{"ref": "main"}, "Add a license", map[string]string{"LICENSE": "added", "a": "modified"}},
		"a tag of the first commit": {args{"ref": "v1"}, "Start", map[string]string{"a": "added", "b": "added"}},
		"the commit before":         {args{"ref": "HEAD~1"}, "Start", map[string]string{"a": "added", "b": "added"}},
		"one file":                  {args{"path": "a"}, "Add a license", map[string]string{"a": "modified"}},
		"a file it did not change":  {args{"path": "b"}, "Add a license", map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, text := r.show(t, c.args)
			files := map[string]string{}
			for _, f := range got.Files {
				files[f.Path] = f.Status
			}
			if got.Subject != c.subject || !maps.Equal(files, c.files) || len(files) == 0 && !strings.Contains(text, "changed nothing in b") {
				t.Errorf("got %+v: %s", got, text)
			}
		})
	}
	r.Refused(t, "vcs.show", args{"ref": "nowhere"}, "there is no commit", "nowhere", "vcs.log")
	r.Refused(t, "vcs.show", args{"ref": "--output=x"}, "there is no commit")
	r.Refused(t, "vcs.show", args{"ref": "v1..main"}, "one commit", "vcs.diff")
	r.Refused(t, "vcs.show", args{"path": "../x"}, "outside the workspace")
}

func TestShowSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "sub")
	r.Write(t, map[string]string{"a": "1\n"})
	r.commit(t, "first")
	r.Write(t, map[string]string{"long": strings.Repeat("0123456789\n", 1000), "../other": "x\n"})
	r.commit(t, "second")
	b := newBench(t, workspace.Config{Dir: r.Dir, Environ: r.environ, MaxOutput: 1000})
	got := workspacetest.Into[showResult](t, b.Must(t, "vcs.show", nil).Data)
	if len(got.Files) != 1 || got.Files[0].Added != 1000 || !got.Truncated || !strings.HasSuffix(got.Diff, "[cut: the diff is longer than this]\n") ||
		!strings.Contains(got.Note, "1 file of the repository outside the workspace") {
		t.Errorf("got %+v", got)
	}
}

func TestShowComparesAMergeWithItsFirstParent(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.commit(t, "first")
	r.git(t, "checkout", "--quiet", "-b", "side")
	r.Write(t, map[string]string{"side": "1\n"})
	r.commit(t, "side")
	r.git(t, "checkout", "--quiet", "main")
	r.Write(t, map[string]string{"main": "1\n"})
	r.commit(t, "main")
	r.git(t, "merge", "--quiet", "--no-edit", "side")
	if got, _ := r.show(t, nil); len(got.Files) != 1 || got.Files[0].Path != "side" || !strings.Contains(got.Note, "this is a merge") {
		t.Errorf("got %+v", got)
	}
}

func TestDiffOfACommitShowsThatCommit(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{"a": "1\n"})
	r.commit(t, "first")
	r.Write(t, map[string]string{"a": "2\n"})
	r.commit(t, "second")
	for _, a := range []args{{"of": "commit", "ref": "HEAD"}, {"of": "commit", "ref": "main", "path": "a"}, {"of": "commit", "ref": "HEAD~1..HEAD"}} {
		if got := workspacetest.Into[diffResult](t, r.Must(t, "vcs.diff", a).Data); got.Added != 1 || got.Removed != 1 || got.Note != "" {
			t.Errorf("%v: got %+v", a, got)
		}
	}
	for _, a := range []args{nil, {"of": "commit"}, {"ref": "HEAD"}} {
		if got := r.Must(t, "vcs.diff", a); !strings.Contains(fmt.Sprint(got.Data["note"]), "vcs.show shows what a commit changed") {
			t.Errorf("%v: got %v", a, got.Data)
		}
	}
	r.Refused(t, "vcs.diff", args{"of": "staged", "ref": "HEAD"}, "leave out of")
}

func TestPathsAndRefsAreTakenAsTheyAreMeant(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{"order/a.go": "1\n", "README.md": "1\n"})
	r.commit(t, "Start")
	r.Write(t, map[string]string{"order/a.go": "2\n"})
	r.commit(t, "Change a")
	for _, c := range []struct {
		tool string
		args args
		text string
	}{
		{"vcs.show", args{"ref": "last"}, "Change a"},
		{"vcs.show", args{"ref": "latest commit"}, "Change a"},
		{"vcs.show", args{"path": "order/b.go"}, "similar: order/a.go"},
		{"vcs.log", args{"path": "order/*.go"}, "Change a"},
		{"vcs.log", args{"path": "/order"}, "Change a"},
		{"vcs.log", args{"path": "ordr/a.go"}, "similar: order/a.go"},
		{"vcs.diff", args{"path": "ordr/a.go"}, "similar: order/a.go"},
	} {
		if got := r.Must(t, c.tool, c.args); !strings.Contains(got.Text, c.text) {
			t.Errorf("%s %v: got %q, want %q in it", c.tool, c.args, got.Text, c.text)
		}
	}
	r.git(t, "branch", "last", "HEAD~1")
	if got := r.Must(t, "vcs.show", args{"ref": "last"}); !strings.Contains(got.Text, "Start") {
		t.Errorf("a branch is not taken by its name: %s", got.Text)
	}
}
