package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/english"
)

// What is moved or removed with its folder is kept for an undo, so it is
// bounded.
const (
	maxTree      = 1000     // files and folders
	maxTreeBytes = 64 << 20 // of their contents
)

func (o *Operators) mkdir(ctx context.Context, c call) (*mcp.CallToolResult, error) {
	var args struct {
		Path string `json:"path"`
	}
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	return o.change(ctx, c, func() ([]change, error) {
		at, err := o.changeable(strings.TrimRight(args.Path, "/"))
		if err != nil {
			return nil, err
		}
		before, err := o.loadEntry(at)
		switch {
		case err != nil:
			return nil, err
		case before.dir:
			return nil, nil // it is there
		case before.exists:
			return nil, fmt.Errorf("%s is a file; choose another name for the folder", at)
		}
		return o.withFolders([]change{{path: at, after: file{exists: true, dir: true}}}), nil
	})
}

func (o *Operators) remove(ctx context.Context, c call) (*mcp.CallToolResult, error) {
	var args struct {
		Path      string `json:"path"`
		Recursive bool   `json:"recursive"`
	}
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	return o.change(ctx, c, func() ([]change, error) {
		at, err := o.changeableEntry(args.Path)
		if err != nil {
			return nil, err
		}
		tree, err := o.loadTree(ctx, at)
		if err != nil {
			return nil, err
		}
		if len(tree) > 1 && !args.Recursive {
			return nil, fmt.Errorf("%s holds %s; set recursive to true to remove all of it", at, contents(tree[1:]))
		}
		changes := make([]change, 0, len(tree))
		for _, e := range slices.Backward(tree) {
			changes = append(changes, change{path: e.path, before: e.file})
		}
		return changes, nil
	})
}

func (o *Operators) move(ctx context.Context, c call) (*mcp.CallToolResult, error) {
	var args struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	return o.change(ctx, c, func() ([]change, error) {
		from, err := o.changeableEntry(args.From)
		if err != nil {
			return nil, err
		}
		to, err := o.changeable(strings.TrimRight(args.To, "/"))
		if err != nil {
			return nil, err
		}
		tree, err := o.loadTree(ctx, from)
		if err != nil {
			return nil, err
		}
		switch taken, err := o.root.Lstat(to); {
		case to == from:
			return nil, fmt.Errorf("%s is where it is already; name another place", from)
		case strings.HasPrefix(to, from+"/"):
			return nil, fmt.Errorf("%s cannot be moved into itself", from)
		case err == nil && taken.IsDir():
			return nil, fmt.Errorf("%s is a folder that exists; name the new path whole, like %s", to, path.Join(to, path.Base(from)))
		case err == nil:
			return nil, fmt.Errorf("%s exists; remove it first or choose another name", to)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("looking at %s: %w", to, err)
		}
		changes := make([]change, 0, 2*len(tree))
		for _, e := range tree {
			changes = append(changes, change{path: to + strings.TrimPrefix(e.path, from), after: e.file, moved: e.path})
		}
		for _, e := range slices.Backward(tree) {
			changes = append(changes, change{path: e.path, before: e.file, moved: to})
		}
		return changes, nil
	})
}

// contents counts what a folder holds.
func contents(tree []entryOf) string {
	files, folders := 0, 0
	for _, e := range tree {
		if e.file.dir {
			folders++
		} else {
			files++
		}
	}
	var parts []string
	if files > 0 {
		parts = append(parts, english.Count(files, "file"))
	}
	if folders > 0 {
		parts = append(parts, english.Count(folders, "folder"))
	}
	return strings.Join(parts, " and ")
}

// entryOf is a file or a folder and where it lies.
type entryOf struct {
	path string // from resolve
	file file
}

// loadTree loads a file, or a folder with all that is in it, ignored or not: a
// folder comes before what it holds.
func (o *Operators) loadTree(ctx context.Context, at string) ([]entryOf, error) {
	var tree []entryOf
	size := 0
	err := fs.WalkDir(o.root.FS(), at, func(at string, _ fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && len(tree) > 0:
			return fmt.Errorf("looking at %s: %w", at, err)
		}
		if err := notGits(at); err != nil {
			return err
		}
		if err := o.notPrivate(at); err != nil {
			return err
		}
		f, err := o.loadEntry(at)
		if err != nil {
			return err
		}
		if !f.exists {
			return o.noFile(ctx, at)
		}
		tree = append(tree, entryOf{path: at, file: f})
		if size += len(f.data); len(tree) > maxTree || size > maxTreeBytes {
			return fmt.Errorf("%s holds more than %d files and folders or %d MB, and what is moved or removed is kept so that it can be put back; take smaller parts",
				tree[0].path, maxTree, maxTreeBytes>>20)
		}
		return nil
	})
	return tree, err
}

// loadEntry is load for a file of any content or a folder, not through a link.
func (o *Operators) loadEntry(at string) (file, error) {
	info, err := o.root.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file{}, nil
	case err != nil:
		return file{}, fmt.Errorf("looking at %s: %w", at, err)
	case info.IsDir():
		return file{exists: true, dir: true, mode: info.Mode().Perm()}, nil
	case info.Mode()&fs.ModeSymlink != 0:
		return file{}, fmt.Errorf("%s is a link, and links are left as they are", at)
	case info.Mode().IsRegular() && info.Size() > maxFile:
		return file{}, fmt.Errorf("%s has %d bytes, and files of more than %d are not kept to be put back; they are left as they are", at, info.Size(), maxFile)
	}
	return o.load(at)
}

// changeableEntry is changeable for what is to be moved or removed as it is: a
// folder, or a file, but not what a link points to.
func (o *Operators) changeableEntry(name string) (string, error) {
	name = strings.TrimRight(name, "/")
	local, err := o.relative(name)
	if err != nil {
		return "", err
	}
	dir, base := path.Split(local)
	if base == "" || base == "." || base == ".." {
		return o.changeable(name)
	}
	if dir, err = o.resolve(path.Clean("./" + dir)); err != nil {
		return "", err
	}
	at, err := o.changeable(name) // where a link leads out, that is what is said
	if err != nil {
		return "", err
	}
	if entry := path.Join(dir, base); entry != at {
		return "", fmt.Errorf("%s is a link, and links are left as they are", entry)
	}
	return at, nil
}
