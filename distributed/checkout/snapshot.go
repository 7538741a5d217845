package checkout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"replan/distributed/records"
)

// state is what a snapshot holds beside the files.
type state struct {
	Base     string            `json:"base,omitempty"`     // commit that the run began with
	Head     string            `json:"head,omitempty"`     // a commit, or symbolic and a branch
	Branches map[string]string `json:"branches,omitempty"` // commits
}

const (
	symbolic    = "ref: "
	branches    = "refs/heads/"
	snapshotRef = "refs/replan/snapshot"
)

// anywhere makes equal states the same commit: author and time are fixed.
var anywhere = []string{
	"GIT_AUTHOR_NAME=replan", "GIT_AUTHOR_EMAIL=replan", "GIT_AUTHOR_DATE=@0 +0000",
	"GIT_COMMITTER_NAME=replan", "GIT_COMMITTER_EMAIL=replan", "GIT_COMMITTER_DATE=@0 +0000",
}

// Snapshot saves the state of the checkout, unless the last snapshot has it.
func (c *Checkout) Snapshot(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, err := c.state(ctx)
	if err != nil {
		return err
	}
	tree, err := c.tree(ctx, filepath.Join(c.place, indexName), true)
	if err != nil {
		return err
	}
	commit, err := c.record(ctx, now, tree)
	if err != nil || commit == c.saved {
		return err
	}
	bundle, err := c.bundle(ctx, commit)
	if err != nil {
		return err
	}
	if err := c.kept.SaveSnapshot(ctx, c.run, bundle); err != nil {
		return err
	}
	c.saved = commit
	return nil
}

// begin checks out the commit that a run begins with.
func (c *Checkout) begin(ctx context.Context, base string) (err error) {
	c.setFirst(base)
	if base == "" {
		tree, err := c.baseTree(ctx)
		if err == nil {
			c.saved, err = c.record(ctx, c.first, tree)
		}
		return err
	}
	if err := c.setBranches(ctx, c.first.Branches); err != nil {
		return err
	}
	theirs := call{repository: c.theirs(), files: c.files, args: []string{"read-tree", "--reset", "-u", base}}
	if _, err := git(ctx, "check out "+base, theirs); err != nil {
		return err
	}
	ours := call{repository: c.own, index: filepath.Join(c.place, indexName), args: []string{"read-tree", base}}
	if _, err = git(ctx, "read the index", ours); err == nil {
		c.saved, err = c.record(ctx, c.first, base+"^{tree}")
	}
	return err
}

// setFirst sets the state in which the run began.
func (c *Checkout) setFirst(base string) {
	c.first = state{Base: base}
	if c.address != "" {
		c.first.Head = symbolic + branches + c.branch(1)
	}
	if base != "" {
		c.first.Branches = map[string]string{branches + c.branch(1): base}
	}
}

// baseTree returns the tree of the commit that the run began with, or the empty one.
func (c *Checkout) baseTree(ctx context.Context) (string, error) {
	of := call{repository: c.own, args: []string{"mktree"}}
	if c.first.Base != "" {
		of.args = []string{"rev-parse", "--verify", c.first.Base + "^{tree}"}
	}
	out, err := git(ctx, "find the files that the run began with", of)
	return strings.TrimSpace(out), err
}

// restore fills the folder with a snapshot.
func (c *Checkout) restore(ctx context.Context, bundle []byte, tip string) error {
	file := filepath.Join(c.place, "bundle")
	if err := os.WriteFile(file, bundle, 0o600); err != nil {
		return fmt.Errorf("write the snapshot of the run %s: %w", c.run, err)
	}
	repositories := []string{c.own}
	if c.address != "" {
		repositories = append(repositories, c.theirs())
	}
	for _, repository := range repositories {
		if _, err := git(ctx, "read the snapshot of the run "+c.run, call{repository: repository, args: []string{"bundle", "unbundle", file}}); err != nil {
			return err
		}
	}
	message, err := git(ctx, "read the snapshot of the run "+c.run, call{repository: c.own, args: []string{"show", "-s", "--format=%B", tip}})
	if err != nil {
		return err
	}
	var was state
	if err := json.Unmarshal([]byte(message), &was); err != nil {
		return fmt.Errorf("read the snapshot of the run %s: %w", c.run, err)
	}
	c.setFirst(was.Base)
	c.saved = tip
	if c.address != "" {
		if err := c.setBranches(ctx, was.Branches); err != nil {
			return err
		}
		if err := c.setHead(ctx, was.Head); err != nil {
			return err
		}
	}
	if err := c.setAttributes(true); err != nil {
		return err
	}
	files := call{repository: c.own, files: c.files, index: filepath.Join(c.place, indexName), args: []string{"read-tree", "--reset", "-u", tip}}
	if _, err := git(ctx, "restore the files of the run "+c.run, files); err != nil {
		return err
	}
	return os.Remove(file)
}

// setBranches makes the branches in the run's repository, and those of the clone as
// remote ones, with its tags.
func (c *Checkout) setBranches(ctx context.Context, own map[string]string) error {
	out, err := git(ctx, "list the branches and tags", call{repository: c.clone, args: []string{"for-each-ref", "--format=%(objectname) %(refname)", branches, "refs/tags/"}})
	if err != nil {
		return err
	}
	var commands bytes.Buffer
	for line := range strings.Lines(out) {
		object, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if branch, ok := strings.CutPrefix(name, branches); ok {
			name = "refs/remotes/origin/" + branch
		}
		_, _ = fmt.Fprintf(&commands, "create %s\x00%s\x00", name, object)
	}
	for name, commit := range own {
		_, _ = fmt.Fprintf(&commands, "create %s\x00%s\x00", name, commit)
	}
	_, err = git(ctx, "make the branches", call{repository: c.theirs(), input: commands.Bytes(), args: []string{"update-ref", "-z", "--stdin"}})
	return err
}

// setHead sets HEAD of the run's repository, and an index that has nothing staged.
func (c *Checkout) setHead(ctx context.Context, to string) error {
	args := []string{"update-ref", "--no-deref", "HEAD", to}
	if branch, ok := strings.CutPrefix(to, symbolic); ok {
		args = []string{"symbolic-ref", "HEAD", branch}
	}
	if _, err := git(ctx, "set HEAD", call{repository: c.theirs(), args: args}); err != nil {
		return err
	}
	commit, err := c.headCommit(ctx)
	if err == nil && commit != "" {
		_, err = git(ctx, "read the index", call{repository: c.theirs(), args: []string{"read-tree", commit}})
	}
	return err
}

// theirs is the repository of the run.
func (c *Checkout) theirs() string { return filepath.Join(c.files, gitName) }

// intact reports whether the run's repository is where we made it and reads the objects
// of no other, which could be secret. It is not if the run removed it.
func (c *Checkout) intact() (bool, error) {
	if c.address == "" {
		return false, nil
	}
	switch info, err := os.Lstat(c.theirs()); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read the repository of the run %s: %w", c.run, err)
	case !info.IsDir():
		return false, fmt.Errorf("the run %s made its repository a link to another: its commits cannot be kept", c.run)
	}
	objects, err := os.Lstat(filepath.Join(c.theirs(), "objects"))
	shared, _ := os.ReadFile(filepath.Join(c.theirs(), alternates))
	_, leads := os.Lstat(filepath.Join(c.theirs(), "commondir"))
	common, _ := os.ReadFile(filepath.Join(c.theirs(), "commondir"))
	if err != nil || !objects.IsDir() || len(shared) > 0 && string(shared) != filepath.Join(c.clone, "objects")+"\n" || leads == nil && string(common) != ".\n" { // a box keeps it so
		return false, fmt.Errorf("the run %s connected its repository with another: its commits cannot be kept", c.run)
	}
	return true, nil
}

// objects returns the folder with the objects that the run made; "" is none.
func (c *Checkout) objects() string {
	if ok, err := c.intact(); err != nil || !ok {
		return ""
	}
	return filepath.Join(c.theirs(), "objects")
}

// state reads HEAD and the branches of the run's repository.
func (c *Checkout) state(ctx context.Context) (state, error) {
	now := c.first
	if ok, err := c.intact(); err != nil || !ok {
		return now, err
	}
	now.Branches = nil
	head, isBranch, err := asks(ctx, "read HEAD", call{repository: c.theirs(), args: []string{"symbolic-ref", "-q", "HEAD"}})
	if err != nil {
		return now, err
	}
	now.Head = symbolic + head
	if !isBranch {
		if now.Head, err = c.headCommit(ctx); err != nil {
			return now, err
		}
	}
	out, err := git(ctx, "list the branches", call{repository: c.theirs(), args: []string{"for-each-ref", "--format=%(objectname) %(refname)", branches}})
	if err != nil {
		return now, err
	}
	for line := range strings.Lines(out) {
		if commit, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			if !utf8.ValidString(name) {
				return now, fmt.Errorf("the branch %q of the run %s has a name that is no UTF-8, which cannot be recorded; rename it", name, c.run)
			}
			if now.Branches == nil {
				now.Branches = map[string]string{}
			}
			now.Branches[name] = commit
		}
	}
	return now, nil
}

// headCommit returns the commit that HEAD of the run names; "" is none.
func (c *Checkout) headCommit(ctx context.Context) (string, error) {
	commit, _, err := asks(ctx, "read HEAD", call{repository: c.theirs(), args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}})
	return commit, err
}

// record makes the commit of a snapshot, which reaches all that the state names.
func (c *Checkout) record(ctx context.Context, s state, tree string) (string, error) {
	message, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encode the state of the run %s: %w", c.run, err)
	}
	parents := []string{s.Base}
	if !strings.HasPrefix(s.Head, symbolic) {
		parents = append(parents, s.Head)
	}
	for _, commit := range s.Branches {
		parents = append(parents, commit)
	}
	slices.Sort(parents)
	args := []string{"commit-tree", tree}
	for _, parent := range slices.Compact(parents) {
		if parent != "" {
			args = append(args, "-p", parent)
		}
	}
	out, err := git(ctx, "record the state of the run "+c.run, call{repository: c.own, objects: c.objects(), environ: anywhere, input: message, args: args})
	return strings.TrimSpace(out), err
}

// setAttributes makes git keep all bytes of files as they are, or convert them as the
// repository wants.
func (c *Checkout) setAttributes(raw bool) error {
	text := ""
	if raw {
		text = "* -text -ident -filter !working-tree-encoding\n"
	}
	info := filepath.Join(c.own, "info")
	err := os.MkdirAll(info, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(info, "attributes"), []byte(text), 0o600)
	}
	if err != nil {
		return fmt.Errorf("set the attributes of files: %w", err)
	}
	return nil
}

// tree writes the files into our repository, by way of an index that knows which it
// has. It has its own copy of all objects: the run may prune its own.
func (c *Checkout) tree(ctx context.Context, index string, raw bool) (string, error) {
	if err := c.setAttributes(raw); err != nil {
		return "", err
	}
	ours := call{repository: c.own, files: c.files, index: index}
	doing := "read the files of the run " + c.run
	ours.args = []string{"ls-files", "-z", "--others", "--exclude-standard"}
	fresh, err := git(ctx, doing, ours)
	if err != nil {
		return "", err
	}
	paths := ".\x00"
	for name := range strings.SplitSeq(fresh, "\x00") {
		if strings.HasSuffix(name, "/") { // a repository
			paths += ":(exclude,literal)" + strings.TrimSuffix(name, "/") + "\x00"
		}
	}
	const fromInput = "--pathspec-from-file=-"
	ours.args, ours.input = []string{"add", "--all", fromInput, "--pathspec-file-nul"}, []byte(paths)
	if _, err := git(ctx, doing, ours); err != nil {
		return "", err
	}
	forced, err := c.forced(ctx)
	if err != nil {
		return "", err
	}
	if len(forced) > 0 {
		ours.args, ours.input = []string{"--literal-pathspecs", "add", "--force", fromInput, "--pathspec-file-nul"}, []byte(strings.Join(forced, "\x00"))
		if _, err := git(ctx, doing, ours); err != nil {
			return "", err
		}
	}
	ours.args, ours.input = []string{"write-tree"}, nil
	out, err := git(ctx, doing, ours)
	return strings.TrimSpace(out), err
}

// forced returns the files that the run's repository tracks although it ignores them.
func (c *Checkout) forced(ctx context.Context) ([]string, error) {
	if ok, err := c.intact(); err != nil || !ok {
		return nil, err
	}
	out, err := git(ctx, "list the files of the run "+c.run, call{repository: c.theirs(), files: c.files, args: []string{"ls-files", "-z", "--cached", "--ignored", "--exclude-standard"}})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(name string) bool {
		at := filepath.Join(c.files, filepath.FromSlash(name))
		info, err := os.Lstat(at)
		if name == "" || err != nil || info.IsDir() {
			return true
		}
		folder, err := filepath.EvalSymlinks(filepath.Dir(at))
		return err != nil || folder != filepath.Dir(at) // it lies behind a link
	}), nil
}

// bundle returns a bundle of a snapshot's commit without what the run began with.
func (c *Checkout) bundle(ctx context.Context, commit string) ([]byte, error) {
	doing := "pack the changes of the run " + c.run
	ours := call{repository: c.own, objects: c.objects(), args: []string{"update-ref", snapshotRef, commit}}
	if _, err := git(ctx, doing, ours); err != nil {
		return nil, err
	}
	ours.args = []string{"bundle", "create", "-q", "-", snapshotRef}
	if c.first.Base != "" {
		ours.args = append(ours.args, "^"+c.first.Base)
	}
	ours.max = records.MaxSnapshot
	out, err := git(ctx, doing, ours)
	return []byte(out), err
}

// bundleHeader returns the commits that a bundle is based on and the one that it
// brings. Nil has neither.
func bundleHeader(bundle []byte) (needs []string, tip string, err error) {
	if bundle == nil {
		return nil, "", nil
	}
	header, _, ok := bytes.Cut(bundle, []byte("\n\n"))
	lines := strings.Split(string(header), "\n")
	if !ok || !strings.HasSuffix(lines[0], " git bundle") {
		return nil, "", errors.New("it is no bundle of git")
	}
	for _, line := range lines[1:] {
		id, rest, _ := strings.Cut(strings.TrimPrefix(line, "-"), " ")
		switch {
		case strings.HasPrefix(line, "@"):
		case !commitID.MatchString(id):
			return nil, "", errors.New("it is damaged")
		case strings.HasPrefix(line, "-"):
			needs = append(needs, id)
		case rest == snapshotRef:
			tip = id
		}
	}
	if tip == "" {
		return nil, "", errors.New("it holds no snapshot")
	}
	return needs, tip, nil
}
