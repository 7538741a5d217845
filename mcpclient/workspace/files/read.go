package files

import (
	"context"
	"fmt"
	"strings"

	"replan/mcpclient/workspace/op"
)

type readArgs struct {
	Path   string `json:"path" jsonschema:"file, relative to the workspace"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line to read, from 1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many lines to read; default: all"`
}

func (o *Operators) read(ctx context.Context, _ op.Call, args readArgs) (*op.Answer[op.None], error) {
	if args.Offset < 0 || args.Limit < 0 {
		return nil, fmt.Errorf("offset and limit of fs.read count lines from 1, they cannot be negative")
	}
	at, err := o.tree.Resolve(args.Path)
	if err != nil {
		return nil, err
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
