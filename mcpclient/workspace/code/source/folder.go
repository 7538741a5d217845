package source

import "path/filepath"

// Folder is the folder of a workspace, as the user names it and as programs find it.
type Folder struct {
	dir  string // absolute
	real string // dir with symbolic links resolved
}

// NewFolder returns the folder at an absolute path.
func NewFolder(dir string) Folder {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	return Folder{dir: filepath.Clean(dir), real: real}
}

// Real returns the path of the folder with symbolic links resolved.
func (f Folder) Real() string { return f.real }

// OnDisk converts a path relative to the folder, with slashes, to an absolute one.
func (f Folder) OnDisk(at string) string { return filepath.Join(f.real, filepath.FromSlash(at)) }

// Relative converts an absolute path to one relative to the folder, with slashes. It
// reports whether the path is in the folder.
func (f Folder) Relative(name string) (at string, inside bool) {
	for _, base := range []string{f.real, f.dir} {
		if rel, err := filepath.Rel(base, name); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// Contains reports whether an absolute path is in the folder, or links into it.
func (f Folder) Contains(name string) bool {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		if _, inside := f.Relative(real); inside {
			return true
		}
	}
	_, inside := f.Relative(name)
	return inside
}
