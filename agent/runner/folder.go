package runner

import "path/filepath"

// SameFolder reports whether two absolute paths lead to one folder, by whatever
// links. One that is not there is the same as itself alone.
func SameFolder(a, b string) bool { return a == b || realPath(a) == realPath(b) }

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
