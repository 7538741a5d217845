package files

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

type readArgs struct {
	Path   string `json:"path" jsonschema:"file, relative to the workspace"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line to read, from 1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many lines to read; default: all"`
}

// reader reads files.
type reader struct {
	tree      *tree.Tree
	changes   *change.Writer // remembers what was read
	maxOutput int
}

func (o *reader) read(ctx context.Context, _ op.Call, args readArgs) (*op.Answer[op.None], error) {
	if args.Offset < 0 || args.Limit < 0 {
		return nil, fmt.Errorf("offset and limit of fs.read count lines from 1, they cannot be negative")
	}
	at, err := o.tree.Resolve(args.Path)
	if err != nil {
		return nil, err
	}
	if several, err := o.several(ctx, args.Path, at); err != nil || len(several) > 1 {
		return o.readAll(several, args, err)
	} else if len(several) == 1 {
		at = several[0]
	}
	f, err := o.tree.LoadText(at)
	if err != nil {
		return nil, err
	}
	if !f.Exists {
		return nil, o.tree.NoFile(ctx, at)
	}
	text, err := excerpt(at, string(f.Data), max(args.Offset, 1), args.Limit, o.maxOutput)
	if err != nil {
		return nil, err
	}
	o.changes.NoteRead(at, f.Hash())
	return op.Text(text), nil
}

// mostRead is how many files one call reads.
const mostRead = 10

// several lists the files that a path means which names no single one: those of a
// pattern, or of a folder without folders. It returns none for any other path.
func (o *reader) several(ctx context.Context, written, at string) ([]string, error) {
	pattern, ok := o.tree.Pattern(written)
	info, err := o.tree.Root.Stat(at)
	folder := err == nil && info.IsDir()
	if !ok && !folder {
		return nil, nil
	}
	var files, folders []string
	start := "."
	if folder {
		start = at
	}
	err = o.tree.Walk(ctx, start, func(p string, d fs.DirEntry) error {
		switch {
		case folder && p != start && d.IsDir():
			folders = append(folders, p)
			return fs.SkipDir
		case d.Type().IsRegular() && (folder || pattern.Match(p)):
			files = append(files, p)
		}
		if len(files) > mostRead {
			return fs.SkipAll
		}
		return nil
	})
	switch inside := slices.Concat(files, folders); {
	case err != nil:
		return nil, fmt.Errorf("looking for the files of %s: %w", written, err)
	case len(files) > mostRead && !folder:
		return nil, fmt.Errorf("%q matches more than %d files; read those that matter, or use fs.search", written, mostRead)
	case folder && (len(files) > mostRead || len(folders) > 0 || len(files) == 0):
		return nil, fmt.Errorf("%s is a folder, not a file; it holds %s; fs.list lists it", at, orNothing(inside))
	}
	return files, nil
}

func orNothing(names []string) string {
	const most = 8
	if len(names) == 0 {
		return "nothing"
	}
	return english.Some(names, most, "")
}

// readAll reads several files, each under a line with its name.
func (o *reader) readAll(files []string, args readArgs, err error) (*op.Answer[op.None], error) {
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, at := range files {
		f, err := o.tree.LoadText(at)
		if err != nil {
			fmt.Fprintf(&b, "==> %s <==\n[left out: %v]\n", at, err)
			continue
		}
		text, err := excerpt(at, string(f.Data), max(args.Offset, 1), args.Limit, o.maxOutput/len(files))
		if err != nil {
			text = "[" + err.Error() + "]\n"
		}
		if fmt.Fprintf(&b, "==> %s <==\n%s", at, text); !strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
		o.changes.NoteRead(at, f.Hash())
	}
	return op.Text(b.String()), nil
}

// excerpt returns the lines of text from first on: at most limit lines (0
// means all) and at most size bytes. If it omits lines at the end, a last line
// in brackets says so.
func excerpt(at, text string, first, limit, size int) (string, error) {
	if first == 1 && limit == 0 && len(text) <= size {
		return text, nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if first > len(lines) && first > 1 {
		return "", fmt.Errorf("%s has %d lines; there is no line %d", at, len(lines), first)
	}
	var b strings.Builder
	next, cut := first, false
	for ; next <= len(lines) && (limit == 0 || next < first+limit); next++ {
		line := lines[next-1]
		if room := size - b.Len(); len(line) <= room {
			b.WriteString(line)
			continue
		}
		if next == first { // a single line is too long to return whole
			b.WriteString(strings.ToValidUTF8(line[:size], ""))
			next, cut = next+1, true
		}
		break
	}
	if next > len(lines) && !cut {
		return b.String(), nil
	}
	if !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "[cut: lines %d to %d of %d", first, next-1, len(lines))
	if next <= len(lines) {
		fmt.Fprintf(&b, "; go on with offset %d", next)
	}
	b.WriteString("]\n")
	return b.String(), nil
}
