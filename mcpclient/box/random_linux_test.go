package box_test

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/mcpclient/box"
	"replan/mcpclient/workcopy"
)

// commandLines is how many random command lines are run; the figure of the manual is
// for 1000.
var commandLines = flag.Int("commandlines", 30, "random command lines to run in the box")

// words are the parts of random command lines. % stands for a path.
var words = []string{
	"echo x > %", "echo x >> %", "rm -rf %", "mv % %", "cp -rf % %", "ln -f % %", "ln -sfn % %", "mkdir -p %", "rmdir %", "touch %", "truncate -s 0 %",
	"dd if=/dev/zero of=% bs=10 count=1 status=none", "tee % < inside.txt", "mkfifo %", "install -m 600 inside.txt %", "tar cf % .", "tar xf % -C %",
	"find % -delete", "sed -i s/a/b/ %", "cd %", "git init -q %", "git add -A", "git commit -qm x --allow-empty", "git config user.name x", "sort -o % %", "split -n 2 inside.txt %",
}

func TestRandomCommandLinesChangeNothingOutside(t *testing.T) {
	p := newPlace(t, nil)
	p.skipGap(t, attempt{mounts: true})
	p.runRandomLines(t)
}

// What command lines did in a copy leaves no trace once it is dropped.
func TestDroppedCommandLinesLeaveTheFolderAsItWas(t *testing.T) {
	var copied *workcopy.Copy
	p := newPlace(t, func(cfg *box.Config) {
		var err error
		copied, err = workcopy.Open(t.Context(), workcopy.Config{Folder: cfg.Dir, Copies: filepath.Join(filepath.Dir(cfg.Dir), "copies")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = copied.Close() })
		cfg.Dir = copied.Dir
	})
	p.skipGap(t, attempt{mounts: true})
	if err := copied.Begin("r-1"); err != nil {
		t.Fatal(err)
	}
	folder := p.dir
	p.dir = copied.Dir
	p.runRandomLines(t) // the folder is outside too
	if offer, err := copied.Changes(t.Context()); err != nil || offer.Empty() {
		t.Errorf("the command lines changed nothing: %v", err)
	}
	if _, err := copied.Settle(t.Context(), workcopy.Choice{}); err != nil {
		t.Fatal(err)
	}
	if want, got := tree(t, folder), tree(t, copied.Dir); got != want {
		t.Errorf("after the drop the copy is\n%s\nand the folder\n%s", got, want)
	}
}

// tree describes all files of a folder but those of its repository.
func tree(t *testing.T, folder string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		at, _ := filepath.Rel(folder, path)
		switch {
		case err != nil:
			return err
		case at == ".git":
			return fs.SkipDir
		}
		text := ""
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		_, _ = fmt.Fprintf(&b, "%s %s %q\n", at, d.Type(), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// runRandomLines runs random command lines in the box, and fails if one changes what
// is outside.
func (p place) runRandomLines(t *testing.T) {
	t.Helper()
	before := p.outside(t)
	const seed = 18
	random := rand.New(rand.NewPCG(seed, seed))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	path := func() string {
		base := pick(".", ".", "sub", "..", "../..", p.home, p.dir, p.private, "~", "$TMPDIR", "$GOCACHE", ".git", ".git/hooks", "../.config", "/proc/self/root"+p.home, "/proc/self/cwd/..", "link")
		name := pick("", "inside.txt", "a", "b", "config", ".bashrc", ".ssh/authorized_keys", "replan/config.toml", "hooks/pre-commit", "link", "../new", "empty", ".git")
		return base + "/" + name
	}
	for i := range *commandLines {
		// What a command line has spoilt is there again for the next one.
		line := []string{"ln -sfn \"$HOME\" link; test -f inside.txt || { rm -rf inside.txt; echo inside > inside.txt; }"}
		for range 1 + random.IntN(4) {
			text := pick(words...)
			for strings.Contains(text, "%") {
				text = strings.Replace(text, "%", path(), 1)
			}
			line = append(line, "timeout 5 sh -c '"+text+"'")
		}
		text := strings.Join(line, pick("; ", " || ", "; "))
		_, _ = p.shell(t, text) // most fail
		if after := p.outside(t); after != before {
			t.Fatalf("command line %d of seed %d changed what is outside:\n%s\nbefore\n%s\nafter\n%s", i, seed, text, before, after)
		}
	}
}
