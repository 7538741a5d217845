package ollama_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/plan"
)

// keptPicture is a PNG file of that size.
func keptPicture(t *testing.T, width, height int) plan.Attachment {
	t.Helper()
	var content bytes.Buffer
	if err := png.Encode(&content, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content.Bytes())
	a := plan.Attachment{File: filepath.Join(t.TempDir(), "a.png"), Type: "image/png", Bytes: content.Len(), SHA256: hex.EncodeToString(sum[:])}
	if err := os.WriteFile(a.File, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// seenBy sends a message with pictures to a model and returns it as it arrives.
func seenBy(t *testing.T, capabilities []string, images ...plan.Attachment) ollamatest.Message {
	t.Helper()
	server := serve(t, ollamatest.Script{Model: "m", Capabilities: capabilities, Replies: []ollamatest.Reply{{Text: "seen"}}})
	req := ask("look at this")
	req.Messages[len(req.Messages)-1].Images = images
	if _, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), req, nil); err != nil {
		t.Fatal(err)
	}
	requests := server.Requests()
	messages := requests[len(requests)-1].Messages
	return messages[len(messages)-1]
}

var sees = []string{"completion", "tools", "vision"}

func TestModelWithVisionGetsPictures(t *testing.T) {
	if testing.Short() {
		t.Skip("handles MBs in one goroutine")
	}
	small, large := keptPicture(t, 20, 10), keptPicture(t, 3000, 1000)
	got := seenBy(t, sees, small, large)
	if len(got.Images) != 2 || got.Content != "look at this" {
		t.Fatalf("got %d pictures with %q", len(got.Images), got.Content)
	}
	for i, want := range []image.Point{{20, 10}, {1344, 448}} {
		cfg, format, err := image.DecodeConfig(bytes.NewReader(got.Images[i]))
		if err != nil || format != "png" || cfg.Width != want.X || cfg.Height != want.Y {
			t.Errorf("picture %d is a %s of %d×%d, want %v: %v", i, format, cfg.Width, cfg.Height, want, err)
		}
	}
}

func TestModelWithoutVisionIsToldOfPictures(t *testing.T) {
	got := seenBy(t, []string{"completion", "tools"}, keptPicture(t, 20, 10))
	if len(got.Images) != 0 || !strings.Contains(got.Content, "You cannot see it: this model reads no pictures") {
		t.Errorf("got %d pictures with %q", len(got.Images), got.Content)
	}
}

func TestPictureThatIsNoLongerTheOneKeptIsNotSent(t *testing.T) {
	for name, spoil := range map[string]func(a *plan.Attachment) error{
		"removed": func(a *plan.Attachment) error { return os.Remove(a.File) },
		"another file": func(a *plan.Attachment) error {
			return os.WriteFile(a.File, []byte("a secret"), 0o600)
		},
		"no picture": func(a *plan.Attachment) error {
			content := []byte("a secret")
			sum := sha256.Sum256(content)
			a.SHA256 = hex.EncodeToString(sum[:])
			return os.WriteFile(a.File, content, 0o600)
		},
		"a folder": func(a *plan.Attachment) error {
			a.File = filepath.Dir(a.File)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			bad := keptPicture(t, 20, 10)
			if err := spoil(&bad); err != nil {
				t.Fatal(err)
			}
			got := seenBy(t, sees, bad, keptPicture(t, 30, 10))
			if len(got.Images) != 1 || !strings.Contains(got.Content, "[These pictures cannot be read, and you do not see them: 1.]") || strings.Contains(got.Content, "secret") {
				t.Errorf("got %d pictures with %q", len(got.Images), got.Content)
			}
		})
	}
}

func TestModelWithVisionIsDescribedSo(t *testing.T) {
	for want, capabilities := range map[bool][]string{true: sees, false: {"completion"}} {
		server := serve(t, ollamatest.Script{Model: "m", Capabilities: capabilities})
		info, err := connect(t, ollama.Config{Host: server.URL()}).Describe(testContext(t), "m")
		if err != nil || info.Vision != want {
			t.Errorf("%v: vision %v, %v", capabilities, info.Vision, err)
		}
	}
}
