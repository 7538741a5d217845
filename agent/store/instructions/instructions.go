package instructions

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// instructionsName is the file with a project's instructions.
const instructionsName = "AGENTS.md"

// maxInstructions is the maximum size of an AGENTS.md in bytes; the rest is cut
// off.
const maxInstructions = 32 << 10

// Instructions are a project's instructions for working on it.
type Instructions struct {
	Text string // at most maxInstructions bytes, plus a mark if it was cut
	File string // its source, relative to the workspace, with slashes; "" if there is no text
	Note string // why an existing file is skipped
}

// Find returns the AGENTS.md nearest to the workspace: in it, or in a folder
// above. The search ends at the folder that holds .git, at home, or at the root.
// An unreadable file is skipped with a note and ends the search. A file that
// others may have written is also skipped with a note, but the search continues.
func Find(workspace, home string) (Instructions, error) {
	start, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return Instructions{}, err
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	folders, repository := searched(start, home)
	var note string
	for _, folder := range folders {
		there, err := holdsInstructions(folder, folder == start)
		if err != nil {
			return Instructions{}, err
		}
		if !there {
			continue
		}
		if folder != start {
			if err := ownWord(folder, repository); err != nil {
				note = cmp.Or(note, leftOut(shownFrom(start, folder), err))
				continue
			}
		}
		found := instructionsIn(folder, shownFrom(start, folder))
		found.Note = cmp.Or(found.Note, note)
		return found, nil
	}
	return Instructions{Note: note}, nil
}

// searched returns the folders to search, the workspace first, and whether they
// belong to a repository of the user's own.
func searched(start, home string) (folders []string, repository bool) {
	for folder := start; ; folder = filepath.Dir(folder) {
		folders = append(folders, folder)
		if git, err := os.Lstat(filepath.Join(folder, ".git")); err == nil { // a file in worktrees and submodules
			root, err := os.Stat(folder)
			return folders, err == nil && owned(git) && owned(root)
		}
		if folder == home || folder == filepath.Dir(folder) {
			return folders, false
		}
	}
}

// holdsInstructions reports whether a folder has an AGENTS.md. Above the
// workspace, an unreadable folder counts as having none.
func holdsInstructions(folder string, workspace bool) (bool, error) {
	_, err := os.Lstat(filepath.Join(folder, instructionsName))
	if errors.Is(err, fs.ErrNotExist) || err != nil && !workspace {
		return false, nil
	}
	return err == nil, err
}

// shownFrom returns the name of a folder's AGENTS.md relative to the workspace.
func shownFrom(workspace, folder string) string {
	rel, err := filepath.Rel(workspace, filepath.Join(folder, instructionsName))
	if err != nil {
		return instructionsName
	}
	return filepath.ToSlash(rel)
}

// leftOut returns the note for an existing file that is skipped.
func leftOut(shown string, err error) string { return fmt.Sprintf("%s is left out: %v", shown, err) }

// instructionsIn reads the AGENTS.md of a folder.
func instructionsIn(folder, shown string) Instructions {
	text, err := readNotes(folder, shown)
	var path *fs.PathError
	switch {
	case errors.As(err, &path): // which repeats the file name
		return Instructions{Note: leftOut(shown, path.Err)}
	case err != nil:
		return Instructions{Note: leftOut(shown, err)}
	case strings.TrimSpace(text) == "":
		return Instructions{}
	}
	return Instructions{Text: text, File: shown}
}

// Reasons for not reading a file, besides system errors.
var (
	errNotRegular = errors.New("it is not a regular file")
	errLinkOut    = errors.New("it is a link to a file outside its folder")
)

// readNotes returns the AGENTS.md of a folder, cut at maxInstructions with a
// mark. It refuses a link that leads out of the folder and a named pipe, which
// would block until a program writes to it.
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
	// If the file becomes a pipe in the meantime, opening it does not block.
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
