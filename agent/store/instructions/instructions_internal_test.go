package instructions

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// tree creates files and folders below a new folder: a name that ends with a
// slash is a folder, and the text "->target" creates a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(top, 0o755); err != nil { //nolint:gosec // as below, under any umask
		t.Fatal(err)
	}
	for name, text := range files {
		at := filepath.Join(top, filepath.FromSlash(name))
		folder := filepath.Dir(at)
		if strings.HasSuffix(name, "/") {
			folder = at
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if folder == at {
			continue
		}
		if target, ok := strings.CutPrefix(text, "->"); ok {
			if err := os.Symlink(filepath.FromSlash(target), at); err != nil {
				t.Skipf("cannot create links: %v", err)
			}
			continue
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func TestFindReturnsNearestInstructions(t *testing.T) {
	for name, c := range map[string]struct {
		files     map[string]string
		workspace string
		home      string
		want      Instructions
	}{
		"workspace": {
			map[string]string{"AGENTS.md": "top", "p/.git/": "", "p/AGENTS.md": "own"}, "p", "", Instructions{"own", "AGENTS.md", ""},
		},
		"enclosing repository": {
			map[string]string{"r/.git/": "", "r/AGENTS.md": "repo", "r/a/b/": ""}, "r/a/b", "", Instructions{"repo", "../../AGENTS.md", ""},
		},
		"folder between workspace and repository": {
			map[string]string{"r/.git/": "", "r/AGENTS.md": "repo", "r/a/AGENTS.md": "part", "r/a/b/": ""}, "r/a/b", "", Instructions{"part", "../AGENTS.md", ""},
		},
		"ignored above the repository": {
			map[string]string{"AGENTS.md": "top", "r/.git/": "", "r/a/": ""}, "r/a", "", Instructions{},
		},
		"ignored above a worktree": {
			map[string]string{"AGENTS.md": "top", "r/.git": "gitdir: elsewhere", "r/a/": ""}, "r/a", "", Instructions{},
		},
		"ignored below the workspace": {
			map[string]string{"r/.git/": "", "r/a/AGENTS.md": "part"}, "r", "", Instructions{},
		},
		"home without a repository": {
			map[string]string{"h/AGENTS.md": "home", "h/a/": ""}, "h/a", "h", Instructions{"home", "../AGENTS.md", ""},
		},
		"ignored above the home": {
			map[string]string{"AGENTS.md": "top", "h/a/": ""}, "h/a", "h", Instructions{},
		},
		"parent without repository or home": {
			map[string]string{"AGENTS.md": "top", "a/": ""}, "a", "", Instructions{"top", "../AGENTS.md", ""},
		},
		"workspace is a link": {
			map[string]string{"AGENTS.md": "top", "r/.git/": "", "r/AGENTS.md": "repo", "r/a/": "", "w": "->r/a"}, "w", "", Instructions{"repo", "../AGENTS.md", ""},
		},
		"link in the same folder": {
			map[string]string{"p/.git/": "", "p/AGENTS.md": "->NOTES.md", "p/NOTES.md": "notes"}, "p", "", Instructions{"notes", "AGENTS.md", ""},
		},
		"link out of the folder": {
			map[string]string{"secret": "secret", "p/.git/": "", "p/AGENTS.md": "->../secret"},
			"p", "",
			Instructions{"", "", "AGENTS.md is left out: it is a link to a file outside its folder"},
		},
		"dangling link": {
			map[string]string{"p/.git/": "", "p/AGENTS.md": "->gone"},
			"p", "",
			Instructions{"", "", "AGENTS.md is left out: it is a link to a file outside its folder"},
		},
		"folder of that name": {
			map[string]string{"r/.git/": "", "r/AGENTS.md": "repo", "r/a/AGENTS.md/": ""},
			"r/a", "",
			Instructions{"", "", "AGENTS.md is left out: it is not a regular file"},
		},
		"folder of that name above": {
			map[string]string{"r/.git/": "", "r/AGENTS.md/": "", "r/a/": ""},
			"r/a", "",
			Instructions{"", "", "../AGENTS.md is left out: it is not a regular file"},
		},
		"empty file hides those above": {
			map[string]string{"r/.git/": "", "r/AGENTS.md": "repo", "r/a/AGENTS.md": " \n"}, "r/a", "", Instructions{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			top := tree(t, c.files)
			home := ""
			if c.home != "" {
				home = filepath.Join(top, c.home)
			}
			got, err := Find(filepath.Join(top, filepath.FromSlash(c.workspace)), home)
			if err != nil || got != c.want {
				t.Errorf("found %+v (%v), want %+v", got, err, c.want)
			}
		})
	}
}

func TestWorldWritableInstructionsAreIgnored(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file modes do not tell who may write")
	}
	top := tree(t, map[string]string{"h/AGENTS.md": "home", "h/open/AGENTS.md": "anybody's", "h/open/a/": ""})
	open := filepath.Join(top, "h", "open")
	if err := os.Chmod(open, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	got, err := Find(filepath.Join(open, "a"), filepath.Join(top, "h"))
	if want := (Instructions{"home", "../../AGENTS.md", "../AGENTS.md is left out: others may write to it or to its folder"}); err != nil || got != want {
		t.Errorf("from above: found %+v (%v), want %+v", got, err, want)
	}
	got, err = Find(open, filepath.Join(top, "h"))
	if want := (Instructions{"anybody's", "AGENTS.md", ""}); err != nil || got != want {
		t.Errorf("in the workspace: found %+v (%v), want %+v", got, err, want)
	}
}

func TestUnreadableInstructionsAreNoted(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("file modes do not prevent reading")
	}
	top := tree(t, map[string]string{"r/.git/": "", "r/AGENTS.md": "repo", "r/a/": ""})
	if err := os.Chmod(filepath.Join(top, "r", "AGENTS.md"), 0); err != nil {
		t.Fatal(err)
	}
	got, err := Find(filepath.Join(top, "r", "a"), "")
	if want := (Instructions{Note: "../AGENTS.md is left out: permission denied"}); err != nil || got != want {
		t.Errorf("found %+v (%v), want %+v", got, err, want)
	}
}

func TestInstructionsAreCutBetweenRunes(t *testing.T) {
	for _, before := range []int{0, 1, 2, 3} {
		whole := strings.Repeat("x", before) + strings.Repeat("🙂", maxInstructions/4+5)
		folder := tree(t, map[string]string{"AGENTS.md": whole})
		got, err := Find(folder, "")
		if err != nil || got.Note != "" {
			t.Fatalf("note %q, error %v", got.Note, err)
		}
		kept, mark, _ := strings.Cut(got.Text, "\n")
		if !utf8.ValidString(kept) || !strings.HasPrefix(whole, kept) || len(kept) > maxInstructions || len(kept) <= maxInstructions-utf8.UTFMax {
			t.Errorf("%d bytes before: kept %d bytes, valid: %v", before, len(kept), utf8.ValidString(kept))
		}
		if want := fmt.Sprintf("[%d bytes of AGENTS.md left out]", len(whole)-len(kept)); mark != want {
			t.Errorf("got the mark %q, want %q", mark, want)
		}
	}
}

func TestFindInMissingFolderFails(t *testing.T) {
	if got, err := Find(filepath.Join(t.TempDir(), "gone"), ""); err == nil {
		t.Errorf("found %+v", got)
	}
}
