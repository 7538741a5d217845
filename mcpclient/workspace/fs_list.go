package workspace

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/mark3labs/mcp-go/mcp"
)

const maxEntries = 1000 // that fs.list returns

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
	start, err := o.tree.Folder(args.Path)
	if err != nil {
		return nil, err
	}
	result := listResult{Path: start, Entries: []listEntry{}}
	depth := max(args.Depth, 1)
	err = o.tree.Walk(ctx, start, func(at string, d fs.DirEntry) error {
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

func entry(at string, d fs.DirEntry) listEntry {
	e := listEntry{Path: at, Type: typeOf(d.Type())}
	if d.Type().IsRegular() {
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
