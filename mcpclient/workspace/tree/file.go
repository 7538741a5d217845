package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"unicode/utf8"
)

// MaxFile is the size in bytes of the largest file that is read or changed.
const MaxFile = 4 << 20

// File is the content of a file, or a folder without its entries. Exists is false
// if there is neither.
type File struct {
	Exists bool
	Dir    bool // a folder
	Data   []byte
	Mode   fs.FileMode
}

// Load reads a file of at most [MaxFile] bytes; at comes from [Tree.Resolve]. It
// opens regular files only, since a read of a pipe might never return.
func (t *Tree) Load(at string) (File, error) {
	info, err := t.Root.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return File{}, nil
	case err != nil:
		return File{}, fmt.Errorf("looking at %s: %w", at, err)
	case info.IsDir():
		return File{}, fmt.Errorf("%s is a folder, not a file; fs.list lists it", at)
	case !info.Mode().IsRegular():
		return File{}, fmt.Errorf("%s is not a regular file", at)
	case info.Size() > MaxFile:
		return File{}, tooLarge(at, info.Size())
	}
	data, err := readRegular(t.Root, at)
	if err != nil {
		return File{}, fmt.Errorf("reading %s: %w", at, err)
	}
	if len(data) > MaxFile {
		return File{}, tooLarge(at, int64(len(data)))
	}
	return File{Exists: true, Data: data, Mode: info.Mode().Perm()}, nil
}

func tooLarge(at string, size int64) error {
	return fmt.Errorf("%s has %d bytes, and files of more than %d are not opened; fs.search can find a part of the workspace", at, size, MaxFile)
}

// LoadText is like [Tree.Load] and fails for anything but UTF-8 text.
func (t *Tree) LoadText(at string) (File, error) {
	f, err := t.Load(at)
	if err != nil || !f.Exists {
		return f, err
	}
	if IsBinary(f.Data) {
		return File{}, fmt.Errorf("%s is a binary file; only text can be read and changed", at)
	}
	if !utf8.Valid(f.Data) {
		return File{}, fmt.Errorf("%s is not UTF-8 text; only UTF-8 text can be read and changed", at)
	}
	return f, nil
}

// LoadEntry is like [Tree.Load], also for folders. It does not follow a link.
func (t *Tree) LoadEntry(at string) (File, error) {
	info, err := t.Root.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return File{}, nil
	case err != nil:
		return File{}, fmt.Errorf("looking at %s: %w", at, err)
	case info.IsDir():
		return File{Exists: true, Dir: true, Mode: info.Mode().Perm()}, nil
	case info.Mode()&fs.ModeSymlink != 0:
		return File{}, fmt.Errorf("%s is a link, and links are left as they are", at)
	case info.Mode().IsRegular() && info.Size() > MaxFile:
		return File{}, fmt.Errorf("%s has %d bytes, and files of more than %d cannot be kept for an undo; they are left as they are", at, info.Size(), MaxFile)
	}
	return t.Load(at)
}

// Look loads a path as it is now. A link on the way to it is an error. If one of
// its folders is a file, the path does not exist.
func (t *Tree) Look(at string) (File, error) {
	for i, r := range at {
		if r != '/' {
			continue
		}
		info, err := t.Root.Lstat(at[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return File{}, nil
		case err != nil:
			return File{}, fmt.Errorf("looking at %s: %w", at[:i], err)
		case info.Mode()&fs.ModeSymlink != 0:
			return File{}, fmt.Errorf("%s is a link now", at[:i])
		case !info.IsDir():
			return File{}, nil
		}
	}
	return t.LoadEntry(at)
}
