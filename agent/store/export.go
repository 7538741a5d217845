package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Export writes the transcript of a conversation to file, relative to the
// workspace, or to a new file among the exports in the data folder. It overwrites
// nothing: for an existing file the error wraps fs.ErrExist. It returns the path.
func (s *Store) Export(workspace, file, text string, now time.Time) (string, error) {
	name := "chat-" + now.Format("20060102-150405")
	path := file
	switch {
	case file == "":
		dir := filepath.Join(s.Dirs.Data, "exports")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		path = filepath.Join(dir, name+".md")
	case !filepath.IsAbs(file):
		path = filepath.Join(workspace, file)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, name+".md")
	}
	for n := 2; ; n++ {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the user names it
		switch {
		case errors.Is(err, fs.ErrExist) && file == "" && n < 100:
			path = strings.TrimSuffix(path, filepath.Ext(path))
			path = strings.TrimSuffix(path, fmt.Sprintf("-%d", n-1)) + fmt.Sprintf("-%d.md", n)
			continue
		case err != nil:
			return path, err
		}
		_, err = f.WriteString(text)
		return path, errors.Join(err, f.Close())
	}
}
