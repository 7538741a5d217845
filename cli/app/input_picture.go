package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"replan/internal/picture"
	"replan/mcpclient/workspace/files"
	"replan/planning/prompt"
)

// pictureOutside returns the path of a picture that a message names although it is not in
// the workspace: one with a whole path, or one that was pasted.
func (a *inputHelp) pictureOutside(name string) (path string, ok bool) {
	if !picture.Named(name) {
		return "", false
	}
	if rest, home := strings.CutPrefix(name, "~/"); home {
		folder, err := os.UserHomeDir()
		return filepath.Join(folder, rest), err == nil
	}
	if path = filepath.Clean(name); filepath.IsAbs(path) {
		inside, err := filepath.Rel(a.workspace, path)
		return path, err != nil || !filepath.IsLocal(inside) // the workspace may hide what is in it
	}
	path = filepath.Join(a.pasted, name)
	_, err := os.Stat(path)
	return path, filepath.Base(name) == name && err == nil
}

// pictureAt looks at a picture for a message that names it.
func pictureAt(name, path string) (prompt.Mention, error) {
	found, err := picture.At(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return prompt.Mention{}, missingFile{fmt.Errorf("there is no file %s", path)}
	case err != nil:
		return prompt.Mention{}, fmt.Errorf("looking at %s: %w", path, err)
	}
	return files.MentionOf(name, found), nil
}
