package git

import (
	"context"
	"fmt"
	"strings"

	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/op"
)

var (
	// linePath matches a path with the number of a line: main.go:12.
	linePath = lazyregexp.New(`^(.+):([1-9][0-9]{0,6})$`)
	// blamed matches the hash at the beginning of what git blame prints, which is 0 for a line
	// that is not committed.
	blamed = lazyregexp.New(`^(0+|[0-9a-f]{40,64}) `)
)

// lineOf returns the file and the line that a path names. ok is false if it names no line, or
// if there is a file of just that path.
func (o *repositories) lineOf(path string) (file, line string, ok bool) {
	m := linePath.FindStringSubmatch(path)
	if m == nil {
		return "", "", false
	}
	_, err := o.tree.Root.Lstat(path)
	return m[1], m[2], err != nil
}

// logOfLine returns the commit that last changed a line of a file as it is now; none if the
// line is not committed.
func (o *repositories) logOfLine(ctx context.Context, r gitRepository, file, line string) (*op.Answer[logResult], error) {
	at, err := o.pathspec(file)
	if err != nil {
		return nil, err
	}
	if err := o.tree.NotClosed(at); err != nil {
		return nil, err
	}
	result := logResult{Commits: []commitInfo{}}
	out, err := r.must(ctx, "say who changed line "+line+" of "+at, gitRun{args: []string{"blame", "--porcelain", "--no-textconv", "-L", line + "," + line, "--", at}})
	if err != nil {
		return nil, err
	}
	m := blamed.FindStringSubmatch(out.data)
	switch {
	case m == nil:
		return nil, fmt.Errorf("git did not say who changed line %s of %s", line, at)
	case strings.Trim(m[1], "0") == "":
		result.Note = fmt.Sprintf("line %s of %s is not committed", line, op.Name(at))
		return op.Reply(result, result.Note), nil
	}
	info, err := r.info(ctx, m[1])
	if err != nil {
		return nil, err
	}
	result.Commits, result.Total = append(result.Commits, info), 1
	return op.Reply(result, info.words()), nil
}
