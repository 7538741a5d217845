package postgrestest

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// Find returns the folder of initdb and postgres: that of PATH, else the newest of the
// folders VERSION/bin that match the pattern. Without one the error is exec.ErrNotFound.
func Find(pattern string) (string, error) {
	folders, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			folders = slices.Insert(folders, 0, filepath.Dir(path))
		}
	}
	for _, folder := range folders {
		_, errInit := exec.LookPath(filepath.Join(folder, "initdb"))
		_, errServer := exec.LookPath(filepath.Join(folder, "postgres"))
		if errInit == nil && errServer == nil {
			return folder, nil
		}
	}
	return "", fmt.Errorf("initdb and postgres are neither on PATH nor in %s: %w", pattern, exec.ErrNotFound)
}

// version is that of a folder VERSION/bin, 0 of others.
func version(folder string) float64 {
	v, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(folder)), 64)
	return v
}
