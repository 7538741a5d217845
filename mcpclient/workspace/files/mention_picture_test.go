package files_test

import (
	"bytes"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"replan/internal/picture"
	"replan/mcpclient/workspace"
)

func TestMentionedPictureStaysInItsFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{Hidden: []string{"secret/**"}})
	var content bytes.Buffer
	if err := png.Encode(&content, image.NewGray(image.Rect(0, 0, 64, 48))); err != nil {
		t.Fatal(err)
	}
	b.Write(t, map[string]string{
		"img/shot 1.png": content.String(), "cut.png": content.String()[:50], "secret/shot.png": content.String(),
		"heavy.png": strings.Repeat("x", picture.MaxBytes+1), "logo.svg": "<svg/>",
	})
	m, err := b.Ops.Mention(t.Context(), "img/shot 1.png")
	if err != nil || m.Picture == nil || m.Text != "" || m.Bytes != content.Len() {
		t.Fatalf("got %+v: %v", m, err)
	}
	p := m.Picture
	if p.Width != 64 || p.Height != 48 || p.Type != "image/png" || !filepath.IsAbs(p.File) {
		t.Errorf("got %+v", p)
	}
	if kept, err := picture.Read(p.File, p.SHA256); err != nil || !bytes.Equal(kept, content.Bytes()) {
		t.Errorf("the file has %d bytes: %v", len(kept), err)
	}
	for name, want := range map[string]string{
		"cut.png": "damaged, or no PNG, JPEG, GIF or WebP picture", "heavy.png": "at most 20 MB", "secret/shot.png": "is hidden", "none.png": "none.png",
	} {
		if m, err := b.Ops.Mention(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v and error %v, want %q", name, m, err, want)
		}
	}
	if m, err := b.Ops.Mention(t.Context(), "logo.svg"); err != nil || m.Text != "<svg/>" {
		t.Errorf("a drawing is text: %+v, %v", m, err)
	}
}
