package files_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// entries returns everything in the workspace by name: the content of files, and a
// slash for folders.
func (b *bench) entries(t tb) map[string]string {
	t.Helper()
	all := b.Files(t)
	err := filepath.WalkDir(b.Dir, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && at != b.Dir {
			name, _ := filepath.Rel(b.Dir, at)
			all[filepath.ToSlash(name)] = "/"
		}
		return err
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return all
}

func (b *bench) wantEntries(t tb, want map[string]string) {
	t.Helper()
	if got := b.entries(t); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got entries\n%q, want\n%q", got, want)
	}
}

func TestMoveKeepsContentAndModes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to string
		after    map[string]string
		diff     string
	}{
		"file": {
			"in/a", "b",
			map[string]string{"in": "/", "in/run.sh": "#!", "in/deep": "/", "in/deep/bin": "\x00", "in/none": "/", "b": "a\n", "out": "/"},
			"diff --git a/in/a b/b\nsimilarity index 100%\nrename from in/a\nrename to b\n",
		},
		"binary file into a new folder": {
			"in/deep/bin", "x/y/bin",
			map[string]string{"in": "/", "in/a": "a\n", "in/run.sh": "#!", "in/deep": "/", "in/none": "/", "x": "/", "x/y": "/", "x/y/bin": "\x00", "out": "/"},
			"rename from in/deep/bin\nrename to x/y/bin\n",
		},
		"folder": {
			"in/", "there/",
			map[string]string{"there": "/", "there/a": "a\n", "there/run.sh": "#!", "there/deep": "/", "there/deep/bin": "\x00", "there/none": "/", "out": "/"},
			"folder in moved to there\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, map[string]string{"in/a": "a\n", "in/run.sh": "#!", "in/deep/bin": "\x00"})
			for _, dir := range []string{"in/none", "out"} {
				if err := os.Mkdir(filepath.Join(b.Dir, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(filepath.Join(b.Dir, "in/run.sh"), 0o700); err != nil {
				t.Fatal(err)
			}
			got := workspacetest.Into[workspacetest.ChangeResult](t, b.Must(t, "fs.move", args{"from": c.from, "to": c.to}).Data)
			b.wantEntries(t, c.after)
			if !strings.Contains(got.Diff, c.diff) || got.Files[0].Path != strings.Trim(c.to, "/") {
				t.Errorf("got %+v", got)
			}
			if info, err := os.Stat(filepath.Join(b.Dir, "there/run.sh")); c.to == "there/" && (err != nil || info.Mode() != 0o700) {
				t.Errorf("the mode was lost: %v %v", info, err)
			}
		})
	}
}

func TestRefusedMoveChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a": "a", "b": "b", "in/c": "c", "in/.git/config": "", ".git/config": "", "d/e": "", "large": strings.Repeat("x", 4<<20+1)})
	if err := os.Symlink("a", filepath.Join(b.Dir, "link")); err != nil {
		t.Skipf("cannot create links: %v", err)
	}
	before := b.entries(t)
	for name, c := range map[string]struct{ from, to, wantErr string }{
		"existing file":                {"a", "b", "b exists"},
		"existing folder":              {"a", "in", "in is a folder that exists; name the new path whole, like in/a"},
		"same path":                    {"a", "./a", "where it is already"},
		"into itself":                  {"d", "d/deep", "into itself"},
		"missing source":               {"none", "x", `no file "none"`},
		"workspace itself":             {".", "x", "is a folder; name a file in it"},
		"link":                         {"link", "x", "link is a link"},
		"into git":                     {"a", ".git/hooks/pre-commit", "belongs to git"},
		"out of git":                   {".git/config", "x", "belongs to git"},
		"folder with a repository":     {"in", "x", "belongs to git"},
		"out of the workspace":         {"a", "../a", "outside the workspace"},
		"source outside the workspace": {"../a", "a2", "outside the workspace"},
		"file too large to back up":    {"large", "x", "cannot be kept for an undo"},
		"below a file":                 {"a", "b/c", `"b" is a file`},
	} {
		t.Run(name, func(t *testing.T) {
			b.Refused(t, "fs.move", args{"from": c.from, "to": c.to}, c.wantErr)
			b.wantEntries(t, before)
		})
	}
}

func TestMkdirTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"f": ""})
	if got := workspacetest.Into[workspacetest.ChangeResult](t, b.Must(t, "fs.mkdir", args{"path": "a/b/"}).Data); len(got.Files) != 2 || got.Diff != "folder a created\nfolder a/b created\n" {
		t.Errorf("got %+v", got)
	}
	if got := workspacetest.Into[workspacetest.ChangeResult](t, b.Must(t, "fs.mkdir", args{"path": "a/b"}).Data); len(got.Files) != 0 || got.Diff != "" {
		t.Errorf("second time: got %+v", got)
	}
	b.wantEntries(t, map[string]string{"f": "", "a": "/", "a/b": "/"})
	b.Refused(t, "fs.mkdir", args{"path": "f"}, "f is a file")
	b.Refused(t, "fs.mkdir", args{"path": "f/x"}, `"f" is a file`)
	b.Refused(t, "fs.mkdir", args{"path": "../x"}, "outside the workspace")
	b.Refused(t, "fs.mkdir", args{"path": "sub/.GIT"}, "belongs to git")
	b.wantEntries(t, map[string]string{"f": "", "a": "/", "a/b": "/"})
}

func TestRemovingFullFolderNeedsRecursive(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a": "a\n", "bin": "\x00", "in/b": "b", "in/deep/c": "c", ".git/config": "", "own/.git/config": ""})
	if err := os.Mkdir(filepath.Join(b.Dir, "none"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.Refused(t, "fs.remove", args{"path": "in"}, "in holds 2 files and 1 folder", "recursive")
	b.Refused(t, "fs.remove", args{"path": "."}, "is a folder")
	b.Refused(t, "fs.remove", args{"path": "missing"}, `no file "missing"`)
	b.Refused(t, "fs.remove", args{"path": ".git", "recursive": true}, "belongs to git")
	b.Refused(t, "fs.remove", args{"path": "own", "recursive": true}, "belongs to git")
	b.Refused(t, "fs.remove", args{"path": "../x", "recursive": true}, "outside the workspace")
	if got := workspacetest.Into[workspacetest.ChangeResult](t, b.Must(t, "fs.remove", args{"path": "a"}).Data); !strings.Contains(got.Diff, "--- a/a\n+++ /dev/null\n") || got.Files[0].Removed != 1 {
		t.Errorf("got %+v", got)
	}
	if got := workspacetest.Into[workspacetest.ChangeResult](t, b.Must(t, "fs.remove", args{"path": "bin"}).Data); got.Diff != "Binary files a/bin and /dev/null differ\n" {
		t.Errorf("got %+v", got)
	}
	b.Must(t, "fs.remove", args{"path": "none"})
	b.Must(t, "fs.remove", args{"path": "in/", "recursive": true})
	b.wantEntries(t, map[string]string{".git": "/", ".git/config": "", "own": "/", "own/.git": "/", "own/.git/config": ""})
}

func TestRemoveRefusesLinks(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"real/f": "f", "d/g": "g"})
	for link, target := range map[string]string{"link": "real/f", "dir": "real", "d/in": "../real"} {
		if err := os.Symlink(target, filepath.Join(b.Dir, link)); err != nil {
			t.Skipf("cannot create links: %v", err)
		}
	}
	b.Refused(t, "fs.remove", args{"path": "link"}, "link is a link")
	b.Refused(t, "fs.remove", args{"path": "dir/", "recursive": true}, "dir is a link")
	b.Refused(t, "fs.remove", args{"path": "d", "recursive": true}, "d/in is a link")
	b.Must(t, "fs.remove", args{"path": "dir/f"})
	b.Same(t, map[string]string{"d/g": "g"})
}

func TestApprovedFolderChangeRequiresUnchangedFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"in/a": "a", "in/b": "b"})
	for _, c := range []struct {
		tool string
		args args
	}{
		{"fs.remove", args{"path": "in", "recursive": true}},
		{"fs.move", args{"from": "in", "to": "out"}},
	} {
		hashes := workspacetest.Into[workspacetest.ChangeResult](t, b.Ask(t, c.tool, c.args, preview).Data).Hashes
		b.Write(t, map[string]string{"in/late": "late"})
		before := b.entries(t)
		got := b.Ask(t, c.tool, c.args, map[string]any{builtin.MetaHashes: hashes})
		if !got.IsError || !strings.Contains(got.Text, "late was not in the diff that was approved") {
			t.Errorf("%s: got %s", c.tool, got.Text)
		}
		b.wantEntries(t, before)
		if err := os.Remove(filepath.Join(b.Dir, "in/late")); err != nil {
			t.Fatal(err)
		}
		b.Write(t, map[string]string{"in/a": "not for " + c.tool})
		if got := b.Ask(t, c.tool, c.args, map[string]any{builtin.MetaHashes: hashes}); !got.IsError || !strings.Contains(got.Text, "in/a changed since it was approved") {
			t.Errorf("%s: got %s", c.tool, got.Text)
		}
	}
}

func TestPreviewMatchesChange(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "in", "in/a", "in/b", "in/deep", "in/deep/a", "x/y"}
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "entries")
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		ops, err := workspace.New(workspace.Config{Dir: dir})
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer func() { _ = ops.Close() }()
		b := connect(t, ops, dir)
		defer func() { _ = b.Client.Close() }()
		b.Write(t, map[string]string{"a": "1\n", "in/a": "2\n", "in/deep/a": "\x00"})
		name := rapid.SampledFrom(names)
		for range rapid.IntRange(1, 6).Draw(t, "calls") {
			var tool string
			var call args
			switch rapid.IntRange(0, 3).Draw(t, "tool") {
			case 0:
				tool, call = "fs.move", args{"from": name.Draw(t, "from"), "to": name.Draw(t, "to")}
			case 1:
				tool, call = "fs.remove", args{"path": name.Draw(t, "path"), "recursive": rapid.Bool().Draw(t, "recursive")}
			case 2:
				tool, call = "fs.mkdir", args{"path": name.Draw(t, "path")}
			default:
				tool, call = "fs.write", args{"path": name.Draw(t, "path"), "text": "new\n"}
			}
			before := b.entries(t)
			shown := b.Ask(t, tool, call, preview)
			b.wantEntries(t, before)
			if shown.IsError {
				b.Refused(t, tool, call, shown.Text)
				b.wantEntries(t, before)
				continue
			}
			promised := workspacetest.Into[workspacetest.ChangeResult](t, shown.Data)
			done := b.Ask(t, tool, call, map[string]any{builtin.MetaHashes: promised.Hashes})
			if done.IsError || workspacetest.Into[workspacetest.ChangeResult](t, done.Data).Diff != promised.Diff {
				t.Fatalf("%s %v: got preview %q, change %q %s", tool, call, promised.Diff, done.Data["diff"], done.Text)
			}
		}
	})
}
