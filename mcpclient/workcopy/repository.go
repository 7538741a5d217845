package workcopy

import (
	"crypto/sha1" // #nosec G505 -- only the size of its hashes
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
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

// leftOut reports whether the copy of a repository omits a file or folder. Objects are
// shared for reading, and the others belong to processes and other worktrees.
func leftOut(name string) bool {
	return name == "objects" || name == "worktrees" || name == "commondir" || name == "gitdir" ||
		strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "fsmonitor--daemon")
}

// followRepository copies the repository if it changed and no run moved a branch of
// the copy. The copy reads the objects of the original, and writes its own.
func (c *Copy) followRepository(reset bool) error {
	r, found := c.findRepository()
	if !found {
		c.state.Refs, c.state.Git = "", ""
		if !reset {
			return nil
		}
		return c.root.RemoveAll(gitName)
	}
	_, err := c.root.Lstat(path.Join(gitName, "objects", "info", "alternates"))
	whole := err == nil
	now, err := r.stamp()
	if err != nil {
		return fmt.Errorf("read the repository %s: %w", r.common, err)
	}
	switch {
	case reset, !whole:
	case c.copiedRefs() != c.state.Refs:
		return nil // a run made a commit or moved a branch
	case now == c.state.Git:
		return nil
	}
	if err := c.root.RemoveAll(gitName); err != nil {
		return fmt.Errorf("copy the repository: %w", err)
	}
	if err := r.copyTo(c.root); err != nil {
		return fmt.Errorf("copy the repository %s: %w", r.common, err)
	}
	c.state.Git, c.state.Refs = now, c.copiedRefs()
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

// copyTo makes a repository of its own. A program in the box may put links in its way,
// so nothing is written by a path that leads out of the copy.
func (r repository) copyTo(root *os.Root) error {
	for _, dir := range r.folders() {
		err := walkRepository(dir, func(at string, info fs.FileInfo) error {
			to := path.Join(gitName, at)
			if info.IsDir() {
				return root.MkdirAll(to, 0o700)
			}
			data, err := os.ReadFile(filepath.Join(dir, at)) // #nosec G304 G703 -- of the repository
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				return nil
			}
			if err == nil {
				err = root.WriteFile(to, data, info.Mode().Perm()|0o600)
			}
			if err == nil {
				err = root.Chtimes(to, info.ModTime(), info.ModTime())
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	objects := path.Join(gitName, "objects")
	for _, sub := range []string{"info", "pack"} {
		if err := root.MkdirAll(path.Join(objects, sub), 0o700); err != nil {
			return err
		}
	}
	return root.WriteFile(path.Join(objects, "info", "alternates"), []byte(filepath.Join(r.common, "objects")+"\n"), 0o600)
}

// copiedRefs returns what [refsOf] returns of the copy. Programs in the box may have
// made its repository a link.
func (c *Copy) copiedRefs() refList {
	root, err := c.root.OpenRoot(gitName)
	if err != nil {
		return ""
	}
	defer root.Close() //nolint:errcheck // it was only read
	return refsIn(root, root)
}

// refList is HEAD and all branches and tags with their commits, a line each.
type refList string

// MarshalText writes names in any bytes as text, see [op.Name].
func (l refList) MarshalText() ([]byte, error) { return []byte(op.Name(string(l))), nil }

// UnmarshalText reads what MarshalText wrote.
func (l *refList) UnmarshalText(text []byte) error {
	*l = refList(op.PathOf(string(text)))
	return nil
}

// refsOf returns the refs of a repository.
func refsOf(r repository) refList {
	common, err := os.OpenRoot(r.common)
	if err != nil {
		return ""
	}
	defer common.Close() //nolint:errcheck // it was only read
	own, err := os.OpenRoot(r.own)
	if err != nil {
		return ""
	}
	defer own.Close() //nolint:errcheck // it was only read
	return refsIn(common, own)
}

func refsIn(common, own *os.Root) refList {
	refs := map[string]string{"HEAD": readRefs(own, "HEAD")}
	for line := range strings.Lines(readRefs(common, "packed-refs")) {
		if hash, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			refs[name] = hash
		}
	}
	_ = fs.WalkDir(common.FS(), "refs", func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(at, ".lock") {
			refs[at] = readRefs(common, at)
		}
		return nil
	})
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if isRef(name, refs[name]) {
			_, _ = fmt.Fprintf(&b, "%s %s\n", refs[name], name)
		}
	}
	return refList(b.String())
}

// maxRefs is the most that is read of a file with refs.
const maxRefs = 64 << 20

// readRefs reads a file of a repository without the blanks around its text; "" for
// what is no file.
func readRefs(root *os.Root, at string) string {
	f, err := root.OpenFile(at, os.O_RDONLY|tree.NonBlocking, 0)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxRefs))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// isRef reports whether a name is that of a branch, a tag or HEAD, and its value what
// git stores there. Programs in the box write both, and git gets them as arguments.
func isRef(name, value string) bool {
	isName := func(name string, folders ...string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(name, folder) }) &&
			!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
	}
	hash, err := hex.DecodeString(value)
	isHash := err == nil && (len(hash) == sha1.Size || len(hash) == sha256.Size)
	if name == "HEAD" {
		branch, found := strings.CutPrefix(value, "ref: ")
		return isHash || found && isName(branch, "refs/heads/")
	}
	return isHash && isName(name, "refs/heads/", "refs/tags/")
}
