package box

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// nestedRepositories are the repositories below a workspace: git status of the workspace enters
// those that its index names, and runs what their configuration says. Programs in the
// box change nothing in those that were there before them.
type nestedRepositories struct {
	dir   string // the workspace; "" holds and finds nothing
	own   string // .git of the workspace
	held  []string
	loose []string // .git that cannot be held, since they are links

	mutex sync.Mutex
	known map[string]bool // those that were there when the box was made, or that Made returned
}

// findNested finds the repositories below a folder. Those within common belong to the
// folder's own repository.
func findNested(dir, own, common string) *nestedRepositories {
	n := &nestedRepositories{dir: dir, own: own, known: map[string]bool{}}
	hold := func(path string) {
		if (common == "" || !within(path, common)) && !within(dir, path) && !slices.Contains(n.held, path) {
			n.held = append(n.held, path)
		}
	}
	for _, path := range n.find() {
		n.known[path] = true
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			n.loose = append(n.loose, path)
			continue
		}
		hold(path)
		for _, folder := range leadsTo(path) {
			if within(folder, dir) {
				hold(folder)
			}
		}
	}
	return n
}

// leadsTo returns the folders of a repository that lie elsewhere: the one that its .git
// file names, and the one where that has its configuration.
func leadsTo(path string) (folders []string) {
	admin := path
	if text, err := os.ReadFile(path); err == nil { // #nosec G304 -- of the workspace; a folder has none
		named, found := bytes.CutPrefix(text, []byte("gitdir: "))
		if admin = from(filepath.Dir(path), named); !found || !isGitFolder(admin) {
			return nil
		}
		folders = append(folders, admin)
	}
	if text, err := os.ReadFile(filepath.Join(admin, "commondir")); err == nil { // #nosec G304 G703 -- only held
		if common := from(admin, text); isGitFolder(common) && common != admin {
			folders = append(folders, common)
		}
	}
	return folders
}

// from returns the real path that a file in a folder names.
func from(folder string, text []byte) string {
	path := strings.TrimSpace(string(text))
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// isGitFolder reports whether git would take a folder for one of its own.
func isGitFolder(path string) bool {
	_, err := os.Lstat(filepath.Join(path, "HEAD")) // #nosec G703 -- only looked at
	return err == nil
}

// find returns the .git files, folders and links below the workspace, but its own, and
// the bare repositories.
func (n *nestedRepositories) find() (out []string) {
	if n.dir == "" {
		return nil
	}
	_ = filepath.WalkDir(n.dir, func(path string, d fs.DirEntry, err error) error {
		switch folder := filepath.Dir(path); {
		case err != nil: // git does not enter what cannot be read either
			return nil //nolint:nilerr // as said
		case d.Name() == "HEAD" && path != n.dir && isBare(folder):
			out = append(out, folder)
			return fs.SkipDir // the rest of the folder
		case d.Name() != ".git":
			return nil
		case path != n.own:
			out = append(out, path)
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return out
}

// isBare reports whether git would take a folder that has a HEAD for a repository without
// files. What its configuration says then runs at any git command in it.
func isBare(folder string) bool {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(folder, name)) // #nosec G703 -- only looked at
		return err == nil
	}
	return has("commondir") || has("objects") && has("refs")
}

// fixed returns what programs may not change.
func (n *nestedRepositories) fixed() []string {
	return slices.DeleteFunc(slices.Clone(n.held), func(path string) bool {
		_, err := os.Lstat(path)
		return err != nil // the user has removed it
	})
}

// links returns the .git that cannot be held, since they are links.
func (n *nestedRepositories) links() []string { return n.loose }

// created returns what appeared since the box was made, each once and relative to the
// workspace.
func (n *nestedRepositories) created() (out []string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for _, path := range n.find() {
		if !n.known[path] {
			n.known[path] = true
			in, _ := filepath.Rel(n.dir, path) // both are absolute
			out = append(out, in)
		}
	}
	return out
}
