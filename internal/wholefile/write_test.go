package wholefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"replan/internal/wholefile"
)

func TestAFileIsReplacedAndNothingElseIsLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"first, and longer", "second"} {
		if err := wholefile.Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("read %q (%v)", got, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v (%v)", entries, err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v (%v)", info, err)
	}
}

func TestWithoutItsFolderThereIsNoFile(t *testing.T) {
	if err := wholefile.Write(filepath.Join(t.TempDir(), "gone", "f"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
