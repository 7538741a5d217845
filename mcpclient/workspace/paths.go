package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

const (
	maxLinks = 40   // links followed on the way to one file
	maxName  = 255  // bytes of one name in a path
	maxPath  = 4000 // bytes of a path
)

// resolve turns a name as a call gives it into the one path of the workspace
// that it means: relative, with slashes, without links and dots. The file need
// not exist. Files are compared, hashed and reported under this path.
//
// It refuses what leads out with a sentence; [os.Root] would do so too, and
// still does when the file is opened.
func (o *Operators) resolve(name string) (string, error) {
	if name == "" {
		return "", errors.New("the path is empty; name a file relative to the workspace")
	}
	if len(name) > maxPath {
		return "", fmt.Errorf("the path has %d bytes, and at most %d are taken", len(name), maxPath)
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return "", fmt.Errorf("the path %q holds characters that no file of a workspace may have", name)
	}
	local, err := o.relative(name)
	if err != nil {
		return "", err
	}
	pending := strings.Split(local, "/")
	var done []string
	for links := 0; len(pending) > 0; {
		part := pending[0]
		pending = pending[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return "", outside(name)
			}
			done = done[:len(done)-1]
			continue
		}
		if !filepath.IsLocal(part) {
			return "", fmt.Errorf("%q holds a name that this system keeps for itself: %q", name, part)
		}
		if len(part) > maxName {
			return "", fmt.Errorf("the path %q… holds a name of %d bytes, and at most %d are taken", part[:40], len(part), maxName)
		}
		at := path.Join(append(done[:len(done):len(done)], part)...)
		info, err := o.root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			done = append(done, part)
			continue
		case errors.Is(err, syscall.ENOTDIR):
			return "", fmt.Errorf("%q cannot exist: %q is a file, not a folder", name, path.Join(done...))
		case err != nil:
			return "", fmt.Errorf("looking at %q: %w", name, err)
		case info.Mode()&fs.ModeSymlink == 0:
			done = append(done, part)
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%q leads through too many links", name)
		}
		target, err := o.root.Readlink(at)
		if err != nil {
			return "", fmt.Errorf("following the link %q: %w", at, err)
		}
		if filepath.IsAbs(target) {
			return "", outside(name)
		}
		pending = append(strings.Split(filepath.ToSlash(target), "/"), pending...)
	}
	if len(done) == 0 {
		return ".", nil
	}
	at := path.Join(done...)
	return at, o.notPrivate(at)
}

// relative makes an absolute name of a file of the workspace relative to it.
func (o *Operators) relative(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return filepath.ToSlash(name), nil
	}
	for _, base := range []string{o.dir, o.real} {
		rel, err := filepath.Rel(base, name)
		if err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), nil
		}
	}
	return "", outside(name)
}

func outside(name string) error {
	return fmt.Errorf("%q is outside the workspace; name a file relative to the workspace", name)
}

// changeable is resolve for a file that is to be changed.
func (o *Operators) changeable(name string) (string, error) {
	at, err := o.resolve(name)
	if err != nil {
		return "", err
	}
	if strings.HasSuffix(name, "/") || at == "." {
		return "", fmt.Errorf("%q is a folder; name a file in it", name)
	}
	if err := notGits(at); err != nil {
		return "", err
	}
	return at, nil
}

// notGits refuses what belongs to git itself: a change in there could make git
// run anything.
func notGits(at string) error {
	for part := range strings.SplitSeq(at, "/") {
		if isDotGit(part) {
			return fmt.Errorf("%q belongs to git itself and is left alone", at)
		}
	}
	return nil
}

// isDotGit reports whether some system takes a name for .git: in another case,
// by its short name, with what Windows cuts off at the end, or with characters
// that macOS does not see.
func isDotGit(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// file is the content of a file, a folder without what is in it, or that there
// is neither.
type file struct {
	exists bool
	dir    bool // a folder
	data   []byte
	mode   fs.FileMode
}

// load reads a file of the workspace, found by resolve, of at most maxFile
// bytes. Only regular files are opened: a pipe would never answer.
func (o *Operators) load(at string) (file, error) {
	info, err := o.root.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file{}, nil
	case err != nil:
		return file{}, fmt.Errorf("looking at %s: %w", at, err)
	case info.IsDir():
		return file{}, fmt.Errorf("%s is a folder, not a file; fs.list shows what is in it", at)
	case !info.Mode().IsRegular():
		return file{}, fmt.Errorf("%s is not a regular file", at)
	case info.Size() > maxFile:
		return file{}, tooLarge(at, info.Size())
	}
	data, err := readRegular(o.root, at)
	if err != nil {
		return file{}, fmt.Errorf("reading %s: %w", at, err)
	}
	if len(data) > maxFile {
		return file{}, tooLarge(at, int64(len(data)))
	}
	return file{exists: true, data: data, mode: info.Mode().Perm()}, nil
}

func tooLarge(at string, size int64) error {
	return fmt.Errorf("%s has %d bytes, and files of more than %d are not opened; fs.search can find a part of the workspace", at, size, maxFile)
}

// loadText is load for files that hold UTF-8 text.
func (o *Operators) loadText(at string) (file, error) {
	f, err := o.load(at)
	if err != nil || !f.exists {
		return f, err
	}
	if isBinary(f.data) {
		return file{}, fmt.Errorf("%s is a binary file; only text can be read and changed", at)
	}
	if !utf8.Valid(f.data) {
		return file{}, fmt.Errorf("%s is not UTF-8 text; only UTF-8 text can be read and changed", at)
	}
	return f, nil
}

// isText reports whether data can be shown as lines of text.
func isText(data []byte) bool { return !isBinary(data) && utf8.Valid(data) }

// isBinary looks for a NUL where files of programs and pictures have one.
func isBinary(data []byte) bool {
	const head = 8 << 10
	return bytes.IndexByte(data[:min(len(data), head)], 0) >= 0
}

// noFile says that there is no such file, and which one may have been meant.
func (o *Operators) noFile(ctx context.Context, at string) error {
	const wanted, most = 3, 20_000 // names to offer, and to look at
	base, seen := path.Base(at), 0
	var found []string
	err := o.walk(ctx, ".", func(p string, d fs.DirEntry) error {
		if !d.IsDir() && strings.EqualFold(path.Base(p), base) {
			found = append(found, p)
		}
		if seen++; len(found) == wanted || seen == most {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return fmt.Errorf("there is no file %q in the workspace", at)
	}
	return fmt.Errorf("there is no file %q in the workspace; there is %s", at, strings.Join(found, ", "))
}

// onDisk is the path of a file of the workspace for a child process.
func (o *Operators) onDisk(at string) string {
	return filepath.Join(o.dir, filepath.FromSlash(at))
}

// syncFolder makes the names in a folder durable, where the system can.
func syncFolder(root *os.Root, at string) {
	d, err := root.Open(at)
	if err != nil {
		return
	}
	_ = d.Sync() // some file systems cannot sync a folder; the rename is done all the same
	_ = d.Close()
}
