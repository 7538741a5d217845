package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is a picture in a file.
type File struct {
	Path          string // absolute
	Type          string // media type
	Bytes         int
	SHA256        string // of the content, in hexadecimal digits
	Width, Height int    // in pixels
}

// endings are those of the files that hold pictures which models see.
var endings = []string{".png", ".jpg", ".jpeg", ".gif", ".webp"}

// Named reports whether a file has the name of a picture that models see.
func Named(name string) bool {
	return slices.Contains(endings, strings.ToLower(filepath.Ext(name)))
}

// ErrNoPicture reports that content is damaged, or of none of the formats that are read.
var ErrNoPicture = errors.New("it is damaged, or no PNG, JPEG, GIF or WebP picture")

// In reads the picture in a file, all of its pixels: a damaged one is refused here, not by
// a model server. The errors are [ErrNoPicture] and [ErrTooLarge]; both say what is wrong.
func In(file io.Reader, path string) (File, error) {
	content, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	switch {
	case err != nil:
		return File{}, fmt.Errorf("read the picture: %w", err)
	case len(content) > MaxBytes:
		return File{}, fmt.Errorf("%w: a file may have at most %d MB", ErrTooLarge, MaxBytes>>20)
	}
	img, _, format, err := decode(content)
	if errors.Is(err, ErrTooLarge) {
		return File{}, fmt.Errorf("%w pixels, and a picture may have at most %d million", err, maxPixels/1_000_000)
	}
	if err != nil {
		return File{}, ErrNoPicture
	}
	sum, size := sha256.Sum256(content), img.Bounds()
	return File{Path: path, Type: "image/" + format, Bytes: len(content), SHA256: hex.EncodeToString(sum[:]), Width: size.Dx(), Height: size.Dy()}, nil
}

// At is [In] for the file at a path.
func At(path string) (found File, err error) {
	err = open(path, func(file *os.File) (err error) {
		found, err = In(file, path)
		return err
	})
	return found, err
}

// Size returns the width and height of the picture at a path, in pixels. It reads only
// the head of the file.
func Size(path string) (width, height int, err error) {
	err = open(path, func(file *os.File) error {
		head, err := io.ReadAll(io.LimitReader(file, maxHead))
		if err != nil {
			return err
		}
		cfg, _, err := image.DecodeConfig(bytes.NewReader(essential(head)))
		if err != nil {
			return ErrNoPicture
		}
		width, height = cfg.Width, cfg.Height
		return nil
	})
	return width, height, err
}

// maxHead is how much of a file Size reads, in bytes. Cameras put a small picture before
// the size of the large one.
const maxHead = 1 << 20

// open has a function read a regular file. It does not open others, such as pipes, which
// it could wait for.
func open(path string, read func(*os.File) error) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return ErrNoPicture
	}
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	return errors.Join(read(file), file.Close())
}
