package box

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode"
)

// repository is the repository of a workspace. git obeys much of what lies in its
// folder. So programs in the box change only what git needs for commits,
// branches, merges and rebases. They change nothing that makes the user's next
// git run or follow something.
type repository struct {
	file   string   // .git of the workspace or above
	common string   // the folder with configuration, hooks and objects; "" without one that programs may change
	before []string // what git had to go on with when the box was made
	mutex  sync.Mutex
	stays  *os.File // the placeholder of common, which other boxes use too
}

// findRepository returns the repository that a folder lies in. A file in its place
// counts only if the repository confirms it, since programs in the box may have
// written it.
func findRepository(dir string) *repository {
	for {
		r := &repository{file: filepath.Join(dir, ".git")}
		if info, err := os.Lstat(r.file); err == nil {
			switch {
			case info.IsDir():
				r.common = r.file
			case info.Mode().IsRegular():
				r.common = linkedRepository(r.file)
			}
			r.before = r.left()
			return r
		}
		above := filepath.Dir(dir)
		if above == dir {
			return &repository{}
		}
		dir = above
	}
}

// writable returns the folder that programs may write commits and branches into, ""
// if there is none.
func (r *repository) writable() string { return r.common }

// nestedIn finds the other repositories in a folder of the repository.
func (r *repository) nestedIn(dir string) *nestedRepositories {
	return findNested(dir, r.file, r.common)
}

// linkedRepository returns the folder of the repository that the .git file of a
// linked worktree names.
func linkedRepository(file string) string {
	text, err := os.ReadFile(file) // #nosec G304 -- of the workspace
	admin, found := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !found || !filepath.IsAbs(admin) {
		return ""
	}
	back, err := os.ReadFile(filepath.Join(admin, "gitdir")) // #nosec G304 G703 -- only compared
	if err != nil || strings.TrimSpace(string(back)) != file {
		return ""
	}
	common := filepath.Dir(filepath.Dir(admin))
	if filepath.Base(filepath.Dir(admin)) != "worktrees" {
		return ""
	}
	real, err := filepath.EvalSymlinks(common)
	if err != nil {
		return ""
	}
	return real
}

// isChanged reports whether programs may change a file or folder of this name in the
// folder of a repository. They may change what commits, branches, merges and rebases
// write, and what git only reads as data.
func isChanged(name string) bool {
	switch name {
	case "objects", "refs", "logs", "HEAD", "COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD", "AUTO_MERGE", "CHERRY_PICK_HEAD", "REVERT_HEAD",
		"REBASE_HEAD", "SQUASH_MSG", "TAG_EDITMSG", "packed-refs", "shallow", "gc.pid", "gc.log", "rr-cache", "lfs":
		return true
	}
	return strings.HasSuffix(name, ".lock") || slices.ContainsFunc([]string{"index", "sharedindex.", "MERGE_", "tmp_"}, func(start string) bool { return strings.HasPrefix(name, start) })
}

// isState reports whether git keeps in a file or folder of this name what it goes on
// with at the user's next command. Programs may make their own, and not change what
// the user has begun.
func isState(name string) bool {
	return name == "rebase-merge" || name == "rebase-apply" || name == "sequencer" || strings.HasPrefix(name, "BISECT_")
}

// obeyedFolders hold what git obeys. They are made, as empty files are, so that no
// program in the box can: with nothing in them they change nothing.
var obeyedFolders = []string{"hooks", "info", "modules", "branches", "remotes", "objects/info"}

// hold returns the files and folders that programs in the box may not change, and
// makes what is missing.
func (r *repository) hold() (fixed []string, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if info, err := os.Lstat(r.file); err == nil && info.Mode().IsRegular() {
		fixed = append(fixed, r.file)
	}
	if r.common == "" {
		return fixed, nil
	}
	// Where the user may make nothing, neither may programs in the box.
	if err := r.make(); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return nil, fmt.Errorf("hold what git obeys in %s, which programs in the box may not change: %w", r.common, err)
	}
	for _, folder := range append(r.folders(), filepath.Join(r.common, "objects", "info")) {
		found, err := os.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("find what git obeys, which programs in the box may not change: %w", err)
		}
		for _, entry := range found {
			path := filepath.Join(folder, entry.Name())
			if r.isHeld(path) && entry.Type()&fs.ModeSymlink == 0 {
				fixed = append(fixed, path)
			}
		}
	}
	return fixed, nil
}

// folders returns the folder of the repository and those of its linked worktrees.
func (r *repository) folders() []string {
	if r.common == "" {
		return nil
	}
	linked, _ := filepath.Glob(filepath.Join(escaped(r.common), "worktrees", "*")) // the pattern is valid
	return append([]string{r.common}, slices.DeleteFunc(linked, func(path string) bool {
		info, err := os.Lstat(path)
		return err != nil || !info.IsDir()
	})...)
}

// isHeld reports whether programs may not change what lies in one of the folders.
func (r *repository) isHeld(path string) bool {
	name := filepath.Base(path)
	switch {
	case filepath.Dir(path) == filepath.Join(r.common, "objects", "info"):
		return name == "alternates"
	case isState(name):
		return slices.Contains(r.before, path)
	default:
		return !isChanged(name) && name != "worktrees" // whose entries are held
	}
}

// make makes what is missing of what git obeys.
func (r *repository) make() error {
	if err := r.placehold(); err != nil {
		return err
	}
	for _, name := range obeyedFolders {
		if err := os.MkdirAll(filepath.Join(r.common, name), 0o755); err != nil { // #nosec G301 -- as git does
			return err
		}
	}
	files := []string{filepath.Join(r.common, "config"), filepath.Join(r.common, "objects", "info", "alternates")}
	for _, folder := range r.folders() {
		files = append(files, filepath.Join(folder, "config.worktree"))
	}
	for _, path := range files {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) // #nosec G302 G304 -- as git does
		if err == nil {
			err = file.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// itself is what a placeholder says: that the rest of the repository lies in its own
// folder. git takes an empty file for a fault.
const itself = ".\n"

// ownWorktree matches the setting of a repository that has its files elsewhere. git
// disregards it beside the placeholder.
var ownWorktree = regexp.MustCompile(`(?im)(?:^|\])[ \t]*worktree[ \t]*=`)

// placehold makes the file that names another folder for configuration and hooks, in
// a repository that has none. It stays until the last box of the repository closes.
func (r *repository) placehold() error {
	path := filepath.Join(r.common, "commondir")
	for {
		if r.stays != nil {
			held, err := r.stays.Stat()
			now, missing := os.Lstat(path)
			if err == nil && missing == nil && os.SameFile(held, now) {
				return nil
			}
			_ = r.stays.Close() // it was only read
			r.stays = nil
		}
		if text, err := os.ReadFile(path); err == nil && string(text) != itself { // #nosec G304 -- of the repository
			return nil // the user's own
		}
		if text, err := os.ReadFile(filepath.Join(r.common, "config")); err == nil && ownWorktree.Match(text) { // #nosec G304 -- of the repository
			return errors.New("core.worktree is set, which no box can hold; work in a linked worktree instead (git worktree add)")
		}
		if err := makePlaceholder(path); err != nil {
			return err
		}
		var err error
		if r.stays, err = share(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// makePlaceholder makes the file whole or not at all: git fails at an empty one.
func makePlaceholder(path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), "tmp_commondir_")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // a stray file that nothing reads
	_, err = file.WriteString(itself)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// release takes out what programs left for git to run or follow, and the placeholder
// if no other box needs it.
func (r *repository) release() (err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, path := range r.left() {
		if slices.Contains(r.before, path) {
			continue
		}
		if info, statErr := os.Lstat(path); statErr == nil && info.IsDir() {
			err = errors.Join(err, disarm(path))
		} else if statErr == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = errors.Join(err, os.Remove(path))
		}
	}
	if r.stays == nil {
		return err
	}
	path := filepath.Join(r.common, "commondir")
	if last, lockErr := lastUser(r.stays); lockErr == nil && last {
		if text, readErr := os.ReadFile(path); readErr == nil && string(text) == itself { // #nosec G304 -- of the repository
			err = errors.Join(err, os.Remove(path))
		}
	}
	err = errors.Join(err, r.stays.Close())
	r.stays = nil
	return err
}

// left returns what git goes on with, and the links that lead files which git writes
// elsewhere.
func (r *repository) left() (out []string) {
	for _, folder := range r.folders() {
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			inside, _ := filepath.Rel(folder, path)
			first, _, _ := strings.Cut(inside, string(filepath.Separator))
			link := err == nil && d.Type()&fs.ModeSymlink != 0
			switch {
			case err != nil:
				return nil //nolint:nilerr // what cannot be read, git does not write either
			case isState(inside), link && isChanged(first) && inside != "HEAD":
				out = append(out, path)
			}
			if d.IsDir() && inside != "." && first != "logs" && first != "refs" {
				return fs.SkipDir
			}
			return nil
		})
	}
	return out
}

// disarm takes commands out of a rebase or another sequence that git can go on with.
func disarm(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // it holds nothing unwritten
	if text, err := readRegular(root, "git-rebase-todo"); err == nil {
		var kept strings.Builder
		for line := range strings.Lines(string(text)) {
			words := strings.FieldsFunc(line, func(c rune) bool { return c == 0 || unicode.IsSpace(c) })
			if len(words) == 0 || words[0] != "exec" && words[0] != "x" {
				kept.WriteString(line)
			}
		}
		if kept.Len() < len(text) {
			if err := root.WriteFile("git-rebase-todo", []byte(kept.String()), 0o600); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"strategy", "opts"} { // a strategy with a slash is a program of this folder
		text, err := readRegular(root, name)
		if err == nil && strings.Contains(string(text), "/") {
			if err := root.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// readRegular reads a file, unless it is a pipe or a device.
func readRegular(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, err
	}
	return root.ReadFile(name)
}

// links returns what git obeys and cannot be held, since it is a link.
func (r *repository) links() (out []string) {
	paths := []string{r.file}
	if r.common != "" {
		for _, name := range append(obeyedFolders, "config", "config.worktree", "objects/info/alternates") {
			paths = append(paths, filepath.Join(r.common, name))
		}
	}
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			out = append(out, path)
		}
	}
	return out
}
