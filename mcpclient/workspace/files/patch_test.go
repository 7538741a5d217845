package files_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"pgregory.net/rapid"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

func TestReplacementKeepsOtherText(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	for name, c := range map[string]struct {
		before, old, new string
		all              bool
		after            string
	}{
		"one line":                         {"a\nb\nc\n", "b", "B", false, "a\nB\nc\n"},
		"no final newline":                 {"a\nb", "b", "B", false, "a\nB"},
		"added final newline":              {"a\nb", "b", "b\n", false, "a\nb\n"},
		"CRLF in the file, LF in the call": {"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false, "x\r\ny\r\nz\r\nc\r\n"},
		"CRLF in both":                     {"a\r\nb\r\n", "a\r\nb", "x", false, "x\r\n"},
		"mixed line endings":               {"a\r\nb\nc\n", "b\n", "B\n", false, "a\r\nB\nc\n"},
		"every occurrence":                 {"x x\nx", "x", "yy", true, "yy yy\nyy"},
		"removed text":                     {"keep drop keep", "drop ", "", false, "keep keep"},
		"text like an expression":          {"f($1)", "($1)", "(${1})", false, "f(${1})"},
	} {
		t.Run(name, func(t *testing.T) {
			b.Write(t, map[string]string{"f": c.before})
			a := args{"path": "f", "old": c.old, "new": c.new}
			if c.all {
				a["all"] = true
			}
			b.Must(t, "fs.patch", a)
			b.Same(t, map[string]string{"f": c.after})
		})
	}
}

func TestAmbiguousReplacementChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	text := "func verify(user string) error {\n\tif user == \"\" {\n\t\treturn errEmpty\n\t}\n\treturn nil\n}\n\nfunc a() error {\n\treturn nil\n}\n"
	for name, c := range map[string]struct {
		path, old string
		wantErr   []string
	}{
		"two occurrences":                  {"f", "return nil", []string{"occurs 2 times in f", "lines 5, 9", "all"}},
		"overlapping occurrences":          {"aaa", "aa", []string{"occurs 2 times"}},
		"no occurrence":                    {"f", "something else altogether", []string{"does not occur in f", "read the file"}},
		"near match":                       {"f", "func verify(usr string) error {", []string{"most similar line is 1", "func verify(user string) error {"}},
		"missing file":                     {"g", "x", []string{`no file "g"`}},
		"missing file with a similar path": {"other/f", "x", []string{`no file "other/f"`, "similar: f"}},
		"folder":                           {"dir", "x", []string{"is a folder"}},
		"binary file":                      {"bin", "x", []string{"binary"}},
		"file in Latin-1":                  {"latin1", "caf", []string{"UTF-8"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"f": text, "aaa": "aaa", "dir/x": "", "bin": "\x00x", "latin1": "caf\xe9"}
			b.Write(t, files)
			b.Refused(t, "fs.patch", args{"path": c.path, "old": c.old, "new": "NEW"}, c.wantErr...)
			b.Same(t, files)
		})
	}
}

const twoFiles = `some words before
--- a/one.txt
+++ b/one.txt
@@ -1,3 +1,3 @@
 a
-b
+B
 c
--- a/sub/two.txt
+++ b/sub/two.txt
@@ -1 +1,2 @@
 x
+y
`

func TestDiffChangesSeveralFiles(t *testing.T) {
	t.Parallel()
	before := map[string]string{"one.txt": "a\nb\nc\n", "sub/two.txt": "x\n", "old.txt": "gone\n"}
	for name, c := range map[string]struct {
		diff  string
		after map[string]string // "-" means removed
	}{
		"diff format": {twoFiles, map[string]string{"one.txt": "a\nB\nc\n", "sub/two.txt": "x\ny\n"}},
		"git format": {
			"diff --git a/one.txt b/one.txt\nindex 1..2 100644\n--- a/one.txt\n+++ b/one.txt\n@@ -2 +2 @@ words\n-b\n+B\n",
			map[string]string{"one.txt": "a\nB\nc\n"},
		},
		"without a/ and b/":         {"--- one.txt\n+++ one.txt\n@@ -2 +2 @@\n-b\n+B\n", map[string]string{"one.txt": "a\nB\nc\n"}},
		"fenced, no final newline":  {"```diff\n--- a/one.txt\n+++ b/one.txt\n@@ -2 +2 @@\n-b\n+B\n```", map[string]string{"one.txt": "a\nB\nc\n"}},
		"CRLF throughout":           {strings.ReplaceAll(twoFiles, "\n", "\r\n"), map[string]string{"one.txt": "a\nB\nc\n", "sub/two.txt": "x\ny\n"}},
		"new file":                  {"--- /dev/null\n+++ b/new/n.txt\n@@ -0,0 +1,2 @@\n+1\n+2\n", map[string]string{"new/n.txt": "1\n2\n"}},
		"removed file":              {"--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n", map[string]string{"old.txt": "-"}},
		"no newline at end of file": {"--- a/sub/two.txt\n+++ b/sub/two.txt\n@@ -1 +1 @@\n-x\n+z\n\\ No newline at end of file\n", map[string]string{"sub/two.txt": "z"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, before)
			b.Must(t, "fs.patch", args{"diff": c.diff})
			want := maps.Clone(before)
			maps.Copy(want, c.after)
			maps.DeleteFunc(want, func(_, text string) bool { return text == "-" })
			b.Same(t, want)
		})
	}
}

func TestDiffAppliesToFilesWithCRLF(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"one.txt": "a\r\nb\r\nc\r\n", "sub/two.txt": "x\r\n"})
	b.Must(t, "fs.patch", args{"diff": twoFiles})
	b.Same(t, map[string]string{"one.txt": "a\r\nB\r\nc\r\n", "sub/two.txt": "x\r\ny\r\n"})
}

func TestDiffInFoldersNamedAAndB(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"b/x": "1\n", "a/b/y": "1\n"})
	b.Must(t, "fs.patch", args{"diff": "--- b/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n--- a/a/b/y\n+++ b/a/b/y\n@@ -1 +1 @@\n-1\n+2\n"})
	b.Must(t, "fs.patch", args{"diff": "diff --git a/b/x b/b/x\n--- a/b/x\n+++ b/b/x\n@@ -1 +1 @@\n-2\n+3\n"})
	b.Same(t, map[string]string{"b/x": "3\n", "a/b/y": "2\n"})
}

func TestMismatchedDiffChangesNothing(t *testing.T) {
	t.Parallel()
	head := "--- a/one.txt\n+++ b/one.txt\n@@ -2 +2 @@\n-b\n+B\n"
	for name, c := range map[string]struct {
		args    args
		wantErr []string
	}{
		"second of two files":        {args{"diff": strings.ReplaceAll(twoFiles, " x\n", " X\n")}, []string{"hunk 1 does not fit sub/two.txt", `line 1 of the file is "x"`}},
		"second of two hunks":        {args{"diff": head + "@@ -3 +3 @@\n-d\n+D\n"}, []string{"hunk 2 does not fit one.txt", "line 3"}},
		"beyond the end of the file": {args{"diff": head + "@@ -30 +30 @@\n-d\n+D\n"}, []string{"hunk 2 does not fit one.txt"}},
		"wrong line counts":          {args{"diff": "--- a/one.txt\n+++ b/one.txt\n@@ -2,9 +2,9 @@\n-b\n+B\n"}, []string{"cannot be read", "miscounts"}},
		"hunk without a file":        {args{"diff": "@@ -2 +2 @@\n-b\n+B\n"}, []string{"cannot be read", "header"}},
		"negative number":            {args{"diff": "--- a/one.txt\n+++ b/one.txt\n@@ --2 +2 @@\n-b\n+B\n"}, []string{""}},
		"not a diff":                 {args{"diff": "change b to B"}, []string{"--- a/PATH"}},
		"missing file":               {args{"diff": head + "--- a/three\n+++ b/three\n@@ -1 +1 @@\n-b\n+B\n"}, []string{`no file "three"`}},
		"new file that exists":       {args{"diff": head + "--- /dev/null\n+++ b/sub/two.txt\n@@ -0,0 +1 @@\n+B\n"}, []string{"exists"}},
		"partly removed file":        {args{"diff": head + "diff --git a/sub/two.txt b/sub/two.txt\ndeleted file mode 100644\n--- a/sub/two.txt\n+++ /dev/null\n"}, []string{"leaves text"}},
		"duplicate file":             {args{"diff": head + "--- a/./one.txt\n+++ b/./one.txt\n@@ -3 +3 @@\n-c\n+C\n"}, []string{"one.txt twice"}},
		"rename":                     {args{"diff": head + "diff --git a/sub/two.txt b/sub/three.txt\nsimilarity index 100%\nrename from sub/two.txt\nrename to sub/three.txt\n"}, []string{"renames"}},
		"mode change":                {args{"diff": head + "diff --git a/sub/two.txt b/sub/two.txt\nold mode 100644\nnew mode 100755\n"}, []string{"mode"}},
		"binary file":                {args{"diff": head + "diff --git a/sub/two.txt b/sub/two.txt\nindex 1..2 100644\nBinary files a/sub/two.txt and b/sub/two.txt differ\n"}, []string{"binary"}},
		"path outside":               {args{"diff": head + "--- a/../out\n+++ b/../out\n@@ -1 +1 @@\n-b\n+B\n"}, []string{"outside the workspace"}},
		"other path argument":        {args{"diff": head, "path": "sub/two.txt"}, []string{"path says sub/two.txt", "one.txt"}},
		"file below a new file": {
			args{"diff": "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+1\n--- /dev/null\n+++ b/y/z\n@@ -0,0 +1 @@\n+1\n--- /dev/null\n+++ b/x/y\n@@ -0,0 +1 @@\n+1\n"},
			[]string{"nothing was changed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{Backups: filepath.Join(t.TempDir(), "kept")})
			before := map[string]string{"one.txt": "a\nb\nc\n", "sub/two.txt": "x\n"}
			b.Write(t, before)
			b.Refused(t, "fs.patch", c.args, c.wantErr...)
			b.Same(t, before)
			if entries, err := os.ReadDir(b.Dir); err != nil || len(entries) != 2 {
				t.Errorf("got leftover folders: %v %v", entries, err)
			}
		})
	}
}

func TestWriteCreatesAndReplaces(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	got := workspacetest.Into[workspacetest.ChangeResult](t, b.Must(t, "fs.write", args{"path": "in/new/f", "text": "a\nb"}).Data)
	if got.Files[0].Added != 2 || got.Files[0].Removed != 0 || !strings.Contains(got.Diff, "--- /dev/null\n+++ b/in/new/f\n") {
		t.Errorf("creating: got %+v", got)
	}
	got = workspacetest.Into[workspacetest.ChangeResult](t, b.Must(t, "fs.write", args{"path": "in/new/f", "text": "a\nc\n"}).Data)
	if got.Files[0].Added != 1 || got.Files[0].Removed != 1 || !strings.Contains(got.Diff, "--- a/in/new/f\n+++ b/in/new/f\n") {
		t.Errorf("replacing: got %+v", got)
	}
	b.Must(t, "fs.write", args{"path": "empty", "text": ""})
	b.Same(t, map[string]string{"in/new/f": "a\nc\n", "empty": ""})
	b.Refused(t, "fs.write", args{"path": "in", "text": ""}, "is a folder")
	b.Refused(t, "fs.write", args{"path": "in/", "text": ""}, "is a folder")
	b.Refused(t, "fs.write", args{"path": ".", "text": ""}, "is a folder")
	b.Refused(t, "fs.write", args{"path": "f", "text": "a\x00b"}, "not text")
	b.Refused(t, "fs.write", args{"path": "f", "text": strings.Repeat("x", 4<<20+1)}, "at most")
}

func TestWriteKeepsModeAndLineEndings(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"run.sh": "a\r\nb\r\n"})
	at := filepath.Join(b.Dir, "run.sh")
	if err := os.Chmod(at, 0o777); err != nil {
		t.Fatal(err)
	}
	b.Must(t, "fs.write", args{"path": "run.sh", "text": "x\ny\n"})
	b.Same(t, map[string]string{"run.sh": "x\r\ny\r\n"})
	if info, err := os.Stat(at); err != nil || info.Mode() != fs.FileMode(0o777) {
		t.Errorf("got mode %v: %v", info.Mode(), err)
	}
}

func TestPreviewMatchesPatchAndChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Backups: filepath.Join(t.TempDir(), "kept")})
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "ab", "\t}", "-- x", "+ y", "日本"}), 1, 30).Draw(t, "lines")
		before := strings.Join(lines, end)
		if rapid.Bool().Draw(t, "final newline") {
			before += end
		}
		var a args
		tool := "fs.patch"
		switch runes := []rune(before); {
		case len(runes) == 0 || rapid.Bool().Draw(t, "whole"):
			tool = "fs.write"
			a = args{"path": "f", "text": rapid.StringMatching(`(a|b|\n|日|\r\n){0,40}`).Draw(t, "text")}
		default:
			i := rapid.IntRange(0, len(runes)-1).Draw(t, "from")
			j := rapid.IntRange(i+1, len(runes)).Draw(t, "to")
			a = args{"path": "f", "all": true, "old": string(runes[i:j]), "new": rapid.StringMatching(`(a|b|\n|日){0,10}`).Draw(t, "new")}
		}
		b.Write(t, map[string]string{"f": before})
		shown := b.Ask(t, tool, a, preview)
		b.Same(t, map[string]string{"f": before})
		if shown.IsError {
			b.Refused(t, tool, a, shown.Text)
			b.Same(t, map[string]string{"f": before})
			return
		}
		promised := workspacetest.Into[workspacetest.ChangeResult](t, shown.Data)
		if sum := sha256.Sum256([]byte(before)); promised.Hashes["f"] != hex.EncodeToString(sum[:]) {
			t.Fatalf("got hashes %v", promised.Hashes)
		}
		done := b.Ask(t, tool, a, map[string]any{builtin.MetaHashes: promised.Hashes})
		if done.IsError {
			t.Fatalf("the call failed after its preview: %s", done.Text)
		}
		made := workspacetest.Into[workspacetest.ChangeResult](t, done.Data)
		if made.Diff != promised.Diff {
			t.Fatalf("got preview %q, change %q", promised.Diff, made.Diff)
		}
		after := b.Files(t)["f"]
		if got := applied(t, before, promised.Diff); got != after {
			t.Fatalf("the diff %q gives %q from %q, the call wrote %q", promised.Diff, got, before, after)
		}
		if made.Files[0].Added-made.Files[0].Removed != countLines(after)-countLines(before) {
			t.Fatalf("got wrong line counts %+v for %q", made.Files, promised.Diff)
		}
	})
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// applied applies a diff of one file with an independent implementation.
func applied(t tb, before, diff string) string {
	t.Helper()
	if diff == "" {
		return before
	}
	files, _, err := gitdiff.Parse(strings.NewReader(diff))
	if err != nil || len(files) != 1 {
		t.Fatalf("parse the diff %q: %v", diff, err)
	}
	var after bytes.Buffer
	if err := gitdiff.Apply(&after, strings.NewReader(before), files[0]); err != nil {
		t.Fatalf("apply the diff %q to %q: %v", diff, before, err)
	}
	return after.String()
}

func TestPreviewOfDiffListsEveryFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	before := map[string]string{"one.txt": "a\nb\nc\n", "sub/two.txt": "x\n"}
	b.Write(t, before)
	diff := twoFiles + "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+1\n"
	got := workspacetest.Into[workspacetest.ChangeResult](t, b.Ask(t, "fs.patch", args{"diff": diff}, preview).Data)
	b.Same(t, before)
	if len(got.Hashes) != 3 || got.Hashes["new"] != "" || got.Hashes["one.txt"] == "" || !strings.Contains(got.Diff, "+++ b/new\n@@ -0,0 +1 @@\n+1\n") {
		t.Errorf("got %+v", got)
	}
}

func TestApprovedDiffRequiresUnchangedFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	call := args{"diff": twoFiles}
	for name, c := range map[string]struct {
		edits   map[string]string // made after the preview
		hashes  func(h map[string]string)
		wantErr string
	}{
		"other text":                  {map[string]string{"sub/two.txt": "x\n\n"}, nil, "sub/two.txt changed since it was approved; look at the new diff"},
		"text that no longer matches": {map[string]string{"one.txt": "else"}, nil, "one.txt changed since it was approved"},
		"file without approval":       {nil, func(h map[string]string) { delete(h, "one.txt") }, "one.txt was not in the diff that was approved"},
		"file approved as new":        {nil, func(h map[string]string) { h["one.txt"] = "" }, "one.txt changed since it was approved"},
		"approval of a missing file":  {nil, func(h map[string]string) { h["three"] = h["one.txt"] }, "three changed since it was approved"},
		"file outside":                {nil, func(h map[string]string) { h["../out"] = "" }, "outside the workspace"},
		"empty approval":              {nil, func(h map[string]string) { clear(h) }, "was not in the diff that was approved"},
		"invalid hash":                {nil, func(h map[string]string) { h["x"] = "not there" }, "x changed since it was approved"},
	} {
		t.Run(name, func(t *testing.T) {
			b.Write(t, map[string]string{"one.txt": "a\nb\nc\n", "sub/two.txt": "x\n"})
			hashes := workspacetest.Into[workspacetest.ChangeResult](t, b.Ask(t, "fs.patch", call, preview).Data).Hashes
			b.Write(t, c.edits)
			if c.hashes != nil {
				c.hashes(hashes)
			}
			before := b.Files(t)
			got := b.Ask(t, "fs.patch", call, map[string]any{builtin.MetaHashes: hashes})
			if !got.IsError || !strings.Contains(got.Text, c.wantErr) {
				t.Errorf("got %q, want %q", got.Text, c.wantErr)
			}
			b.Same(t, before)
		})
	}
}

func TestPreviewOfOtherToolsIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"go.mod": "module m\n"})
	if got := b.Ask(t, "proc.run", args{"shell": "touch f"}, preview); !got.IsError || !strings.Contains(got.Text, "cannot preview") {
		t.Errorf("proc.run: got %q", got.Text)
	}
	if got := b.Ask(t, "fs.read", args{"path": "go.mod"}, preview); got.Text != "module m\n" {
		t.Errorf("fs.read: got %q", got.Text)
	}
	if got := b.Ask(t, "fs.write", args{"path": "f", "text": ""}, map[string]any{builtin.MetaHashes: 3}); !got.IsError {
		t.Errorf("hashes that are a number were accepted: %q", got.Text)
	}
}

func TestConcurrentPatchesAllApply(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	const n = 16
	var before, after strings.Builder
	for i := range n {
		fmt.Fprintf(&before, "old%02d\n", i)
		fmt.Fprintf(&after, "new%02d\n", i)
	}
	b.Write(t, map[string]string{"f": before.String()})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			got, err := b.Try(t.Context(), "fs.patch", args{"path": "f", "old": fmt.Sprintf("old%02d", i), "new": fmt.Sprintf("new%02d", i)}, nil)
			if err != nil || got.IsError {
				t.Errorf("%v %s", err, got.Text)
			}
		})
	}
	wg.Wait()
	b.Same(t, map[string]string{"f": after.String()})
}

func TestRandomDiffsMatchTheirPreview(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	line := rapid.SampledFrom([]string{
		"--- a/f", "+++ b/f", "--- /dev/null", "+++ /dev/null", "@@ -1 +1 @@", "@@ -1,2 +1,2 @@", "@@ -0,0 +1 @@", "@@ -1,-2 +1,9 @@",
		"@@ -9223372036854775807,2 +1 @@", "@@ --1,1 +0,0 @@", " a", "-a", "+b", "", "\\ No newline at end of file", "diff --git a/f b/f", "new file mode 100644",
		"deleted file mode 100644", "GIT binary patch", "literal 3", "rename from f", "rename to g", "index 1..2", "--- a/g", "+++ b/g",
	})
	rapid.Check(t, func(t *rapid.T) {
		before := map[string]string{"f": "a\nb\n"}
		b.Write(t, before)
		diff := strings.Join(rapid.SliceOfN(line, 1, 12).Draw(t, "lines"), "\n")
		if got := b.Ask(t, "fs.patch", args{"diff": diff}, preview); !got.IsError {
			promised := workspacetest.Into[workspacetest.ChangeResult](t, got.Data)
			if done := b.Ask(t, "fs.patch", args{"diff": diff}, nil); done.IsError || workspacetest.Into[workspacetest.ChangeResult](t, done.Data).Diff != promised.Diff {
				t.Fatalf("got preview %q, change %q", promised.Diff, done.Text)
			}
			for name := range b.Files(t) {
				if err := os.Remove(filepath.Join(b.Dir, name)); err != nil {
					t.Fatalf("%v", err)
				}
			}
			return
		}
		if done := b.Ask(t, "fs.patch", args{"diff": diff}, nil); !done.IsError {
			t.Fatalf("a refused preview was applied: %s", done.Text)
		}
		b.Same(t, before)
	})
}
