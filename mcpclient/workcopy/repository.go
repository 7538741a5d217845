package workcopy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// repositoryOf returns the folder of the repository that a folder lies in, or the
// folder itself.
func repositoryOf(folder string) string {
	for at := folder; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, gitName)); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return folder
		}
	}
}

// repository is where git keeps what it knows of a folder with files.
type repository struct {
	common string // with refs, configuration and objects
	own    string // with HEAD and the index; common unless the folder is a linked worktree
}

// findRepository returns the repository of the copied folder, and whether there is
// one.
func (c *Copy) findRepository() (repository, bool) {
	at := filepath.Join(c.top, gitName)
	info, err := os.Stat(at)
	switch {
	case err != nil:
		return repository{}, false
	case info.IsDir():
		return repository{at, at}, true
	}
	text, err := os.ReadFile(at) // #nosec G304 -- of the workspace
	own, found := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !found {
		return repository{}, false
	}
	if !filepath.IsAbs(own) {
		own = filepath.Join(c.top, own)
	}
	common := own
	if text, err := os.ReadFile(filepath.Join(own, "commondir")); err == nil { // #nosec G304 G703 -- of the repository
		if common = strings.TrimSpace(string(text)); !filepath.IsAbs(common) {
			common = filepath.Join(own, common)
		}
	}
	return repository{common, own}, true
}

// left out of the copy of a repository: objects are shared for reading, and the others
// belong to processes and other worktrees.
func leftOut(name string) bool {
	return name == "objects" || name == "worktrees" || name == "commondir" || name == "gitdir" ||
		strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "fsmonitor--daemon")
}

// followRepository copies the repository if it changed and no run moved a branch of
// the copy. The copy reads the objects of the original, and writes its own.
func (c *Copy) followRepository(reset bool) error {
	r, found := c.findRepository()
	copied := filepath.Join(c.place, filesName, gitName)
	if !found {
		c.state.Refs, c.state.Git = "", ""
		if !reset {
			return nil
		}
		return os.RemoveAll(copied)
	}
	_, err := os.Lstat(filepath.Join(copied, "objects", "info", "alternates"))
	whole := err == nil
	now, err := r.stamp()
	if err != nil {
		return fmt.Errorf("read the repository %s: %w", r.common, err)
	}
	switch {
	case reset, !whole:
	case refsOf(repository{copied, copied}) != c.state.Refs:
		return nil // a run made a commit or moved a branch
	case now == c.state.Git:
		return nil
	}
	if err := os.RemoveAll(copied); err != nil {
		return fmt.Errorf("copy the repository: %w", err)
	}
	if err := r.copyTo(copied); err != nil {
		return fmt.Errorf("copy the repository %s: %w", r.common, err)
	}
	c.state.Git, c.state.Refs = now, refsOf(repository{copied, copied})
	return nil
}

// stamp returns a hash over the stamps of all files that are copied.
func (r repository) stamp() (string, error) {
	sum := sha256.New()
	for _, dir := range r.folders() {
		err := walkRepository(dir, func(at string, info fs.FileInfo) error {
			when, inode := changed(info)
			if !info.IsDir() {
				_, _ = fmt.Fprintln(sum, at, info.Mode(), info.Size(), info.ModTime().UnixNano(), when, inode)
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// folders returns the folders of the repository; files of later ones replace those of
// earlier ones.
func (r repository) folders() []string {
	if r.own == r.common {
		return []string{r.common}
	}
	return []string{r.common, r.own}
}

// walkRepository visits what is copied of a folder of a repository, by relative paths.
func walkRepository(dir string, visit func(at string, info fs.FileInfo) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // it was only read
	return fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return err
		case at != "." && leftOut(d.Name()) && !strings.Contains(at, "/"):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return nil //nolint:nilerr // gone meanwhile, or no file
		}
		return visit(at, info)
	})
}

// copyTo makes a repository of its own.
func (r repository) copyTo(copied string) error {
	for _, dir := range r.folders() {
		err := walkRepository(dir, func(at string, info fs.FileInfo) error {
			to := filepath.Join(copied, at)
			if info.IsDir() {
				return os.MkdirAll(to, 0o700)
			}
			data, err := os.ReadFile(filepath.Join(dir, at)) // #nosec G304 G703 -- of the repository
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				return nil
			}
			if err == nil {
				err = os.WriteFile(to, data, info.Mode().Perm()|0o600) // #nosec G306 G703 -- as in the repository
			}
			if err == nil {
				err = os.Chtimes(to, info.ModTime(), info.ModTime())
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	objects := filepath.Join(copied, "objects")
	for _, sub := range []string{"info", "pack"} {
		if err := os.MkdirAll(filepath.Join(objects, sub), 0o700); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(objects, "info", "alternates"), []byte(filepath.Join(r.common, "objects")+"\n"), 0o600)
}

// refsOf returns HEAD and all branches and tags with their commits, a line each.
func refsOf(r repository) string {
	refs := map[string]string{}
	packed, err := os.ReadFile(filepath.Join(r.common, "packed-refs")) // #nosec G304 G703 -- of the repository
	if err == nil {
		for line := range strings.Lines(string(packed)) {
			if hash, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(name, "refs/") {
				refs[name] = hash
			}
		}
	}
	root, err := os.OpenRoot(r.common)
	if err == nil {
		defer root.Close() //nolint:errcheck // it was only read
		_ = fs.WalkDir(root.FS(), "refs", func(at string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasSuffix(at, ".lock") {
				text, _ := root.ReadFile(at)
				refs[at] = strings.TrimSpace(string(text))
			}
			return nil
		})
	}
	head, _ := os.ReadFile(filepath.Join(r.own, "HEAD")) // #nosec G304 G703 -- of the repository
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "%s HEAD\n", strings.TrimSpace(string(head)))
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if kind := strings.SplitN(name, "/", 3)[1]; kind == "heads" || kind == "tags" {
			_, _ = fmt.Fprintf(&b, "%s %s\n", refs[name], name)
		}
	}
	return b.String()
}
