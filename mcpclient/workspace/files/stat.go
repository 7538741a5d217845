package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

type statResult struct {
	Path     string    `json:"path"`
	Type     string    `json:"type"`            // file, dir, link or other
	Size     int64     `json:"size"`            // bytes
	Lines    *int      `json:"lines,omitempty"` // text files only
	Mode     string    `json:"mode"`            // permissions in octal
	Modified time.Time `json:"modified"`
	SHA256   string    `json:"sha256,omitempty"` // files only, in hex
	Binary   bool      `json:"binary"`           // not text
	Note     string    `json:"note,omitempty"`   // reason for a missing field
}

type statArgs struct {
	Path string `json:"path" jsonschema:"file or folder, relative to the workspace"`
}

// describer describes files and folders.
type describer struct{ tree *tree.Tree }

func (o *describer) stat(ctx context.Context, _ op.Call, args statArgs) (*op.Answer[statResult], error) {
	at, err := o.tree.Resolve(args.Path)
	if err != nil {
		return nil, err
	}
	info, err := o.tree.Root.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, o.tree.NoFile(ctx, at)
	case err != nil:
		return nil, fmt.Errorf("looking at %s: %w", at, err)
	}
	result := statResult{
		Path: at, Type: typeOf(info.Mode()), Size: info.Size(),
		Mode: fmt.Sprintf("%04o", info.Mode().Perm()), Modified: info.ModTime().UTC(),
	}
	if info.Mode().IsRegular() {
		if f, err := o.tree.Load(at); err != nil {
			result.Note = err.Error()
		} else {
			result.Size, result.SHA256, result.Binary = int64(len(f.Data)), f.Hash(), !tree.IsText(f.Data)
			if !result.Binary {
				n := source.CountLines(string(f.Data))
				result.Lines = &n
			}
		}
	}
	return op.Reply(result, fmt.Sprintf("%s: %s of %d bytes", at, result.Type, result.Size)), nil
}

func typeOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "dir"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode.IsRegular():
		return "file"
	default:
		return "other"
	}
}
