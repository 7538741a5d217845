package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ownNames are the program's files and folders, for when its own folder is the
// workspace.
var ownNames = []string{
	"config.toml", "mcp.json", "trust.json", "memory.md", "durations.json", "history.json", "runs", "sessions", "plans", "outputs", "logs", "exports", "themes", "crashes",
	"findings.json", "fit-attempts.json", "servers.json", "mcp-handshakes.json", "mcp-disabled.json", "logins", "pins", "recents.txt", "tools",
}

// privatePaths returns the paths in the workspace that the folders cover. They need
// not exist yet.
func privatePaths(real string, folders []string) []string {
	var out []string
	for _, folder := range folders {
		if folder == "" {
			continue
		}
		rel, err := filepath.Rel(real, resolved(folder))
		switch {
		case err != nil || !filepath.IsLocal(rel):
		case rel == ".":
			out = append(out, ownNames...)
		default:
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// resolved returns the path with the links in its existing part resolved.
func resolved(name string) string {
	name, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	rest := ""
	for at := name; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest)
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(at) == at {
			return name
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// isPrivate reports whether a path belongs to the program itself: its
// configuration, its servers, or its runs. It ignores case.
func (t *Tree) isPrivate(at string) bool {
	for _, own := range t.private {
		if len(at) >= len(own) && strings.EqualFold(at[:len(own)], own) && (len(at) == len(own) || at[len(own)] == '/') {
			return true
		}
	}
	return false
}

// isHidden reports whether the user hides a path, or a folder that contains it.
func (t *Tree) isHidden(at string) bool {
	if len(t.hidden) == 0 {
		return false
	}
	at = strings.ToLower(at)
	for i := range len(at) + 1 {
		if i < len(at) && at[i] != '/' {
			continue
		}
		if slices.ContainsFunc(t.hidden, func(g Glob) bool { return g.Match(at[:i]) }) {
			return true
		}
	}
	return false
}

// Closed reports whether no operator may read or change a path.
func (t *Tree) Closed(at string) bool { return t.isPrivate(at) || t.isHidden(at) }

// NotClosed fails for paths that belong to the program itself, or that the user hides.
func (t *Tree) NotClosed(at string) error {
	at = path.Clean(at)
	switch {
	case t.isPrivate(at):
		return fmt.Errorf("%q belongs to replan itself and is left alone", at)
	case t.isHidden(at):
		return fmt.Errorf("%q is hidden: the configuration of the user lists it under gates.hidden", at)
	}
	return nil
}
