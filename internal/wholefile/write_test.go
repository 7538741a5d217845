package wholefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"replan/internal/wholefile"
)

func TestWriteReplacesFileAndLeavesNoOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"first, and longer", "second"} {
		if err := wholefile.Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("got %q, %v; want %q", got, err, text)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("got entries %v, %v; want one", entries, err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v; want mode 0600", info, err)
	}
}

func TestWriteFailsWithoutFolder(t *testing.T) {
	if err := wholefile.Write(filepath.Join(t.TempDir(), "gone", "f"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v, want %v", err, fs.ErrNotExist)
	}
}

func TestWriteDatedSetsTheTimeOfTheLastChange(t *testing.T) {
	path, then := filepath.Join(t.TempDir(), "f"), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := wholefile.WriteDated(path, []byte("text"), then); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || !info.ModTime().Equal(then) || info.Size() != 4 {
		t.Errorf("got %v, %v", info, err)
	}
}
