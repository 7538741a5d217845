package boxtest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"replan/mcpclient/box"
)

// Place is a workspace in a home folder, with a box around it.
type Place struct {
	Home, Dir, Private string
	Box                *box.Box
}

// New makes a box, or skips the test where this kernel has none. adjust, which may be
// nil, changes its configuration.
func New(t *testing.T, adjust func(*box.Config)) Place {
	t.Helper()
	if _, err := box.Supported(); err != nil {
		t.Skip(err)
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, ".cache"))
	t.Setenv("TMPDIR", home)
	p := Place{Home: home, Dir: filepath.Join(home, "work"), Private: filepath.Join(home, ".config", "replan")}
	Write(t, filepath.Join(p.Dir, "inside.txt"), "inside")
	Write(t, filepath.Join(p.Dir, ".git", "config"), "[core]\n")
	Write(t, filepath.Join(p.Dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	Write(t, filepath.Join(home, ".bashrc"), "# mine\n")
	Write(t, filepath.Join(home, ".ssh", "authorized_keys"), "key\n")
	Write(t, filepath.Join(home, ".cache", "go-build", "00", "x-d"), "object")
	if err := os.Mkdir(filepath.Join(home, "empty"), 0o755); err != nil { // #nosec G301 -- of a test
		t.Fatal(err)
	}
	Write(t, filepath.Join(p.Private, "config.toml"), "secret = 1\n")
	cfg := box.Config{Dir: p.Dir, Private: []string{p.Private}, Network: true}
	if adjust != nil {
		adjust(&cfg)
	}
	p.Box, err = box.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Box.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Write writes a file, and makes its folder.
func Write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { // #nosec G301 -- of a test
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil { // #nosec G306 -- of a test
		t.Fatal(err)
	}
}

// NeedMounts skips the test where this kernel hides nothing of the workspace.
func (p Place) NeedMounts(t *testing.T) {
	t.Helper()
	if gaps := strings.Join(p.Box.Gaps(), "\n"); strings.Contains(gaps, ".git/hooks") {
		t.Skip("this kernel does not hold it: " + gaps)
	}
}

// Shell runs a script in the box.
func (p Place) Shell(t *testing.T, script string) (string, error) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script) // #nosec G204 -- the test says what
	cmd.Dir = p.Dir
	if err := p.Box.Enclose(cmd); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Outside describes everything outside the workspace, and what git runs in it.
func (p Place) Outside(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(p.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, _ := filepath.Rel(p.Dir, path)
		own := inside == ".git" || inside == ".git/config" || inside == ".git/commondir" || inside == ".git/config.worktree" || strings.HasPrefix(inside, ".git/modules") || strings.HasPrefix(inside, ".git/hooks")
		if filepath.IsLocal(inside) && !own || strings.HasPrefix(path, filepath.Join(p.Home, "replan-box-")) || strings.HasPrefix(path, filepath.Join(p.Home, ".cache", "replan")) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum := [sha256.Size]byte{}
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path) // #nosec G304 G122 -- of a test
			if err != nil {
				return err
			}
			sum = sha256.Sum256(text)
		}
		_, _ = fmt.Fprintf(&b, "%s %s %x\n", path, info.Mode(), sum[:4])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
