package workcopy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/mcpclient/workcopy"
)

// A program in the box can write anything into the repository of the copy.
func TestForgedRefsAreNoMoves(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	precious := filepath.Join(t.TempDir(), "precious")
	write(t, precious, "precious\n")
	head := gitIn(t, b.folder, "rev-parse", "HEAD")
	for what, forge := range map[string]func(git string) error{
		"HEAD is an option": func(git string) error {
			return os.WriteFile(filepath.Join(git, "HEAD"), []byte("--output="+precious+"\n"), 0o600)
		},
		"a branch names another": func(git string) error {
			return os.WriteFile(filepath.Join(git, "refs/heads/topic"), []byte("ref: refs/heads/evil\n"), 0o600)
		},
		"HEAD names no branch": func(git string) error {
			return os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/remotes/origin/main\n"), 0o600)
		},
		"a name has two lines": func(git string) error {
			at := filepath.Join(git, "refs/heads/x\n"+head+" refs/remotes/evil")
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				return err
			}
			return os.WriteFile(at, []byte(head+"\n"), 0o600)
		},
		"refs is a file": func(git string) error {
			if err := os.RemoveAll(filepath.Join(git, "refs")); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(git, "refs"), []byte(head+"\n"), 0o600)
		},
	} {
		b.run(t, "r-1", map[string]string{"a.txt": what + "\n"})
		if err := forge(filepath.Join(b.Dir, ".git")); err != nil {
			t.Fatal(err)
		}
		o := b.changes(t)
		for _, m := range o.Moves {
			if m.New != "" {
				t.Errorf("%s: got the move %+v", what, m)
			}
		}
		if len(o.Moves) == 0 {
			b.settle(t, workcopy.Choice{Offer: o.ID, All: true})
		}
		b.settle(t, workcopy.Choice{})
		if got := gitIn(t, b.folder, "symbolic-ref", "HEAD") + gitIn(t, b.folder, "for-each-ref", "--format=%(refname)"); got != "refs/heads/mainrefs/heads/main" || read(t, precious) != "precious\n" {
			t.Fatalf("%s: got %s, %q", what, got, read(t, precious))
		}
	}
}

func TestRepositoryIsNotCopiedThroughALink(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	b.run(t, "r-1", nil)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "objects/info/alternates"), "mine\n")
	copied := filepath.Join(b.Dir, ".git")
	if err := os.RemoveAll(copied); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, copied); err != nil {
		t.Fatal(err)
	}
	if err := b.Refresh(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(copied); err != nil || !info.IsDir() || !strings.HasPrefix(read(t, filepath.Join(copied, "HEAD")), "ref: ") {
		t.Errorf("the copy has no repository of its own: %v", err)
	}
}

// Git refuses to say whether it ignores what lies behind a link, or in a repository in
// the repository.
func TestPathsThatGitRefusesDoNotHideTheOthers(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	other := filepath.Join(b.folder, "other")
	write(t, filepath.Join(other, "o.txt"), "o\n")
	gitIn(t, other, "init", "-q")
	gitIn(t, other, "add", ".")
	gitIn(t, other, "commit", "-q", "-m", "Other")
	gitIn(t, b.folder, "add", "other")
	if err := os.Symlink("lib", filepath.Join(b.folder, "link")); err != nil {
		t.Fatal(err)
	}
	b.run(t, "r-1", map[string]string{"a.txt": "A\n", "other/o.txt": "O\n", "x.log": "ignored\n"})
	if err := os.Remove(filepath.Join(b.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(b.Dir, "link/new.txt"), "new\n")
	o := b.changes(t)
	if got := names(o); len(got) != 1 || got[0] != "changed a.txt" {
		t.Errorf("got %q", got)
	}
	for _, at := range []string{"other/o.txt", "link/new.txt"} {
		if !strings.Contains(strings.Join(o.Notes, "\n"), at+" cannot be taken") {
			t.Errorf("%s is not named: %q", at, o.Notes)
		}
	}
}
