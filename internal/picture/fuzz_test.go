package picture_test

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"replan/internal/picture"
)

// FuzzForModel checks that a picture is read within its bounds of pixels or refused, and
// that what a model gets of it is a picture no larger than asked for.
func FuzzForModel(f *testing.F) {
	img := image.NewRGBA(image.Rect(0, 0, 3, 2))
	for _, encode := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return png.Encode(b, img) }, func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) }, func(b *bytes.Buffer) error { return gif.Encode(b, img, nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"))
	f.Add([]byte("\x89PNG\r\n\x1a\n\xff\xff\xff\xffIHDR"))
	f.Fuzz(func(t *testing.T, content []byte) {
		sent, err := picture.ForModel(content, 16)
		if err != nil {
			return
		}
		small, _, err := image.Decode(bytes.NewReader(sent))
		if err != nil {
			t.Fatalf("the model gets no picture: %v", err)
		}
		if size := small.Bounds().Size(); min(size.X, size.Y) < 1 || max(size.X, size.Y) > 16 {
			t.Fatalf("the model gets a picture of %v", size)
		}
	})
}
