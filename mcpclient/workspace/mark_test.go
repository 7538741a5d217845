package workspace_test

import (
	"strings"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

const mark = "\uFEFF"

// A file that begins with the byte order mark, with either line end, is changed by calls that do
// not know of the mark: mark and line ends stay.
func TestByteOrderMarkAndLineEndsStay(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	for name, c := range map[string]struct {
		tool  string
		args  map[string]any
		after string // with LF, without the mark
	}{
		"fs.write":              {"fs.write", map[string]any{"text": "new\ntext\n"}, "new\ntext\n"},
		"fs.write with CRLF":    {"fs.write", map[string]any{"text": "new\r\ntext\r\n"}, "new\r\ntext\r\n"},
		"fs.write with a mark":  {"fs.write", map[string]any{"text": mark + "new\n"}, "new\n"},
		"first line":            {"fs.patch", map[string]any{"old": "line one", "new": "ONE"}, "ONE\nline two\nline three\n"},
		"first two lines":       {"fs.patch", map[string]any{"old": "line one\nline two\n", "new": "ONE\n"}, "ONE\nline three\n"},
		"nearly the first line": {"fs.patch", map[string]any{"old": "  line one\n  line two", "new": "  ONE\n  line two"}, "ONE\nline two\nline three\n"},
		"last line":             {"fs.patch", map[string]any{"old": "line three", "new": "THREE"}, "line one\nline two\nTHREE\n"},
		"with the mark":         {"fs.patch", map[string]any{"old": mark + "line one", "new": mark + "ONE"}, "ONE\nline two\nline three\n"},
		"a diff":                {"fs.patch", map[string]any{"diff": "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-line one\n+ONE\n line two\n"}, "ONE\nline two\nline three\n"},
		"a diff of its end":     {"fs.patch", map[string]any{"diff": "--- a/f\n+++ b/f\n@@ -2,2 +2,2 @@\n line two\n-line three\n+THREE\n"}, "line one\nline two\nTHREE\n"},
		"a diff with the mark":  {"fs.patch", map[string]any{"diff": "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-" + mark + "line one\n+" + mark + "ONE\n line two\n"}, "ONE\nline two\nline three\n"},
	} {
		for end, crlf := range map[string]bool{"LF": false, "CRLF": true} {
			t.Run(name+", "+end, func(t *testing.T) {
				before, after := mark+"line one\nline two\nline three\n", c.after
				if crlf {
					before, after = strings.ReplaceAll(before, "\n", "\r\n"), strings.ReplaceAll(strings.ReplaceAll(after, "\r\n", "\n"), "\n", "\r\n")
				}
				b.Write(t, map[string]string{"f": before})
				a := map[string]any{"path": "f"}
				for k, v := range c.args {
					a[k] = v
				}
				b.Must(t, c.tool, a)
				b.Same(t, map[string]string{"f": mark + after})
			})
		}
	}
	t.Run("a file without the mark gets none", func(t *testing.T) {
		b.Write(t, map[string]string{"f": "line one\n"})
		b.Must(t, "fs.write", map[string]any{"path": "f", "text": "new\n"})
		b.Same(t, map[string]string{"f": "new\n"})
	})
	t.Run("who names the mark removes it", func(t *testing.T) {
		b.Write(t, map[string]string{"f": mark + "line one\n"})
		b.Must(t, "fs.patch", map[string]any{"path": "f", "old": mark + "line one", "new": "line one"})
		b.Same(t, map[string]string{"f": "line one\n"})
	})
}

// The mark is no part of the first line.
func TestExpressionsFindTheFirstLineOfAMarkedFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	for _, end := range []string{"\n", "\r\n"} {
		text := mark + strings.Join([]string{"line one", "line two", "other", "line three", ""}, end)
		b.Write(t, map[string]string{"f.txt": text})
		found := workspacetest.Into[struct {
			Matches []struct {
				Line   int
				Text   string
				Before []string
			}
		}](t, b.Must(t, "fs.search", map[string]any{"query": "^line", "regex": true, "context": 1}).Data)
		if len(found.Matches) != 3 || found.Matches[0].Line != 1 || found.Matches[0].Text != "line one" || found.Matches[1].Before[0] != "line one" {
			t.Errorf("fs.search found %+v", found.Matches)
		}
		diff := workspacetest.Into[struct{ Diff string }](t, b.Must(t, "code.transform", map[string]any{"kind": "replace", "pattern": "^line (\\w+)", "regex": true, "replacement": "row $1", "glob": "f.txt"}).Data).Diff
		b.Must(t, "fs.patch", map[string]any{"diff": diff})
		b.Same(t, map[string]string{"f.txt": strings.ReplaceAll(text, "line", "row")})
	}
}
