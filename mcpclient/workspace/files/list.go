package files

import (
	"context"
	"fmt"
	"io/fs"
	"math"

	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

const maxEntries = 1000 // maximum number fs.list returns

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

type listArgs struct {
	Path  string `json:"path,omitempty" jsonschema:"folder or pattern of files, relative to the workspace; default: the workspace itself"`
	Depth int    `json:"depth,omitempty" jsonschema:"how many levels deep; default: 1"`
}

// lister lists folders.
type lister struct{ tree *tree.Tree }

func (o *lister) list(ctx context.Context, _ op.Call, args listArgs) (*op.Answer[listResult], error) {
	if args.Depth < 0 {
		return nil, fmt.Errorf("the argument depth of fs.list must be 1 or more, not %d", args.Depth)
	}
	start, only, depth, err := o.listed(ctx, args)
	if err != nil {
		return nil, err
	}
	result := listResult{Path: start, Entries: []listEntry{}}
	err = o.tree.Walk(ctx, start, func(at string, d fs.DirEntry) error {
		if at == start && d.IsDir() || only != nil && !only.Match(at) {
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
	return op.Reply(result, fmt.Sprintf("%d entries in %s", len(result.Entries), start)), nil
}

// listed returns where a list starts and how deep it goes, and what it takes alone; nil
// takes all. A file is the list of itself, a pattern that of what it matches.
func (o *lister) listed(ctx context.Context, args listArgs) (start string, only *tree.Glob, depth int, err error) {
	if pattern, ok := o.tree.Pattern(args.Path); ok {
		return ".", &pattern, math.MaxInt, nil
	}
	depth = max(args.Depth, 1)
	if args.Path != "" {
		if at, err := o.tree.Resolve(args.Path); err == nil {
			if info, err := o.tree.Root.Stat(at); err == nil && info.Mode().IsRegular() {
				return at, nil, depth, nil
			}
		}
	}
	start, err = o.tree.Folder(ctx, args.Path)
	return start, nil, depth, err
}

func entry(at string, d fs.DirEntry) listEntry {
	e := listEntry{Path: op.Name(at), Type: typeOf(d.Type())}
	if d.Type().IsRegular() {
		if info, err := d.Info(); err == nil {
			e.Size = info.Size()
		}
	}
	return e
}

// levels returns how many levels a path lies below start.
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
