package child

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// OutsidePath returns an environment without the folders of PATH from which no program may be
// taken by its name. These are empty and relative ones, those in the workspace, and those that
// lead there by a link. left are these. In the user's home folder, or above it, folders of the
// workspace are the user's own, and stay.
func OutsidePath(environ []string, workspace string) (kept, left []string) {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home := Variable(environ, name); workspace != "" && home != "" && lies(home, workspace) {
			workspace = ""
		}
	}
	var folders []string
	for _, folder := range filepath.SplitList(Variable(environ, "PATH")) {
		if !filepath.IsAbs(folder) || workspace != "" && lies(folder, workspace) {
			left = append(left, folder)
		} else {
			folders = append(folders, folder)
		}
	}
	if len(left) == 0 {
		return environ, nil
	}
	kept = slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH")
	})
	return append(kept, "PATH="+strings.Join(folders, string(filepath.ListSeparator))), left
}

// lies reports whether a path is a folder or below it, as written or with links resolved.
func lies(path, folder string) bool {
	within := func(path, folder string) bool {
		rel, err := filepath.Rel(folder, path)
		return err == nil && filepath.IsLocal(rel)
	}
	real := func(path string) string {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		return path
	}
	return within(path, folder) || within(real(path), real(folder))
}

// Find returns the path of a program that is in an absolute folder of the environment's
// PATH. The error wraps [exec.ErrNotFound].
func Find(name string, environ []string) (string, error) {
	for _, folder := range filepath.SplitList(Variable(environ, "PATH")) {
		if !filepath.IsAbs(folder) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return path, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}
