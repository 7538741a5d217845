package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"replan/internal/lazyregexp"
	"replan/mcpclient/child"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

const (
	gitReadTime  = time.Minute
	gitWriteTime = 10 * time.Minute // long, because hooks may run tests
	maxGitData   = 8 << 20          // bytes of git's output
)

// gitRun describes one run of git.
type gitRun struct {
	args  []string
	input []byte
	index string // file to use instead of the repository's index
	store string // folder for new objects, instead of the repository's
	apart bool   // hide the repository's objects, because git would touch those it finds again
	max   int    // maximum bytes of standard output to keep; 0 means maxGitData
	// asUser also runs what the repository configures: hooks, filters and helpers
	// that reach a remote. Otherwise nothing of the repository's runs.
	asUser  bool
	send    func(chunk string, bytes int64) error // receives the output of a call with asUser; may be nil
	environ []string                              // added to the environment that git always inherits
}

// gitOutput is the output of git.
type gitOutput struct {
	data   string // standard output
	cut    bool   // standard output was cut off
	stderr string // standard error
	exit   int
}

// limitedBuffer keeps only the first bytes written to it.
type limitedBuffer struct {
	bytes.Buffer
	max int
	cut bool
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	room := min(max(0, l.max-l.Len()), len(p))
	l.cut = l.cut || room < len(p)
	_, _ = l.Buffer.Write(p[:room]) // never fails
	return len(p), nil
}

func (*limitedBuffer) Close() error { return nil }

// gitRepository is the git repository that contains the workspace. It is a value.
type gitRepository struct {
	tree      *tree.Tree
	runner    *child.Runner
	log       *slog.Logger
	maxOutput int // bytes of a diff

	prefix  string // path of the workspace in the repository with a trailing slash, or empty
	gitDir  string // on disk, absolute
	filters []string
	born    bool // there is at least one commit
}

// git runs git in the workspace. It returns an error if git cannot run. A
// non-zero exit status is not an error here.
func (r gitRepository) git(ctx context.Context, run gitRun) (gitOutput, error) {
	flags := []string{
		"--no-pager", "--literal-pathspecs", // file names are never patterns
		"-c", "core.quotePath=off", "-c", "color.ui=false", "-c", "core.splitIndex=false",
		"-c", "safe.bareRepository=explicit", "-c", "advice.addEmbeddedRepo=false",
		"-c", "submodule.recurse=false", // their configuration may run programs
	}
	limit := gitWriteTime
	if !run.asUser {
		limit = gitReadTime
		flags = append(flags,
			"-c", "core.fsmonitor=false", "-c", "core.hooksPath="+os.DevNull, "-c", "log.showSignature=false",
			"-c", "status.submoduleSummary=false", "-c", "core.bigFileThreshold=16m")
		for _, name := range r.filters {
			flags = append(flags, "-c", name+".clean=", "-c", name+".smudge=", "-c", name+".process=", "-c", name+".required=false")
		}
	}
	out := &limitedBuffer{max: run.max}
	if out.max == 0 {
		out.max = maxGitData
	}
	var writes []string
	if run.index != "" {
		writes = []string{filepath.Dir(run.index)}
	}
	ended, err := r.runner.Run(ctx, child.Command{
		Send: run.send,
		Name: "git", Args: append(flags, run.args...),
		Dir: r.tree.Dir, Environ: r.environ(run), Input: run.input, Writes: writes,
		Timeout: limit, Quiet: !run.asUser, Unwatched: !run.asUser && run.index == "", Need: "install it to work with repositories",
		Data: func(io.Writer) io.WriteCloser { return out },
	})
	if err != nil {
		return gitOutput{}, err
	}
	if ended.TimedOut {
		return gitOutput{}, fmt.Errorf("git %s did not end within %s and was stopped", run.args[0], limit)
	}
	return gitOutput{data: out.String(), cut: out.cut, stderr: ended.Output, exit: ended.Exit}, nil
}

// environ returns the environment of git without variables that point it at
// another repository. For reading it also drops those that make git write or
// reach a remote.
func (r gitRepository) environ(run gitRun) []string {
	environ := slices.DeleteFunc(slices.Clone(r.runner.Environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
			"GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_QUARANTINE_PATH",
			"GPG_TTY", // it names the screen's terminal
			"GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_INTERNAL_SUPER_PREFIX":
			return true
		default:
			return false
		}
	})
	// An editor or a prompt would block.
	environ = append(append(environ, "GIT_EDITOR=true", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0"), run.environ...)
	if !run.asUser {
		environ = append(environ, "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	}
	if run.index != "" {
		environ = append(environ, "GIT_INDEX_FILE="+run.index)
	}
	if run.store != "" {
		objects := filepath.Join(r.gitDir, "objects")
		if common, err := os.ReadFile(filepath.Join(r.gitDir, "commondir")); err == nil {
			objects = filepath.Join(absolute(r.gitDir, strings.TrimSpace(string(common))), "objects")
		}
		environ = append(environ, "GIT_OBJECT_DIRECTORY="+run.store)
		if !run.apart {
			environ = append(environ, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quotedPath(objects))
		}
	}
	return environ
}

// onlyPath returns the one path that git printed on a line.
func onlyPath(data string) string {
	name := strings.TrimSuffix(data, "\n")
	if runtime.GOOS == "windows" {
		return strings.TrimSuffix(name, "\r")
	}
	return name // elsewhere a folder may end so
}

func absolute(base, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(base, name)
}

// quotedPath quotes a path for git's lists of paths.
func quotedPath(name string) string {
	if !strings.ContainsAny(name, string(filepath.ListSeparator)+`"`) {
		return name
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

// must runs git and returns an error unless it succeeds; doing is for the
// message.
func (r gitRepository) must(ctx context.Context, doing string, run gitRun) (gitOutput, error) {
	out, err := r.git(ctx, run)
	if err == nil && out.exit != 0 {
		err = out.failure(doing)
	}
	return out, err
}

// lfsMissing matches what a shell says where git-lfs is not installed.
var lfsMissing = lazyregexp.New(`\bgit-lfs: .*not found`)

// failure returns an error with git's own message, and that of ssh.
func (g gitOutput) failure(doing string) error {
	if lfsMissing.MatchString(g.stderr) {
		return fmt.Errorf("git could not %s: the repository keeps files with git-lfs, which is not installed; install it, then try again", doing)
	}
	var lines []string
	for line := range strings.Lines(g.stderr) {
		line = strings.TrimSpace(line)
		for _, mark := range []string{"fatal: ", "error: ", "ssh: "} {
			if text, ok := strings.CutPrefix(line, mark); ok {
				lines = append(lines, strings.TrimSuffix(text, "."))
			}
		}
	}
	if len(lines) == 0 {
		const most = 2000 // maximum bytes of a hook's output
		lines = []string{op.MiddleCut(strings.TrimSpace(g.stderr), most)}
	}
	if lines[0] == "" {
		return fmt.Errorf("git could not %s: it ended with exit status %d", doing, g.exit)
	}
	return fmt.Errorf("git could not %s: %s", doing, strings.Join(lines, "; "))
}

var errNoRepository = errors.New("not a git repository; run `git init` first")

// mayBeInRepository reports whether dir or a folder above it has a .git entry.
func mayBeInRepository(dir string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return true // git says what is wrong
	}
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// repositories open the repository that contains the workspace.
type repositories struct {
	tree      *tree.Tree
	runner    *child.Runner
	log       *slog.Logger
	maxOutput int // bytes of a diff
}

// open finds the repository that contains the workspace.
func (o *repositories) open(ctx context.Context) (gitRepository, error) {
	if !mayBeInRepository(o.tree.Dir) {
		return gitRepository{}, errNoRepository // without the time that starting git takes
	}
	r := gitRepository{tree: o.tree, runner: o.runner, log: o.log, maxOutput: o.maxOutput}
	out, err := r.git(ctx, gitRun{args: []string{"rev-parse", "--is-inside-work-tree", "--show-prefix"}})
	if err != nil {
		return gitRepository{}, err
	}
	inside, prefix, _ := strings.Cut(out.data, "\n")
	switch {
	case strings.Contains(out.stderr, "not a git repository"), strings.Contains(out.stderr, "cannot use bare repository"):
		return gitRepository{}, errNoRepository
	case out.exit != 0:
		return gitRepository{}, out.failure("open the repository of the workspace")
	case inside != "true":
		return gitRepository{}, errors.New("the workspace is the inside of a git repository and has no files of its own; open the folder with its files")
	}
	r.prefix = strings.TrimSuffix(prefix, "\n")
	dir, err := r.must(ctx, "find the repository", gitRun{args: []string{"rev-parse", "--absolute-git-dir"}})
	if err != nil {
		return gitRepository{}, err
	}
	r.gitDir = onlyPath(dir.data)
	head, err := r.git(ctx, gitRun{args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}})
	if err != nil {
		return gitRepository{}, err
	}
	r.born = head.exit == 0
	r.filters, err = r.findFilters(ctx)
	return r, err
}

// findFilters returns the filters that the repository itself configures, which
// must not run while reading. Filters in the user's own configuration are
// trusted, and so is what git lfs install writes into a repository.
func (r gitRepository) findFilters(ctx context.Context) (filters []string, err error) {
	out, err := r.git(ctx, gitRun{args: []string{"config", "-z", "--show-scope", "--get-regexp", `^filter\..*\.(clean|smudge|process)$`}})
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimSuffix(out.data, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		scope := fields[i]
		key, value, _ := strings.Cut(fields[i+1], "\n")
		if scope == "system" || scope == "global" || scope == "command" || strings.HasPrefix(value, "git-lfs ") && !strings.ContainsAny(value, ";&|$`<>\n") {
			continue
		}
		name := key[:strings.LastIndexByte(key, '.')]
		if strings.ContainsAny(name, "=\n") {
			return nil, fmt.Errorf("the repository configures a filter with the name %q, which cannot be disabled; remove it from the configuration of git", name)
		}
		if !slices.Contains(filters, name) {
			filters = append(filters, name)
		}
	}
	return filters, nil
}

// underway describes the unfinished git operation in the repository, if any.
func (r gitRepository) underway() string {
	for _, state := range []struct{ file, words string }{
		{"MERGE_HEAD", "merge"},
		{"rebase-merge", "rebase"},
		{"rebase-apply", "rebase"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
	} {
		if _, err := os.Lstat(filepath.Join(r.gitDir, state.file)); err == nil {
			return state.words
		}
	}
	return ""
}

// branch returns the current branch, or "" if none is checked out.
func (r gitRepository) branch(ctx context.Context) (string, error) {
	out, err := r.git(ctx, gitRun{args: []string{"symbolic-ref", "--quiet", "--short", "HEAD"}})
	return strings.TrimSpace(out.data), err
}

// pathspec returns a path argument for git; empty means the workspace.
func (o *repositories) pathspec(name string) (string, error) {
	if name == "" {
		return ".", nil
	}
	at, err := o.tree.Resolve(name)
	return o.written(at), err
}

// written returns the path of a file that an answer called so, see [op.Name]. A file of just
// that path goes first.
func (o *repositories) written(name string) string {
	if _, err := o.tree.Root.Lstat(name); err == nil {
		return name
	}
	return op.PathOf(name)
}

// missing says that a path argument names nothing, if so; it is for an empty result.
func (o *repositories) missing(ctx context.Context, name string) string {
	if _, err := o.tree.ScopeOf(ctx, name); err != nil {
		return err.Error()
	}
	return ""
}

// local returns a path of the repository relative to the workspace. It reports
// whether the path is in the workspace.
func (r gitRepository) local(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, r.prefix)
	if rest == "" {
		rest = "."
	}
	return rest, ok
}
