package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Tree is an open folder. Its files are named by slash-separated paths relative to
// it, and no path leads out. Several goroutines may use it.
type Tree struct {
	Root    *os.Root // of the folder
	Dir     string   // the folder, absolute
	Real    string   // the folder without links on the way to it
	private []string // paths that belong to the program itself
	hidden  []Glob   // paths that the user hides
	config  gitConfig
	environ []string // in which git is asked for its settings; nil means that of this process
}

// Open opens the folder dir. Paths below the private folders, which belong to the program
// itself, cannot be resolved, walked or changed. Nor can those that the patterns of hidden
// match, and what is below them. Patterns ignore case.
func Open(dir string, private, hidden []string) (*Tree, error) {
	var globs []Glob
	for _, pattern := range hidden {
		g, err := NewGlob(strings.ToLower(strings.TrimSuffix(pattern, "/")))
		if err != nil {
			return nil, err
		}
		globs = append(globs, g)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the workspace %s: %w", dir, err)
	}
	root, err := openFolder(abs)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		real = abs
	}
	return &Tree{Root: root, Dir: abs, Real: real, private: privatePaths(real, private), hidden: globs}, nil
}

// SetEnviron sets the environment in which git is asked for its settings, before the first
// walk; without it that is the one of this process.
func (t *Tree) SetEnviron(environ []string) { t.environ = environ }

// Close closes the folder. Nothing can be read or changed after it.
func (t *Tree) Close() error { return t.Root.Close() }

func openFolder(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the workspace %s does not exist; start in an existing folder: %w", dir, err)
	case err != nil:
		return nil, fmt.Errorf("the workspace %s cannot be opened: %w", dir, err)
	case !info.IsDir():
		return nil, fmt.Errorf("the workspace %s is not a folder; name the folder to work in", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the workspace %s cannot be opened: %w", dir, err)
	}
	return root, nil
}
