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
)

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

func TestAFileThatChangedSinceItWasReadIsLeftAlone(t *testing.T) {
	patch := args{"path": "f", "old": "a", "new": "b"}
	diff := args{"diff": "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"}
	for name, call := range map[string]args{"by a replacement": patch, "by a diff": diff} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, map[string]string{"f": "a\n"})
			b.Must(t, "fs.read", args{"path": "f", "limit": 1})
			b.Write(t, map[string]string{"f": "a\nmore\n"})
			b.Refused(t, "fs.patch", call, "f changed since it was read; read it again")
			if shown := b.Ask(t, "fs.patch", call, preview); !shown.IsError {
				t.Errorf("the preview shows %s", shown.Text)
			}
			b.Same(t, map[string]string{"f": "a\nmore\n"})
			b.Must(t, "fs.read", args{"path": "f"})
			b.Must(t, "fs.patch", patch)
			b.Same(t, map[string]string{"f": "b\nmore\n"})
		})
	}
}

func TestOwnChangesAreNoSurprise(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"f": "a\n", "g": "a\n"})
	b.Must(t, "fs.read", args{"path": "f"})
	b.Must(t, "fs.patch", args{"path": "f", "old": "a", "new": "b"})
	b.Must(t, "fs.write", args{"path": "f", "text": "c\n"})
	b.Must(t, "fs.patch", args{"path": "f", "old": "c", "new": "d"})
	b.Must(t, "fs.patch", args{"path": "g", "old": "a", "new": "b"}) // never read
	b.Write(t, map[string]string{"f": "e\n"})
	b.Must(t, "fs.write", args{"path": "f", "text": "f\n"}) // needs no knowledge of it
	b.Same(t, map[string]string{"f": "f\n", "g": "b\n"})
}

func TestAPatchIsHeldToTheHashesItWasMadeAgainst(t *testing.T) {
	b := newBench(t, workspace.Config{})
	two := map[string]string{"one.txt": "a\nb\nc\n", "sub/two.txt": "x\n"}
	good := map[string]any{"one.txt": sum(two["one.txt"]), "sub/two.txt": sum(two["sub/two.txt"])}
	for name, c := range map[string]struct {
		hashes any
		says   string
	}{
		"of another text":            {map[string]any{"one.txt": sum("else"), "sub/two.txt": good["sub/two.txt"]}, "one.txt changed since it was read; read it again"},
		"of a file beside":           {map[string]any{"three": sum("x")}, "three changed since it was read"},
		"of a file that was missing": {map[string]any{"one.txt": ""}, "one.txt changed since it was read"},
		"of a file outside":          {map[string]any{"../x": sum("x")}, "outside the workspace"},
		"that are none":              {map[string]any{"one.txt": "abc"}, `no SHA-256 in hex for "one.txt"`},
		"that are no text":           {map[string]any{"one.txt": 3}, "hashes of fs.patch must be of type object of string"},
		"that are no object":         {"abc", "hashes of fs.patch must be of type object"},
	} {
		t.Run(name, func(t *testing.T) {
			b.Write(t, two)
			b.Refused(t, "fs.patch", args{"diff": twoFiles, "hashes": c.hashes}, c.says)
			b.Same(t, two)
		})
	}
	// What the call vouches for needs not have been read as it is.
	b.Write(t, map[string]string{"one.txt": "old\n"})
	b.Must(t, "fs.read", args{"path": "one.txt"})
	b.Write(t, two)
	b.Must(t, "fs.patch", args{"diff": twoFiles, "hashes": good})
	b.Same(t, map[string]string{"one.txt": "a\nB\nc\n", "sub/two.txt": "x\ny\n"})
}

func TestBadPathsAreRefusedInASentence(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"f": "f\n", ".git/config": "x"})
	before := b.entries(t)
	for name, c := range map[string]struct{ path, says string }{
		"upwards":             {"../../etc/passwd", "outside the workspace"},
		"absolute":            {"/etc/passwd", "outside the workspace"},
		"a NUL":               {"f\x00.txt", "characters"},
		"the end of a line":   {"f\n", "characters"},
		"a very long name":    {strings.Repeat("n", 300), "at most 255"},
		"a very long path":    {strings.Repeat("d/", 3000) + "f", "at most 4000"},
		"git in capitals":     {".GIT/config", "belongs to git"},
		"git with a dot":      {".git./config", "belongs to git"},
		"git by a short name": {"GIT~1/config", "belongs to git"},
		"git with a stream":   {".git::$INDEX_ALLOCATION/config", "belongs to git"},
		"git with a joiner":   {".g\u200cit/config", "belongs to git"},
		"git in a folder":     {"vendor/x/.git/hooks/post-merge", "belongs to git"},
		"below a file":        {"f/x", `"f" is a file`},
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
				if !got.IsError || !strings.Contains(got.Text, c.says) || strings.Contains(got.Text, "\n") || len(got.Text) > 400 {
					t.Errorf("%s says %q", tool, got.Text)
				}
				b.holds(t, before)
			}
		})
	}
}

func TestALinkThatIsPutInLaterLeadsNowhere(t *testing.T) {
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "f"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"in/f": "a\n"})
	b.Must(t, "fs.read", args{"path": "in/f"})
	call := args{"path": "in/f", "old": "a", "new": "b"}
	hashes := into[changeResult](t, b.Ask(t, "fs.patch", call, preview).Data).Hashes
	if err := os.RemoveAll(filepath.Join(b.Dir, "in")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(b.Dir, "in")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	b.Refused(t, "fs.read", args{"path": "in/f"}, "outside the workspace")
	b.Refused(t, "fs.stat", args{"path": "in/f"}, "outside the workspace")
	b.Refused(t, "fs.remove", args{"path": "in/f"}, "outside the workspace")
	if got := b.Ask(t, "fs.patch", call, map[string]any{builtin.MetaHashes: hashes}); !got.IsError {
		t.Errorf("it was changed: %s", got.Text)
	}
	if found := b.Must(t, "fs.search", args{"query": "secret"}); found.Data["total"] != 0.0 {
		t.Errorf("a search followed the link: %v", found.Data)
	}
	if got, _ := os.ReadFile(filepath.Join(out, "f")); string(got) != "secret\n" {
		t.Errorf("the file outside is %q", got)
	}
}

func TestAFolderThatMayNotBeReadIsSaidSo(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"closed/f": "needle", "open/f": "needle"})
	closed := filepath.Join(b.Dir, "closed")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("this user may read everything")
	}
	b.Refused(t, "fs.read", args{"path": "closed/f"}, "permission denied")
	b.Refused(t, "fs.list", args{"path": "closed"}, "permission denied")
	b.Refused(t, "fs.search", args{"path": "closed", "query": "x"}, "permission denied")
	b.Refused(t, "fs.write", args{"path": "closed/g", "text": "x"}, "permission denied")
	b.Refused(t, "fs.remove", args{"path": "closed", "recursive": true}, "permission denied")
}
