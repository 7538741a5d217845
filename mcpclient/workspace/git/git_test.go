package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// repo is a bench in a git repository.
type repo struct {
	*bench
	top     string // folder of the repository
	environ []string
}

// gitEnviron returns an environment that isolates git from this machine.
func gitEnviron(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	config := filepath.Join(home, "config")
	text := "[user]\n\tname = Ada\n\temail = ada@example.test\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "GIT_") })
	return append(environ, "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_GLOBAL="+config, "GIT_CONFIG_SYSTEM="+os.DevNull)
}

// newRepo creates a repository with the workspace in one of its folders; "" means
// its top.
func newRepo(t *testing.T, within string) *repo {
	t.Helper()
	top := t.TempDir()
	r := &repo{top: top, environ: gitEnviron(t)}
	dir := filepath.Join(top, within)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.bench = newBench(t, workspace.Config{Dir: dir, Environ: r.environ})
	r.git(t, "init", "--quiet")
	return r
}

// git runs git at the top of the repository, outside the operators.
func (r *repo) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.top, r.environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

func (r *repo) commit(t *testing.T, message string) {
	t.Helper()
	r.git(t, "add", "--all")
	r.git(t, "commit", "--quiet", "--allow-empty", "-m", message)
}

// state returns git's view of the repository, to compare with later.
func (r *repo) state(t *testing.T) string {
	t.Helper()
	return r.git(t, "status", "--porcelain=v2", "--branch", "-uall") + r.git(t, "diff", "--cached") + r.git(t, "diff")
}

type statusFile struct {
	Path, Status, From string
	Staged, Unstaged   bool
}

type statusResult struct {
	Branch, Upstream, Underway, Note string
	Ahead, Behind                    int
	Clean                            bool
	Files                            []statusFile
}

type diffFile struct {
	Path, Status, From string
	Added, Removed     int
}

type diffResult struct {
	Diff, Note     string
	Files          []diffFile
	Added, Removed int
	Truncated      bool
}

type commitResult struct {
	Hash, Branch, Subject, Note string
	Files                       []diffFile
}

func TestStatusListsChanges(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{"kept": "1", "staged": "1", "both": "1", "gone": "1", "old name": "a\nb\nc\nd\n"})
	r.commit(t, "first")
	r.Write(t, map[string]string{"staged": "2", "both": "2", "new/file": "1", "added": "1", "quote\"d": "x", "ünï": "y", "line\nbreak": "z"})
	r.git(t, "mv", "old name", "new name")
	r.git(t, "add", "staged", "both", "added")
	r.Write(t, map[string]string{"both": "3", "kept": "2"})
	if err := os.Remove(filepath.Join(r.Dir, "gone")); err != nil {
		t.Fatal(err)
	}
	got := workspacetest.Into[statusResult](t, r.Must(t, "vcs.status", nil).Data)
	want := []statusFile{
		{Path: "added", Status: "added", Staged: true},
		{Path: "both", Status: "modified", Staged: true, Unstaged: true},
		{Path: "gone", Status: "deleted"},
		{Path: "kept", Status: "modified"},
		{Path: "new name", Status: "renamed", Staged: true, From: "old name"},
		{Path: "staged", Status: "modified", Staged: true},
		{Path: "line\nbreak", Status: "untracked"},
		{Path: "new/", Status: "untracked"},
		{Path: "quote\"d", Status: "untracked"},
		{Path: "ünï", Status: "untracked"},
	}
	if got.Branch != "main" || got.Clean || !reflect.DeepEqual(got.Files, want) {
		t.Errorf("got %+v", got)
	}
	if n, err := r.Ops.Dirty(t.Context()); n != len(want) || err != nil {
		t.Errorf("got %d dirty files: %v", n, err)
	}
}

func TestStatusInStatesOfRepository(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	if got := r.Must(t, "vcs.status", nil); !strings.Contains(got.Text, "no commit yet") || got.Data["branch"] != "main" || got.Data["clean"] != true {
		t.Errorf("before the first commit: got %s", got.Text)
	}
	r.Write(t, map[string]string{"a": "1"})
	r.commit(t, "first")
	far := t.TempDir()
	r.git(t, "clone", "--quiet", "--bare", ".", far)
	r.git(t, "remote", "add", "origin", far)
	r.git(t, "fetch", "--quiet")
	r.git(t, "branch", "--quiet", "--set-upstream-to=origin/main")
	r.commit(t, "second")
	if got := workspacetest.Into[statusResult](t, r.Must(t, "vcs.status", nil).Data); got.Upstream != "origin/main" || got.Ahead != 1 || got.Behind != 0 || !got.Clean {
		t.Errorf("ahead: got %+v", got)
	}
	r.git(t, "checkout", "--quiet", "-b", "side")
	r.Write(t, map[string]string{"a": "side"})
	r.commit(t, "side")
	r.git(t, "checkout", "--quiet", "main")
	r.Write(t, map[string]string{"a": "main"})
	r.commit(t, "main")
	if out, err := exec.Command("git", "-C", r.top, "merge", "side").CombinedOutput(); err == nil {
		t.Fatalf("got no conflict: %s", out)
	}
	got := workspacetest.Into[statusResult](t, r.Must(t, "vcs.status", nil).Data)
	if got.Underway != "merge" || !reflect.DeepEqual(got.Files, []statusFile{{Path: "a", Status: "conflicted"}}) {
		t.Errorf("during a merge: got %+v", got)
	}
	if d := workspacetest.Into[diffResult](t, r.Must(t, "vcs.diff", nil).Data); len(d.Files) != 1 || d.Files[0].Status != "conflicted" {
		t.Errorf("diff during a merge: got %+v", d)
	}
	r.Refused(t, "vcs.commit", args{"message": "x"}, "merge is not finished")
	r.Refused(t, "vcs.branch", args{"name": "side"}, "merge is not finished")
	r.git(t, "merge", "--abort")
	r.git(t, "checkout", "--quiet", "--detach")
	if got := r.Must(t, "vcs.status", nil); got.Data["branch"] != "" || !strings.Contains(got.Text, "no branch is checked out") {
		t.Errorf("detached: got %s", got.Text)
	}
	r.Write(t, map[string]string{"a": "loose"})
	if got := workspacetest.Into[commitResult](t, r.Must(t, "vcs.commit", args{"message": "loose"}).Data); got.Branch != "" || !strings.Contains(got.Note, "no branch") {
		t.Errorf("commit without a branch: got %+v", got)
	}
}

func TestDiffScopes(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{".gitignore": "ignored\n", "a": "1\n", "b": "1\n", "moved": "1\n2\n3\n4\n", "bin": "\x00\x01"})
	r.commit(t, "first")
	r.git(t, "tag", "v1")
	r.Write(t, map[string]string{"a": "2\n", "b": "2\n", "new": "n\n", "ignored": "x", "bin": "\x00\x02", "sub/with blank": "s\n"})
	r.git(t, "mv", "moved", "to")
	r.git(t, "add", "a")
	before := r.state(t)
	for name, c := range map[string]struct {
		args  args
		files map[string]string // status by path
		lines [2]int
	}{
		"everything":                 {nil, map[string]string{"a": "modified", "b": "modified", "bin": "modified", "new": "added", "sub/with blank": "added", "to": "renamed"}, [2]int{4, 2}},
		"staged changes":             {args{"of": "staged"}, map[string]string{"a": "modified", "to": "renamed"}, [2]int{1, 1}},
		"unstaged changes":           {args{"of": "unstaged"}, map[string]string{"b": "modified", "bin": "modified"}, [2]int{1, 1}},
		"changes of the next commit": {args{"of": "commit"}, map[string]string{"a": "modified", "to": "renamed"}, [2]int{1, 1}},
		"one file":                   {args{"path": "b"}, map[string]string{"b": "modified"}, [2]int{1, 1}},
		"one new file":               {args{"path": "sub/with blank"}, map[string]string{"sub/with blank": "added"}, [2]int{1, 0}},
		"file since a commit":        {args{"path": "a", "ref": "v1"}, map[string]string{"a": "modified"}, [2]int{1, 1}},
		"between two commits":        {args{"ref": "v1..main"}, map[string]string{}, [2]int{}},
		"pathspec magic":             {args{"path": ":(top)a"}, map[string]string{}, [2]int{}},
		"missing file":               {args{"of": "unstaged", "path": "nothing"}, map[string]string{}, [2]int{}},
		"moved file":                 {args{"of": "staged", "path": "to"}, map[string]string{"to": "added"}, [2]int{4, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			got := workspacetest.Into[diffResult](t, r.Must(t, "vcs.diff", c.args).Data)
			files := map[string]string{}
			for _, f := range got.Files {
				files[f.Path] = f.Status
				if !strings.Contains(got.Diff, "b/"+f.Path) {
					t.Errorf("%s is not in the diff %s", f.Path, got.Diff)
				}
			}
			if !reflect.DeepEqual(files, c.files) || [2]int{got.Added, got.Removed} != c.lines || got.Truncated {
				t.Errorf("got %+v", got)
			}
		})
	}
	r.Refused(t, "vcs.diff", args{"of": "some"}, "must be all, staged")
	r.Refused(t, "vcs.diff", args{"ref": "--output=x"}, "there is no commit")
	r.Refused(t, "vcs.diff", args{"ref": "nowhere"}, "there is no commit", "nowhere")
	r.Refused(t, "vcs.diff", args{"path": "../x"}, "outside the workspace")
	if after := r.state(t); after != before {
		t.Errorf("the diff changed the repository from\n%s\nto\n%s", before, after)
	}
}

func TestDiffBeforeFirstCommitShowsAllFiles(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{"a": "1\n"})
	got := workspacetest.Into[diffResult](t, r.Must(t, "vcs.diff", nil).Data)
	if len(got.Files) != 1 || got.Files[0].Status != "added" || !strings.Contains(got.Diff, "+1") {
		t.Errorf("got %+v", got)
	}
	if got := r.Must(t, "vcs.log", nil); got.Text != "there is no commit yet" {
		t.Errorf("got log %q", got.Text)
	}
	if got := r.Must(t, "vcs.branches", nil); got.Data["current"] != "main" {
		t.Errorf("got branches %v", got.Data)
	}
}

func TestLongDiffIsCutAtALine(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.commit(t, "first")
	b := newBench(t, workspace.Config{Dir: r.Dir, Environ: r.environ, MaxOutput: 1000})
	b.Write(t, map[string]string{"long": strings.Repeat("0123456789\n", 1000)})
	got := workspacetest.Into[diffResult](t, b.Must(t, "vcs.diff", nil).Data)
	if !got.Truncated || len(got.Diff) > 1100 || !strings.HasSuffix(got.Diff, "+0123456789\n[cut: the diff is longer than this]\n") || got.Files[0].Added != 1000 {
		t.Errorf("got %+v", got)
	}
}

func TestLogReadsAnyMessage(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{"a": "1"})
	r.commit(t, "first\n\nbody with \x1f and \x1e\n\nand more")
	r.Write(t, map[string]string{"b": "1"})
	r.commit(t, "zweite Änderung: \"quoted\"")
	r.Write(t, map[string]string{"b": "2"})
	r.commit(t, "third")
	type result struct {
		Commits []struct{ Hash, Author, Date, Subject, Body string }
		Total   int
	}
	got := workspacetest.Into[result](t, r.Must(t, "vcs.log", args{"max": 2}).Data)
	if got.Total != 3 || len(got.Commits) != 2 || got.Commits[1].Subject != "zweite Änderung: \"quoted\"" || got.Commits[0].Author != "Ada" {
		t.Errorf("got %+v", got)
	}
	if got = workspacetest.Into[result](t, r.Must(t, "vcs.log", args{"path": "a"}).Data); got.Total != 1 || got.Commits[0].Body != "body with \x1f and \x1e\n\nand more" || len(got.Commits[0].Hash) != 40 || len(got.Commits[0].Date) < 20 {
		t.Errorf("got %+v", got)
	}
	if got := workspacetest.Into[result](t, r.Must(t, "vcs.log", args{"since": "2090-01-01"}).Data); got.Total != 0 || got.Commits == nil {
		t.Errorf("got %+v", got)
	}
	r.Refused(t, "vcs.log", args{"max": -1}, "1 or more")
}

func TestBranchesAreListedCreatedAndSwitched(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	r.Write(t, map[string]string{"a": "1"})
	r.commit(t, "first")
	r.Must(t, "vcs.branch", args{"name": "topic/x", "create": true})
	r.Write(t, map[string]string{"a": "topic"})
	r.commit(t, "of the topic")
	r.Must(t, "vcs.branch", args{"name": "main"})
	type result struct {
		Current  string
		Branches []struct {
			Name, Subject string
			Current       bool
		}
	}
	got := workspacetest.Into[result](t, r.Must(t, "vcs.branches", nil).Data)
	if got.Current != "main" || len(got.Branches) != 2 {
		t.Errorf("got %+v", got)
	}
	r.Write(t, map[string]string{"a": "mine"})
	r.Refused(t, "vcs.branch", args{"name": "topic/x"}, "would lose what is in a", "commit it first")
	r.Refused(t, "vcs.branch", args{"name": "none"}, "there is no branch none", "create")
	r.Refused(t, "vcs.branch", args{"name": "main", "create": true}, "exists already")
	for _, name := range []string{"-f", "--detach", "@{-1}", "a..b", "a b", "HEAD", "", "x.lock"} {
		r.Refused(t, "vcs.branch", args{"name": name, "create": true}, "cannot be the name of a branch")
	}
	r.Same(t, r.Files(t))
	if got := r.Files(t)["a"]; got != "mine" {
		t.Errorf("got file content %q", got)
	}
}

type previewResult struct {
	Diff   string
	Hashes map[string]string
}

func TestFolderWithoutRepositoryIsReported(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Environ: append(gitEnviron(t), "GIT_CEILING_DIRECTORIES="+filepath.Dir(t.TempDir()))})
	for _, tool := range []string{"vcs.status", "vcs.diff", "vcs.log", "vcs.show", "vcs.branches"} {
		b.Refused(t, tool, nil, "not a git repository", "git init")
	}
	b.Refused(t, "vcs.commit", args{"message": "m"}, "not a git repository")
	if n, err := b.Ops.Dirty(t.Context()); n != 0 || err != nil {
		t.Errorf("got %d dirty files: %v", n, err)
	}
	if err := os.Mkdir(filepath.Join(b.Dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.Refused(t, "vcs.status", nil, "not a git repository")
	b = newBench(t, workspace.Config{Dir: b.Dir, Environ: []string{"PATH=" + t.TempDir()}})
	b.Refused(t, "vcs.status", nil, "git is not installed")
	if n, err := b.Ops.Dirty(t.Context()); n != 0 || err != nil {
		t.Errorf("without git: got %d dirty files: %v", n, err)
	}
}

func TestGitVariablesOfEnvironmentAreIgnored(t *testing.T) {
	t.Parallel()
	r, other := newRepo(t, ""), newRepo(t, "")
	r.Write(t, map[string]string{"mine": "1"})
	other.Write(t, map[string]string{"other": "1"})
	b := newBench(t, workspace.Config{Dir: r.Dir, Environ: append(r.environ,
		"GIT_DIR="+filepath.Join(other.top, ".git"), "GIT_WORK_TREE="+other.top, "GIT_INDEX_FILE="+filepath.Join(other.top, "x"))})
	if got := workspacetest.Into[statusResult](t, b.Must(t, "vcs.status", nil).Data); len(got.Files) != 1 || got.Files[0].Path != "mine" {
		t.Errorf("got %+v", got)
	}
}

func TestWorkspaceInRepositorySeesOnlyItself(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "in/side")
	r.Write(t, map[string]string{"a": "1\n", "sub/b": "1\n", "../out": "1\n", "../../top": "1\n"})
	r.commit(t, "first")
	r.Write(t, map[string]string{"a": "2\n", "sub/new": "1\n", "../out": "2\n", "../../top": "2\n", "../new": "1\n"})
	status := workspacetest.Into[statusResult](t, r.Must(t, "vcs.status", nil).Data)
	if !reflect.DeepEqual(status.Files, []statusFile{{Path: "a", Status: "modified"}, {Path: "sub/new", Status: "untracked"}}) ||
		!strings.Contains(status.Note, "3 files are of") && !strings.Contains(status.Note, "3 files") {
		t.Errorf("got %+v", status)
	}
	diff := workspacetest.Into[diffResult](t, r.Must(t, "vcs.diff", nil).Data)
	if len(diff.Files) != 2 || strings.Contains(diff.Diff, "top") || strings.Contains(diff.Diff, "in/side") || !strings.Contains(diff.Diff, "+++ b/a\n") || diff.Note == "" {
		t.Errorf("got %+v", diff)
	}
	r.git(t, "add", "top", "in/out", "in/side/a")
	r.Write(t, map[string]string{"a": "3\n"})
	got := workspacetest.Into[commitResult](t, r.Must(t, "vcs.commit", args{"message": "mine"}).Data)
	if len(got.Files) != 1 || got.Files[0].Path != "a" || !strings.Contains(got.Note, "outside the workspace") {
		t.Errorf("got %+v", got)
	}
	if text := r.git(t, "show", "HEAD:in/side/a"); text != "2\n" {
		t.Errorf("got committed content %q, want the staged one", text)
	}
	if staged := r.git(t, "diff", "--cached", "--name-only"); staged != "in/out\ntop\n" {
		t.Errorf("got staged files %q", staged)
	}
	got = workspacetest.Into[commitResult](t, r.Must(t, "vcs.commit", args{"message": "the rest"}).Data)
	if len(got.Files) != 2 || got.Note == "" {
		t.Errorf("got %+v", got)
	}
	if staged := r.git(t, "diff", "--cached", "--name-only"); staged != "in/out\ntop\n" {
		t.Errorf("got staged files %q", staged)
	}
	r.nothingToCommit(t, "outside")
	if log := r.Must(t, "vcs.log", nil); !strings.HasPrefix(log.Text, got.Hash[:10]) {
		t.Errorf("got log %s", log.Text)
	}
}

func TestAllowedLogWithoutRepositoryIsEmpty(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Environ: append(gitEnviron(t), "GIT_CEILING_DIRECTORIES="+filepath.Dir(t.TempDir()))})
	b.Refused(t, "vcs.log", nil, "git init")
	if got := b.Must(t, "vcs.log", args{"allow_none": true}); len(got.Data["commits"].([]any)) != 0 || !strings.Contains(got.Text, "git init") {
		t.Errorf("%q %v", got.Text, got.Data)
	}
}
