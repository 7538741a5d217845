package checkout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/agent/remote"
	"replan/distributed/checkout"
)

func TestChangesComeBackAsABranch(t *testing.T) {
	bare := origin(t)
	c := open(t, t.TempDir(), remote.Source{Repository: bare}, database(t))
	if changes := handBack(t, c); changes != (checkout.Changes{}) {
		t.Errorf("without a change, the run hands back %+v", changes)
	}
	change(t, c.Dir())
	changes := handBack(t, c)
	if changes != (checkout.Changes{Branch: "replan/r-1"}) {
		t.Fatalf("the run hands back %+v", changes)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := git(t, bare, "log", "-1", "--format=%an <%ae> %s|%b", "replan/r-1"), "replan <replan@"+host+"> Add things|Run r-1"; got != want {
		t.Errorf("the commit is %q, not %q", got, want)
	}
	if got := git(t, bare, "log", "--format=%s", "replan/r-1"); got != "Add things\nwork\nfirst" {
		t.Errorf("the branch has the commits %q", got)
	}
	const want = "M\tREADME\nA\tcommitted\nA\tdangling\nA\tdata.bin\nA\tforced.log\nA\tlink\nA\tnew/file with \"quotes\" and ü\nD\told\nA\tstaged\nM\ttool.sh\nA\tup\nM\twin.txt"
	if got := git(t, bare, "-c", "core.quotePath=off", "diff", "--name-status", "main", "replan/r-1"); strings.ReplaceAll(got, `\"`, `"`) != strings.ReplaceAll(want, `new/file with "quotes" and ü`, `"new/file with "quotes" and ü"`) {
		t.Errorf("the branch changes\n%s", got)
	}
	if got := git(t, bare, "show", "replan/r-1:win.txt"); got != "mixed\nline\nends" {
		t.Errorf("the branch has line ends of the checkout: %q", got)
	}
}

func TestChangesComeBackOnceAndFollowEarlierOnes(t *testing.T) {
	bare := origin(t)
	user := user(t, bare)
	kept := database(t)
	c := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	write(t, c.Dir(), "new", "one\n")
	snapshot(t, c)
	handBack(t, c)
	first := git(t, bare, "rev-parse", "replan/r-1")
	// The worker dies, and another does the same.
	again := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	if changes := handBack(t, again); changes.Branch != "replan/r-1" || git(t, bare, "rev-parse", "replan/r-1") != first {
		t.Errorf("the second worker hands back %+v", changes)
	}
	write(t, again.Dir(), "new", "two\n")
	if changes := handBack(t, again); changes.Branch != "replan/r-1" || git(t, bare, "rev-parse", "replan/r-1~1") != first {
		t.Errorf("later changes come back as %+v", changes)
	}
	// A person moves the branch on.
	git(t, user, "fetch", "-q", "origin", "replan/r-1")
	git(t, user, "switch", "-q", "-c", "replan/r-1", "FETCH_HEAD")
	write(t, user, "new", "by hand\n")
	theirs := commit(t, user, "third")
	write(t, again.Dir(), "new", "three\n")
	if changes := handBack(t, again); changes.Branch != "replan/r-1-2" || git(t, bare, "rev-parse", "replan/r-1") != theirs {
		t.Errorf("beside changes of a person, the run hands back %+v", changes)
	}
}

func TestChangesComeBackAsAPatchIfTheRepositoryRefuses(t *testing.T) {
	bare := origin(t)
	user := user(t, bare)
	hook := filepath.Join(bare, "hooks", "pre-receive")
	write(t, bare, "hooks/pre-receive", "#!/bin/sh\necho you may not push >&2\nexit 1\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	c := open(t, t.TempDir(), remote.Source{Repository: bare}, database(t))
	change(t, c.Dir())
	remove(t, c.Dir(), "win.txt") // its line ends are not those of the repository
	changes := handBack(t, c)
	if changes.Branch != "" || !strings.Contains(changes.Refused, "you may not push") {
		t.Fatalf("the run hands back %q, refused by %q", changes.Branch, changes.Refused)
	}
	patch := filepath.Join(t.TempDir(), "patch")
	if err := os.WriteFile(patch, []byte(changes.Patch), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, user, "apply", patch)
	wantTree(t, user, tree(t, c.Dir()))
}

func TestNothingThatARunConfiguresIsRun(t *testing.T) {
	bare := origin(t)
	kept := database(t)
	c := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(c.Dir(), "evil")
	write(t, c.Dir(), "evil", "#!/bin/sh\necho \"$0 $@\" >>"+ran+"\ncat\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "filter.lfs.clean", "filter.lfs.smudge", "filter.lfs.process",
		"diff.external", "diff.x.textconv", "credential.helper", "gpg.program", "uploadpack.packObjectsHook",
	} {
		git(t, c.Dir(), "config", key, program)
	}
	git(t, c.Dir(), "config", "core.hooksPath", filepath.Join(c.Dir(), "hooks"))
	// The user of the worker has set up LFS and a hook.
	home := t.TempDir()
	write(t, home, "hooks/pre-push", "#!/bin/sh\necho pre-push >>"+ran+"\n")
	if err := os.Chmod(filepath.Join(home, "hooks/pre-push"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, home, "config", "[core]\nhooksPath = "+filepath.Join(home, "hooks")+"\n[filter \"lfs\"]\nclean = "+program+"\nsmudge = "+program+"\n")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "config"))
	git(t, c.Dir(), "config", "commit.gpgSign", "true")
	git(t, c.Dir(), "config", "url."+t.TempDir()+".insteadOf", bare)
	for _, hook := range []string{"pre-push", "reference-transaction", "post-index-change", "post-checkout", "pre-commit"} {
		write(t, c.Dir(), "hooks/"+hook, "#!/bin/sh\necho "+hook+" >>"+ran+"\n")
		if err := os.Chmod(filepath.Join(c.Dir(), "hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, c.Dir(), "data.bin", "not text")
	write(t, c.Dir(), ".gitattributes", "* filter=lfs diff=x\n")
	snapshot(t, c)
	if changes := handBack(t, c); changes.Branch != "replan/r-1" {
		t.Errorf("the run hands back %+v", changes)
	}
	again := open(t, t.TempDir(), remote.Source{Repository: bare}, kept)
	wantTree(t, again.Dir(), tree(t, c.Dir()))
	if said, err := os.ReadFile(ran); err == nil {
		t.Errorf("programs of the run ran: %s", said)
	}
}

func TestRunCannotHandBackAnotherRepository(t *testing.T) {
	bare := origin(t)
	secret := user(t, origin(t))
	for name, connect := range map[string]func(dir string) error{
		"a link": func(dir string) error {
			if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
				return err
			}
			return os.Symlink(filepath.Join(secret, ".git"), filepath.Join(dir, ".git"))
		},
		"its objects": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, ".git/objects/info/alternates"), []byte(filepath.Join(secret, ".git/objects")+"\n"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, t.TempDir(), remote.Source{Repository: bare}, database(t))
			if err := connect(c.Dir()); err != nil {
				t.Fatal(err)
			}
			if err := c.Snapshot(t.Context()); err == nil {
				t.Error("a snapshot was saved")
			}
			if changes, err := c.HandBack(t.Context(), "x"); err == nil {
				t.Errorf("the run hands back %+v", changes)
			}
		})
	}
}

func TestAddressesOfProgramsAreRefused(t *testing.T) {
	for _, address := range []string{"-x", "--upload-pack=touch /tmp/x", "ext::sh -c true", "EXT::x", "foo::x", "ftp://host/x", "relative/path", "a\nb", "."} {
		c, err := checkout.Open(t.Context(), t.TempDir(), remote.Source{Repository: address}, run, database(t))
		if err == nil || c != nil {
			t.Errorf("%q is opened: %v", address, err)
		}
	}
	bare := origin(t)
	for _, source := range []remote.Source{{Repository: bare, Revision: "-x"}, {Repository: bare, Revision: "--output=x"}} {
		if _, err := checkout.Open(t.Context(), t.TempDir(), source, run, database(t)); err == nil {
			t.Errorf("%+v is opened", source)
		}
	}
	if _, err := checkout.Open(t.Context(), t.TempDir(), remote.Source{}, "../x", database(t)); err == nil {
		t.Error("a path is taken for the id of a run")
	}
}

func TestSecretsOfAddressesAreInNoError(t *testing.T) {
	for _, address := range []string{
		"http://ada:pa%24sword1@127.0.0.1:1/x.git", "http://token4711@127.0.0.1:1/x.git", "http://127.0.0.1:1/x.git?key=pa$sword1",
	} {
		cache := t.TempDir()
		_, err := checkout.Open(t.Context(), cache, remote.Source{Repository: address}, run, database(t))
		if err == nil {
			t.Fatal("nothing listens there")
		}
		for _, secret := range []string{"pa$sword1", "pa%24sword1", "token4711"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error is %q", err)
			}
		}
		if !strings.Contains(err.Error(), "http://127.0.0.1:1/x.git") {
			t.Errorf("the error does not name the repository: %q", err)
		}
	}
}
