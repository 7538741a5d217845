package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/adrg/xdg"
)

// instructionsName is the file in which projects say how they are worked on.
const instructionsName = "AGENTS.md"

// maxInstructions is how much of a project's AGENTS.md is read, in bytes.
const maxInstructions = 32 << 10

// instructions is what a project says of how it is worked on.
type instructions struct {
	text string // at most maxInstructions bytes, and a mark where more is left out
	file string // where it comes from, relative to the workspace, with slashes; "" without a text
	note string // why a file that is there is left out
}

// readInstructions reads what the project says, for the prompts and the screen.
func (w *workshop) readInstructions(workspace string) error {
	found, err := findInstructions(workspace, xdg.Home)
	if err != nil {
		return wrap("read the project's instructions", err)
	}
	w.instructions, w.instructionsFile = found.text, found.file
	if found.note != "" {
		w.notes = append(w.notes, found.note)
	}
	return nil
}

// findInstructions returns what the AGENTS.md says that is nearest to the
// workspace: in it, or in a folder above. The search ends with the folder that
// holds .git, with home, or at the top. A file that cannot be read is left out
// with a note, and none above it takes its place.
func findInstructions(workspace, home string) (instructions, error) {
	start, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return instructions{}, err
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		there, err := holdsInstructions(folder, folder == start)
		if err != nil {
			return instructions{}, err
		}
		if there {
			return instructionsIn(folder, start), nil
		}
		_, err = os.Lstat(filepath.Join(folder, ".git")) // a file in worktrees and submodules
		if err == nil || folder == home || folder == filepath.Dir(folder) {
			return instructions{}, nil
		}
	}
}

// holdsInstructions reports whether a folder has an AGENTS.md. Above the
// workspace, one that cannot be looked into has none, and nor has one that
// everybody may write to: who put a file there has nothing to say here.
func holdsInstructions(folder string, workspace bool) (bool, error) {
	_, err := os.Lstat(filepath.Join(folder, instructionsName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if workspace || runtime.GOOS == "windows" { // its modes say nothing of who may write
		return err == nil, err
	}
	info, statErr := os.Stat(folder)
	return err == nil && statErr == nil && info.Mode().Perm()&0o002 == 0, nil
}

// instructionsIn reads the AGENTS.md of a folder.
func instructionsIn(folder, workspace string) instructions {
	shown := instructionsName
	if rel, err := filepath.Rel(workspace, filepath.Join(folder, instructionsName)); err == nil {
		shown = filepath.ToSlash(rel)
	}
	text, err := readNotes(folder, shown)
	var path *fs.PathError
	switch {
	case errors.As(err, &path): // it names the file once more
		return instructions{note: fmt.Sprintf("%s is left out: %v", shown, path.Err)}
	case err != nil:
		return instructions{note: fmt.Sprintf("%s is left out: %v", shown, err)}
	case strings.TrimSpace(text) == "":
		return instructions{}
	}
	return instructions{text: text, file: shown}
}

// What keeps a file from being read, besides what the system says.
var (
	errNotRegular = errors.New("it is no regular file")
	errLinkOut    = errors.New("it is a link that leads to no file of its folder")
)

// readNotes returns the AGENTS.md of a folder, cut at maxInstructions with a
// mark. A link in its place must not lead out of the folder, and a named pipe is
// left alone: it would keep the program waiting for a writer.
func readNotes(folder, shown string) (string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // only read
	info, err := root.Stat(instructionsName)
	if err != nil {
		if link, lstat := root.Lstat(instructionsName); lstat == nil && link.Mode()&fs.ModeSymlink != 0 {
			return "", errLinkOut
		}
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errNotRegular
	}
	// Should the file become a pipe in between, opening it does not wait.
	file, err := root.OpenFile(instructionsName, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // only read
	read, err := io.ReadAll(io.LimitReader(file, maxInstructions+1))
	if err != nil || len(read) <= maxInstructions {
		return string(read), err
	}
	end := maxInstructions
	for end > maxInstructions-utf8.UTFMax && !utf8.RuneStart(read[end]) {
		end--
	}
	left := max(info.Size(), int64(len(read))) - int64(end)
	return fmt.Sprintf("%s\n[%d bytes of %s left out]", read[:end], left, shown), nil
}
