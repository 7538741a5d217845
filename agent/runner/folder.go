package runner

import "path/filepath"

// SameFolder reports whether two absolute paths lead to the same folder after
// resolving links. A path that does not exist equals only itself.
func SameFolder(a, b string) bool { return a == b || realPath(a) == realPath(b) }

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
