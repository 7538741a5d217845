package workspace

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/mark3labs/mcp-go/mcp"
)

// change is what one file was and what it is to be.
type change struct {
	path          string // from resolve
	before, after file
}

type previewResult struct {
	Diff   string            `json:"diff"`
	Hashes map[string]string `json:"hashes"`
}

type changeResult struct {
	Files []changedFile `json:"files"`
	Diff  string        `json:"diff"`
}

type changedFile struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`   // lines
	Removed int    `json:"removed"` // lines
}

// change computes what a call would do and, unless it is a preview, does it.
// Everything is computed before the first byte is written.
func (o *Operators) change(ctx context.Context, c call, compute func() ([]change, error)) (*mcp.CallToolResult, error) {
	if c.preview {
		changes, err := compute()
		if err != nil {
			return nil, err
		}
		result := previewResult{Hashes: make(map[string]string, len(changes))}
		for _, ch := range changes {
			diff, _ := ch.diff()
			result.Diff += diff
			result.Hashes[ch.path] = ch.before.hash()
		}
		return structured(result, result.Diff), nil
	}
	select {
	case o.changing <- struct{}{}:
		defer func() { <-o.changing }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := o.unchanged(c.hashes); err != nil {
		return nil, err
	}
	changes, err := compute()
	if err != nil {
		return nil, err
	}
	for _, ch := range changes {
		if _, ok := c.hashes[ch.path]; c.hashes != nil && !ok {
			return nil, fmt.Errorf("%s was not in the diff that was approved; look at the new diff", ch.path)
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := o.apply(changes); err != nil {
		return nil, err
	}
	return o.changed(changes), nil
}

// changed reports what was done.
func (o *Operators) changed(changes []change) *mcp.CallToolResult {
	result := changeResult{Files: []changedFile{}}
	var said []string
	for _, ch := range changes {
		diff, counts := ch.diff()
		result.Diff += diff
		result.Files = append(result.Files, counts)
		said = append(said, fmt.Sprintf("%s +%d -%d", counts.Path, counts.Added, counts.Removed))
	}
	if len(result.Diff) > o.maxOutput {
		cut := strings.LastIndexByte(result.Diff[:o.maxOutput], '\n') + 1
		result.Diff = result.Diff[:cut] + fmt.Sprintf("[cut: %d of %d bytes]\n", cut, len(result.Diff))
	}
	o.log.Info("files changed", "files", said)
	return structured(result, strings.Join(said, "\n"))
}

// unchanged checks that every file is still what the call was approved
// against.
func (o *Operators) unchanged(hashes map[string]string) error {
	names := make([]string, 0, len(hashes))
	for name := range hashes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		at, err := o.resolve(name)
		if err != nil {
			return err
		}
		f, err := o.load(at)
		if err != nil {
			return err
		}
		if f.hash() != strings.ToLower(hashes[name]) {
			return fmt.Errorf("%s changed since it was approved; look at the new diff", name)
		}
	}
	return nil
}

// apply makes all changes or none. A failure to put back what was there is an
// unsureError.
func (o *Operators) apply(changes []change) error {
	id, err := o.backups.keep(changes)
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	var folders []string // made, the deepest first
	for i, c := range changes {
		made, err := o.put(c.path, c.after)
		folders = append(made, folders...)
		if err == nil {
			continue
		}
		if back := o.restore(changes[:i], folders); back != nil {
			return &unsureError{fmt.Errorf("a change failed and could not be undone, look at the files: %w", errors.Join(err, back))}
		}
		if noted := o.backups.rolledBack(id); noted != nil {
			o.log.Warn("a change that was undone stays in the list of backups", "change", id, "error", noted)
		}
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return nil
}

// restore puts back what was there before the changes, the last one first.
func (o *Operators) restore(changes []change, folders []string) error {
	var failed error
	for _, c := range slices.Backward(changes) {
		_, err := o.put(c.path, c.before)
		failed = errors.Join(failed, err)
	}
	for _, dir := range folders {
		if err := o.root.Remove(dir); err != nil {
			o.log.Warn("a folder that was made stays", "folder", dir, "error", err)
		}
	}
	return failed
}

// put makes a file what it is to be, which may be absent. It returns the
// folders it made.
func (o *Operators) put(at string, f file) ([]string, error) {
	if !f.exists {
		if err := o.root.Remove(at); err != nil {
			return nil, fmt.Errorf("removing %s: %w", at, err)
		}
		syncFolder(o.root, path.Dir(at))
		return nil, nil
	}
	made, err := makeFolders(o.root, path.Dir(at))
	if err != nil {
		return nil, err
	}
	if f.mode == 0 { // new: what the umask leaves of it
		return made, writeAtomic(o.root, at, file{data: f.data, mode: 0o644})
	}
	return made, writeAtomic(o.root, at, f)
}

// diff is the change as a unified diff with three lines of context, and how
// many lines it adds and removes.
func (c change) diff() (string, changedFile) {
	counts := changedFile{Path: c.path}
	from, to := "a/"+c.path, "b/"+c.path
	if !c.before.exists {
		from = "/dev/null"
	}
	if !c.after.exists {
		to = "/dev/null"
	}
	before, after := string(c.before.data), string(c.after.data)
	edits := lineEdits(before, after)
	if len(edits) == 0 {
		if c.before.exists == c.after.exists {
			return "", counts
		}
		return fmt.Sprintf("--- %s\n+++ %s\n", from, to), counts // an empty file comes or goes
	}
	d, err := udiff.ToUnifiedDiff(from, to, before, edits, udiff.DefaultContextLines)
	if err != nil {
		// The edits come from the very texts they are applied to.
		panic(fmt.Sprintf("diff of %s: %v", c.path, err))
	}
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				counts.Added++
			case udiff.Delete:
				counts.Removed++
			}
		}
	}
	return d.String(), counts
}

// lineEdits is the difference of two texts in whole lines.
func lineEdits(before, after string) []udiff.Edit {
	edits := udiff.Lines(before, after)
	// The diff counts lines from the start again for each edit, so that a large
	// file with many edits would take minutes. One edit over all of it says the
	// same.
	const most = 1 << 30
	if len(edits)*len(before) < most {
		return edits
	}
	first, last := edits[0], edits[len(edits)-1]
	tail := len(before) - last.End
	return []udiff.Edit{{Start: first.Start, End: last.End, New: after[first.Start : len(after)-tail]}}
}
