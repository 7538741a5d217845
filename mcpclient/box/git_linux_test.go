package box_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"replan/mcpclient/box/boxtest"
)

// obeyed are the files of a repository that make git run or follow something, from
// gitrepository-layout(5), git-config(1), githooks(5), git-rebase(1) and git-merge(1).
var obeyed = []struct{ path, reason string }{
	{"config", "git-config: core.fsmonitor, core.editor, core.sshCommand, core.pager, diff.*.command, filter.*.clean, alias.* are commands"},
	{"config.worktree", "gitrepository-layout: configuration of the main worktree, read if extensions.worktreeConfig is set"},
	{"commondir", "gitrepository-layout: configuration and hooks are read from the folder that it names"},
	{"hooks/pre-commit", "githooks: run by git commit"},
	{"hooks/post-checkout", "githooks: run by git checkout"},
	{"hooks/reference-transaction", "githooks: run by every command that moves a ref"},
	{"hooks/fsmonitor-watchman", "githooks: run by git status, if core.fsmonitor names it"},
	{"info/attributes", "gitrepository-layout: says which filter, diff and merge commands of the configuration run on which file"},
	{"info/exclude", "gitrepository-layout: hides files from git status"},
	{"info/sparse-checkout", "gitrepository-layout: says which files exist"},
	{"info/grafts", "gitrepository-layout: gives commits other parents"},
	{"objects/info/alternates", "gitrepository-layout: objects are read from the folders that it names"},
	{"remotes/origin", "gitrepository-layout: address that git fetch and git push use, if the configuration has none"},
	{"branches/origin", "gitrepository-layout: the same, in an older form"},
	{"modules/a/config", "gitrepository-layout: repository of a submodule, which git status enters"},
	{"modules/a/modules/b/modules/c/hooks/post-checkout", "the same of a submodule of its submodules"},
	{"modules/deep/er/est/name/config", "the same of a submodule with slashes in its name"},
	{"modules/new/config", "the same of a submodule that git does not know yet"},
	{"worktrees/other/commondir", "gitrepository-layout: configuration and hooks of a linked worktree"},
	{"worktrees/other/gitdir", "gitrepository-layout: says where a linked worktree is"},
	{"worktrees/other/config.worktree", "gitrepository-layout: configuration of a linked worktree"},
	{"rebase-merge/git-rebase-todo", "git-rebase: the lines exec are commands of git rebase --continue"},
	{"rebase-merge/strategy", "git-merge: names the program git merge-STRATEGY"},
	{"sequencer/opts", "git-cherry-pick: the same for git cherry-pick --continue"},
	{"BISECT_NAMES", "git-bisect: older versions evaluate it"},
	{"unknown-to-replan", "what other versions and programs keep there"},
}

// newRepository returns a place whose workspace is a repository with a linked worktree,
// submodules, and a rebase and a cherry-pick that the user has begun.
func newRepository(t *testing.T, dir func(p boxtest.Place) string) boxtest.Place {
	t.Helper()
	git := func(dir, script string) {
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for name, value := range map[string]string{"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"} {
		t.Setenv(name, value)
	}
	p := boxtest.New(t, nil)
	if err := p.Box.Close(); err != nil {
		t.Fatal(err)
	}
	git(p.Dir, `rm -rf .git; git init -qb main; git add inside.txt; git commit -qm one; git worktree add -qb other ../other
		mkdir -p .git/modules/a/modules/b/modules/c/hooks .git/modules/deep/er/est/name; echo > .git/unknown-to-replan`)
	reopen(t, &p, dir(p))
	return p
}

// reopen makes another box for the place.
func reopen(t *testing.T, p *boxtest.Place, dir string) {
	t.Helper()
	p.Dir = dir
	p.Box = newBox(t, p.Dir, p.Private)
	p.NeedMounts(t)
}

func TestProgramInBoxChangesNothingThatGitObeys(t *testing.T) {
	for name, dir := range map[string]func(p boxtest.Place) string{
		"repository":      func(p boxtest.Place) string { return p.Dir },
		"linked worktree": func(p boxtest.Place) string { return filepath.Join(p.Home, "other") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newRepository(t, dir)
			git := filepath.Join(p.Home, "work", ".git")
			paths := map[string]string{filepath.Join(p.Dir, ".git"): "gitrepository-layout: a file in its place leads to another repository"}
			for _, folder := range []string{git, filepath.Join(git, "worktrees", "other")} {
				cmd := exec.Command("sh", "-ec", `mkdir -p rebase-merge sequencer; for f in rebase-merge/git-rebase-todo rebase-merge/strategy sequencer/opts BISECT_NAMES; do echo > $f; done`)
				cmd.Dir = folder
				if err := cmd.Run(); err != nil { // the user has begun it
					t.Fatal(err)
				}
			}
			for _, o := range obeyed {
				paths[filepath.Join(git, o.path)] = o.reason
				if strings.Contains("rebase-merge/git-rebase-todo rebase-merge/strategy sequencer/opts BISECT_NAMES", o.path) {
					paths[filepath.Join(git, "worktrees", "other", o.path)] = o.reason + ", of a linked worktree"
				}
			}
			reopen(t, &p, p.Dir)
			var script strings.Builder
			for path := range paths {
				_, _ = fmt.Fprintf(&script, `try '%s'`+"\n", path)
			}
			out, _ := p.Shell(t, `way() { eval "$1"; if grep -qs escaped "$at"; then echo "CHANGED $at $1"; fi; } 2> /dev/null
			try() {
				at="$1" other='`+git+`/logs/other' above="$(dirname "$1")"
				for w in 'echo escaped > "$at"' 'echo escaped >> "$at"' 'rm -f "$at"; mkdir -p "$above"; echo escaped > "$at"' 'mv -f "$other" "$at"' 'cp -f "$other" "$at"' \
					'ln -f "$other" "$at"' 'ln -sf "$other" "$at"' 'test -f "$above/HEAD" -o -e "$above/.git" || mv "$above" "$other.d" && mkdir "$above" && echo escaped > "$at"'; do
					echo escaped > "$other"; way "$w"
				done
			}
			`+script.String())
			for line := range strings.Lines(out) {
				if found, ok := strings.CutPrefix(line, "CHANGED "); ok {
					path, way, _ := strings.Cut(strings.TrimSpace(found), " ")
					t.Errorf("%s was changed by %s\n\t%s", path, way, paths[path])
				}
			}
			for path, reason := range paths {
				if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "escaped") {
					t.Errorf("%s was changed\n\t%s", path, reason)
				}
			}
			if text, err := os.ReadFile(filepath.Join(git, "HEAD")); err != nil || !strings.HasPrefix(string(text), "ref:") {
				t.Errorf("the repository was moved: %q, %v", text, err)
			}
		})
	}
}

func TestGitWorksInTheBox(t *testing.T) {
	for name, dir := range map[string]func(p boxtest.Place) string{
		"repository":      func(p boxtest.Place) string { return p.Dir },
		"linked worktree": func(p boxtest.Place) string { return filepath.Join(p.Home, "other") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newRepository(t, dir)
			for _, line := range []string{
				"git status --porcelain", "git checkout -qb topic", "echo 1 > a && git add a && git commit -qm a", "git checkout -q -",
				"echo 2 > b && git add -A && git commit -qm b", "git rebase topic", "git checkout -q topic && echo 3 > c && git add c && git commit -qm c",
				"git checkout -q - && git merge -q --no-edit topic", "echo 4 >> a && git stash -q && git stash pop -q", "git commit -qam d", "git commit -q --amend -m e", "git tag v1",
				"git checkout -qb clash HEAD~1 && echo 5 > a && git commit -qam clash; git rebase @{-1}; test -d \"$(git rev-parse --git-path rebase-merge)\"",
				"echo 6 > a && git add a && GIT_EDITOR=true git rebase --continue", // a program of its own
				"git revert --no-edit HEAD", "git cherry-pick -n HEAD~1; git reset -q --hard", "git bisect start && git bisect bad", "git bisect good HEAD~1; git bisect reset", "git gc -q --prune=now",
				"git fetch -q . topic:copied && git branch -qD copied", "git reflog expire --all && git pack-refs --all", "git config user.name x && exit 1 || true", "git fsck",
			} {
				if out, err := p.Shell(t, line); err != nil {
					t.Errorf("%s: %v\n%s", line, err, out)
				}
			}
		})
	}
}

// What programs leave unfinished runs nothing when the user goes on with it.
func TestStateThatProgramsLeaveHoldsNoCommands(t *testing.T) {
	p := newRepository(t, func(p boxtest.Place) string { return p.Dir })
	out, err := p.Shell(t, `echo 1 > a; git add a; git commit -qm a; git checkout -qb topic HEAD~1; echo 2 > a; git add a; git commit -qm b; git rebase main
		echo 'exec touch "$HOME/RAN"' >> .git/rebase-merge/git-rebase-todo; echo ' x	touch "$HOME/RAN"' >> .git/rebase-merge/git-rebase-todo
		echo /../evil > .git/rebase-merge/strategy; ln -s ~/.bashrc .git/FETCH_HEAD; rm -rf .git/logs; mkdir .git/logs; ln -s ~/.bashrc .git/logs/HEAD; test -L .git/logs/HEAD`)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := p.Box.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `git checkout --theirs a; git add a; GIT_EDITOR=true git rebase --continue; git fetch . main`)
	cmd.Dir = p.Dir
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	if _, err := os.Stat(filepath.Join(p.Home, "RAN")); err == nil {
		t.Errorf("a command ran:\n%s", said)
	}
	if text, err := os.ReadFile(filepath.Join(p.Home, ".bashrc")); err != nil || string(text) != "# mine\n" {
		t.Errorf("git wrote behind a link: %q, %v", text, err)
	}
}

// The placeholder that keeps .git in one place goes with the last box.
func TestRepositoryIsAsItWasOnceTheLastBoxCloses(t *testing.T) {
	p := newRepository(t, func(p boxtest.Place) string { return p.Dir })
	placeholder := filepath.Join(p.Dir, ".git", "commondir")
	second := newBox(t, p.Dir, p.Private)
	if err := p.Box.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(placeholder); err != nil {
		t.Errorf("it went while another box needs it: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(placeholder); err == nil {
		t.Error("it stays")
	}
	if out, err := exec.Command("git", "-C", p.Dir, "status").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestLinksThatCannotBeHeldAreNamed(t *testing.T) {
	p := boxtest.New(t, nil)
	if err := os.RemoveAll(filepath.Join(p.Dir, ".git", "hooks")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(p.Dir), filepath.Join(p.Dir, ".git", "hooks")); err != nil {
		t.Fatal(err)
	}
	reopen(t, &p, p.Dir)
	if gaps := strings.Join(p.Box.Gaps(), "\n"); !strings.Contains(gaps, ".git/hooks, since a link") {
		t.Errorf("got %q", gaps)
	}
}
