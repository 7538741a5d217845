package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
)

// numbered returns n lines that have little in common.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d is line %[1]x of %[1]b\n", i+1000*i)
	}
	return b.String()
}

func TestPreviewWarnsIfMostOfAFileIsRemoved(t *testing.T) {
	t.Parallel()
	text := numbered(20)
	half := strings.Join(strings.SplitAfter(text, "\n")[:10], "")
	less := strings.Join(strings.SplitAfter(text, "\n")[:9], "")
	renamed := strings.Repeat("	call(oldName, with, many, arguments)\n", 20)
	for name, c := range map[string]struct {
		tool, before string
		args         args
		want         string
	}{
		"write that replaces all":         {"fs.write", text, args{"path": "a.txt", "text": "other\n"}, "removes 20 of 20 lines of a.txt"},
		"write that keeps less than half": {"fs.write", text, args{"path": "a.txt", "text": less}, "removes 11 of 20 lines of a.txt"},
		"write that keeps half":           {"fs.write", text, args{"path": "a.txt", "text": half}, ""},
		"write that adds":                 {"fs.write", text, args{"path": "a.txt", "text": text + "more\n"}, ""},
		"new file":                        {"fs.write", text, args{"path": "b.txt", "text": "new\n"}, ""},
		"tiny file":                       {"fs.write", numbered(9), args{"path": "a.txt", "text": "other\n"}, ""},
		"other indent":                    {"fs.write", text, args{"path": "a.txt", "text": "  " + strings.ReplaceAll(text, "\n", "\n  ")}, ""},
		"patch of the whole text":         {"fs.patch", text, args{"path": "a.txt", "old": text, "new": "other\n"}, "removes 20 of 20 lines of a.txt"},
		"patch of every line":             {"fs.patch", renamed, args{"path": "a.txt", "old": "oldName", "new": "newName", "all": true}, ""},
		"diff that removes the file":      {"fs.patch", text, args{"diff": "--- a/a.txt\n+++ /dev/null\n@@ -1,20 +0,0 @@\n-" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n-") + "\n"}, "removes 20 of 20 lines of a.txt"},
		"fs.remove":                       {"fs.remove", text, args{"path": "a.txt"}, ""},
		"fs.move":                         {"fs.move", text, args{"from": "a.txt", "to": "b.txt"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, workspace.Config{})
			b.Write(t, map[string]string{"a.txt": c.before})
			out := b.Ask(t, c.tool, c.args, map[string]any{builtin.MetaPreview: true})
			if out.IsError {
				t.Fatal(out.Text)
			}
			if got, _ := out.Data["removes"].(string); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestUnreviewedCallMayNotRemoveMostOfAFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a.txt": numbered(20)})
	write := args{"path": "a.txt", "text": "other\n"}
	out := b.Ask(t, "fs.write", write, map[string]any{builtin.MetaHold: true})
	if !out.IsError || !strings.Contains(out.Text, "removes 20 of 20 lines of a.txt") {
		t.Fatalf("got %q", out.Text)
	}
	if now, err := os.ReadFile(filepath.Join(b.Dir, "a.txt")); err != nil || string(now) != numbered(20) {
		t.Fatalf("got file content %q (%v)", now, err)
	}
	b.Must(t, "fs.write", write)
}
