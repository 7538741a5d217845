package editor_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/tui/editor"
)

func TestOnlyFilesThatCannotRunAreShown(t *testing.T) {
	desktop := func(string) string { return ":0" }
	for path, want := range map[string]bool{
		"/kept/a.png": true, "/kept/a.PDF": true, "/kept/a.mp3": true,
		"/kept/a.html": false, "/kept/a.desktop": false, "/kept/a.sh": false, "/kept/a.bin": false, "/kept/a": false, "/kept/a.svg": false,
	} {
		if got := editor.Shows(path, desktop); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if runtime.GOOS == "linux" && editor.Shows("/kept/a.png", func(string) string { return "" }) {
		t.Error("a picture is shown without a desktop")
	}
}

func TestMissingFileIsNotShown(t *testing.T) {
	var failed error
	editor.Show(filepath.Join(t.TempDir(), "gone.png"), func(err error) tea.Msg {
		failed = err
		return nil
	})()
	var path interface{ Unwrap() error }
	if failed == nil || !errors.As(failed, &path) {
		t.Errorf("error %v", failed)
	}
}
