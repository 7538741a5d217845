package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"replan/agent/event"
	"replan/agent/store/journal"
)

func TestKeptContentLiesWithTheRun(t *testing.T) {
	f := journal.Folder{Dir: filepath.Join(t.TempDir(), "runs")}
	j, err := f.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	for mediaType, extension := range map[string]string{
		"image/png": ".png", "audio/wav": ".wav", "text/html": ".bin", "application/x-desktop": ".bin", "../../x": ".bin",
	} {
		a, err := j.SaveAttachment([]byte("content"), mediaType)
		if err != nil {
			t.Fatal(err)
		}
		if a.Type != mediaType || a.Bytes != 7 || a.SHA256 != "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73" {
			t.Errorf("kept %+v", a)
		}
		if want := filepath.Join(f.Dir, "r.values", a.SHA256+extension); a.File != want {
			t.Errorf("%s is kept as %s, want %s", mediaType, a.File, want)
		}
		info, err := os.Stat(a.File)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", mediaType, info, err)
		}
	}
	if err := j.Append(number(started("g"), event.Note{Text: "x"})...); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := f.List()
	if err != nil || len(entries) != 1 || entries[0].Bytes < 3*7 {
		t.Errorf("listed %+v: %v", entries, err)
	}
	if _, err := f.Delete("r"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(f.Dir, "r.values")); !os.IsNotExist(err) {
		t.Errorf("the content stayed: %v", err)
	}
}

func TestDamagedContentIsWrittenAnew(t *testing.T) {
	j, err := journal.Create(filepath.Join(t.TempDir(), "r.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	a, err := j.SaveAttachment([]byte("content"), "image/png")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.File, []byte("cont"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := j.SaveAttachment([]byte("content"), "image/png"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(a.File); err != nil || string(text) != "content" {
		t.Errorf("the file holds %q: %v", text, err)
	}
}

func TestContentIsKeptWhileEventsAreAppended(t *testing.T) {
	j, err := journal.Create(filepath.Join(t.TempDir(), "r.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var keepers sync.WaitGroup
	for i := range 8 {
		keepers.Go(func() {
			for range 3 {
				if _, err := j.SaveAttachment(fmt.Append(nil, "content ", i/2), "image/png"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, e := range number(started(text(journal.MaxValue)), event.Note{Text: "x"}) {
		if err := j.Append(e); err != nil {
			t.Error(err)
		}
	}
	keepers.Wait()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}
