package checkout_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"replan/agent/remote"
	"replan/distributed/checkout"
	"replan/distributed/records"
)

const run = "r-1"

// git runs git in a folder as if nothing were configured.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// write writes a file and the folders above it.
func write(t testing.TB, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// history is a commit with a few files, as git exports it.
const history = `commit refs/heads/main
committer Ada <ada@example.com> 1700000000 +0000
data 5
first
M 644 inline README
data 4
one

M 644 inline old
data 14
to be removed

M 644 inline tool.sh
data 10
#!/bin/sh

M 644 inline win.txt
data 4
a
b

M 644 inline .gitattributes
data 38
win.txt text eol=crlf
*.bin filter=lfs
M 644 inline .gitignore
data 6
*.log

`

// origin makes a bare repository with a few files.
func origin(t testing.TB) (bare string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	bare = filepath.Join(t.TempDir(), "origin.git")
	git(t, os.TempDir(), "init", "-q", "--bare", "--template=", bare)
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = bare, strings.NewReader(history)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v: %s", err, out)
	}
	return bare
}

// user makes a folder from which a person pushes to a repository.
func user(t testing.TB, bare string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "clone", "-q", bare, ".")
	return dir
}

// commit commits and pushes all files of a folder.
func commit(t testing.TB, user, message string) string {
	t.Helper()
	git(t, user, "add", "-A")
	git(t, user, "commit", "-q", "-m", message)
	git(t, user, "push", "-q", "origin", "HEAD")
	return git(t, user, "rev-parse", "HEAD")
}

func database(t testing.TB) *records.Database {
	t.Helper()
	d, err := records.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := d.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

func open(t testing.TB, cache string, source remote.Source, kept checkout.Snapshots) *checkout.Checkout {
	t.Helper()
	c, err := checkout.Open(t.Context(), cache, source, run, kept)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func snapshot(t testing.TB, c *checkout.Checkout) {
	t.Helper()
	if err := c.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func handBack(t testing.TB, c *checkout.Checkout) checkout.Changes {
	t.Helper()
	changes, err := c.HandBack(t.Context(), "Add things\n\nRun r-1")
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// tree returns the files of a folder: mode and content, or target, by path.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var content []byte
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(at)
			found[strings.TrimPrefix(at, dir)] = "link to " + target
			return err
		}
		content, err = os.ReadFile(at)
		found[strings.TrimPrefix(at, dir)] = fmt.Sprintf("%s %q", info.Mode(), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func wantTree(t testing.TB, dir string, want map[string]string) {
	t.Helper()
	got := tree(t, dir)
	if maps.Equal(got, want) {
		return
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s is %s, not %s", name, got[name], want[name])
		}
	}
	for name := range got {
		if want[name] == "" {
			t.Errorf("%s should not be there", name)
		}
	}
}

func TestRunBeginsWithItsRevision(t *testing.T) {
	bare := origin(t)
	user := user(t, bare)
	first := git(t, user, "rev-parse", "HEAD")
	git(t, user, "tag", "v1")
	git(t, user, "push", "-q", "origin", "v1")
	cache, kept := t.TempDir(), database(t)
	read := func(revision string) string {
		t.Helper()
		c := open(t, cache, remote.Source{Repository: bare, Revision: revision}, kept)
		text, err := os.ReadFile(filepath.Join(c.Dir(), "README"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := read(""); got != "one\n" {
		t.Errorf("the default branch has %q", got)
	}
	write(t, user, "README", "two\n")
	commit(t, user, "second")
	for revision, want := range map[string]string{"": "two\n", "main": "two\n", "v1": "one\n", first[:10]: "one\n"} {
		if got := read(revision); got != want {
			t.Errorf("%q has %q, not %q", revision, got, want)
		}
	}
	if _, err := checkout.Open(t.Context(), cache, remote.Source{Repository: bare, Revision: "nothing"}, run, kept); err == nil || !strings.Contains(err.Error(), "find the revision nothing") {
		t.Errorf("a revision that does not exist gives %v", err)
	}
}

func TestCommitThatNoBranchReachesIsCheckedOut(t *testing.T) {
	bare := origin(t)
	user := user(t, bare)
	write(t, user, "README", "lost\n")
	lost := commit(t, user, "second")
	git(t, user, "reset", "-q", "--hard", "HEAD~1")
	git(t, user, "push", "-q", "--force", "origin", "HEAD")
	c := open(t, t.TempDir(), remote.Source{Repository: bare, Revision: lost}, database(t))
	if text, err := os.ReadFile(filepath.Join(c.Dir(), "README")); err != nil || string(text) != "lost\n" {
		t.Errorf("the commit has %q, %v", text, err)
	}
}

func TestWorkersShareACloneEvenAfterOneWasKilled(t *testing.T) {
	bare := origin(t)
	user := user(t, bare)
	cache, kept := t.TempDir(), database(t)
	open(t, cache, remote.Source{Repository: bare}, kept)
	clones, err := filepath.Glob(filepath.Join(cache, "repositories", "*", "git"))
	if err != nil || len(clones) != 1 {
		t.Fatalf("the clones are %q, %v", clones, err)
	}
	for _, lock := range []string{"packed-refs.lock", "config.lock", "refs/heads/main.lock"} {
		write(t, clones[0], lock, "")
	}
	write(t, user, "README", "two\n")
	commit(t, user, "second")
	var all errgroup.Group
	for range 3 {
		all.Go(func() error {
			c, err := checkout.Open(t.Context(), cache, remote.Source{Repository: bare}, run, kept)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(filepath.Join(c.Dir(), "README"))
			if err == nil && string(text) != "two\n" {
				err = fmt.Errorf("a checkout has %q", text)
			}
			return errors.Join(err, c.Close())
		})
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
}

// change changes a checkout in all ways that a snapshot keeps.
func change(t testing.TB, dir string) {
	t.Helper()
	write(t, dir, "committed", "by the run\n")
	git(t, dir, "add", "committed")
	git(t, dir, "commit", "-q", "-m", "work")
	git(t, dir, "branch", "other", "HEAD~1")
	write(t, dir, "README", "changed\n")
	write(t, dir, "new/file with \"quotes\" and ü", "new\n")
	write(t, dir, "staged", "staged\n")
	git(t, dir, "add", "staged")
	write(t, dir, "win.txt", "mixed\r\nline\nends\n")
	write(t, dir, "data.bin", "\x00\xff")
	write(t, dir, "forced.log", "ignored, but tracked\n")
	git(t, dir, "add", "-f", "forced.log")
	remove(t, dir, "old")
	if err := os.Chmod(filepath.Join(dir, "tool.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "README", "dangling": "/nowhere", "up": ".."} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnotherWorkerRestoresWhatARunChanged(t *testing.T) {
	bare := origin(t)
	user := user(t, bare)
	kept := database(t)
	source := remote.Source{Repository: bare, Revision: "main"}
	c := open(t, t.TempDir(), source, kept)
	change(t, c.Dir())
	status := git(t, c.Dir(), "diff", "--cached")
	snapshot(t, c)
	if now := git(t, c.Dir(), "diff", "--cached"); now != status {
		t.Errorf("the snapshot changed what is staged to %q", now)
	}
	want, head, all := tree(t, c.Dir()), git(t, c.Dir(), "rev-parse", "HEAD"), git(t, c.Dir(), "branch", "-v")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Dir()); !os.IsNotExist(err) {
		t.Errorf("the checkout is still there: %v", err)
	}

	write(t, user, "README", "the branch moves on\n")
	commit(t, user, "second")
	again := open(t, t.TempDir(), source, kept)
	wantTree(t, again.Dir(), want)
	if got := git(t, again.Dir(), "rev-parse", "HEAD"); got != head {
		t.Errorf("HEAD is %s, not %s", got, head)
	}
	if got := git(t, again.Dir(), "branch", "-v"); got != all {
		t.Errorf("the branches are\n%s\nnot\n%s", got, all)
	}
	git(t, again.Dir(), "fsck", "--strict")

	// What is restored is changed, kept and restored once more.
	write(t, again.Dir(), "README", "again\n")
	remove(t, again.Dir(), "link")
	git(t, again.Dir(), "checkout", "-q", "--detach")
	git(t, again.Dir(), "commit", "-q", "-a", "-m", "detached")
	snapshot(t, again)
	want, head = tree(t, again.Dir()), git(t, again.Dir(), "rev-parse", "HEAD")
	third := open(t, t.TempDir(), source, kept)
	wantTree(t, third.Dir(), want)
	if got := git(t, third.Dir(), "rev-parse", "--abbrev-ref", "HEAD") + git(t, third.Dir(), "rev-parse", "HEAD"); got != "HEAD"+head {
		t.Errorf("HEAD is %s, not detached at %s", got, head)
	}
}

func TestRunIsRestoredAfterItsCommitLeftTheBranch(t *testing.T) {
	bare := origin(t)
	user := user(t, bare)
	write(t, user, "README", "lost\n")
	commit(t, user, "second")
	kept := database(t)
	c := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	write(t, c.Dir(), "new", "new\n")
	snapshot(t, c)
	git(t, user, "reset", "-q", "--hard", "HEAD~1")
	git(t, user, "push", "-q", "--force", "origin", "HEAD")
	again := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	wantTree(t, again.Dir(), tree(t, c.Dir()))

	git(t, bare, "reflog", "expire", "--expire=now", "--all")
	git(t, bare, "gc", "-q", "--prune=now")
	_, err := checkout.Open(t.Context(), t.TempDir(), remote.Source{Repository: bare}, run, kept)
	if err == nil || !strings.Contains(err.Error(), "restore the run r-1") {
		t.Errorf("a run whose commit is gone gives %v", err)
	}
}

// counted counts what is saved.
type counted struct {
	checkout.Snapshots
	saved int
}

func (c *counted) SaveSnapshot(ctx context.Context, run string, bundle []byte) error {
	c.saved++
	return c.Snapshots.SaveSnapshot(ctx, run, bundle)
}

func TestSnapshotIsSavedOnlyAfterChanges(t *testing.T) {
	bare := origin(t)
	kept := &counted{Snapshots: database(t)}
	c := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	wantSaved := func(want int, when string) {
		t.Helper()
		snapshot(t, c)
		if kept.saved != want {
			t.Errorf("%s, %d snapshots were saved, not %d", when, kept.saved, want)
		}
	}
	git(t, c.Dir(), "rm", "-q", "--cached", "win.txt")
	git(t, c.Dir(), "reset", "-q")
	write(t, c.Dir(), "ignored.log", "x")
	remove(t, c.Dir(), "win.txt")
	wantSaved(1, "after a change")
	wantSaved(1, "without a change")
	write(t, c.Dir(), "new", "new\n")
	wantSaved(2, "after a new file")
	c = open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	wantSaved(2, "in a restored checkout")
	git(t, c.Dir(), "branch", "other")
	wantSaved(3, "after a new branch")
}

func TestEmptyFolderIsKeptToo(t *testing.T) {
	origin(t) // leaves the test out without git
	kept := &counted{Snapshots: database(t)}
	c := open(t, t.TempDir(), remote.Source{}, kept)
	wantTree(t, c.Dir(), nil)
	if snapshot(t, c); kept.saved != 0 {
		t.Error("a snapshot of nothing was saved")
	}
	write(t, c.Dir(), "a/b", "x\n")
	snapshot(t, c)
	again := open(t, t.TempDir(), remote.Source{}, kept)
	wantTree(t, again.Dir(), tree(t, c.Dir()))
	changes := handBack(t, again)
	if changes.Branch != "" || changes.Refused != "" || !strings.Contains(changes.Patch, "+++ b/a/b") {
		t.Errorf("the run hands back %+v", changes)
	}
}

func TestRepositoryWithoutCommitsIsCheckedOut(t *testing.T) {
	origin(t)
	bare := filepath.Join(t.TempDir(), "empty.git")
	git(t, t.TempDir(), "init", "-q", "--bare", bare)
	kept := database(t)
	c := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	write(t, c.Dir(), "a", "x\n")
	snapshot(t, c)
	again := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	wantTree(t, again.Dir(), tree(t, c.Dir()))
	if changes := handBack(t, again); git(t, bare, "show", changes.Branch+":a") != "x" {
		t.Errorf("the run hands back %+v", changes)
	}
}

func TestRepositoriesWithinAreLeftOut(t *testing.T) {
	bare := origin(t)
	kept := database(t)
	c := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	want := tree(t, c.Dir())
	for _, name := range []string{"empty", "some folder"} {
		write(t, c.Dir(), name+"/file", "x\n")
		git(t, filepath.Join(c.Dir(), name), "init", "-q")
	}
	git(t, filepath.Join(c.Dir(), "some folder"), "add", "-A")
	git(t, filepath.Join(c.Dir(), "some folder"), "commit", "-q", "-m", "inner")
	write(t, c.Dir(), "new", "new\n")
	snapshot(t, c)
	again := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	want["/new"] = `-rw-r--r-- "new\n"`
	wantTree(t, again.Dir(), want)
}

func TestRunWithoutItsRepositoryKeepsItsFiles(t *testing.T) {
	bare := origin(t)
	kept := database(t)
	c := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	if err := os.RemoveAll(filepath.Join(c.Dir(), ".git")); err != nil {
		t.Fatal(err)
	}
	write(t, c.Dir(), "new", "new\n")
	snapshot(t, c)
	again := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	wantTree(t, again.Dir(), tree(t, c.Dir()))
	if changes := handBack(t, c); git(t, bare, "show", changes.Branch+":new") != "new" {
		t.Errorf("the run hands back %+v", changes)
	}
}

func TestCheckoutsOfCrashedWorkersAreRemoved(t *testing.T) {
	bare := origin(t)
	cache, kept := t.TempDir(), database(t)
	used := open(t, cache, remote.Source{Repository: bare}, kept)
	dead := filepath.Join(cache, "checkouts", "r-2-1")
	fresh := filepath.Join(cache, "checkouts", "r-3-1")
	write(t, dead, "files/modules/a", "x")
	write(t, dead, "lock", "")
	write(t, fresh, "lock", "")
	if err := os.Chmod(filepath.Join(dead, "files/modules"), 0o555); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * time.Hour)
	for _, place := range []string{dead, filepath.Dir(used.Dir())} {
		if err := os.Chtimes(place, long, long); err != nil {
			t.Fatal(err)
		}
	}
	open(t, cache, remote.Source{Repository: bare}, kept)
	for place, want := range map[string]bool{dead: false, fresh: true, used.Dir(): true} {
		if _, err := os.Stat(place); (err == nil) != want {
			t.Errorf("%s: %v", place, err)
		}
	}
}
