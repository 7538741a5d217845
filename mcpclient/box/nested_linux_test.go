package box_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"replan/mcpclient/box"
	"replan/mcpclient/box/boxtest"
)

// newNest returns a place whose workspace is a repository with a submodule, and
// repositories in its folders: a plain one that the index names, one deep in an ignored
// folder, a bare one, a linked worktree of another bare one, and one whose .git file leads
// to another folder.
func newNest(t *testing.T) boxtest.Place {
	t.Helper()
	p := newRepository(t, func(p boxtest.Place) string { return p.Dir })
	if err := p.Box.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-ec", `new() { git init -qb main "$1"; git -C "$1" commit -q --allow-empty -m one; }
		new ../sub; git -c protocol.file.allow=always submodule --quiet add ../sub sub
		new plain; git add plain 2> /dev/null; git commit -qm nested
		echo build > .gitignore; mkdir -p build/deep; new build/deep/er
		git clone -q --bare plain bare.git; git -C bare.git worktree add -q ../linked
		git clone -q --bare plain alone.git
		new apart; mv apart/.git apart-git; echo 'gitdir: ../apart-git' > apart/.git`)
	cmd.Dir = p.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	reopen(t, &p, p.Dir)
	return p
}

// What programs write into repositories below the workspace runs at the user's next git
// status: there, or here if the index names them.
func TestProgramInBoxChangesNoRepositoryBelowTheWorkspace(t *testing.T) {
	p := newNest(t)
	if made := p.Box.Made(); made != "" {
		t.Errorf("repositories that were there are told as new: %s", made)
	}
	for _, at := range []string{"plain/.git", "build/deep/er/.git", "bare.git", "alone.git", "bare.git/worktrees/linked", "apart-git", ".git/modules/sub"} {
		for _, way := range []string{
			`printf '[core]\n\tfsmonitor = touch RAN; false\n' >> '%[1]s/config'`, `rm -f '%[1]s/config'; echo escaped > '%[1]s/config'`,
			`mkdir -p '%[1]s/hooks'; echo escaped > '%[1]s/hooks/post-checkout'`, `echo escaped > '%[1]s/config.worktree'`, `mkdir -p '%[1]s/info'; echo escaped > '%[1]s/info/attributes'`,
			`echo ../escaped > '%[1]s/commondir'`, `mv '%[1]s' moved && mkdir '%[1]s'`, `mv "$(dirname '%[1]s')" moved`, `rm -rf '%[1]s'`,
		} {
			if way == `mv "$(dirname '%[1]s')" moved` && !strings.Contains(at, "/") {
				continue // the workspace itself
			}
			if out, err := p.Shell(t, fmt.Sprintf(way, at)); err == nil {
				t.Errorf("%s: passed\n%s", fmt.Sprintf(way, at), out)
			}
		}
	}
	for _, file := range []string{"sub/.git", "linked/.git", "apart/.git"} {
		for _, way := range []string{`echo "gitdir: /escaped" > %s`, `f=%s; rm $f && git init -q "$(dirname $f)"`, `f=%s; mv "$(dirname $f)" moved`} {
			if out, err := p.Shell(t, fmt.Sprintf(way, file)); err == nil {
				t.Errorf("%s: passed\n%s", fmt.Sprintf(way, file), out)
			}
		}
	}
	for _, works := range []string{"git status --porcelain", "git -C plain log -1", "git -C linked status", "git -C apart status", "git -C sub status", "echo > plain/file", "echo > build/deep/er/file", "rm plain/file"} {
		if out, err := p.Shell(t, works); err != nil {
			t.Errorf("%s: %v\n%s", works, err, out)
		}
	}
}

func TestRepositoriesThatProgramsMakeAreTold(t *testing.T) {
	p := newNest(t)
	if out, err := p.Shell(t, `git init -q new/deep && printf '[core]\n\tfsmonitor = touch ../RAN\n' >> new/deep/.git/config; mkdir file; echo "gitdir: ../new/deep/.git" > file/.git
		mkdir -p docs/objects docs/refs; echo 'ref: refs/heads/main' > docs/HEAD; printf '[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch RAN\n' > docs/config`); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	made := p.Box.Made()
	if !strings.Contains(made, "docs, file/.git, new/deep/.git") {
		t.Errorf("got %q", made)
	}
	if again := p.Box.Made(); again != "" {
		t.Errorf("told twice: %s", again)
	}
}

// In a copy the user runs no git, and builds may renew what they fetched.
func TestRepositoriesInACopyAreLeftToPrograms(t *testing.T) {
	p := newNest(t)
	if err := p.Box.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.Box, err = box.New(box.Config{Dir: p.Dir, Private: []string{p.Private}, Network: true, Copy: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Box.Close() })
	if out, err := p.Shell(t, "rm -rf build && git init -q build"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if made := p.Box.Made(); made != "" {
		t.Errorf("told: %s", made)
	}
}

func TestLinkInPlaceOfANestedRepositoryIsNamed(t *testing.T) {
	p := newNest(t)
	if err := os.MkdirAll(filepath.Join(p.Dir, "linking"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../plain/.git", filepath.Join(p.Dir, "linking", ".git")); err != nil {
		t.Fatal(err)
	}
	reopen(t, &p, p.Dir)
	if gaps := strings.Join(p.Box.Gaps(), "\n"); !strings.Contains(gaps, "linking/.git, since a link") {
		t.Errorf("got %q", gaps)
	}
}
