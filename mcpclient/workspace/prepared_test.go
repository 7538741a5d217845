package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"replan/mcpclient/workspace"
	"replan/planning/intent"
)

// TestSketchFollowsTheWorkspaceBetweenGoals changes a prepared workspace. Its folders are
// made old, since one that has just changed is never taken to be as before.
func TestSketchFollowsTheWorkspaceBetweenGoals(t *testing.T) {
	t.Parallel()
	needGit(t)
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a.go": "package a\n", "in/b.go": "package b\n", "in/deep/c.go": "package c\n", "out/d.go": "package d\n", "in/.gitignore": "*.tmp\n"})
	commit := func() {
		git(t, b.Dir, "add", "-A")
		git(t, b.Dir, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "Work")
	}
	git(t, b.Dir, "init", "-q", "-b", "main")
	commit()
	at := func(name string) string { return filepath.Join(b.Dir, filepath.FromSlash(name)) }
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	all := []string{"a.go", "in/.gitignore", "in/b.go", "in/deep/c.go", "out/d.go"}
	for _, tc := range []struct {
		name           string
		change         func()
		files, changed []string
		branch         string
	}{
		{"nothing", func() {}, all, nil, "main"},
		{"new file", func() { b.Write(t, map[string]string{"in/deep/e.go": "package c\n"}) }, []string{"a.go", "in/.gitignore", "in/b.go", "in/deep/c.go", "in/deep/e.go", "out/d.go"}, []string{"in/deep/e.go"}, "main"},
		{"commit", commit, []string{"a.go", "in/.gitignore", "in/b.go", "in/deep/c.go", "in/deep/e.go", "out/d.go"}, nil, "main"},
		{"removed file", func() { do(os.Remove(at("in/deep/e.go"))) }, all, []string{"in/deep/e.go"}, "main"},
		{"file that is replaced", func() {
			commit()
			do(os.WriteFile(at("new"), []byte("package b // new\n"), 0o600))
			do(os.Rename(at("new"), at("in/b.go")))
		}, all, []string{"in/b.go"}, "main"},
		{"moved folder", func() { commit(); do(os.Rename(at("in/deep"), at("out/deep"))); git(t, b.Dir, "add", "-A") }, []string{"a.go", "in/.gitignore", "in/b.go", "out/d.go", "out/deep/c.go"}, []string{"out/deep/c.go"}, "main"},
		{"rules of git in place", func() { commit(); do(os.WriteFile(at("in/.gitignore"), []byte("b.go\n"), 0o600)) }, []string{"a.go", "in/.gitignore", "out/d.go", "out/deep/c.go"}, []string{"in/.gitignore"}, "main"},
		{"branch", func() { commit(); git(t, b.Dir, "switch", "-q", "-c", "other") }, []string{"a.go", "in/.gitignore", "out/d.go", "out/deep/c.go"}, nil, "other"},
		{"folder instead of a file", func() {
			do(os.Remove(at("a.go")))
			b.Write(t, map[string]string{"a.go/x.go": "package x\n"})
			git(t, b.Dir, "add", "-A")
			commit()
		}, []string{"a.go/x.go", "in/.gitignore", "out/d.go", "out/deep/c.go"}, nil, "other"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			old := time.Now().Add(-time.Hour)
			for _, folder := range []string{".", "in", "in/deep", "out", "out/deep", "a.go"} {
				if info, err := os.Stat(at(folder)); err == nil && info.IsDir() {
					do(os.Chtimes(at(folder), old, old))
				}
			}
			do(b.Ops.Prepare(context.Background()))
			tc.change()
			facts, err := b.Ops.Facts(context.Background(), intent.NewSurvey("hello"))
			if s := facts.Sketch; err != nil || !slices.Equal(s.Files, tc.files) || !slices.Equal(s.Changed, tc.changed) || s.Branch != tc.branch {
				t.Errorf("the sketch is %+v, error %v", s, err)
			}
		})
	}
}
