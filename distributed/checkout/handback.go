package checkout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"replan/distributed/records"
)

// Changes is what a run has changed. The zero value is nothing.
type Changes struct {
	Branch  string // of the repository, to which the changes were pushed
	Patch   string // for git apply, if they were not pushed
	Refused string // why the repository did not take them
}

// maxBranches is the number of branches of one run.
const maxBranches = 20

// HandBack pushes what the run has changed to the branch replan/RUN, with a commit for
// what the run did not commit. If the repository does not take it, and for a folder
// that started empty, it returns a patch. A branch that others moved on is left alone:
// the next one is replan/RUN-2. Nothing is pushed by force.
func (c *Checkout) HandBack(ctx context.Context, message string) (Changes, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := work{Checkout: c, head: c.first.Base, message: message}
	if strings.TrimSpace(message) == "" {
		w.message = "Changes of the run " + c.run
	}
	intact, err := c.intact()
	if intact {
		w.head, err = c.headCommit(ctx)
	}
	if err != nil {
		return Changes{}, err
	}
	if w.tree, err = c.handedTree(ctx, w.head); err != nil {
		return Changes{}, err
	}
	base, err := c.baseTree(ctx)
	if err != nil || w.tree == base && w.head == c.first.Base {
		return Changes{}, err
	}
	var changes Changes
	if c.address != "" {
		branch, err := w.push(ctx)
		if err == nil {
			return Changes{Branch: branch}, nil
		}
		if ctx.Err() != nil {
			return Changes{}, context.Cause(ctx)
		}
		changes.Refused = err.Error()
	}
	changes.Patch, err = git(ctx, "write the patch of the run "+c.run, call{repository: c.own, objects: c.objects(), max: records.MaxSnapshot, args: []string{
		"diff-tree", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", base, w.tree,
	}})
	return changes, err
}

// branch returns the name of the run's branch with a number.
func (c *Checkout) branch(number int) string {
	if number == 1 {
		return "replan/" + c.run
	}
	return fmt.Sprintf("replan/%s-%d", c.run, number)
}

// handedTree writes the files as the repository wants them, with its line ends.
func (c *Checkout) handedTree(ctx context.Context, head string) (string, error) {
	index := filepath.Join(c.place, "handed.index")
	if err := os.RemoveAll(index); err != nil {
		return "", fmt.Errorf("read the files of the run %s: %w", c.run, err)
	}
	if head != "" {
		if _, err := git(ctx, "read the index", call{repository: c.own, objects: c.objects(), index: index, args: []string{"read-tree", head}}); err != nil {
			return "", err
		}
	}
	return c.tree(ctx, index, false)
}

// work is what a run hands back.
type work struct {
	*Checkout
	head    string // commit; "" is none
	tree    string
	message string
}

// push pushes the work to the first branch that no one else moved, and returns its
// name.
func (w work) push(ctx context.Context) (string, error) {
	there, err := w.handed(ctx)
	if err != nil {
		return "", err
	}
	for number := 1; number <= maxBranches; number++ {
		name := w.branch(number)
		commit, ok, err := w.commitOn(ctx, there[name])
		if err != nil {
			return "", err
		}
		if !ok {
			continue
		}
		if commit == there[name] {
			return name, nil
		}
		_, err = git(ctx, "push to "+shown(w.address), call{repository: w.own, objects: w.objects(), remote: w.address, args: []string{
			"push", "-q", "--no-follow-tags", "--recurse-submodules=no", "--", w.address, commit + ":" + branches + name,
		}})
		return name, err
	}
	return "", fmt.Errorf("%s has %d branches of the run %s that others moved: remove one", shown(w.address), maxBranches, w.run)
}

// handed returns the commits of the run's branches in the repository, by name.
func (w work) handed(ctx context.Context) (map[string]string, error) {
	out, err := git(ctx, "look for branches of the run in "+shown(w.address), call{repository: w.own, remote: w.address, args: []string{
		"ls-remote", "--heads", "--", w.address, branches + w.branch(1) + "*",
	}})
	if err != nil {
		return nil, err
	}
	there := map[string]string{}
	for line := range strings.Lines(out) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), "\t"+branches)
		there[name] = commit
	}
	return there, nil
}

// commitOn returns the commit to push to a branch, whose tip is given ("" for none):
// tip itself if it has the work already. It is not ok if another process moved the
// branch.
func (w work) commitOn(ctx context.Context, tip string) (commit string, ok bool, err error) {
	ours, tree, err := w.fetch(ctx, tip)
	if err != nil {
		return "", false, err
	}
	follows, err := w.contains(ctx, w.head, tip)
	if err != nil {
		return "", false, err
	}
	switch {
	case follows && w.head == "":
		commit, err = w.commit(ctx)
	case follows:
		_, tree, err = w.about(ctx, w.head)
		if commit = w.head; err == nil && tree != w.tree {
			commit, err = w.commit(ctx, w.head)
		}
	case !ours:
		return "", false, nil
	case tree == w.tree:
		commit = tip // the run was handed back before, with the same files
	default:
		parents := []string{tip}
		old, asked := w.contains(ctx, tip, w.head)
		if !old {
			parents = append(parents, w.head)
		}
		if err = asked; err == nil {
			commit, err = w.commit(ctx, parents...)
		}
	}
	return commit, err == nil, err
}

// fetch fetches the tip of a branch of the run, and returns what is known of it; ""
// is none.
func (w work) fetch(ctx context.Context, tip string) (ours bool, tree string, err error) {
	if tip == "" {
		return false, "", nil
	}
	_, err = git(ctx, "fetch from "+shown(w.address), call{repository: w.own, objects: w.objects(), remote: w.address, args: []string{
		"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", w.address, tip,
	}})
	if err != nil {
		return false, "", err
	}
	return w.about(ctx, tip)
}

// about returns whether we made a commit, and its tree.
func (w work) about(ctx context.Context, commit string) (ours bool, tree string, err error) {
	out, err := git(ctx, "read a commit", call{repository: w.own, objects: w.objects(), args: []string{"show", "-s", "--format=%T %cn %ce", commit}})
	tree, committer, _ := strings.Cut(strings.TrimSpace(out), " ")
	return strings.HasPrefix(committer, author+" "+author+"@"), tree, err
}

// contains reports whether a commit has another in its history. Each has "", no commit.
func (w work) contains(ctx context.Context, commit, other string) (bool, error) {
	if commit == "" || other == "" {
		return other == "", nil
	}
	_, yes, err := asks(ctx, "compare commits", call{repository: w.own, objects: w.objects(), args: []string{"merge-base", "--is-ancestor", other, commit}})
	return yes, err
}

// author is who commits what a run left uncommitted.
const author = "replan"

// commit makes a commit of the work.
func (w work) commit(ctx context.Context, parents ...string) (string, error) {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	args := []string{"commit-tree", w.tree}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	email := author + "@" + host
	out, err := git(ctx, "commit the changes of the run "+w.run, call{repository: w.own, objects: w.objects(), args: args, input: []byte(w.message), environ: []string{
		"GIT_AUTHOR_NAME=" + author, "GIT_AUTHOR_EMAIL=" + email, "GIT_COMMITTER_NAME=" + author, "GIT_COMMITTER_EMAIL=" + email,
	}})
	return strings.TrimSpace(out), err
}
