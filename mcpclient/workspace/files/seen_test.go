package files_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

func TestPatchRefusesFileChangedSinceRead(t *testing.T) {
	t.Parallel()
	patch := args{"path": "f", "old": "a", "new": "b"}
	diff := args{"diff": "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"}
	for name, call := range map[string]args{"replacement": patch, "diff": diff} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, map[string]string{"f": "a\n"})
			b.Must(t, "fs.read", args{"path": "f", "limit": 1})
			b.Write(t, map[string]string{"f": "a\nmore\n"})
			b.Refused(t, "fs.patch", call, "f changed since it was read; read it again")
			if shown := b.Ask(t, "fs.patch", call, preview); !shown.IsError {
				t.Errorf("got a preview: %s", shown.Text)
			}
			b.Same(t, map[string]string{"f": "a\nmore\n"})
			b.Must(t, "fs.read", args{"path": "f"})
			b.Must(t, "fs.patch", patch)
			b.Same(t, map[string]string{"f": "b\nmore\n"})
		})
	}
}

func TestOwnChangesDoNotOutdateReads(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"f": "a\n", "g": "a\n"})
	b.Must(t, "fs.read", args{"path": "f"})
	b.Must(t, "fs.patch", args{"path": "f", "old": "a", "new": "b"})
	b.Must(t, "fs.write", args{"path": "f", "text": "c\n"})
	b.Must(t, "fs.patch", args{"path": "f", "old": "c", "new": "d"})
	b.Must(t, "fs.patch", args{"path": "g", "old": "a", "new": "b"}) // never read
	b.Write(t, map[string]string{"f": "e\n"})
	b.Must(t, "fs.write", args{"path": "f", "text": "f\n"}) // a write needs no read
	b.Same(t, map[string]string{"f": "f\n", "g": "b\n"})
}

func TestPatchChecksGivenHashes(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	two := map[string]string{"one.txt": "a\nb\nc\n", "sub/two.txt": "x\n"}
	good := map[string]any{"one.txt": sum(two["one.txt"]), "sub/two.txt": sum(two["sub/two.txt"])}
	for name, c := range map[string]struct {
		hashes  any
		wantErr string
	}{
		"hash of another text":   {map[string]any{"one.txt": sum("else"), "sub/two.txt": good["sub/two.txt"]}, "one.txt changed since it was read; read it again"},
		"other file":             {map[string]any{"three": sum("x")}, "three changed since it was read"},
		"hash of a missing file": {map[string]any{"one.txt": ""}, "one.txt changed since it was read"},
		"file outside":           {map[string]any{"../x": sum("x")}, "outside the workspace"},
		"invalid hash":           {map[string]any{"one.txt": "abc"}, `no SHA-256 in hex for "one.txt"`},
		"number as hash":         {map[string]any{"one.txt": 3}, "hashes of fs.patch must be of type object of string"},
		"text as hashes":         {"abc", "hashes of fs.patch must be of type object"},
	} {
		t.Run(name, func(t *testing.T) {
			b.Write(t, two)
			b.Refused(t, "fs.patch", args{"diff": twoFiles, "hashes": c.hashes}, c.wantErr)
			b.Same(t, two)
		})
	}
	// A file with a given hash need not have been read in its current state.
	b.Write(t, map[string]string{"one.txt": "old\n"})
	b.Must(t, "fs.read", args{"path": "one.txt"})
	b.Write(t, two)
	b.Must(t, "fs.patch", args{"diff": twoFiles, "hashes": good})
	b.Same(t, map[string]string{"one.txt": "a\nB\nc\n", "sub/two.txt": "x\ny\n"})
}

func TestInvalidPathsAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"f": "f\n", ".git/config": "x"})
	before := b.entries(t)
	for name, c := range map[string]struct{ path, wantErr string }{
		"parent folder":         {"../../etc/passwd", "outside the workspace"},
		"absolute":              {"/etc/passwd", "outside the workspace"},
		"NUL":                   {"f\x00.txt", "characters"},
		"newline":               {"f\n", "characters"},
		"long name":             {strings.Repeat("n", 300), "at most 255"},
		"long path":             {strings.Repeat("d/", 3000) + "f", "at most 4000"},
		"git in capitals":       {".GIT/config", "belongs to git"},
		"git with a dot":        {".git./config", "belongs to git"},
		"git by its short name": {"GIT~1/config", "belongs to git"},
		"git with a stream":     {".git::$INDEX_ALLOCATION/config", "belongs to git"},
		"git with a joiner":     {".g\u200cit/config", "belongs to git"},
		"git in a folder":       {"vendor/x/.git/hooks/post-merge", "belongs to git"},
		"below a file":          {"f/x", `"f" is a file`},
	} {
		t.Run(name, func(t *testing.T) {
			for tool, call := range map[string]args{
				"fs.write":  {"path": c.path, "text": "x"},
				"fs.patch":  {"path": c.path, "old": "f", "new": "g"},
				"fs.remove": {"path": c.path, "recursive": true},
				"fs.mkdir":  {"path": c.path},
				"fs.move":   {"from": "f", "to": c.path},
			} {
				got := b.Ask(t, tool, call, nil)
				if !got.IsError || !strings.Contains(got.Text, c.wantErr) || strings.Contains(got.Text, "\n") || len(got.Text) > 400 {
					t.Errorf("%s: got %q", tool, got.Text)
				}
				b.wantEntries(t, before)
			}
		})
	}
}

func TestLaterLinkIsNotFollowed(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "f"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"in/f": "a\n"})
	b.Must(t, "fs.read", args{"path": "in/f"})
	call := args{"path": "in/f", "old": "a", "new": "b"}
	hashes := workspacetest.Into[workspacetest.ChangeResult](t, b.Ask(t, "fs.patch", call, preview).Data).Hashes
	if err := os.RemoveAll(filepath.Join(b.Dir, "in")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(b.Dir, "in")); err != nil {
		t.Skipf("cannot create links: %v", err)
	}
	b.Refused(t, "fs.read", args{"path": "in/f"}, "outside the workspace")
	b.Refused(t, "fs.stat", args{"path": "in/f"}, "outside the workspace")
	b.Refused(t, "fs.remove", args{"path": "in/f"}, "outside the workspace")
	if got := b.Ask(t, "fs.patch", call, map[string]any{builtin.MetaHashes: hashes}); !got.IsError {
		t.Errorf("the file was changed: %s", got.Text)
	}
	if found := b.Must(t, "fs.search", args{"query": "secret"}); found.Data["total"] != 0.0 {
		t.Errorf("the search followed the link: %v", found.Data)
	}
	if got, _ := os.ReadFile(filepath.Join(out, "f")); string(got) != "secret\n" {
		t.Errorf("the file outside was changed to %q", got)
	}
}

func TestUnreadableFolderIsReported(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"closed/f": "needle", "open/f": "needle"})
	closed := filepath.Join(b.Dir, "closed")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("this user can read everything")
	}
	b.Refused(t, "fs.read", args{"path": "closed/f"}, "permission denied")
	b.Refused(t, "fs.list", args{"path": "closed"}, "permission denied")
	b.Refused(t, "fs.search", args{"path": "closed", "query": "x"}, "permission denied")
	b.Refused(t, "fs.write", args{"path": "closed/g", "text": "x"}, "permission denied")
	b.Refused(t, "fs.remove", args{"path": "closed", "recursive": true}, "permission denied")
}
