package lsp

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"

	"replan/mcpclient/workspace/code/source"
)

const maxFile = 4 << 20 // maximum bytes of a file sent to a server

// workspace is the folder that the servers see. File names are relative to it,
// with slashes.
type workspace struct {
	folder source.Folder
	root   *os.Root
}

func (w workspace) uri(at string) protocol.DocumentURI {
	return protocol.URIFromPath(w.folder.OnDisk(at))
}

// path converts a URI from a server to a path. It returns false outside the
// workspace.
func (w workspace) path(uri protocol.DocumentURI) (string, bool) {
	name, err := uri.Path()
	if err != nil {
		return "", false
	}
	return w.folder.Relative(name)
}

// read returns the text of a file. It never leaves the workspace.
func (w workspace) read(at string) (string, error) {
	info, err := w.root.Stat(filepath.FromSlash(at))
	if err != nil {
		return "", err
	}
	if info.Size() > maxFile {
		return "", fmt.Errorf("%s has %d bytes, and at most %d are sent to a language server", at, info.Size(), maxFile)
	}
	data, err := w.root.ReadFile(filepath.FromSlash(at))
	return string(data), err
}

// stamp identifies one version of a file.
type stamp struct {
	modified time.Time
	size     int64
}

// stamps returns the stamps of all files that affect a server.
func (w workspace) stamps(p Program) (map[string]stamp, error) {
	found := map[string]stamp{}
	err := fs.WalkDir(w.root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && at == ".":
			return err
		case err != nil:
			return nil
		case d.IsDir() && at != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular() || !p.watches(path.Base(at)):
			return nil
		}
		if info, err := d.Info(); err == nil {
			found[at] = stamp{info.ModTime(), info.Size()}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking through the workspace: %w", err)
	}
	return found, nil
}

// changes returns the differences between two states of the workspace.
func (w workspace) changes(before, after map[string]stamp) []protocol.FileEvent {
	var events []protocol.FileEvent
	for at, now := range after {
		was, known := before[at]
		switch {
		case !known:
			events = append(events, protocol.FileEvent{URI: w.uri(at), Type: protocol.Created})
		case was != now:
			events = append(events, protocol.FileEvent{URI: w.uri(at), Type: protocol.Changed})
		}
	}
	for at := range before {
		if _, left := after[at]; !left {
			events = append(events, protocol.FileEvent{URI: w.uri(at), Type: protocol.Deleted})
		}
	}
	return events
}
