package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

// diffReader reads unified diffs.
type diffReader struct{ tree *tree.Tree }

// changes returns the changes of a unified diff. The diff must match
// exactly; if one hunk does not, the whole diff fails.
func (o *diffReader) changes(ctx context.Context, args patchArgs) ([]change.Change, error) {
	text := args.Diff
	if tree.AllCRLF(text) {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	var changes []change.Change
	seen := map[string]bool{}
	for _, part := range gitParts(text) {
		files, _, err := gitdiff.Parse(strings.NewReader(part))
		if err != nil {
			return nil, fmt.Errorf("the diff cannot be read: %s", strings.TrimPrefix(err.Error(), "gitdiff: "))
		}
		for i, f := range files {
			c, err := o.change(ctx, f, i == 0 && strings.HasPrefix(part, gitHeader))
			if err != nil {
				return nil, err
			}
			if seen[c.Path] {
				return nil, fmt.Errorf("the diff names %s twice; put all its hunks under one header", c.Path)
			}
			seen[c.Path] = true
			changes = append(changes, c)
		}
	}
	if len(changes) == 0 {
		return nil, errors.New("the diff changes no file; it needs --- a/PATH and +++ b/PATH lines, then @@ -LINE,COUNT +LINE,COUNT @@ and the lines themselves")
	}
	if args.Path == "" {
		return changes, nil
	}
	at, err := o.tree.Changeable(args.Path)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if c.Path != at {
			return nil, fmt.Errorf("path says %s, but the diff changes %s; leave path out", at, c.Path)
		}
	}
	return changes, nil
}

const gitHeader = "diff --git "

// gitParts splits a diff before each git header. No line of a hunk looks like
// one. Only the first file of a part can come from git.
func gitParts(diff string) []string {
	var parts []string
	for {
		next := strings.Index(diff, "\n"+gitHeader)
		if next < 0 {
			return append(parts, diff)
		}
		parts = append(parts, diff[:next+1])
		diff = diff[next+1:]
	}
}

func (o *diffReader) change(ctx context.Context, f *gitdiff.File, fromGit bool) (change.Change, error) {
	name := f.NewName
	if f.IsDelete {
		name = f.OldName
	}
	switch {
	case f.IsBinary:
		return change.Change{}, fmt.Errorf("the diff changes the binary file %s; only text can be changed", name)
	case f.IsRename || f.IsCopy:
		return change.Change{}, fmt.Errorf("the diff renames or copies %s to %s; remove the one and create the other instead", f.OldName, name)
	case f.NewMode != 0 && !f.IsNew && f.NewMode != f.OldMode && f.OldMode != 0:
		return change.Change{}, fmt.Errorf("the diff changes the mode of %s; only its text can be changed", name)
	}
	at, err := o.path(name, fromGit)
	if err != nil {
		return change.Change{}, err
	}
	before, err := o.tree.LoadText(at)
	switch {
	case err != nil:
		return change.Change{}, err
	case f.IsNew && before.Exists:
		return change.Change{}, fmt.Errorf("the diff creates %s, which exists", at)
	case !f.IsNew && !before.Exists:
		return change.Change{}, o.tree.NoFile(ctx, at)
	}
	after, err := applyFragments(at, before.Data, f)
	if err != nil {
		return change.Change{}, err
	}
	if f.IsDelete {
		if len(after) > 0 {
			return change.Change{}, fmt.Errorf("the diff removes %s but leaves text in it", at)
		}
		return change.Change{Path: at, Before: before}, nil
	}
	if err := change.CheckText("the diff", string(after)); err != nil {
		return change.Change{}, err
	}
	return change.Change{Path: at, Before: before, After: tree.File{Exists: true, Data: after, Mode: before.Mode}}, nil
}

// path returns the path of the file in a header. In diffs not made by git,
// the parser keeps the prefixes a/ and b/. A real folder with such a name wins
// only if the file exists only there.
func (o *diffReader) path(name string, fromGit bool) (string, error) {
	plain, ok := strings.CutPrefix(name, "b/")
	if !ok {
		plain, ok = strings.CutPrefix(name, "a/")
	}
	if fromGit || !ok {
		return o.tree.Changeable(name)
	}
	at, err := o.tree.Changeable(plain)
	if err != nil {
		return "", err
	}
	if _, err := o.tree.Root.Stat(at); err == nil {
		return at, nil
	}
	if asIs, err := o.tree.Changeable(name); err == nil {
		if _, err := o.tree.Root.Stat(asIs); err == nil {
			return asIs, nil
		}
	}
	return at, nil
}

// knowsMark reports whether a line of a diff begins with the byte order mark.
func knowsMark(f *gitdiff.File) bool {
	return slices.ContainsFunc(f.TextFragments, func(frag *gitdiff.TextFragment) bool {
		return slices.ContainsFunc(frag.Lines, func(l gitdiff.Line) bool { return strings.HasPrefix(l.Line, tree.ByteOrderMark) })
	})
}

// applyFragments applies the hunks of one file, without fuzz. A diff that does not know the byte
// order mark of the file keeps it.
func applyFragments(at string, before []byte, f *gitdiff.File) ([]byte, error) {
	if text, marked := bytes.CutPrefix(before, []byte(tree.ByteOrderMark)); marked && !knowsMark(f) {
		after, err := applyFragments(at, text, f)
		return []byte(tree.KeepMark(before, string(after))), err
	}
	crlf := tree.AllCRLF(string(before))
	for i, frag := range f.TextFragments {
		if min(frag.OldPosition, frag.OldLines, frag.NewPosition, frag.NewLines) < 0 {
			return nil, fmt.Errorf("hunk %d of %s has a negative line number", i+1, at)
		}
		for j := range frag.Lines {
			if l := &frag.Lines[j]; crlf && strings.HasSuffix(l.Line, "\n") && !endsInCRLF(l.Line) {
				l.Line = strings.TrimSuffix(l.Line, "\n") + "\r\n"
			}
		}
	}
	var after bytes.Buffer
	err := gitdiff.Apply(&after, bytes.NewReader(before), f)
	if err == nil {
		return after.Bytes(), nil
	}
	misfit := new(gitdiff.ApplyError)
	if !errors.As(err, &misfit) || misfit.Fragment == 0 {
		return nil, fmt.Errorf("the diff does not fit %s: %w", at, err)
	}
	if line := lineOf(before, misfit.Line); line != "" {
		return nil, fmt.Errorf("hunk %d does not fit %s: line %d of the file is %q; read the file again and make the diff again", misfit.Fragment, at, misfit.Line, op.Clip(line))
	}
	return nil, fmt.Errorf("hunk %d does not fit %s: %w; read the file again and make the diff again", misfit.Fragment, at, err)
}

// lineOf returns a line of a text by its number, counted from 1, or "" if
// there is no such line.
func lineOf(text []byte, number int64) string {
	n := int64(0)
	for line := range bytes.Lines(text) {
		if n++; n == number {
			return strings.TrimSpace(string(line))
		}
	}
	return ""
}
