package child_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/child"
)

func TestPathHoldsNoFolderOfTheWorkspace(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"home/work/bin", "home/bin", "usr/bin"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("home/work/bin"), at("link")); err != nil {
		t.Skip(err)
	}
	all := []string{at("home/work"), at("home/work/bin"), at("home/work/missing"), at("link"), "", ".", "bin", at("home/bin"), at("usr/bin")}
	for workspace, want := range map[string][]string{
		"home/work": {at("home/bin"), at("usr/bin")},
		"home":      slices.DeleteFunc(slices.Clone(all), func(f string) bool { return !filepath.IsAbs(f) }),
		"":          slices.DeleteFunc(slices.Clone(all), func(f string) bool { return !filepath.IsAbs(f) }),
	} {
		environ, left := child.OutsidePath([]string{"A=b", "HOME=" + at("home"), "PATH=" + strings.Join(all, string(filepath.ListSeparator))}, at(workspace))
		if got := filepath.SplitList(child.Variable(environ, "PATH")); !slices.Equal(got, want) || len(left) != len(all)-len(want) || child.Variable(environ, "A") != "b" {
			t.Errorf("in %s: PATH is %q, left out are %q", workspace, got, left)
		}
	}
	clean := []string{"PATH=" + at("usr/bin"), "A=b"}
	if environ, left := child.OutsidePath(clean, at("home/work")); !slices.Equal(environ, clean) || left != nil {
		t.Errorf("got %q, %q", environ, left)
	}
}

// The environment of the runner decides, whatever PATH this process has.
func TestProgramsAreFoundInThePathOfTheirEnvironment(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"sh", "only-there"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho taken from here\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	runner := &child.Runner{Environ: []string{"PATH=/usr/bin:/bin"}, MaxOutput: 1 << 10, Logger: slog.New(slog.DiscardHandler)}
	if out, err := runner.Run(t.Context(), child.Command{Script: "echo from the system", Timeout: time.Minute}); err != nil || out.Output != "from the system\n" {
		t.Errorf("got %q, %v", out.Output, err)
	}
	if out, err := runner.Run(t.Context(), child.Command{Name: "only-there", Timeout: time.Minute}); err == nil {
		t.Errorf("ran: %q", out.Output)
	}
}
