package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
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

// resolve is [Tree.Resolve] for a name as it stands.
func (t *Tree) resolve(name string) (string, error) {
	if name == "" {
		return "", errors.New("the path is empty; name a file relative to the workspace")
	}
	if len(name) > maxPath {
		return "", fmt.Errorf("the path has %d bytes, and at most %d are taken", len(name), maxPath)
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return "", fmt.Errorf("the path %q holds control characters or bytes that are no UTF-8; files of such names are listed and committed, and never opened: rename it first", name)
	}
	local, err := t.Relative(name)
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
			return "", fmt.Errorf("%q contains a name that this system reserves: %q", name, part)
		}
		if len(part) > maxName {
			return "", fmt.Errorf("the path %q… holds a name of %d bytes, and at most %d are taken", strings.ToValidUTF8(part[:40], ""), len(part), maxName)
		}
		at := path.Join(append(slices.Clip(done), part)...)
		info, err := t.Root.Lstat(at)
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
			return "", fmt.Errorf("%q has too many links", name)
		}
		target, err := t.Root.Readlink(at)
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
	return at, t.NotClosed(at)
}

// Relative makes an absolute name relative to the folder. It fails for names outside.
func (t *Tree) Relative(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return filepath.ToSlash(name), nil
	}
	for _, base := range []string{t.Dir, t.Real} {
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

// Changeable is like [Tree.Resolve] for a file that is to be changed: it refuses
// folders and git's own files.
func (t *Tree) Changeable(name string) (string, error) {
	at, err := t.Resolve(name)
	if err != nil {
		return "", err
	}
	if strings.HasSuffix(name, "/") || at == "." {
		return "", fmt.Errorf("%q is a folder; name a file in it", name)
	}
	if err := NotGits(at); err != nil {
		return "", err
	}
	return at, nil
}

// NotGits fails for files that belong to git itself: a change there could make git
// run any program.
func NotGits(at string) error {
	for part := range strings.SplitSeq(at, "/") {
		if isDotGit(part) {
			return fmt.Errorf("%q belongs to git itself and is left alone", at)
		}
	}
	return nil
}

// isDotGit reports whether some system takes a name for .git. It may be in another case,
// short, with trailing characters that Windows drops, or with characters that macOS
// ignores.
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

// OnDisk returns the absolute path of a file, for a child process.
func (t *Tree) OnDisk(at string) string {
	return filepath.Join(t.Dir, filepath.FromSlash(at))
}

// ChangeableEntry is like [Tree.Changeable] for a file or folder that is to be moved
// or removed. It refuses links.
func (t *Tree) ChangeableEntry(name string) (string, error) {
	name = strings.TrimRight(name, "/")
	local, err := t.Relative(name)
	if err != nil {
		return "", err
	}
	dir, base := path.Split(local)
	if base == "" || base == "." || base == ".." {
		return t.Changeable(name)
	}
	if dir, err = t.Resolve(path.Clean("./" + dir)); err != nil {
		return "", err
	}
	at, err := t.Changeable(name) // a link that leads out is reported as such
	if err != nil {
		return "", err
	}
	if entry := path.Join(dir, base); entry != at {
		return "", fmt.Errorf("%s is a link, and links are left as they are", entry)
	}
	return at, nil
}

// ScopeOf resolves a name that must be an existing file or folder. An empty name is
// the workspace.
func (t *Tree) ScopeOf(ctx context.Context, name string) (string, error) {
	if name == "" {
		return ".", nil
	}
	at, err := t.Resolve(name)
	if err != nil {
		return "", err
	}
	if _, err := t.Root.Stat(at); errors.Is(err, fs.ErrNotExist) {
		return "", t.nothing(ctx, at)
	} else if err != nil {
		return "", fmt.Errorf("looking at %s: %w", at, err)
	}
	return at, nil
}
