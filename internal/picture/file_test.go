package picture_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/internal/picture"
)

func TestFilesOfPicturesAreReadWholeBeforeTheyAreTaken(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content   []byte
		mediaType string // "" if it is refused
		err       error
		says      string
	}{
		"a.png":        {encoded(t, "png", 40, 30), "image/png", nil, ""},
		"a.jpg":        {encoded(t, "jpeg", 40, 30), "image/jpeg", nil, ""},
		"a.gif":        {encoded(t, "gif", 40, 30), "image/gif", nil, ""},
		"misnamed.png": {encoded(t, "jpeg", 40, 30), "image/jpeg", nil, ""},
		"cut.png":      {encoded(t, "png", 400, 300)[:60], "", picture.ErrNoPicture, "damaged, or no PNG"},
		"text.png":     {[]byte("no picture"), "", picture.ErrNoPicture, "damaged, or no PNG"},
		"empty.png":    {nil, "", picture.ErrNoPicture, ""},
		"wide.png":     {encoded(t, "png", 30_000, 1000), "", picture.ErrTooLarge, "30000×1000 pixels, and a picture may have at most 25 million"},
		"heavy.png":    {bytes.Repeat([]byte{1}, picture.MaxBytes+1), "", picture.ErrTooLarge, "at most 20 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := picture.At(path)
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got the error %v", err)
			}
			if c.mediaType == "" {
				return
			}
			if got.Type != c.mediaType || got.Width != 40 || got.Height != 30 || got.Bytes != len(c.content) || got.Path != path {
				t.Errorf("got %+v", got)
			}
			if same, err := picture.Read(path, got.SHA256); err != nil || !bytes.Equal(same, c.content) {
				t.Errorf("its hash finds %d bytes: %v", len(same), err)
			}
			if width, height, err := picture.Size(path); err != nil || width != 40 || height != 30 {
				t.Errorf("its head says %d×%d: %v", width, height, err)
			}
		})
	}
	if _, err := picture.At(dir); !errors.Is(err, picture.ErrNoPicture) {
		t.Errorf("a folder is a picture: %v", err)
	}
	if _, err := picture.At(filepath.Join(dir, "none.png")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
}

func TestNamesOfPicturesAreThoseThatModelsSee(t *testing.T) {
	for name, want := range map[string]bool{"a.png": true, "A.JPG": true, "x/b.jpeg": true, "c.webp": true, "d.gif": true, "e.svg": false, "png": false, "f.png.txt": false} {
		if picture.Named(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
