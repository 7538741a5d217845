package screen

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"replan/cli/clipboard"
	"replan/cli/config"
	"replan/internal/picture"
	"replan/internal/wholefile"
	"replan/tui/input"
)

// pastedFor is how long a pasted picture is there to be sent, also from the history. A run
// that was sent one keeps its own copy.
const pastedFor = 30 * 24 * time.Hour

// pictures finds the pictures that the user pastes.
type pictures struct {
	workspace string
	pasted    string // the folder of those from the clipboard
	read      func(context.Context) (clipboard.Content, error)
	now       func() time.Time
}

// newPictures returns what finds the pictures that the user pastes.
func newPictures(at config.Folders) pictures {
	return pictures{at.Workspace, at.Dirs.Pasted(), clipboard.Reader{Environ: os.Environ()}.Read, time.Now}
}

// Find looks for the picture file at a path, and names it as a message does: in the
// workspace by its path there.
func (p pictures) Find(path string) (found input.Picture, ok bool) {
	at := path
	if rest, home := strings.CutPrefix(path, "~/"); home {
		folder, err := os.UserHomeDir()
		if err != nil {
			return found, false
		}
		at = filepath.Join(folder, rest)
	}
	width, height, err := picture.Size(at)
	if err != nil {
		return found, false
	}
	if inside, err := filepath.Rel(p.workspace, at); err == nil && filepath.IsLocal(inside) {
		path = filepath.ToSlash(inside)
	}
	return input.Picture{Name: path, Width: width, Height: height}, true
}

// Copied saves the picture in the clipboard.
func (p pictures) Copied(ctx context.Context) (saved input.Picture, text string, err error) {
	content, err := p.read(ctx)
	switch {
	case err != nil:
		return saved, "", err
	case len(content.Picture) == 0 && content.Text == "":
		return saved, "", input.ErrNothingCopied
	case len(content.Picture) == 0:
		return saved, content.Text, nil
	}
	found, err := picture.In(bytes.NewReader(content.Picture), "")
	if err != nil {
		return saved, "", fmt.Errorf("the picture in the clipboard cannot be attached: %w", err)
	}
	const digits = 8 // enough to tell pictures apart that are kept at the same time
	name := "pasted-" + found.SHA256[:digits] + "." + strings.TrimPrefix(found.Type, "image/")
	err = os.MkdirAll(p.pasted, 0o700)
	if err == nil {
		p.removeOld()
		err = wholefile.Write(filepath.Join(p.pasted, name), content.Picture)
	}
	if err != nil {
		return saved, "", fmt.Errorf("the picture in the clipboard cannot be saved: %w", err)
	}
	return input.Picture{Name: name, Width: found.Width, Height: found.Height}, "", nil
}

// removeOld removes pictures that were pasted long ago. One that stays is removed later.
func (p pictures) removeOld() {
	files, _ := os.ReadDir(p.pasted)
	for _, file := range files {
		if info, err := file.Info(); err == nil && info.Mode().IsRegular() && p.now().Sub(info.ModTime()) > pastedFor {
			_ = os.Remove(filepath.Join(p.pasted, file.Name()))
		}
	}
}
