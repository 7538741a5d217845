package app

import (
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/agent/runner"
	"replan/mcpclient/workspace"
)

// drawn writes a picture of 8×6 pixels.
func drawn(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Create(path) //nolint:gosec // in a folder of the test
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(file, image.NewGray(image.Rect(0, 0, 8, 6))), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPicturesOutsideTheWorkspaceAreAttachedByTheirWholePath(t *testing.T) {
	inside, outside, pasted, home := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	ops, err := workspace.New(workspace.Config{Dir: inside, Hidden: []string{"hidden.png"}})
	if err != nil {
		t.Fatal(err)
	}
	help := &inputHelp{workspace: inside, pasted: pasted, files: ops}
	drawn(t, filepath.Join(pasted, "pasted-1.png"))
	drawn(t, filepath.Join(home, "home.png"))
	drawn(t, filepath.Join(inside, "hidden.png"))
	text := filepath.Join(outside, "notes.txt")
	damaged := filepath.Join(outside, "damaged.png")
	for _, path := range []string{text, damaged} {
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, refused := range map[string]string{ // why; "" if it is attached
		drawn(t, filepath.Join(inside, "in.png")):     "",
		drawn(t, filepath.Join(outside, "out 1.png")): "",
		"pasted-1.png":                      "",
		"~/home.png":                        "",
		filepath.Join(inside, "hidden.png"): "is hidden",
		text:                                "outside the workspace",
		damaged:                             "damaged, or no PNG",
		filepath.Join(outside, "none.png"):  "there is no file",
		"../" + filepath.Base(pasted) + "/pasted-1.png": "outside the workspace",
	} {
		m, err := help.Mention(t.Context(), name)
		switch {
		case refused == "" && (err != nil || m.Name != name || m.Picture == nil || m.Picture.Width != 8):
			t.Errorf("%s: got %+v: %v", name, m, err)
		case refused != "" && (err == nil || !strings.Contains(err.Error(), refused)):
			t.Errorf("%s: got the error %v, want %q", name, err, refused)
		}
	}
	if _, err := help.Mention(t.Context(), filepath.Join(outside, "none.png")); !errors.Is(err, runner.ErrUnnamed) {
		t.Errorf("a missing picture gives %v", err)
	}
}
