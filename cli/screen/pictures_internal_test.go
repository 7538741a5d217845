package screen

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"replan/cli/clipboard"
	"replan/tui/input"
)

func encoded(t *testing.T, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewGray(image.Rect(0, 0, 8, 6))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPastedPathsOfPicturesAreNamedAsMessagesDo(t *testing.T) {
	workspace, elsewhere, home := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	content := encoded(t, func(b *bytes.Buffer, img image.Image) error { return png.Encode(b, img) })
	in, out := filepath.Join(workspace, "img", "in 1.png"), filepath.Join(elsewhere, "out.png")
	text := filepath.Join(elsewhere, "text.png")
	if err := os.Mkdir(filepath.Dir(in), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{in: content, out: content, filepath.Join(home, "h.png"): content, text: []byte("text")} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := pictures{workspace: workspace}
	for path, want := range map[string]string{in: "img/in 1.png", out: out, "~/h.png": "~/h.png", text: "", elsewhere: "", out + ".png": ""} {
		got, ok := p.Find(path)
		if ok != (want != "") || got.Name != want || ok && (got.Width != 8 || got.Height != 6) {
			t.Errorf("%s: found %v %+v, want %q", path, ok, got, want)
		}
	}
}

func TestCopiedPicturesAreSavedAndOldOnesRemoved(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pasted")
	var content clipboard.Content
	var failure error
	now := time.Now()
	p := pictures{
		pasted: folder, now: func() time.Time { return now },
		read: func(context.Context) (clipboard.Content, error) { return content, failure },
	}
	paste := func(picture []byte, text string) (input.Picture, string, error) {
		content = clipboard.Content{Picture: picture, Text: text}
		return p.Copied(t.Context())
	}
	first := encoded(t, func(b *bytes.Buffer, img image.Image) error { return png.Encode(b, img) })
	got, _, err := paste(first, "")
	if err != nil || !regexp.MustCompile(`^pasted-[0-9a-f]{8}\.png$`).MatchString(got.Name) || got.Width != 8 || got.Height != 6 {
		t.Errorf("got %+v: %v", got, err)
	}
	if saved, err := os.ReadFile(filepath.Join(folder, got.Name)); err != nil || !bytes.Equal(saved, first) {
		t.Errorf("saved %d bytes: %v", len(saved), err)
	}
	if again, _, err := paste(first, ""); err != nil || again != got {
		t.Errorf("the same picture is %+v: %v", again, err)
	}
	if _, text, err := paste(nil, "words"); err != nil || text != "words" {
		t.Errorf("got the text %q: %v", text, err)
	}
	if _, _, err := paste(nil, ""); !errors.Is(err, input.ErrNothingCopied) {
		t.Errorf("an empty clipboard gives %v", err)
	}
	if _, _, err := paste([]byte("BM"), ""); err == nil || !strings.Contains(err.Error(), "damaged, or no PNG") {
		t.Errorf("a damaged picture gives %v", err)
	}
	if failure = clipboard.ErrNoDesktop; true {
		if _, _, err := paste(first, ""); !errors.Is(err, clipboard.ErrNoDesktop) {
			t.Errorf("without a desktop: %v", err)
		}
	}
	failure = nil
	now = time.Now().Add(pastedFor + time.Hour)
	second, _, err := paste(encoded(t, func(b *bytes.Buffer, img image.Image) error { return jpeg.Encode(b, img, nil) }), "")
	if err != nil || !strings.HasSuffix(second.Name, ".jpeg") {
		t.Errorf("got %+v: %v", second, err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 || files[0].Name() != second.Name {
		t.Errorf("the folder has %v: %v", files, err)
	}
}
