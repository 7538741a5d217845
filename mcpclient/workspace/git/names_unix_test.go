//go:build linux

package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/workspacetest"
)

// odd are names that a file of a repository may have.
var odd = []string{
	"caf\xe9.txt", "\xff", "a\xc3", "\xe9\xe8", `caf\xe9.txt`, `\x5c`, "caf\ufffd.txt", "new\nline", "tab\tname", `"quoted"`, " outer ", "日本", "e\u0301", "-x", ":(top)a", "*", "\x01",
}

// Files with names in any bytes are new, changed, deleted or staged: one approval is enough, and
// the commit holds them all. Answers name each, and the names are taken as paths.
func TestNamesInAnyBytesAreCommitted(t *testing.T) {
	t.Parallel()
	for state, prepare := range map[string]func(t *testing.T, r *repo, at string){
		"new":     func(t *testing.T, r *repo, at string) { writeOdd(t, r, at, "1\n") },
		"changed": func(t *testing.T, r *repo, at string) { writeOdd(t, r, at, "2\n") },
		"deleted": func(t *testing.T, r *repo, at string) {
			if err := os.Remove(filepath.Join(r.Dir, at)); err != nil {
				t.Fatal(err)
			}
		},
		"staged": func(t *testing.T, r *repo, at string) {
			writeOdd(t, r, at, "3\n")
			r.git(t, "--literal-pathspecs", "add", "--", at)
		},
	} {
		t.Run(state, func(t *testing.T) {
			r := newRepo(t, "")
			r.Write(t, map[string]string{"plain": "1\n"})
			if state != "new" {
				for _, at := range odd {
					writeOdd(t, r, at, "0\n")
				}
			}
			r.commit(t, "first")
			for _, at := range odd {
				prepare(t, r, at)
			}
			names := make([]string, len(odd))
			for i, at := range odd {
				names[i] = op.Name(at)
			}
			slices.Sort(names)
			status := workspacetest.Into[struct{ Files []struct{ Path string } }](t, r.Ask(t, "vcs.status", args{}, nil).Data)
			var listed []string
			for _, f := range status.Files {
				listed = append(listed, f.Path)
			}
			if slices.Sort(listed); !slices.Equal(listed, names) {
				t.Errorf("the status names %q, want %q", listed, names)
			}
			commit := args{"message": "odd names"}
			preview := workspacetest.Into[previewResult](t, r.Ask(t, "vcs.commit", commit, map[string]any{builtin.MetaPreview: true}).Data)
			if !strings.Contains(preview.Diff, `caf\xe9.txt`) {
				t.Errorf("the preview is %s", preview.Diff)
			}
			got := r.Ask(t, "vcs.commit", commit, map[string]any{builtin.MetaHashes: preview.Hashes})
			if got.IsError {
				t.Fatal(got.Text)
			}
			var files []string
			for _, f := range workspacetest.Into[commitResult](t, got.Data).Files {
				files = append(files, f.Path)
			}
			if slices.Sort(files); !slices.Equal(files, names) {
				t.Errorf("the commit names %q, want %q", files, names)
			}
			if left := r.git(t, "status", "--porcelain", "-z"); left != "" {
				t.Errorf("not committed: %q", left)
			}
		})
	}
}

// The name by which an answer calls a file is taken as its path.
func TestNameOfAnAnswerIsTakenAsAPath(t *testing.T) {
	t.Parallel()
	r := newRepo(t, "")
	writeOdd(t, r, "plain", "1\n")
	r.commit(t, "first")
	writeOdd(t, r, "caf\xe9.txt", "1\n")
	writeOdd(t, r, "other", "1\n")
	diff := workspacetest.Into[struct{ Files []struct{ Path string } }](t, r.Ask(t, "vcs.diff", args{"path": `caf\xe9.txt`}, nil).Data)
	if len(diff.Files) != 1 || diff.Files[0].Path != `caf\xe9.txt` {
		t.Errorf("the diff names %+v", diff.Files)
	}
	if got := r.Ask(t, "vcs.commit", args{"message": "one", "paths": []string{`caf\xe9.txt`}}, nil); got.IsError {
		t.Fatal(got.Text)
	}
	if left := r.git(t, "status", "--porcelain", "-z"); left != "?? other\x00" {
		t.Errorf("not committed: %q", left)
	}
}

func writeOdd(t *testing.T, r *repo, at, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.Dir, at), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
