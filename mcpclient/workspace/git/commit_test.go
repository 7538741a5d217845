package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

func TestCommitTakesStagedFilesOrEverything(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   args
		files  map[string]string // in the commit, by path
		staged string            // remaining status of the index
		left   string            // remaining status of the work tree
	}{
		"staged files":    {args{}, map[string]string{"staged": "modified", "new staged": "added", "gone": "deleted"}, "", " M other\n M staged\n?? new\n"},
		"everything":      {args{"all": true}, map[string]string{"staged": "modified", "new staged": "added", "gone": "deleted", "other": "modified", "new": "added"}, "", ""},
		"one staged file": {args{"paths": []string{"staged"}}, map[string]string{"staged": "modified"}, "D  gone\nA  new staged\n", " M other\n?? new\n"},
		"unstaged files":  {args{"paths": []string{"other", "new"}}, map[string]string{"other": "modified", "new": "added"}, "D  gone\nA  new staged\nMM staged\n", ""},
		"deleted file":    {args{"paths": []string{"gone"}}, map[string]string{"gone": "deleted"}, "A  new staged\nMM staged\n", " M other\n?? new\n"},
		"whole folder":    {args{"paths": []string{"."}}, map[string]string{"staged": "modified", "new staged": "added", "gone": "deleted", "other": "modified", "new": "added"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, "")
			r.Write(t, map[string]string{"staged": "1\n", "gone": "with\nother\nlines\n", "other": "1\n", ".gitignore": "ignored\n"})
			r.commit(t, "first")
			r.Write(t, map[string]string{"staged": "2\n", "new staged": "1\n", "ignored": "x"})
			r.git(t, "rm", "--quiet", "gone")
			r.git(t, "add", "staged", "new staged")
			r.Write(t, map[string]string{"staged": "3\n", "other": "2\n", "new": "1\n"})
			before := r.state(t)
			c.args["message"] = "a subject: \"quoted\" # 1\n\n# no comment\nbody\n"
			shown := r.Ask(t, "vcs.commit", c.args, map[string]any{builtin.MetaPreview: true})
			preview := workspacetest.Into[previewResult](t, shown.Data)
			if after := r.state(t); shown.IsError || after != before {
				t.Fatalf("the preview changed the state from %s to %s: %s", before, after, shown.Text)
			}
			for at := range c.files {
				if _, ok := preview.Hashes[at]; !ok || len(preview.Hashes) != len(c.files) || !strings.Contains(preview.Diff, "a/"+at) {
					t.Errorf("%s is not in the preview %+v", at, preview)
				}
			}
			got := r.Ask(t, "vcs.commit", c.args, map[string]any{builtin.MetaHashes: preview.Hashes})
			if got.IsError {
				t.Fatal(got.Text)
			}
			res := workspacetest.Into[commitResult](t, got.Data)
			files := map[string]string{}
			for _, f := range res.Files {
				files[f.Path] = f.Status
			}
			if !reflect.DeepEqual(files, c.files) || res.Branch != "main" || res.Subject != `a subject: "quoted" # 1` {
				t.Errorf("got %+v", res)
			}
			if head := strings.TrimSpace(r.git(t, "rev-parse", "HEAD")); head != res.Hash {
				t.Errorf("got HEAD %s, want %s", head, res.Hash)
			}
			if body := r.git(t, "log", "-1", "--format=%b"); !strings.Contains(body, "# no comment\nbody") {
				t.Errorf("got body %q", body)
			}
			var staged, left string
			for line := range strings.Lines(r.git(t, "status", "--porcelain", "-uall")) {
				line = strings.ReplaceAll(line, `"`, "")
				if line[0] == ' ' || line[0] == '?' { // not staged
					left += line
				} else {
					staged += line
				}
			}
			if staged != c.staged || left != c.left {
				t.Errorf("got status %q staged and %q not staged", staged, left)
			}
		})
	}
}

func TestCommitRequiresApprovedContent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  map[string]string
		wantErr string
	}{
		"changed file":      {map[string]string{"a": "3"}, "a changed since it was approved"},
		"new file":          {map[string]string{"c": "1"}, "c was not in the diff that was approved"},
		"reverted file":     {map[string]string{"a": "1"}, "a was in the diff that was approved and is no longer"},
		"other file staged": {map[string]string{"b": "staged"}, "is no longer to be committed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, "")
			r.Write(t, map[string]string{"a": "1", "b": "1"})
			r.commit(t, "first")
			r.Write(t, map[string]string{"a": "2", "b": "2"})
			preview := workspacetest.Into[previewResult](t, r.Ask(t, "vcs.commit", args{"message": "m"}, map[string]any{builtin.MetaPreview: true}).Data)
			r.Write(t, c.change)
			if c.change["b"] != "" {
				r.Write(t, map[string]string{"b": "2"})
				r.git(t, "add", "b")
			}
			before := r.state(t)
			got := r.Ask(t, "vcs.commit", args{"message": "m"}, map[string]any{builtin.MetaHashes: preview.Hashes})
			if !got.IsError || !strings.Contains(got.Text, c.wantErr) {
				t.Errorf("got %s", got.Text)
			}
			if after := r.state(t); after != before {
				t.Errorf("the repository changed from %s to %s", before, after)
			}
		})
	}
}

func TestFailedCommitLeavesNothingStaged(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{"a": "1"})
	r.commit(t, "first")
	r.Write(t, map[string]string{"a": "2", "new": "1"})
	hook := filepath.Join(r.top, ".git", "hooks", "pre-commit")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho 'the hook says no' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := r.state(t)
	r.Refused(t, "vcs.commit", args{"message": "m"}, "nothing was committed", "the hook says no")
	if after := r.state(t); after != before {
		t.Errorf("the repository changed from %s to %s", before, after)
	}
}

func TestFilesAddedByHookAreCommitted(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{"a": "1"})
	r.commit(t, "first")
	r.Write(t, map[string]string{"a": "2", "b": "unformatted"})
	r.git(t, "add", "a", "b")
	hook := filepath.Join(r.top, ".git", "hooks", "pre-commit")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho formatted >b\necho more >c\ngit add b c\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	got := workspacetest.Into[commitResult](t, r.Must(t, "vcs.commit", args{"message": "m"}).Data)
	if len(got.Files) != 3 || got.Note != "" {
		t.Errorf("got %+v", got)
	}
	if state := r.git(t, "status", "--porcelain"); state != "" {
		t.Errorf("got status %q", state)
	}
	if text := r.git(t, "show", "HEAD:b"); text != "formatted\n" {
		t.Errorf("got committed content %q", text)
	}
}

func TestCommitErrors(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{"a": "1", "ignored": "1", ".gitignore": "ignored\n"})
	r.Refused(t, "vcs.commit", args{"message": " \n"}, "message", "empty")
	r.Refused(t, "vcs.commit", args{"message": "m", "all": true, "paths": []string{"a"}}, "not both")
	r.Refused(t, "vcs.commit", args{"message": "m", "paths": []string{"none"}}, "none", "did not match")
	r.Refused(t, "vcs.commit", args{"message": "m", "paths": []string{"ignored"}}, "ignored", "did not match")
	r.Refused(t, "vcs.commit", args{"message": "m", "paths": []string{"../x"}}, "outside the workspace")
	r.git(t, "config", "user.name", "")
	r.Refused(t, "vcs.commit", args{"message": "m"}, "git does not know who commits", "user.name")
	r.git(t, "config", "--unset", "user.name")
	if got := workspacetest.Into[commitResult](t, r.Must(t, "vcs.commit", args{"message": "m"}).Data); len(got.Files) != 2 {
		t.Errorf("first commit: got %+v", got)
	}
}

func TestCommitWithoutChangesIsAnAnswer(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	for range 2 {
		r.nothingToCommit(t, "no file differs")
		r.Write(t, map[string]string{"a": "1"})
		r.Must(t, "vcs.commit", args{"message": "m"})
	}
}

// TestCommitOfNothingIsBoundToNothing: a preview says that the commit would do nothing,
// and a call that was approved for that reason commits nothing else.
func TestCommitOfNothingIsBoundToNothing(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{"a": "1"})
	r.commit(t, "first")
	preview := r.Ask(t, "vcs.commit", args{"message": "m"}, workspacetest.Preview)
	hashes, ok := preview.Data["hashes"].(map[string]any)
	if !ok || len(hashes) != 0 || preview.Data["nothing"] != true {
		t.Fatalf("got %+v", preview.Data)
	}
	r.Write(t, map[string]string{"a": "2"})
	got := r.Ask(t, "vcs.commit", args{"message": "m"}, map[string]any{builtin.MetaHashes: map[string]any{}})
	if !got.IsError || !strings.Contains(got.Text, "a changed after there was nothing to commit") {
		t.Errorf("got %s", got.Text)
	}
	if preview = r.Ask(t, "vcs.commit", args{"message": "m"}, workspacetest.Preview); preview.Data["nothing"] != nil {
		t.Errorf("a change is left: %+v", preview.Data)
	}
}

// nothingToCommit calls vcs.commit where it has nothing to commit.
func (r *repo) nothingToCommit(t *testing.T, note string) {
	t.Helper()
	before, _ := exec.Command("git", "-C", r.top, "rev-parse", "HEAD").Output()
	got := workspacetest.Into[commitResult](t, r.Must(t, "vcs.commit", args{"message": "m"}).Data)
	if got.Hash != "" || len(got.Files) != 0 || !strings.Contains(got.Note, "nothing to commit") || !strings.Contains(got.Note, note) {
		t.Errorf("got %+v", got)
	}
	if after, _ := exec.Command("git", "-C", r.top, "rev-parse", "HEAD").Output(); string(after) != string(before) {
		t.Errorf("HEAD moved from %s to %s", before, after)
	}
}

func TestCommitOmitsNestedRepository(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{"a": "1", "in/x": "1"})
	if out, err := exec.Command("git", "-C", filepath.Join(r.top, "in"), "init", "--quiet").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := workspacetest.Into[commitResult](t, r.Must(t, "vcs.commit", args{"message": "m"}).Data); len(got.Files) != 1 || !strings.Contains(got.Note, "in is a repository of its own") {
		t.Errorf("got %+v", got)
	}
	r.nothingToCommit(t, "in is a repository of its own")
}

func TestLinkedWorkTree(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{"a": "1"})
	r.commit(t, "first")
	tree := filepath.Join(t.TempDir(), "tree: two")
	r.git(t, "worktree", "add", "--quiet", "-b", "side", tree)
	b := newBench(t, workspace.Config{Dir: tree, Environ: r.environ})
	b.Write(t, map[string]string{"a": "2", "b": "1"})
	if got := workspacetest.Into[diffResult](t, b.Must(t, "vcs.diff", nil).Data); len(got.Files) != 2 {
		t.Errorf("got %+v", got)
	}
	preview := b.Ask(t, "vcs.commit", args{"message": "m"}, map[string]any{builtin.MetaPreview: true})
	if len(workspacetest.Into[previewResult](t, preview.Data).Hashes) != 2 {
		t.Errorf("got %s", preview.Text)
	}
	if got := workspacetest.Into[commitResult](t, b.Must(t, "vcs.commit", args{"message": "m"}).Data); got.Branch != "side" || len(got.Files) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestPushGoesToUpstream(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	far := filepath.Join(t.TempDir(), "far.git")
	r.Refused(t, "vcs.push", nil, "no branch main with a commit")
	r.Write(t, map[string]string{"a": "1"})
	r.commit(t, "first")
	r.Refused(t, "vcs.push", nil, "no remote", "git remote add")
	r.git(t, "init", "--quiet", "--bare", far)
	r.git(t, "remote", "add", "origin", far)
	r.Refused(t, "vcs.push", nil, "follows no branch", "set_upstream", "origin")
	r.Refused(t, "vcs.push", args{"remote": "ext::sh -c true"}, "there is no remote", "there is origin")
	r.Refused(t, "vcs.push", args{"remote": far}, "there is no remote")
	for _, branch := range []string{"+main", "main:other", "--force", ":main"} {
		r.Refused(t, "vcs.push", args{"remote": "origin", "branch": branch}, "branch")
	}
	type result struct {
		Remote, Branch, To string
		UpToDate           bool `json:"up_to_date"`
	}
	if got := workspacetest.Into[result](t, r.Must(t, "vcs.push", args{"set_upstream": true}).Data); got != (result{Remote: "origin", Branch: "main", To: "main"}) {
		t.Errorf("got %+v", got)
	}
	if got := workspacetest.Into[result](t, r.Must(t, "vcs.push", nil).Data); !got.UpToDate {
		t.Errorf("got %+v", got)
	}
	r.commit(t, "second")
	r.Must(t, "vcs.push", nil)
	r.git(t, "reset", "--quiet", "--hard", "HEAD~1")
	r.commit(t, "another second")
	// Configuration that forces pushes is ignored.
	r.git(t, "config", "remote.origin.push", "+refs/heads/*:refs/heads/*")
	tip := r.git(t, "--git-dir="+far, "rev-parse", "main")
	r.Refused(t, "vcs.push", nil, "has commits that are not here", "nothing is pushed by force")
	if now := r.git(t, "--git-dir="+far, "rev-parse", "main"); now != tip {
		t.Errorf("the remote changed from %s to %s", tip, now)
	}
	r.git(t, "checkout", "--quiet", "--detach")
	r.Refused(t, "vcs.push", nil, "no branch is checked out")
}

func TestRefusalsOfSSHSayWhatToDo(t *testing.T) {
	for said, want := range map[string]string{
		"Host key verification failed.":                             "ssh does not know the host of origin, and replan confirms no host key; push once with git itself",
		"git@host: Permission denied (publickey).":                  "origin denied access to git, and replan cannot ask for a password",
		"ssh: connect to host host port 22: Network is unreachable": "git could not push to origin: connect to host host port 22: Network is unreachable; Could not read from remote repository",
	} {
		workspacetest.Fake(t, "ssh", "echo '"+said+"' >&2; exit 255\n")
		r := newRepo(t, "")
		r.Write(t, map[string]string{"a": "1"})
		r.commit(t, "first")
		r.git(t, "remote", "add", "origin", "ssh://git@host/x.git")
		r.Refused(t, "vcs.push", args{"remote": "origin"}, want)
	}
}
