package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // register the formats of decode
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

// decode reads a PNG, JPEG, GIF (its first frame) or WebP picture. It also returns the
// content that was read, and its format. It returns [ErrTooLarge] before it reads a pixel.
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

// within returns the largest size of the same shape, in pixels, with no side longer than
// longest; at most the size itself.
func within(longest int, size image.Point) image.Point {
	switch most := max(size.X, size.Y); {
	case most <= longest:
		return size
	case size.X == most:
		return image.Pt(longest, max(size.Y*longest/most, 1))
	default:
		return image.Pt(max(size.X*longest/most, 1), longest)
	}
}

// scale makes a picture smaller, so that no side is longer than longest.
func scale(img image.Image, longest int) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: within(longest, img.Bounds().Size())})
	draw.CatmullRom.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out
}

// ForModel returns a picture as a model server takes it: a PNG or JPEG with no side
// longer than so many pixels. It returns [ErrTooLarge] before it reads a pixel of a picture
// that exceeds the bounds.
func ForModel(content []byte, longest int) ([]byte, error) {
	img, content, format, err := decode(content) // a server may fail at one that is damaged
	if err != nil {
		return nil, err
	}
	if size := img.Bounds(); (format == "png" || format == "jpeg") && size.Dx() <= longest && size.Dy() <= longest {
		return content, nil
	}
	var out bytes.Buffer
	if scaled := scale(img, longest); format == "jpeg" {
		err = jpeg.Encode(&out, scaled, nil)
	} else {
		err = png.Encode(&out, scaled)
	}
	return out.Bytes(), err
}
