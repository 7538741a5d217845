package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // register the formats of Decode
	"image/jpeg"
	"image/png"
	"io"
	"os"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // as above
)

// Bounds of a picture that is decoded. A small file may hold any number of pixels.
const (
	MaxBytes  = 20 << 20 // of the file
	maxPixels = 24 << 20
)

// Size is the size of a picture, in pixels.
type Size struct{ Width, Height int }

// ErrTooLarge reports that a picture exceeds the bounds.
var ErrTooLarge = errors.New("the picture is too large")

// ErrChanged reports that a file is not the one that was kept.
var ErrChanged = errors.New("the file is not what was kept")

// Read reads the file of a picture whose content has that SHA-256, in hexadecimal
// digits: a journal could name any file.
func Read(path, sum string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // checked by its content
	if err != nil {
		return nil, fmt.Errorf("open the picture: %w", err)
	}
	content, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	if len(content) > MaxBytes {
		return nil, ErrTooLarge
	}
	if got := sha256.Sum256(content); hex.EncodeToString(got[:]) != sum {
		return nil, ErrChanged
	}
	return content, nil
}

// Decode reads a PNG, JPEG, GIF (its first frame) or WebP picture. It returns
// [ErrTooLarge] before it reads a pixel.
func Decode(content []byte) (image.Image, error) {
	img, _, _, err := decode(content)
	return img, err
}

// decode also returns the content that was read, and its format.
func decode(content []byte) (img image.Image, read []byte, format string, err error) {
	if len(content) > MaxBytes {
		return nil, nil, "", fmt.Errorf("%w: %d bytes", ErrTooLarge, len(content))
	}
	read = essential(content)
	cfg, _, err := image.DecodeConfig(bytes.NewReader(read))
	switch {
	case err != nil:
		return nil, nil, "", fmt.Errorf("read the picture: %w", err)
	case cfg.Width <= 0 || cfg.Height <= 0:
		return nil, nil, "", errors.New("the picture has no pixels")
	case cfg.Width > maxPixels/cfg.Height:
		return nil, nil, "", fmt.Errorf("%w: %d×%d", ErrTooLarge, cfg.Width, cfg.Height)
	}
	if img, format, err = image.Decode(bytes.NewReader(read)); err != nil {
		return nil, nil, "", fmt.Errorf("read the picture: %w", err)
	}
	return img, read, format, nil
}

// essential returns a PNG with only the chunks that its pixels need. The decoder
// rejects a picture for a damaged color profile, which viewers ignore. Other
// content is returned as it is.
func essential(content []byte) []byte {
	const signature = "\x89PNG\r\n\x1a\n"
	if !bytes.HasPrefix(content, []byte(signature)) {
		return content
	}
	out := []byte(signature)
	for rest := content[len(signature):]; len(rest) >= 12; {
		size := int64(binary.BigEndian.Uint32(rest)) + 12 // length, type and checksum
		if size > int64(len(rest)) {
			return append(out, rest...)
		}
		if kind := string(rest[4:8]); 'A' <= kind[0] && kind[0] <= 'Z' || kind == "tRNS" {
			out = append(out, rest[:size]...)
		}
		rest = rest[size:]
	}
	return out
}

// Within returns the largest size of the same shape that fits, at most the size
// itself.
func (s Size) Within(width, height int) Size {
	if s.Width <= width && s.Height <= height {
		return s
	}
	if s.Width*height > width*s.Height {
		return Size{width, max(s.Height*width/s.Width, 1)}
	}
	return Size{max(s.Width*height/s.Height, 1), height}
}

// Scale makes a picture smaller, so that it fits.
func Scale(img image.Image, width, height int) *image.RGBA {
	b := img.Bounds()
	size := Size{b.Dx(), b.Dy()}.Within(width, height)
	out := image.NewRGBA(image.Rect(0, 0, size.Width, size.Height))
	draw.CatmullRom.Scale(out, out.Bounds(), img, b, draw.Src, nil)
	return out
}

// ForModel returns a picture as a model server takes it: a PNG or JPEG with no side
// longer than so many pixels.
func ForModel(content []byte, longest int) ([]byte, error) {
	img, content, format, err := decode(content) // a server may fail at one that is damaged
	if err != nil {
		return nil, err
	}
	if size := img.Bounds(); (format == "png" || format == "jpeg") && size.Dx() <= longest && size.Dy() <= longest {
		return content, nil
	}
	var out bytes.Buffer
	if scaled := Scale(img, longest, longest); format == "jpeg" {
		err = jpeg.Encode(&out, scaled, nil)
	} else {
		err = png.Encode(&out, scaled)
	}
	return out.Bytes(), err
}
