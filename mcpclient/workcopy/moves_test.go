package workcopy_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replan/mcpclient/workcopy"
)

func TestCommitsAreTakenWithTheirFiles(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	b.run(t, "r-1", map[string]string{"a.txt": "A\n", "b.log": "ignored\n"})
	gitIn(t, b.Dir, "checkout", "-q", "-b", "topic")
	gitIn(t, b.Dir, "commit", "-q", "-am", "Two")
	o := b.changes(t)
	if !slices.Equal(names(o), []string{"changed a.txt"}) || len(o.Moves) != 2 {
		t.Fatalf("got %q, %+v", names(o), o.Moves)
	}
	if got := gitIn(t, b.folder, "branch", "--list", "topic"); got != "" {
		t.Fatalf("before it is taken: %q", got)
	}
	s := b.settle(t, workcopy.Choice{Offer: o.ID, All: true})
	if len(s.Notes) != 2 {
		t.Errorf("got notes %q", s.Notes)
	}
	if got := gitIn(t, b.folder, "log", "--format=%s", "topic"); got != "Two\nOne" {
		t.Errorf("got commits %q", got)
	}
	if got := gitIn(t, b.folder, "status", "--porcelain", "--branch"); got != "## topic" {
		t.Errorf("got status %q", got)
	}
	gitIn(t, b.folder, "fsck", "--strict")
	if o := b.changes(t); !o.Empty() {
		t.Errorf("left: %q %+v", names(o), o.Moves)
	}
}

func TestStagedContentOutlivesTakenCommits(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	b.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	gitIn(t, b.Dir, "commit", "-q", "-am", "Two")
	write(t, filepath.Join(b.folder, "lib/lib.txt"), "staged\n")
	gitIn(t, b.folder, "add", ".")
	write(t, filepath.Join(b.folder, "lib/lib.txt"), "later\n")
	b.settle(t, workcopy.Choice{All: true})
	if got := gitIn(t, b.folder, "show", ":lib/lib.txt") + gitIn(t, b.folder, "log", "-1", "--format=%s") + gitIn(t, b.folder, "diff", "--cached", "--name-only"); got != "stagedTwolib/lib.txt" {
		t.Errorf("got %q", got)
	}
	b.run(t, "r-2", map[string]string{"a.txt": "AA\n"})
	gitIn(t, b.Dir, "commit", "-q", "-m", "Three", "a.txt")
	blob := filepath.Join(t.TempDir(), "blob")
	write(t, blob, "mine\n")
	gitIn(t, b.folder, "update-index", "--cacheinfo", "100644,"+gitIn(t, b.folder, "hash-object", "-w", blob)+",a.txt")
	if _, err := b.Settle(t.Context(), workcopy.Choice{All: true}); err == nil || !strings.Contains(err.Error(), "staged") {
		t.Errorf("got %v", err)
	}
	if got := gitIn(t, b.folder, "show", ":a.txt") + gitIn(t, b.folder, "log", "-1", "--format=%s"); got != "mineTwo" {
		t.Errorf("got %q", got)
	}
}

func TestCommitsAreTakenWhileFilesStayInTheCopy(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	b.run(t, "r-1", map[string]string{"a.txt": "A\n", "large": strings.Repeat("x", 5<<20)})
	gitIn(t, b.Dir, "commit", "-q", "-m", "Two", "a.txt")
	b.settle(t, workcopy.Choice{All: true})
	if o := b.changes(t); len(o.Moves) > 0 || len(o.Notes) != 2 || !strings.HasPrefix(o.Notes[1], "1 path stays in ") {
		t.Errorf("taken commits are offered again: %+v, %q", o.Moves, o.Notes)
	}
	if got := gitIn(t, b.folder, "log", "--format=%s"); got != "Two\nOne" {
		t.Errorf("got %q", got)
	}
}

func TestCommitsWaitIfTheirBranchMovedInBoth(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	b.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	gitIn(t, b.Dir, "commit", "-q", "-am", "Two")
	gitIn(t, b.folder, "commit", "-q", "--allow-empty", "-m", "Mine")
	b.settle(t, workcopy.Choice{All: true})
	if got := gitIn(t, b.folder, "log", "--format=%s") + gitIn(t, b.Dir, "log", "--format=%s") + read(t, filepath.Join(b.folder, "a.txt")); got != "Mine\nOneTwo\nOneA\n" {
		t.Errorf("got %q", got)
	}
	if !b.Waits() {
		t.Error("the commit does not wait")
	}
}

func TestDetachedHeadIsTaken(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	b.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	gitIn(t, b.Dir, "checkout", "-q", "--detach")
	gitIn(t, b.Dir, "commit", "-q", "-am", "Two")
	b.settle(t, workcopy.Choice{All: true})
	if got := gitIn(t, b.folder, "log", "--format=%s") + gitIn(t, b.folder, "status", "--porcelain", "--branch"); got != "Two\nOne## HEAD (no branch)" {
		t.Errorf("got %q", got)
	}
}

func TestDroppedCommitsLeaveTheRepositoryAsItWas(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	before := gitIn(t, b.folder, "for-each-ref") + gitIn(t, b.folder, "count-objects", "-v")
	b.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	gitIn(t, b.Dir, "commit", "-q", "-am", "Two")
	b.settle(t, workcopy.Choice{})
	if after := gitIn(t, b.folder, "for-each-ref") + gitIn(t, b.folder, "count-objects", "-v"); after != before {
		t.Errorf("got %s, was %s", after, before)
	}
	if got := gitIn(t, b.Dir, "log", "--format=%s"); got != "One" {
		t.Errorf("in the copy: %q", got)
	}
}

func TestCommitsAreTakenAfterSomeOfTheirFiles(t *testing.T) {
	t.Parallel()
	for again, want := range map[string]string{"A\n": "Two\nOne", "AA\n": "One"} {
		b := newRepository(t, "")
		b.run(t, "r-1", map[string]string{"a.txt": "A\n", "new.txt": "new\n"})
		gitIn(t, b.Dir, "add", ".")
		gitIn(t, b.Dir, "commit", "-q", "-m", "Two")
		b.settle(t, workcopy.Choice{Files: map[string]workcopy.FileChoice{"a.txt": {All: true}}, Keep: true})
		if again != "A\n" { // a commit that was not shown
			write(t, filepath.Join(b.Dir, "a.txt"), again)
			gitIn(t, b.Dir, "commit", "-q", "-am", "Three")
			write(t, filepath.Join(b.Dir, "a.txt"), "A\n")
		}
		if _, err := b.Settle(t.Context(), workcopy.Choice{All: true}); (err == nil) != (want != "One") {
			t.Errorf("got %v", err)
		}
		if got := gitIn(t, b.folder, "log", "--format=%s"); got != want {
			t.Errorf("got commits %q, want %q", got, want)
		}
	}
}

// What a commit holds and a later one removes is in no diff of the files.
func TestCommitsWithPathsThatWereNotShownAreNotTaken(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	b.run(t, "r-1", map[string]string{"a.txt": "A\n", "hidden.txt": "hidden\n"})
	gitIn(t, b.Dir, "add", ".")
	gitIn(t, b.Dir, "commit", "-q", "-m", "Two")
	gitIn(t, b.Dir, "rm", "-q", "hidden.txt")
	gitIn(t, b.Dir, "commit", "-q", "-m", "Three")
	if _, err := b.Settle(t.Context(), workcopy.Choice{All: true}); err == nil || !strings.Contains(err.Error(), "hidden.txt") {
		t.Errorf("got %v", err)
	}
	if got := gitIn(t, b.folder, "log", "--format=%s") + read(t, filepath.Join(b.folder, "a.txt")); got != "OneA\n" {
		t.Errorf("got %q", got)
	}
	b.settle(t, workcopy.Choice{})
}

func TestBranchesThatTheCopyLacksStay(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	gitIn(t, b.folder, "branch", "old")
	b.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	gitIn(t, b.Dir, "branch", "-q", "-D", "old")
	o := b.changes(t)
	if len(o.Moves) > 0 || len(o.Notes) != 1 || !strings.Contains(o.Notes[0], "refs/heads/old") {
		t.Errorf("got %+v, %q", o.Moves, o.Notes)
	}
	b.settle(t, workcopy.Choice{Offer: o.ID, All: true})
	gitIn(t, b.folder, "rev-parse", "--verify", "-q", "old")
}

// Git itself writes no such folder; a program of the run may.
func TestObjectsThatGitWouldNotWriteAreNotTaken(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	b.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	entry := filepath.Join(t.TempDir(), "entry")
	write(t, entry, "100644 blob "+gitIn(t, b.Dir, "rev-parse", "HEAD:.gitignore")+"\t.git\n")
	tree := gitIn(t, b.Dir, "-c", "alias.make=!git mktree <"+entry, "make")
	commit := gitIn(t, b.Dir, "commit-tree", "-p", "HEAD", "-m", "Two", tree)
	gitIn(t, b.Dir, "update-ref", "refs/heads/main", commit)
	if _, err := b.Settle(t.Context(), workcopy.Choice{All: true}); err == nil || !strings.Contains(err.Error(), "read the new commits") {
		t.Errorf("got %v", err)
	}
	if got := gitIn(t, b.folder, "log", "--format=%s"); got != "One" {
		t.Errorf("got %q", got)
	}
}
