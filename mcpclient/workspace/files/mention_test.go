package files_test

import (
	"errors"
	"strings"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/files"
)

func TestMentionableOmitsIgnoredFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{".gitignore": "out/\n*.log\n", "out/x": "", "a.log": "", "src/a b.go": "", "z": "", "node_modules/m/i.js": ""})
	got, more, err := b.Ops.Mentionable(t.Context())
	if err != nil || more || strings.Join(got, "|") != ".gitignore|src/|src/a b.go|z" {
		t.Errorf("got %q, more %v, error %v", got, more, err)
	}
}

func TestMentionCutsLongFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	line := strings.Repeat("é", 50) + "\n"
	b.Write(t, map[string]string{"long": strings.Repeat(line, 1000), "one line": strings.Repeat("é", 64<<10), "short": "x", "dir/f": ""})
	for name, want := range map[string]struct {
		bytes int
		cut   bool
	}{"long": {101_000, true}, "one line": {128 << 10, true}, "short": {1, false}, "dir": {6, false}} {
		m, err := b.Ops.Mention(t.Context(), name)
		if err != nil || m.Bytes != want.bytes || m.Cut != want.cut || m.Name != name || len(m.Text) > 64<<10 {
			t.Errorf("%s: got %d of %d bytes, cut %v, error %v", name, len(m.Text), m.Bytes, m.Cut, err)
		}
		if m.Cut && name == "long" && !strings.HasSuffix(m.Text, "é\n") {
			t.Errorf("got a cut within a line: %q", m.Text[len(m.Text)-20:])
		}
	}
}

func TestMentionErrors(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"bin": "a\x00b", "latin1": "caf\xe9", "src/slug.go": ""})
	for name, want := range map[string]string{
		"bin": "not UTF-8 text", "latin1": "not UTF-8 text", "../x": "outside the workspace", "/etc/passwd": "outside the workspace",
		"slug.go": "similar: src/slug.go",
	} {
		_, err := b.Ops.Mention(t.Context(), name)
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, files.ErrMissing) != (name == "slug.go") {
			t.Errorf("%s: got error %v, want %q", name, err, want)
		}
	}
}
