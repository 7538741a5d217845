package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

// Limits of a folder that is moved or removed, since an undo stores its
// contents.
const (
	maxTree      = 1000     // files and folders
	maxTreeBytes = 64 << 20 // total bytes of their contents
)

// entries makes, moves and removes files and folders as a whole.
type entries struct {
	tree    *tree.Tree
	changes *change.Writer
}

type mkdirArgs struct {
	Path string `json:"path" jsonschema:"folder, relative to the workspace"`
}

func (o *entries) mkdir(ctx context.Context, c op.Call, args mkdirArgs) (*op.Answer[change.Result], error) {
	return o.changes.Make(ctx, c, func() ([]change.Change, error) {
		at, err := o.tree.Changeable(strings.TrimRight(args.Path, "/"))
		if err != nil {
			return nil, err
		}
		before, err := o.tree.LoadEntry(at)
		switch {
		case err != nil:
			return nil, err
		case before.Dir:
			return nil, nil // it exists
		case before.Exists:
			return nil, fmt.Errorf("%s is a file; choose another name for the folder", at)
		}
		return o.changes.WithFolders([]change.Change{{Path: at, After: tree.File{Exists: true, Dir: true}}}), nil
	})
}

type removeArgs struct {
	Path      string `json:"path" jsonschema:"file or folder, relative to the workspace"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"remove a folder with all that is in it"`
}

func (o *entries) remove(ctx context.Context, c op.Call, args removeArgs) (*op.Answer[change.Result], error) {
	return o.changes.Make(ctx, c, func() ([]change.Change, error) {
		at, err := o.tree.ChangeableEntry(args.Path)
		if err != nil {
			return nil, err
		}
		entries, err := o.loadTree(ctx, at)
		if err != nil {
			return nil, err
		}
		if len(entries) > 1 && !args.Recursive {
			return nil, fmt.Errorf("%s holds %s; set recursive to true to remove all of it", at, contents(entries[1:]))
		}
		changes := make([]change.Change, 0, len(entries))
		for _, e := range slices.Backward(entries) {
			changes = append(changes, change.Change{Path: e.path, Before: e.file})
		}
		return changes, nil
	})
}

type moveArgs struct {
	From string `json:"from" jsonschema:"file or folder, relative to the workspace"`
	To   string `json:"to" jsonschema:"its whole new path; missing folders are made"`
}

func (o *entries) move(ctx context.Context, c op.Call, args moveArgs) (*op.Answer[change.Result], error) {
	return o.changes.Make(ctx, c, func() ([]change.Change, error) {
		from, err := o.tree.ChangeableEntry(args.From)
		if err != nil {
			return nil, err
		}
		to, err := o.tree.Changeable(strings.TrimRight(args.To, "/"))
		if err != nil {
			return nil, err
		}
		entries, err := o.loadTree(ctx, from)
		if err != nil {
			return nil, err
		}
		switch taken, err := o.tree.Root.Lstat(to); {
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
		changes := make([]change.Change, 0, 2*len(entries))
		for _, e := range entries {
			changes = append(changes, change.Change{Path: to + strings.TrimPrefix(e.path, from), After: e.file, Moved: e.path})
		}
		for _, e := range slices.Backward(entries) {
			changes = append(changes, change.Change{Path: e.path, Before: e.file, Moved: to})
		}
		return changes, nil
	})
}

// contents describes the number of entries in a folder.
func contents(entries []entryOf) string {
	files, folders := 0, 0
	for _, e := range entries {
		if e.file.Dir {
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

// entryOf is a file or folder and its location.
type entryOf struct {
	path string // as returned by resolve
	file tree.File
}

// loadTree loads a file, or a folder with all its contents, including ignored
// files. Each folder comes before its contents.
func (o *entries) loadTree(ctx context.Context, at string) ([]entryOf, error) {
	var entries []entryOf
	size := 0
	err := fs.WalkDir(o.tree.Root.FS(), at, func(at string, _ fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && len(entries) > 0:
			return fmt.Errorf("looking at %s: %w", at, err)
		}
		if err := tree.NotGits(at); err != nil {
			return err
		}
		if err := o.tree.NotClosed(at); err != nil {
			return err
		}
		f, err := o.tree.LoadEntry(at)
		if err != nil {
			return err
		}
		if !f.Exists {
			return o.tree.NoFile(ctx, at)
		}
		entries = append(entries, entryOf{path: at, file: f})
		if size += len(f.Data); len(entries) > maxTree || size > maxTreeBytes {
			return fmt.Errorf("%s holds more than %d files and folders or %d MB, more than an undo keeps; take smaller parts",
				entries[0].path, maxTree, maxTreeBytes>>20)
		}
		return nil
	})
	return entries, err
}
