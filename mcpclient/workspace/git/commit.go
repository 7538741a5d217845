package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/placeholder"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

type commitResult struct {
	Hash    string     `json:"hash"`   // empty if there was nothing to commit
	Branch  string     `json:"branch"` // empty if no branch is checked out
	Subject string     `json:"subject"`
	Files   []diffFile `json:"files"`
	Note    string     `json:"note,omitempty"`
}

type commitArgs struct {
	Message string   `json:"message" jsonschema:"message of the commit; its first line is the subject"`
	Paths   []string `json:"paths,omitempty" jsonschema:"only these files and folders, as they are now"`
	All     bool     `json:"all,omitempty" jsonschema:"everything, also where something is staged"`
}

// committer commits.
type committer struct {
	repositories *repositories
	tree         *tree.Tree
	turn         turn
}

// vcsCommit assembles the commit in a separate index. So staged changes stay
// as they are until the commit is made, and the commit holds exactly what was
// approved.
func (o *committer) vcsCommit(ctx context.Context, c op.Call, args commitArgs) (*op.Answer[commitResult], error) {
	if strings.TrimSpace(args.Message) == "" || strings.ContainsRune(args.Message, 0) {
		return nil, errors.New("the argument message of vcs.commit is empty or no text; say what the commit does")
	}
	if found, ok := placeholder.Find(args.Message, ""); ok {
		return nil, fmt.Errorf("the argument message of vcs.commit is %q, which stands for a message; say what the commit does", found)
	}
	if args.All && len(args.Paths) > 0 {
		return nil, errors.New("vcs.commit takes all or paths, not both")
	}
	for i, name := range args.Paths {
		at, err := o.tree.Resolve(name)
		if err != nil {
			return nil, err
		}
		args.Paths[i] = o.repositories.written(at)
	}
	if !c.Preview {
		release, err := o.turn(ctx)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	r, err := o.repositories.open(ctx)
	if err != nil {
		return nil, err
	}
	if state := r.underway(); state != "" {
		return nil, fmt.Errorf("a %s is not finished in this repository; finish or abort it with git first", state)
	}
	// A call whose preview said that nothing changes passed no gate: like the
	// preview, it runs none of the repository's programs.
	ungated := c.Hashes != nil && len(c.Hashes) == 0
	p, err := r.prepare(ctx, args, c.Preview || ungated)
	if err != nil {
		return nil, err
	}
	defer p.remove()
	if c.Preview {
		diff, err := r.diff(ctx, gitRun{index: p.index, store: p.store}, "--cached", ".")
		if err != nil {
			return nil, err
		}
		return &op.Answer[commitResult]{Preview: &op.Preview{Diff: diff.Diff, Hashes: p.hashes, Nothing: len(p.paths) == 0}, Text: diff.Diff}, nil
	}
	if err := p.approved(c.Hashes); err != nil {
		return nil, err
	}
	if len(p.paths) == 0 {
		return p.nothing(), nil
	}
	return p.commit(ctx, c, args.Message)
}

// plannedCommit is the content of a planned commit.
type plannedCommit struct {
	scratch
	paths   []string          // relative to the workspace
	hashes  map[string]string // of the mode and content of each file
	outside int               // number of staged files left out
	nested  []string          // nested repositories, left out
}

// stagedFile is a file as listed by git diff --raw.
type stagedFile struct{ path, mode, object string }

const gitlink = "160000" // mode of a nested repository

func (r gitRepository) prepare(ctx context.Context, args commitArgs, dry bool) (*plannedCommit, error) {
	staged, err := r.staged(ctx, r.git, "--relative", "--", ".")
	if err != nil {
		return nil, err
	}
	outside, err := r.changedOutside(ctx, "diff", "--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules=dirty", "--no-ext-diff")
	if err != nil {
		return nil, err
	}
	s, err := r.scratch(dry)
	if err != nil {
		return nil, err
	}
	p := &plannedCommit{scratch: s, outside: outside, hashes: map[string]string{}}
	if err := p.fill(ctx, args, staged); err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

// fill adds the files of a commit to the index.
func (p *plannedCommit) fill(ctx context.Context, args commitArgs, staged []stagedFile) error {
	onlyStaged := len(staged) > 0 && !args.All && len(args.Paths) == 0
	begin := p.copyIndex
	if p.outside > 0 || len(args.Paths) > 0 && len(staged) > 0 {
		begin = p.headIndex
	}
	if err := begin(ctx); err != nil {
		return err
	}
	if err := p.conflicts(ctx); err != nil {
		return err
	}
	switch {
	case onlyStaged && p.outside > 0:
		if err := p.takeStaged(ctx); err != nil {
			return err
		}
	case !onlyStaged:
		paths := args.Paths
		if len(paths) == 0 {
			paths = []string{"."}
		}
		if err := p.takeTree(ctx, paths); err != nil {
			return err
		}
	}
	taken, err := p.r.staged(ctx, p.git, "--relative", "--", ".")
	if err != nil {
		return err
	}
	for _, f := range taken {
		if err := p.r.tree.NotClosed(f.path); err != nil {
			return fmt.Errorf("a commit would take what no gate can show; unstage it first: %w", err)
		}
		p.paths = append(p.paths, f.path)
		p.hashes[f.path] = f.hash()
	}
	return nil
}

// nothing is the answer where no file differs from the last commit.
func (p *plannedCommit) nothing() *op.Answer[commitResult] {
	note := "nothing to commit: no file differs from the last commit"
	if left := p.leftOut(); left != "" {
		note = "nothing to commit in the workspace: " + left
	}
	return op.Reply(commitResult{Files: []diffFile{}, Note: note}, note)
}

// conflicts refuses an index with unresolved merge conflicts.
func (p *plannedCommit) conflicts(ctx context.Context) error {
	out, err := p.r.must(ctx, "look for conflicts", gitRun{args: []string{"ls-files", "--unmerged", "-z"}})
	if err == nil && out.data != "" {
		err = errors.New("files of the repository have conflicts that are not resolved; resolve them with git first")
	}
	return err
}

// takeTree adds files of the workspace in their current state.
func (p *plannedCommit) takeTree(ctx context.Context, paths []string) error {
	known, err := p.git(ctx, gitRun{args: append([]string{"ls-files", "--error-unmatch", "--cached", "--others", "--exclude-standard", "-z", "--"}, paths...)})
	if err != nil {
		return err
	}
	if known.exit != 0 && paths[0] != "." {
		return fmt.Errorf("git knows none of the files to commit, or ignores them: %w", known.failure("take the files"))
	}
	files, nested, err := p.fresh(ctx, paths...)
	if err != nil {
		return err
	}
	changed, err := p.r.raw(ctx, p.git, append([]string{"diff", "--relative", "--"}, paths...)...)
	if err != nil {
		return err
	}
	var links []string
	for _, f := range changed {
		if f.mode == gitlink {
			links = append(links, f.path)
		} else {
			files = append(files, f.path)
		}
	}
	p.nested = nested
	files = slices.DeleteFunc(files, p.r.tree.Closed)
	if err := p.add(ctx, files, gitRun{args: []string{"--all"}}); err != nil {
		return err
	}
	for _, at := range links {
		out, err := p.r.must(ctx, "read the submodule "+op.Name(at), gitRun{args: []string{"-C", at, "rev-parse", "--verify", "HEAD"}})
		if err != nil {
			return err
		}
		entry := fmt.Sprintf("%s %s\t%s\x00", gitlink, strings.TrimSpace(out.data), p.r.prefix+at)
		if err := p.must(ctx, "take a submodule", gitRun{args: []string{"update-index", "-z", "--index-info"}, input: []byte(entry)}); err != nil {
			return err
		}
	}
	return nil
}

// takeStaged adds only the staged files of the workspace.
func (p *plannedCommit) takeStaged(ctx context.Context) error {
	staged, err := p.r.staged(ctx, p.r.git, "--no-relative", "--", ".")
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, f := range staged {
		fmt.Fprintf(&list, "%s %s\t%s\x00", f.mode, f.object, f.path)
	}
	return p.must(ctx, "take what is staged", gitRun{args: []string{"update-index", "-z", "--index-info"}, input: []byte(list.String())})
}

// staged lists the differences between an index and the last commit.
func (r gitRepository) staged(ctx context.Context, git gitFunc, flags ...string) ([]stagedFile, error) {
	return r.raw(ctx, git, append([]string{"diff", "--cached"}, flags...)...)
}

// gitFunc runs git with a certain index.
type gitFunc func(context.Context, gitRun) (gitOutput, error)

// raw parses the differences that git diff --raw lists.
func (r gitRepository) raw(ctx context.Context, git gitFunc, args ...string) ([]stagedFile, error) {
	flags := []string{"--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty"}
	out, err := git(ctx, gitRun{args: slices.Insert(args, 1, flags...)})
	switch {
	case err != nil:
		return nil, err
	case out.exit != 0:
		return nil, out.failure("compare")
	case out.cut:
		return nil, errors.New("there are too many files for one commit of this tool; commit a part of them with paths, or use git")
	}
	var files []stagedFile
	fields := strings.Split(strings.TrimSuffix(out.data, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		// :OLD-MODE NEW-MODE OLD-OBJECT NEW-OBJECT STATUS
		parts := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(parts) < 5 || parts[4] == "U" {
			continue
		}
		files = append(files, stagedFile{path: fields[i+1], mode: parts[1], object: parts[3]})
	}
	return files, nil
}

// hash returns the hash of a file's mode and content in the form of
// MetaHashes. It is empty if the file was removed.
func (f stagedFile) hash() string {
	if f.mode == "000000" {
		return ""
	}
	sum := sha256.Sum256([]byte(f.mode + " " + f.object))
	return hex.EncodeToString(sum[:])
}

// approved checks that the commit holds exactly what was approved.
func (p *plannedCommit) approved(hashes map[string]string) error {
	if hashes == nil {
		return nil
	}
	for _, at := range p.paths {
		hash, ok := hashes[at]
		if !ok {
			if len(hashes) == 0 {
				return op.Outdated(at + " changed after there was nothing to commit")
			}
			return op.Outdated(at + " was not in the diff that was approved")
		}
		if hash != p.hashes[at] {
			return op.Outdated(at + " changed since it was approved")
		}
	}
	for at := range hashes {
		if _, ok := p.hashes[at]; !ok {
			return op.Outdated(at + " was in the diff that was approved and is no longer to be committed")
		}
	}
	return nil
}

func (p *plannedCommit) commit(ctx context.Context, c op.Call, message string) (*op.Answer[commitResult], error) {
	if err := p.r.identity(ctx); err != nil {
		return nil, err
	}
	before, err := p.r.headHash(ctx)
	if err != nil {
		return nil, err
	}
	out, err := p.git(ctx, gitRun{args: []string{"commit", "--quiet", "--file=-"}, input: []byte(message), send: c.Sender(ctx)})
	ctx = context.WithoutCancel(ctx) // if the commit was made, report it and update the index
	after, lost := p.r.headHash(ctx)
	switch {
	case lost != nil:
		return nil, &op.UnsureError{Err: fmt.Errorf("it is unknown whether the commit was made, look at git log: %w", errors.Join(err, lost))}
	case after == before && err != nil:
		return nil, fmt.Errorf("nothing was committed: %w", err)
	case after == before && out.exit != 0:
		return nil, out.failure("commit, and nothing was committed")
	case after == before:
		return nil, errors.New("git reported success, but there is no new commit; a hook may have reverted it")
	}
	return p.committed(ctx, after)
}

// committed updates the repository's index to the commit and returns the
// commit's content.
func (p *plannedCommit) committed(ctx context.Context, hash string) (*op.Answer[commitResult], error) {
	result := commitResult{Hash: hash, Files: []diffFile{}, Note: p.leftOut()}
	note := func(text string) { result.Note = strings.TrimPrefix(result.Note+"; "+text, "; ") }
	shown, err := p.r.must(ctx, "show the commit", gitRun{args: []string{
		"diff-tree", "--no-commit-id", "--root", "-r", "--raw", "--numstat", "-z", "--relative", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-abbrev", hash,
	}})
	if err == nil {
		d := diffResult{}
		d.read(shown.data)
		result.Files = append(result.Files, d.Files...)
	}
	paths := slices.Clone(p.paths)
	for _, f := range result.Files { // a hook may have added files
		if !slices.Contains(paths, f.Path) {
			paths = append(paths, f.Path)
		}
	}
	_, failed := p.r.must(ctx, "bring the index up to date", gitRun{
		args:   []string{"reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"},
		input:  []byte(strings.Join(paths, "\x00")),
		asUser: true,
	})
	if err = errors.Join(err, failed); err != nil {
		note(err.Error())
	}
	if result.Branch, err = p.r.branch(ctx); err != nil {
		note(err.Error())
	} else if result.Branch == "" {
		note("no branch is checked out and none has this commit; make one with vcs.branch")
	}
	subject, err := p.r.must(ctx, "show the commit", gitRun{args: []string{"log", "-1", "--no-color", "--encoding=UTF-8", "--format=%s", hash}})
	if err != nil {
		note(err.Error())
	}
	result.Subject = valid(strings.TrimSpace(subject.data))
	p.r.log.Info("committed", "hash", hash, "files", len(result.Files))
	result.Files = named(result.Files)
	text := fmt.Sprintf("committed %.10s %s (%s)", hash, result.Subject, english.Count(len(result.Files), "file"))
	if result.Note != "" {
		text += "\n" + result.Note
	}
	return op.Reply(result, text), nil
}

// leftOut describes what the commit leaves out.
func (p *plannedCommit) leftOut() string {
	var parts []string
	if p.outside > 0 {
		parts = append(parts, were(p.outside)+" of the repository outside the workspace staged and left out")
	}
	for _, at := range p.nested {
		parts = append(parts, op.Name(at)+" is a repository of its own and left out")
	}
	return strings.Join(parts, "; ")
}

// identity checks that git knows the author.
func (r gitRepository) identity(ctx context.Context) error {
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		out, err := r.git(ctx, gitRun{args: []string{"var", who}})
		if err != nil {
			return err
		}
		if out.exit != 0 {
			return errors.New("git does not know who commits; set user.name and user.email with git config")
		}
	}
	return nil
}

// headHash returns the hash of the last commit, or "" before the first one.
func (r gitRepository) headHash(ctx context.Context) (string, error) {
	out, err := r.git(ctx, gitRun{args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}})
	return strings.TrimSpace(out.data), err
}
