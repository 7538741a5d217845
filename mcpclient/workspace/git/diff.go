package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

type diffResult struct {
	Diff      string     `json:"diff"`
	Files     []diffFile `json:"files"`
	Added     int        `json:"added"`   // lines in all files
	Removed   int        `json:"removed"` // lines in all files
	Truncated bool       `json:"truncated"`
	Note      string     `json:"note,omitempty"`
}

type diffFile struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`   // lines
	Removed int    `json:"removed"` // lines
	Status  string `json:"status"`
	From    string `json:"from,omitempty"` // previous name
}

// diffFlags make git diff independent of the configuration. With them it runs
// no other program and names files relative to the workspace.
var diffFlags = []string{
	"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--relative", "--ignore-submodules=dirty", "--submodule=short",
	"--find-renames", "--src-prefix=a/", "--dst-prefix=b/",
}

type diffArgs struct {
	Of   string `json:"of,omitempty" jsonschema:"all (where it is left out): everything with new files; staged; unstaged; commit: what vcs.commit would take, or with ref what that commit changed"`
	Path string `json:"path,omitempty" jsonschema:"only this file or folder"`
	Ref  string `json:"ref,omitempty" jsonschema:"compare with this commit, branch or tag, or two of them, like main..topic"`
}

// differ shows changes.
type differ struct{ repositories *repositories }

func (o *differ) vcsDiff(ctx context.Context, _ op.Call, args diffArgs) (*op.Answer[diffResult], error) {
	at, err := o.repositories.pathspec(args.Path)
	if err != nil {
		return nil, err
	}
	r, err := o.repositories.open(ctx)
	if err != nil {
		return nil, err
	}
	base, two := r.head(), false
	if args.Ref != "" {
		if base, two, err = r.revisions(ctx, args.Ref); err != nil {
			return nil, err
		}
	}
	if err := args.check(); err != nil {
		return nil, err
	}
	var result diffResult
	if two {
		result, err = r.diff(ctx, gitRun{}, base, at)
	} else {
		result, err = r.diffOf(ctx, args, base, at)
	}
	if past := args.Of == "commit" && args.Ref != ""; err == nil && !two && !past {
		if err = r.noteOutside(ctx, &result); len(result.Files) == 0 && result.Note == "" && args.Path == "" && r.born {
			result.Note = "nothing differs from the last commit; vcs.show shows what a commit changed"
		}
	}
	if err != nil {
		return nil, err
	}
	text := result.Diff
	if len(result.Files) == 0 {
		text = "there is no difference"
		if result.Note == "" {
			result.Note = o.repositories.missing(ctx, args.Path)
		}
	}
	if result.Note != "" {
		text += "\n" + result.Note
	}
	result.Files = named(result.Files)
	return op.Reply(result, text), nil
}

// check returns the fault of arguments that do not fit together.
func (a diffArgs) check() error {
	switch {
	case !slices.Contains([]string{"", "all", "staged", "unstaged", "commit"}, a.Of):
		return fmt.Errorf("the argument of of vcs.diff is %q; it must be all, staged, unstaged or commit", a.Of)
	case a.Ref != "" && (a.Of == "staged" || a.Of == "unstaged"):
		return fmt.Errorf("the argument ref of vcs.diff compares everything with a commit; leave out of, which is %q", a.Of)
	}
	return nil
}

// diffOf returns the changes that the arguments ask for, compared with one base.
func (r gitRepository) diffOf(ctx context.Context, args diffArgs, base, at string) (diffResult, error) {
	switch {
	case args.Of == "commit" && args.Ref != "":
		return r.diffOfPast(ctx, base, at)
	case args.Of == "staged":
		return r.diff(ctx, gitRun{}, "--cached", at)
	case args.Of == "unstaged":
		return r.diff(ctx, gitRun{}, "", at)
	case args.Of == "commit":
		return r.diffOfCommit(ctx, at)
	default:
		return r.diffOfAll(ctx, base, at)
	}
}

// noteOutside adds a note if the repository has changes outside the workspace.
func (r gitRepository) noteOutside(ctx context.Context, d *diffResult) error {
	n, err := r.changedOutside(ctx, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--no-renames")
	if n > 0 {
		d.Note = fmt.Sprintf("%s of the repository outside the workspace changed and left out here", were(n))
	}
	return err
}

// head returns the base to compare the work tree with: the last commit, or
// nothing before the first one.
func (r gitRepository) head() string {
	if r.born {
		return "HEAD"
	}
	return ""
}

// revisions parses a commit, or two commits joined by dots, and reports
// whether there are two.
func (r gitRepository) revisions(ctx context.Context, ref string) (string, bool, error) {
	dots := ""
	for _, d := range []string{"...", ".."} {
		if dots == "" && strings.Contains(ref, d) {
			dots = d
		}
	}
	from, to := ref, ""
	if dots != "" {
		from, to, _ = strings.Cut(ref, dots)
		if from == "" {
			from = "HEAD"
		}
		if to == "" {
			to = "HEAD"
		}
	}
	for _, name := range []*string{&from, &to} {
		if *name == "" {
			continue
		}
		hash, err := r.revision(ctx, *name)
		if err != nil {
			return "", false, err
		}
		*name = hash
	}
	return from + dots + to, dots != "", nil
}

// revision returns the hash of one commit. A word for the last commit is HEAD.
func (r gitRepository) revision(ctx context.Context, name string) (string, error) {
	hash, err := r.lookUp(ctx, name)
	if err != nil && slices.Contains([]string{"last", "latest", "newest", "last commit", "latest commit", "head"}, strings.ToLower(name)) {
		return r.lookUp(ctx, "HEAD")
	}
	return hash, err
}

// lookUp is revision for a name as it stands.
func (r gitRepository) lookUp(ctx context.Context, name string) (string, error) {
	out, err := r.git(ctx, gitRun{args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"}})
	if err != nil {
		return "", err
	}
	hash := strings.TrimSpace(out.data)
	if out.exit != 0 || hash == "" {
		return "", fmt.Errorf("there is no commit, branch or tag %q; vcs.log and vcs.branches list them", name)
	}
	return hash, nil
}

// emptyTree returns the hash of a tree without files.
func (r gitRepository) emptyTree(ctx context.Context) (string, error) {
	out, err := r.must(ctx, "name the empty tree", gitRun{args: []string{"hash-object", "-t", "tree", "--stdin"}, input: []byte{}})
	return strings.TrimSpace(out.data), err
}

// diff runs git diff. which is its arguments for what to compare, without blanks
// in them.
func (r gitRepository) diff(ctx context.Context, run gitRun, which string, at ...string) (diffResult, error) {
	result := diffResult{Files: []diffFile{}}
	ask := func(max int, flags ...string) (gitOutput, error) {
		args := slices.Concat(diffFlags, flags, strings.Fields(which))
		run.args, run.max = append(append(args, "--"), at...), max
		return r.must(ctx, "compare", run)
	}
	list, err := ask(0, "--raw", "--numstat", "-z")
	if err != nil {
		return result, err
	}
	result.Truncated = list.cut
	result.read(list.data)
	if shown := result.shown(r.tree); len(shown) < len(result.Files) {
		if result.leave(shown); len(shown) == 0 {
			return result, nil
		}
		at = result.names()
	}
	text, err := ask(r.maxOutput, "-p")
	if err != nil {
		return result, err
	}
	for _, path := range result.names() {
		if !utf8.ValidString(path) {
			text.data = strings.ReplaceAll(text.data, path, op.Name(path))
		}
	}
	result.Diff = valid(text.data)
	if text.cut {
		result.Truncated = true
		result.Diff = result.Diff[:strings.LastIndexByte(result.Diff, '\n')+1] + "[cut: the diff is longer than this]\n"
	}
	return result, nil
}

// shown returns the files that operators may read.
func (d *diffResult) shown(files *tree.Tree) []diffFile {
	return slices.DeleteFunc(slices.Clone(d.Files), func(f diffFile) bool {
		return files.Closed(f.Path) || f.From != "" && files.Closed(f.From)
	})
}

// leave keeps only these files.
func (d *diffResult) leave(files []diffFile) {
	d.Files, d.Added, d.Removed = files, 0, 0
	for _, f := range files {
		d.Added, d.Removed = d.Added+f.Added, d.Removed+f.Removed
	}
}

// names returns the paths of the files, also those before a renaming.
func (d *diffResult) names() []string {
	var names []string
	for _, f := range d.Files {
		if names = append(names, f.Path); f.From != "" {
			names = append(names, f.From)
		}
	}
	return names
}

// named returns files by the names of their paths, as answers have them.
func named(files []diffFile) []diffFile {
	out := slices.Clone(files)
	for i, f := range out {
		out[i].Path, out[i].From = op.Name(f.Path), op.Name(f.From)
	}
	return out
}

// read parses the output of git diff --raw --numstat -z.
func (d *diffResult) read(data string) {
	at := map[string]int{} // indexes of Files
	fields := strings.Split(strings.TrimSuffix(data, "\x00"), "\x00")
	next := func() string {
		if len(fields) == 0 {
			return ""
		}
		f := fields[0]
		fields = fields[1:]
		return f
	}
	for len(fields) > 0 {
		record := next()
		if strings.HasPrefix(record, ":") {
			f := diffFile{}
			status := record[strings.LastIndexByte(record, ' ')+1:]
			if status != "" {
				f.Status = statusWords[status[0]]
			}
			if f.Path = next(); f.Status == "renamed" || f.Status == "copied" {
				f.From, f.Path = f.Path, next()
			}
			if _, seen := at[f.Path]; seen {
				continue // git lists a conflict twice
			}
			if len(d.Files) == maxVCSFiles {
				d.Truncated = true
				continue
			}
			at[f.Path] = len(d.Files)
			d.Files = append(d.Files, f)
			continue
		}
		counts := strings.SplitN(record, "\t", 3)
		if len(counts) != 3 {
			continue
		}
		name := counts[2]
		if name == "" {
			_, name = next(), next()
		}
		added, _ := strconv.Atoi(counts[0])   // "-" for a binary file
		removed, _ := strconv.Atoi(counts[1]) // counts as 0
		d.Added, d.Removed = d.Added+added, d.Removed+removed
		if i, ok := at[name]; ok {
			d.Files[i].Added, d.Files[i].Removed = added, removed
		}
	}
}

// diffOfAll compares the work tree, including new files, with a commit, or
// with nothing if base is empty.
func (r gitRepository) diffOfAll(ctx context.Context, base, at string) (diffResult, error) {
	s, err := r.scratch(true)
	if err != nil {
		return diffResult{}, err
	}
	defer s.remove()
	if err := s.copyIndex(ctx); err != nil {
		return diffResult{}, err
	}
	fresh, _, err := s.fresh(ctx, at)
	if err != nil {
		return diffResult{}, err
	}
	if err := s.add(ctx, fresh, gitRun{args: []string{"--intent-to-add"}, apart: true}); err != nil {
		return diffResult{}, err
	}
	if base == "" {
		if base, err = r.emptyTree(ctx); err != nil {
			return diffResult{}, err
		}
	}
	result, err := r.diff(ctx, gitRun{index: s.index, store: s.store}, base, at)
	if err != nil {
		return result, err
	}
	conflicts, err := r.must(ctx, "look for conflicts", gitRun{args: []string{"ls-files", "--unmerged", "-z", "--", at}})
	for entry := range strings.SplitSeq(conflicts.data, "\x00") {
		_, name, _ := strings.Cut(entry, "\t")
		if i := slices.IndexFunc(result.Files, func(f diffFile) bool { return f.Path == name }); i >= 0 {
			result.Files[i].Status = statusWords['U']
		}
	}
	return result, err
}

// diffOfCommit returns the diff that vcs.commit would commit.
func (r gitRepository) diffOfCommit(ctx context.Context, at string) (diffResult, error) {
	staged, err := r.diff(ctx, gitRun{}, "--cached", ".")
	if err != nil {
		return staged, err
	}
	if len(staged.Files) > 0 {
		if at == "." {
			return staged, nil
		}
		return r.diff(ctx, gitRun{}, "--cached", at)
	}
	return r.diffOfAll(ctx, r.head(), at)
}

// scratch is a separate index for assembling a diff or a commit without
// disturbing anyone.
type scratch struct {
	r      gitRepository
	dir    string
	index  string
	store  string // for temporary objects; empty stores them in the repository
	asUser bool
}

// scratch creates a scratch index. With dry, the repository stays unchanged.
func (r gitRepository) scratch(dry bool) (scratch, error) {
	dir, err := os.MkdirTemp("", "index-")
	if err != nil {
		return scratch{}, fmt.Errorf("making a folder for an index: %w", err)
	}
	s := scratch{r: r, dir: dir, index: filepath.Join(dir, "index"), asUser: !dry}
	if !dry {
		return s, nil
	}
	s.store = filepath.Join(dir, "objects")
	if err := os.Mkdir(s.store, 0o700); err != nil {
		return scratch{}, errors.Join(fmt.Errorf("making a folder for objects: %w", err), os.RemoveAll(dir))
	}
	return s, nil
}

func (s scratch) remove() {
	if err := os.RemoveAll(s.dir); err != nil {
		s.r.log.Warn("a temporary folder stays", "folder", s.dir, "error", err)
	}
}

// git runs git with this index.
func (s scratch) git(ctx context.Context, run gitRun) (gitOutput, error) {
	run.index, run.store, run.asUser = s.index, s.store, s.asUser
	return s.r.git(ctx, run)
}

// copyIndex fills the index with what is staged now.
func (s scratch) copyIndex(ctx context.Context) error {
	out, err := s.r.must(ctx, "find the index", gitRun{args: []string{"rev-parse", "--git-path", "index"}})
	if err != nil {
		return err
	}
	from := absolute(s.r.tree.Dir, onlyPath(out.data))
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was ever staged
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(from) // #nosec G304 -- git itself returned this path
	}
	if err == nil {
		err = os.WriteFile(s.index, data, 0o600) // #nosec G703 -- in a newly created folder
	}
	if err == nil {
		// From the time of its index git tells which files may have changed since,
		// within one tick of the clock.
		err = os.Chtimes(s.index, time.Time{}, info.ModTime())
	}
	if err != nil {
		return fmt.Errorf("copying the index of the repository: %w", err)
	}
	return nil
}

// headIndex fills the index with the last commit.
func (s scratch) headIndex(ctx context.Context) error {
	tree := "HEAD"
	if !s.r.born {
		tree = "--empty"
	}
	return s.must(ctx, "read the last commit", gitRun{args: []string{"read-tree", tree}})
}

// fresh lists the untracked files that git does not ignore, and the nested
// repositories among their folders.
func (s scratch) fresh(ctx context.Context, paths ...string) (files, nested []string, err error) {
	out, err := s.git(ctx, gitRun{args: append([]string{"ls-files", "--others", "--exclude-standard", "-z", "--"}, paths...)})
	switch {
	case err != nil:
		return nil, nil, err
	case out.exit != 0:
		return nil, nil, out.failure("list the new files")
	case out.cut:
		return nil, nil, errors.New("there are too many new files; name a folder, or let .gitignore exclude some")
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(out.data, "\x00"), "\x00") {
		if before, ok := strings.CutSuffix(name, "/"); ok {
			nested = append(nested, before)
		} else if name != "" {
			files = append(files, name)
		}
	}
	return files, nested, nil
}

// add adds files of the work tree as they are. It passes each by name: given a
// folder, git would look into nested repositories and run what they configure.
func (s scratch) add(ctx context.Context, files []string, run gitRun) error {
	if len(files) == 0 {
		return nil
	}
	run.args = append([]string{"add", "--pathspec-from-file=-", "--pathspec-file-nul"}, run.args...)
	run.input = []byte(strings.Join(files, "\x00"))
	return s.must(ctx, "take the files", run)
}

func (s scratch) must(ctx context.Context, doing string, run gitRun) error {
	out, err := s.git(ctx, run)
	if err == nil && out.exit != 0 {
		err = out.failure(doing)
	}
	return err
}
