package workcopy_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/mcpclient/box"
	"replan/mcpclient/box/boxtest"
	"replan/mcpclient/workcopy"
)

// commandLines is how many random command lines are run.
var commandLines = flag.Int("commandlines", 30, "random command lines to run in a copy")

func TestMain(m *testing.M) {
	if box.Inside() {
		os.Exit(box.Main())
	}
	os.Exit(m.Run())
}

// What command lines did in a copy leaves no trace once it is dropped.
func TestDroppedCommandLinesLeaveTheFolderAsItWas(t *testing.T) {
	var copied *workcopy.Copy
	p := boxtest.New(t, func(cfg *box.Config) {
		var err error
		copied, err = workcopy.Open(t.Context(), workcopy.Config{Folder: cfg.Dir, Copies: filepath.Join(filepath.Dir(cfg.Dir), "copies")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = copied.Close() })
		cfg.Dir = copied.Dir
	})
	p.NeedMounts(t)
	if err := copied.Begin("r-1"); err != nil {
		t.Fatal(err)
	}
	folder := p.Dir
	p.Dir = copied.Dir
	p.RunRandomLines(t, *commandLines) // the folder is outside too
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
