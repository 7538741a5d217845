package git

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

const (
	maxVCSFiles = 2000 // maximum number of files in a list
	maxCommits  = 200
	maxBody     = 4 << 10 // maximum bytes of a commit's body or of git's messages
)

type statusResult struct {
	Branch    string       `json:"branch"` // empty if no branch is checked out
	Upstream  string       `json:"upstream"`
	Ahead     int          `json:"ahead"`
	Behind    int          `json:"behind"`
	Clean     bool         `json:"clean"`
	Files     []statusFile `json:"files"`
	Truncated bool         `json:"truncated,omitempty"`
	Underway  string       `json:"underway,omitempty"` // merge, rebase, cherry-pick or revert
	Note      string       `json:"note,omitempty"`
}

type statusFile struct {
	Path     string `json:"path"`
	Status   string `json:"status"`
	Staged   bool   `json:"staged"`             // a commit would include it
	Unstaged bool   `json:"unstaged,omitempty"` // it has changes that are not staged
	From     string `json:"from,omitempty"`     // previous name
}

// statusWords maps git's status letters to words.
var statusWords = map[byte]string{
	'A': "added", 'M': "modified", 'D': "deleted", 'R': "renamed", 'C': "copied", 'T': "retyped", 'U': "conflicted", '?': "untracked",
}

// reader tells the state of the repository, its commits and branches.
type reader struct {
	repositories *repositories
	tree         *tree.Tree
}

func (o *reader) vcsStatus(ctx context.Context, _ op.Call, _ struct{}) (*op.Answer[statusResult], error) {
	r, err := o.repositories.open(ctx)
	if err != nil {
		return nil, err
	}
	result, err := r.status(ctx)
	if err != nil {
		return nil, err
	}
	return op.Reply(result, result.words(r.born)), nil
}

// words describes the status for display.
func (s statusResult) words(born bool) string {
	var b strings.Builder
	switch {
	case s.Branch == "":
		b.WriteString("no branch is checked out")
	case s.Upstream == "":
		fmt.Fprintf(&b, "on branch %s", s.Branch)
	default:
		fmt.Fprintf(&b, "on branch %s, %d ahead of %s and %d behind", s.Branch, s.Ahead, s.Upstream, s.Behind)
	}
	if !born {
		b.WriteString(", no commit yet")
	}
	if s.Underway != "" {
		fmt.Fprintf(&b, ", a %s is not finished", s.Underway)
	}
	if s.Clean {
		b.WriteString("; nothing is changed")
	}
	for _, f := range s.Files {
		staged := ""
		if f.Staged {
			staged = " (staged)"
		}
		fmt.Fprintf(&b, "\n%s %s%s", f.Status, f.Path, staged)
	}
	if s.Note != "" {
		b.WriteString("\n" + s.Note)
	}
	return b.String()
}

func (r gitRepository) status(ctx context.Context) (statusResult, error) {
	result := statusResult{Files: []statusFile{}, Underway: r.underway()}
	out, err := r.must(ctx, "say what is changed", gitRun{args: []string{
		"status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--find-renames", "--", ".",
	}})
	if err != nil {
		return result, err
	}
	result.read(out.data, r)
	result.Truncated = result.Truncated || out.cut
	result.Clean = len(result.Files) == 0
	outside, err := r.changedOutside(ctx, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--no-renames")
	if err != nil {
		return result, err
	}
	if outside > 0 {
		result.Note = fmt.Sprintf("%s of the repository outside the workspace changed and left out here", were(outside))
	}
	return result, nil
}

// were counts files, with the verb that agrees: "1 file is", "2 files are".
func were(files int) string {
	return english.Count(files, "file") + " " + english.Agree(files, "is", "are")
}

// changedOutside counts the files outside the workspace that git lists. Names
// are separated by NUL; in a status, two letters precede each name.
func (r gitRepository) changedOutside(ctx context.Context, args ...string) (int, error) {
	if r.prefix == "" {
		return 0, nil
	}
	out, err := r.must(ctx, "look outside the workspace", gitRun{args: args})
	if err != nil {
		return 0, err
	}
	n := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(out.data, "\x00"), "\x00") {
		if args[0] == "status" && len(name) > len("XY ") {
			name = name[len("XY "):]
		}
		// A new folder may contain the workspace.
		if name != "" && !strings.HasPrefix(name, r.prefix) && !strings.HasPrefix(r.prefix, name) {
			n++
		}
	}
	return n, nil
}

// read parses the output of git status --porcelain=v2 -z.
func (s *statusResult) read(data string, r gitRepository) {
	entries := strings.Split(strings.TrimSuffix(data, "\x00"), "\x00")
	for i := 0; i < len(entries); i++ {
		entry := entries[i]
		if entry == "" {
			continue
		}
		f := statusFile{}
		name := ""
		switch entry[0] {
		case '#':
			s.header(entry)
			continue
		case '1':
			name = afterFields(entry, 8)
			f.states(entry)
		case '2':
			name = afterFields(entry, 9)
			f.states(entry)
			if i++; i < len(entries) {
				f.From, _ = r.local(entries[i])
			}
		case 'u':
			name = afterFields(entry, 10)
			f.Status = statusWords['U']
		case '?':
			name = strings.TrimPrefix(entry, "? ")
			f.Status = statusWords['?']
		default:
			continue
		}
		at, ok := r.local(name)
		if !ok && !strings.HasPrefix(r.prefix, name) || name == "" {
			continue
		}
		if f.Path = at; !ok {
			f.Path = "." // the whole workspace is new
		}
		if r.tree.Closed(strings.TrimSuffix(f.Path, "/")) || f.From != "" && r.tree.Closed(f.From) {
			continue
		}
		if len(s.Files) == maxVCSFiles {
			s.Truncated = true
			break
		}
		f.Path, f.From = op.Name(f.Path), op.Name(f.From)
		s.Files = append(s.Files, f)
	}
}

// states parses the two letters of an entry, for the index and the work tree.
func (f *statusFile) states(entry string) {
	if len(entry) < len("1 XY") {
		return
	}
	index, tree := entry[2], entry[3]
	f.Staged, f.Unstaged = index != '.', index != '.' && tree != '.'
	f.Status = statusWords[tree]
	if f.Staged {
		f.Status = statusWords[index]
	}
}

// afterFields returns the rest of entry after n fields; it may contain blanks.
func afterFields(entry string, n int) string {
	parts := strings.SplitN(entry, " ", n+1)
	if len(parts) <= n {
		return ""
	}
	return parts[n]
}

func (s *statusResult) header(entry string) {
	key, value, _ := strings.Cut(strings.TrimPrefix(entry, "# "), " ")
	switch key {
	case "branch.head":
		if value != "(detached)" {
			s.Branch = value
		}
	case "branch.upstream":
		s.Upstream = value
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		s.Ahead, _ = strconv.Atoi(strings.TrimPrefix(ahead, "+"))   // only digits
		s.Behind, _ = strconv.Atoi(strings.TrimPrefix(behind, "-")) // only digits
	}
}

// Dirty counts the changed and new files in the workspace. It returns 0
// without git or a repository.
func (o *reader) Dirty(ctx context.Context) (int, error) {
	r, err := o.repositories.open(ctx)
	if errors.Is(err, errNoRepository) || errors.Is(err, exec.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	status, err := r.status(ctx)
	return len(status.Files), err
}

// State is the state of the repository before any work starts.
type State struct {
	Clean      bool // no changes, and no merge or similar operation in progress
	NoUpstream bool // the current branch has no upstream
	NoRemote   bool
	Branch     string   // empty if no branch is checked out
	Changed    []string // files that differ from the last commit

	dir   string // of the repository
	stamp string // see [stampOf]
}

// Current reports whether the last commit, the branch and what is staged are still the same.
// It does not look at the files of the work tree.
func (s State) Current() bool { return s.stamp != "" && s.stamp == stampOf(s.dir) }

// stampOf returns the times of the files that a commit, a checkout or an add changes, "" if
// one of them cannot be read.
func stampOf(dir string) string {
	stamp := ""
	for _, name := range []string{"HEAD", "index", "logs/HEAD"} {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return ""
		}
		stamp += fmt.Sprintf("%d %d ", info.ModTime().UnixNano(), info.Size())
	}
	return stamp
}

// State returns the state of the repository.
func (o *reader) State(ctx context.Context) (State, error) {
	r, err := o.repositories.open(ctx)
	if err != nil {
		return State{}, err
	}
	stamp := stampOf(r.gitDir)
	status, err := r.status(ctx)
	if err != nil {
		return State{}, err
	}
	s := State{dir: r.gitDir, stamp: stamp, Clean: status.Clean && status.Underway == "", NoUpstream: status.Branch != "" && status.Upstream == "", Branch: status.Branch}
	for _, f := range status.Files {
		s.Changed = append(s.Changed, f.Path)
	}
	if out, err := r.must(ctx, "list the remotes", gitRun{args: []string{"remote"}}); err == nil {
		s.NoRemote = strings.TrimSpace(out.data) == ""
	}
	return s, nil
}

type logResult struct {
	Commits []commitInfo `json:"commits"`
	Total   int          `json:"total"` // includes those not listed
	Note    string       `json:"note,omitempty"`
}

type commitInfo struct {
	Hash    string `json:"hash"`
	Author  string `json:"author"`
	Date    string `json:"date"` // in ISO 8601
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

// words is the commit on one line.
func (c commitInfo) words() string {
	return fmt.Sprintf("%.10s %.10s %s (%s)", c.Hash, c.Date, c.Subject, c.Author)
}

type logArgs struct {
	Path      string `json:"path,omitempty" jsonschema:"only commits that changed this file or folder"`
	Max       int    `json:"max,omitempty" jsonschema:"how many commits to return; default: 20"`
	Since     string `json:"since,omitempty" jsonschema:"only commits after this date, like 2025-01-31 or 2 weeks ago"`
	AllowNone bool   `json:"allow_none,omitempty" jsonschema:"answer no commits instead of failing where there is no repository"`
}

func (o *reader) vcsLog(ctx context.Context, _ op.Call, args logArgs) (*op.Answer[logResult], error) {
	const usual = 20
	if args.Max < 0 {
		return nil, fmt.Errorf("the argument max of vcs.log must be 1 or more, not %d", args.Max)
	} else if args.Max == 0 {
		args.Max = usual
	}
	r, err := o.repositories.open(ctx)
	if err != nil && args.AllowNone && ctx.Err() == nil {
		return op.Reply(logResult{Commits: []commitInfo{}, Note: err.Error()}, err.Error()), nil
	}
	if err != nil {
		return nil, err
	}
	if !r.born {
		return op.Reply(logResult{Commits: []commitInfo{}}, "there is no commit yet"), nil
	}
	if file, line, ok := o.repositories.lineOf(args.Path); ok {
		return o.repositories.logOfLine(ctx, r, file, line)
	}
	var which []string
	if args.Since != "" {
		which = append(which, "--since="+args.Since)
	}
	which = append(which, "HEAD")
	if args.Path != "" || r.prefix != "" {
		at, err := o.repositories.pathspec(args.Path)
		if err != nil {
			return nil, err
		}
		files := []string{at}
		if pattern, ok := o.tree.Pattern(args.Path); ok {
			if matching, _, err := o.tree.Matching(ctx, pattern, maxVCSFiles); err != nil {
				return nil, err
			} else if len(matching) > 0 {
				files = matching
			}
		}
		which = append(append(which, "--"), files...)
	}
	result := logResult{Commits: []commitInfo{}}
	out, err := r.must(ctx, "list the commits", gitRun{args: append([]string{
		"log", "-z", "--no-color", "--encoding=UTF-8", "--format=" + commitFormat, "-n", strconv.Itoa(min(args.Max, maxCommits)),
	}, which...)})
	if err != nil {
		return nil, err
	}
	parts := []string{}
	for info := range commits(out.data) {
		info.Body = strings.TrimSpace(op.MiddleCut(info.Body, maxBody))
		result.Commits = append(result.Commits, info)
		parts = append(parts, info.words())
	}
	total, err := r.must(ctx, "count the commits", gitRun{args: append([]string{"rev-list", "--count"}, which...)})
	if err != nil {
		return nil, err
	}
	if result.Total, err = strconv.Atoi(strings.TrimSpace(total.data)); err != nil {
		return nil, fmt.Errorf("counting the commits: %w", err)
	}
	if len(parts) == 0 {
		result.Note = o.repositories.missing(ctx, args.Path)
		parts = append(parts, strings.TrimPrefix(result.Note+"\nno commit fits", "\n"))
	} else if more := result.Total - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return op.Reply(result, strings.Join(parts, "\n")), nil
}

// commitFormat is the format of git log that commits reads.
const commitFormat = "%H%x00%an%x00%aI%x00%s%x00%b"

// commits parses the output of git log -z with commitFormat.
func commits(data string) iter.Seq[commitInfo] {
	const fields = 5
	return func(yield func(commitInfo) bool) {
		for all := strings.Split(strings.TrimSuffix(data, "\x00"), "\x00"); len(all) >= fields; all = all[fields:] {
			if !yield(commitInfo{
				Hash: all[0], Author: valid(all[1]), Date: all[2], Subject: valid(all[3]), Body: strings.TrimSpace(valid(all[4])),
			}) {
				return
			}
		}
	}
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

type branchesResult struct {
	Current  string       `json:"current"` // empty if no branch is checked out
	Branches []branchInfo `json:"branches"`
}

type branchInfo struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	Subject string `json:"subject"` // of its newest commit
}

func (o *reader) vcsBranches(ctx context.Context, _ op.Call, _ struct{}) (*op.Answer[branchesResult], error) {
	r, err := o.repositories.open(ctx)
	if err != nil {
		return nil, err
	}
	result := branchesResult{Branches: []branchInfo{}}
	if result.Current, err = r.branch(ctx); err != nil {
		return nil, err
	}
	out, err := r.must(ctx, "list the branches", gitRun{args: []string{
		"for-each-ref", "--count=" + strconv.Itoa(maxVCSFiles), "--sort=-committerdate", "--format=%(refname)%00%(contents:subject)", "refs/heads/",
	}})
	if err != nil {
		return nil, err
	}
	parts := []string{}
	for line := range strings.Lines(out.data) {
		ref, subject, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
		b := branchInfo{Name: valid(strings.TrimPrefix(ref, "refs/heads/")), Subject: valid(subject)}
		b.Current = b.Name == result.Current
		result.Branches = append(result.Branches, b)
		mark := "  "
		if b.Current {
			mark = "* "
		}
		parts = append(parts, mark+b.Name+" "+b.Subject)
	}
	if len(parts) == 0 {
		parts = append(parts, "there is no commit yet, and so no branch")
	}
	return op.Reply(result, strings.Join(parts, "\n")), nil
}

// Touching returns the hashes of the newest commits that changed one of the
// files. It ignores names that are not paths of the workspace.
func (o *reader) Touching(ctx context.Context, files []string) ([]string, error) {
	r, err := o.repositories.open(ctx)
	if err != nil || !r.born {
		return nil, err
	}
	which := []string{"log", "--format=%H", "-n", strconv.Itoa(maxCommits), "HEAD", "--"}
	none := len(which)
	for _, name := range files {
		if at, err := o.repositories.pathspec(name); err == nil {
			which = append(which, at)
		}
	}
	if len(which) == none {
		return nil, nil
	}
	out, err := r.must(ctx, "list the commits", gitRun{args: which})
	return strings.Fields(out.data), err
}
