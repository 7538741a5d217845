package picture_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"replan/internal/picture"
)

// plain is a picture of one color.
func plain(width, height int) image.Image {
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.RGBA{200, 30, 30, 255}, color.White})
	return img
}

func encoded(t *testing.T, format string, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, plain(width, height))
	case "jpeg":
		err = jpeg.Encode(&b, plain(width, height), nil)
	case "gif":
		err = gif.Encode(&b, plain(width, height), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestModelGetsPNGOrJPEGWithinItsBounds(t *testing.T) {
	for name, c := range map[string]struct {
		content       []byte
		format        string
		width, height int
		same          bool
	}{
		"small PNG as it is":     {encoded(t, "png", 40, 30), "png", 40, 30, true},
		"small JPEG as it is":    {encoded(t, "jpeg", 40, 30), "jpeg", 40, 30, true},
		"GIF becomes PNG":        {encoded(t, "gif", 40, 30), "png", 40, 30, false},
		"wide PNG is scaled":     {encoded(t, "png", 400, 100), "png", 100, 25, false},
		"high JPEG is scaled":    {encoded(t, "jpeg", 50, 500), "jpeg", 10, 100, false},
		"a line keeps one pixel": {encoded(t, "png", 4000, 1), "png", 100, 1, false},
		"WebP of one pixel":      {webp, "png", 1, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := picture.ForModel(c.content, 100)
			if err != nil {
				t.Fatal(err)
			}
			cfg, format, err := image.DecodeConfig(bytes.NewReader(got))
			if err != nil || format != c.format || cfg.Width != c.width || cfg.Height != c.height || bytes.Equal(got, c.content) != c.same {
				t.Errorf("%s of %d×%d, unchanged %v: %v", format, cfg.Width, cfg.Height, bytes.Equal(got, c.content), err)
			}
		})
	}
}

// webp is a picture of one pixel.
var webp = []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00")

// bomb is a PNG that claims to have so many pixels.
func bomb(width, height uint32) []byte {
	head := slices.Clone([]byte("IHDR\x00\x00\x00\x00\x00\x00\x00\x00\x08\x06\x00\x00\x00"))
	for i := range 4 {
		head[4+i], head[8+i] = byte(width>>(24-8*i)), byte(height>>(24-8*i))
	}
	sum := crc32.ChecksumIEEE(head)
	return slices.Concat([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head, []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}

func TestPictureBeyondTheBoundsIsNotDecoded(t *testing.T) {
	for name, content := range map[string][]byte{
		"many pixels":  bomb(60_000, 60_000),
		"endless line": bomb(1<<31-1, 1),
		"many bytes":   append(encoded(t, "png", 2, 2), make([]byte, picture.MaxBytes)...),
	} {
		if _, err := picture.ForModel(content, 100); !errors.Is(err, picture.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDamagedPictureIsAnError(t *testing.T) {
	whole := encoded(t, "png", 40, 30)
	rapid.Check(t, func(t *rapid.T) {
		content := slices.Clone(whole)
		content = content[:rapid.IntRange(0, len(content)-1).Draw(t, "cut")]
		for range rapid.IntRange(0, 3).Draw(t, "flips") {
			if len(content) > 0 {
				content[rapid.IntRange(0, len(content)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
			}
		}
		got, err := picture.ForModel(content, 100)
		if err != nil {
			return
		}
		if cfg, _, err := image.DecodeConfig(bytes.NewReader(got)); err != nil || cfg.Width < 1 || cfg.Height < 1 {
			t.Errorf("the model gets %d×%d: %v", cfg.Width, cfg.Height, err)
		}
	})
	if _, err := picture.ForModel(whole[:len(whole)/2], 100); err == nil {
		t.Error("half a picture was decoded")
	}
}

func TestDamagedColorProfileDoesNotMatter(t *testing.T) {
	whole := encoded(t, "png", 40, 30)
	head := len("\x89PNG\r\n\x1a\n") + 25             // to the end of IHDR
	profile := []byte("\x00\x00\x00\x04iCCPabcdXXXX") // with a wrong checksum
	damaged := slices.Concat(whole[:head], profile, whole[head:])
	got, err := picture.ForModel(damaged, 100)
	if err != nil || !bytes.Equal(got, whole) {
		t.Errorf("%d bytes of %d: %v", len(got), len(whole), err)
	}
}

func TestScaledPictureKeepsItsShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 300).Draw(t, "width"), rapid.IntRange(1, 300).Draw(t, "height")
		longest := rapid.IntRange(1, 200).Draw(t, "longest")
		var content bytes.Buffer
		if err := png.Encode(&content, plain(width, height)); err != nil {
			t.Fatal(err)
		}
		sent, err := picture.ForModel(content.Bytes(), longest)
		if err != nil {
			t.Fatal(err)
		}
		got, err := png.DecodeConfig(bytes.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		if most := max(width, height); max(got.Width, got.Height) != min(most, longest) ||
			got.Width < 1 || got.Width < width*longest/most && got.Width < width || got.Height < 1 || got.Height < height*longest/most && got.Height < height {
			t.Fatalf("%d×%d within %d is %d×%d", width, height, longest, got.Width, got.Height)
		}
	})
}
