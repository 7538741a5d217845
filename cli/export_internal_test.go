package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAnExportOverwritesNothing(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 4, 0, 0, time.UTC)
	o := &options{workspace: t.TempDir(), dirs: dirs{data: t.TempDir()}}
	if err := os.WriteFile(filepath.Join(o.workspace, "there.md"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(o.workspace, "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, file, want, refused string }{
		{"without a name it goes to the data folder", "", filepath.Join(o.dirs.data, "exports", "chat-20261122-100400.md"), ""},
		{"a second one gets a number", "", filepath.Join(o.dirs.data, "exports", "chat-20261122-100400-2.md"), ""},
		{"a third one the next", "", filepath.Join(o.dirs.data, "exports", "chat-20261122-100400-3.md"), ""},
		{"a name is one of the folder", "talk.md", filepath.Join(o.workspace, "talk.md"), ""},
		{"a folder gets a file with the date", "notes", filepath.Join(o.workspace, "notes", "chat-20261122-100400.md"), ""},
		{"a file that is there stays", "there.md", "", "there already"},
		{"a folder that is not there is named", "nowhere/talk.md", "", "nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, err := o.writeExport(c.file, "text", now)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("err %v", err)
				}
				return
			}
			if err != nil || path != c.want {
				t.Fatalf("wrote %s, %v", path, err)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != "text" { //nolint:gosec // the test's own
				t.Errorf("it holds %q, %v", text, err)
			}
		})
	}
	if text, _ := os.ReadFile(filepath.Join(o.workspace, "there.md")); string(text) != "mine" {
		t.Errorf("what was there holds %q", text)
	}
}
