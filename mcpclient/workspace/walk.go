package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mark3labs/mcp-go/mcp"
)

const maxEntries = 1000 // that fs.list returns

// skipped are folders of other people's files, which no search is about.
func skipped(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", "node_modules", "vendor", ".venv", "venv", "__pycache__", ".tox":
		return true
	default:
		return false
	}
}

// walk visits what is under start, which is a path from resolve, in lexical
// order. It leaves out what git ignores and the folders of skipped, but never
// start itself, and follows no links. What cannot be read is passed over.
func (o *Operators) walk(ctx context.Context, start string, visit func(at string, d fs.DirEntry) error) error {
	var rules ignoreRules
	if f, err := o.loadText(".gitignore"); err == nil && f.exists {
		rules = parseIgnore(string(f.data))
	}
	return fs.WalkDir(o.root.FS(), start, func(at string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			if at == start {
				return err
			}
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if at != start {
			if out := rules.ignored(at, d.IsDir()) || d.IsDir() && skipped(d.Name()); out && d.IsDir() {
				return fs.SkipDir
			} else if out {
				return nil
			}
		}
		return visit(at, d)
	})
}

type listResult struct {
	Path      string      `json:"path"`
	Entries   []listEntry `json:"entries"`
	Truncated bool        `json:"truncated"`
}

type listEntry struct {
	Path string `json:"path"`
	Type string `json:"type"`           // file, dir, link or other
	Size int64  `json:"size,omitempty"` // bytes of a file
}

func (o *Operators) list(ctx context.Context, c call) (*mcp.CallToolResult, error) {
	var args struct {
		Path  string `json:"path"`
		Depth int    `json:"depth"`
	}
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	if args.Depth < 0 {
		return nil, fmt.Errorf("the argument depth of fs.list must be 1 or more, not %d", args.Depth)
	}
	start, err := o.folder(args.Path)
	if err != nil {
		return nil, err
	}
	result := listResult{Path: start, Entries: []listEntry{}}
	depth := max(args.Depth, 1)
	err = o.walk(ctx, start, func(at string, d fs.DirEntry) error {
		if at == start {
			return nil
		}
		if len(result.Entries) == maxEntries {
			result.Truncated = true
			return fs.SkipAll
		}
		result.Entries = append(result.Entries, entry(at, d))
		if d.IsDir() && levels(start, at) >= depth {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", start, err)
	}
	return structured(result, fmt.Sprintf("%d entries in %s", len(result.Entries), start)), nil
}

// folder resolves a name that must be a folder; empty means the workspace.
func (o *Operators) folder(name string) (string, error) {
	if name == "" {
		return ".", nil
	}
	at, err := o.resolve(name)
	if err != nil {
		return "", err
	}
	info, err := o.root.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no folder %q in the workspace", at)
	case err != nil:
		return "", fmt.Errorf("looking at %s: %w", at, err)
	case !info.IsDir():
		return "", fmt.Errorf("%s is a file, not a folder; fs.read reads it", at)
	}
	return at, nil
}

func entry(at string, d fs.DirEntry) listEntry {
	e := listEntry{Path: at, Type: "other"}
	switch {
	case d.IsDir():
		e.Type = "dir"
	case d.Type()&fs.ModeSymlink != 0:
		e.Type = "link"
	case d.Type().IsRegular():
		e.Type = "file"
		if info, err := d.Info(); err == nil {
			e.Size = info.Size()
		}
	}
	return e
}

// levels is how far below start a path lies.
func levels(start, at string) int {
	n := 1
	if start != "." {
		at = at[len(start)+1:]
	}
	for _, r := range at {
		if r == '/' {
			n++
		}
	}
	return n
}
