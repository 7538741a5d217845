package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/workspace/op"
)

type showArgs struct {
	Ref  string `json:"ref,omitempty" jsonschema:"commit, branch or tag, like HEAD~1 or a hash; default: HEAD, the last commit"`
	Path string `json:"path,omitempty" jsonschema:"only the changes of this file or folder"`
}

type showResult struct {
	commitInfo
	diffResult
}

// shower shows commits.
type shower struct{ repositories *repositories }

// vcsShow shows one commit: its whole message, and what it changed.
func (o *shower) vcsShow(ctx context.Context, _ op.Call, args showArgs) (*op.Answer[showResult], error) {
	at, err := o.repositories.pathspec(args.Path)
	if err != nil {
		return nil, err
	}
	r, err := o.repositories.open(ctx)
	if err != nil {
		return nil, err
	}
	ref := args.Ref
	if ref == "" {
		ref = "HEAD"
	}
	if !r.born && ref == "HEAD" {
		return nil, errors.New("there is no commit yet")
	}
	if strings.Contains(ref, "..") {
		return nil, fmt.Errorf("vcs.show shows one commit, not %q; vcs.diff takes two of them as ref", ref)
	}
	hash, err := r.revision(ctx, ref)
	if err != nil {
		return nil, err
	}
	var result showResult
	if result.commitInfo, err = r.info(ctx, hash); err != nil {
		return nil, err
	}
	if result.diffResult, err = r.diffOfPast(ctx, hash, at); err != nil {
		return nil, err
	}
	if len(result.Files) == 0 && result.Note == "" {
		result.Note = o.repositories.missing(ctx, args.Path)
	}
	result.Files = named(result.Files)
	return op.Reply(result, result.words(args.Path)), nil
}

// words shows the commit as git show does. path is what the changes are limited to.
func (s showResult) words(path string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "commit %s\nAuthor: %s\nDate: %s\n\n%s\n", s.Hash, s.Author, s.Date, s.Subject)
	if s.Body != "" {
		b.WriteString("\n" + s.Body + "\n")
	}
	switch {
	case len(s.Files) > 0:
		fmt.Fprintf(&b, "\n%s changed, %d added and %d removed:\n\n%s", english.Count(len(s.Files), "file"), s.Added, s.Removed, s.Diff)
	case path != "":
		fmt.Fprintf(&b, "\nthe commit changed nothing in %s", path)
	default:
		b.WriteString("\nthe commit changed no file")
	}
	if s.Note != "" {
		b.WriteString("\n" + s.Note)
	}
	return b.String()
}

// info returns a commit with its whole message.
func (r gitRepository) info(ctx context.Context, hash string) (commitInfo, error) {
	out, err := r.must(ctx, "read the commit", gitRun{args: []string{
		"log", "-z", "--no-color", "--encoding=UTF-8", "--format=" + commitFormat, "-n", "1", hash,
	}})
	if err != nil {
		return commitInfo{}, err
	}
	for commit := range commits(out.data) {
		return commit, nil
	}
	return commitInfo{}, fmt.Errorf("git could not read the commit %s", hash)
}

// diffOfPast returns what a commit changed. A merge is compared with its first
// parent: these are the changes that it brought to its branch.
func (r gitRepository) diffOfPast(ctx context.Context, hash, at string) (diffResult, error) {
	out, err := r.must(ctx, "read the commit", gitRun{args: []string{"rev-list", "--parents", "-n", "1", hash}})
	if err != nil {
		return diffResult{}, err
	}
	base, parents := "", strings.Fields(out.data)[1:]
	if len(parents) > 0 {
		base = parents[0]
	} else if base, err = r.emptyTree(ctx); err != nil {
		return diffResult{}, err
	}
	result, err := r.diff(ctx, gitRun{}, base+" "+hash, at)
	if err != nil {
		return result, err
	}
	outside, err := r.changedOutside(ctx, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", base, hash)
	var notes []string
	if outside > 0 {
		notes = append(notes, fmt.Sprintf("the commit also changed %s of the repository outside the workspace", english.Count(outside, "file")))
	}
	if len(parents) > 1 {
		notes = append(notes, fmt.Sprintf("this is a merge; its changes are those since its first parent %.10s", base))
	}
	result.Note = strings.Join(notes, "; ")
	return result, err
}
