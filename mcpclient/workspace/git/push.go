package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"replan/mcpclient/workspace/op"
)

type branchResult struct {
	Branch  string `json:"branch"`
	Created bool   `json:"created"`
	Note    string `json:"note,omitempty"`
}

type branchArgs struct {
	Name   string `json:"name" jsonschema:"name of the branch"`
	Create bool   `json:"create,omitempty" jsonschema:"make the branch, from the commit that is checked out"`
}

// pusher switches and pushes branches.
type pusher struct {
	repositories *repositories
	turn         turn
}

func (o *pusher) vcsBranch(ctx context.Context, c op.Call, args branchArgs) (*op.Answer[branchResult], error) {
	release, err := o.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	r, err := o.repositories.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.branchName(ctx, args.Name); err != nil {
		return nil, err
	}
	exists, err := r.hasBranch(ctx, args.Name)
	if err != nil {
		return nil, err
	}
	if args.Create && exists {
		return nil, fmt.Errorf("the branch %s exists already; leave out create to switch to it", args.Name)
	}
	if state := r.underway(); state != "" {
		return nil, fmt.Errorf("a %s is not finished in this repository; finish or abort it with git first", state)
	}
	flags := []string{"switch", "--quiet", "--no-progress"}
	if args.Create {
		flags = append(flags, "--create")
	}
	out, err := r.git(ctx, gitRun{args: append(flags, args.Name), asUser: true, send: c.Sender(ctx)})
	if err != nil {
		return nil, err
	}
	if out.exit != 0 {
		return nil, r.notSwitched(args.Name, out)
	}
	result := branchResult{Branch: args.Name, Created: args.Create}
	if r.prefix != "" {
		result.Note = "the files of the repository outside the workspace were switched too"
	}
	text := "switched to " + args.Name
	if args.Create {
		text = "made the branch " + args.Name + " and switched to it"
	}
	return op.Reply(result, strings.TrimSuffix(text+"; "+result.Note, "; ")), nil
}

// notSwitched returns an error that says why git stays on its branch and which
// files prevent the switch.
func (r gitRepository) notSwitched(name string, out gitOutput) error {
	const most = 5 // maximum number of files to name
	var files []string
	for line := range strings.Lines(out.stderr) {
		if strings.HasPrefix(line, "\t") {
			files = append(files, strings.TrimSpace(line))
		}
	}
	switch {
	case len(files) > 0:
		more := ""
		if len(files) > most {
			more = fmt.Sprintf(" and %d more", len(files)-most)
			files = files[:most]
		}
		return fmt.Errorf("switching to %s would lose what is in %s%s and is not committed; commit it first", name, strings.Join(files, ", "), more)
	case strings.Contains(out.stderr, "invalid reference"):
		return fmt.Errorf("there is no branch %s; vcs.branches lists them, and create makes it", name)
	default:
		return out.failure("switch to " + name)
	}
}

// branchName refuses invalid branch names: options, commits and names that
// refer to something else.
func (r gitRepository) branchName(ctx context.Context, name string) error {
	bad := fmt.Errorf("%q cannot be the name of a branch; take letters, digits, dashes and slashes", name)
	if name == "" || name == "HEAD" || strings.HasPrefix(name, "-") || strings.Contains(name, "@{") || strings.ContainsRune(name, 0) {
		return bad
	}
	out, err := r.git(ctx, gitRun{args: []string{"check-ref-format", "--branch", name}})
	if err == nil && out.exit != 0 {
		err = bad
	}
	return err
}

func (r gitRepository) hasBranch(ctx context.Context, name string) (bool, error) {
	out, err := r.git(ctx, gitRun{args: []string{"show-ref", "--verify", "--quiet", "refs/heads/" + name}})
	return out.exit == 0, err
}

type pushResult struct {
	Remote   string `json:"remote"`
	Branch   string `json:"branch"`
	To       string `json:"to"` // branch on the remote
	UpToDate bool   `json:"up_to_date"`
	Output   string `json:"output"`
}

type pushArgs struct {
	Remote      string `json:"remote,omitempty" jsonschema:"name of a remote; default: the one that the branch follows"`
	Branch      string `json:"branch,omitempty" jsonschema:"the branch to push; default: the one that is checked out"`
	SetUpstream bool   `json:"set_upstream,omitempty" jsonschema:"have the branch follow the one it is pushed to"`
}

func (o *pusher) vcsPush(ctx context.Context, c op.Call, args pushArgs) (*op.Answer[pushResult], error) {
	r, err := o.repositories.open(ctx)
	if err != nil {
		return nil, err
	}
	if args.Branch == "" {
		if args.Branch, err = r.branch(ctx); err != nil {
			return nil, err
		}
		if args.Branch == "" {
			return nil, errors.New("no branch is checked out; name the branch to push")
		}
	}
	if err := r.branchName(ctx, args.Branch); err != nil {
		return nil, err
	}
	if exists, err := r.hasBranch(ctx, args.Branch); err != nil {
		return nil, err
	} else if !exists {
		return nil, fmt.Errorf("there is no branch %s with a commit; vcs.branches lists them", args.Branch)
	}
	remote, to, err := r.target(ctx, args.Branch, args.Remote, args.SetUpstream)
	if err != nil {
		return nil, err
	}
	flags := []string{"push", "--porcelain", "--no-progress", "--no-follow-tags", "--recurse-submodules=no"}
	if args.SetUpstream {
		flags = append(flags, "--set-upstream")
	}
	flags = append(flags, "--", remote, "refs/heads/"+args.Branch+":refs/heads/"+to)
	quiet, err := r.askNobody(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.git(ctx, gitRun{args: flags, asUser: true, send: c.Sender(ctx), environ: quiet})
	if err != nil {
		return nil, err
	}
	if out.exit != 0 {
		return nil, r.notPushed(remote, to, out)
	}
	result := pushResult{Remote: remote, Branch: args.Branch, To: to, Output: op.MiddleCut(strings.TrimSpace(out.stderr), maxBody)}
	text := fmt.Sprintf("pushed %s to %s of %s", args.Branch, to, remote)
	if result.UpToDate = strings.HasPrefix(verdict(out.data), "="); result.UpToDate {
		text = fmt.Sprintf("%s of %s has all of %s already", to, remote, args.Branch)
	}
	return op.Reply(result, strings.TrimSpace(text+"\n"+result.Output)), nil
}

// askNobody keeps ssh from asking for a password on the hidden terminal,
// unless the user has configured an ssh command.
func (r gitRepository) askNobody(ctx context.Context) ([]string, error) {
	for _, entry := range r.runner.Environ {
		if strings.HasPrefix(entry, "GIT_SSH_COMMAND=") || strings.HasPrefix(entry, "GIT_SSH=") {
			return nil, nil
		}
	}
	out, err := r.git(ctx, gitRun{args: []string{"config", "--get", "core.sshCommand"}})
	if err != nil || out.exit == 0 {
		return nil, err
	}
	return []string{"GIT_SSH_COMMAND=ssh -oBatchMode=yes"}, nil
}

// verdict returns the line of git push --porcelain about the pushed branch.
func verdict(data string) string {
	for line := range strings.Lines(data) {
		if strings.Contains(line, "\trefs/heads/") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func (r gitRepository) notPushed(remote, to string, out gitOutput) error {
	line := verdict(out.data)
	switch {
	case strings.HasPrefix(line, "!") && (strings.Contains(line, "fetch first") || strings.Contains(line, "non-fast-forward")):
		return fmt.Errorf("%s of %s has commits that are not here, and nothing is pushed by force; fetch and merge or rebase first", to, remote)
	case strings.HasPrefix(line, "!"):
		why := line[strings.LastIndexByte(line, '\t')+1:]
		return fmt.Errorf("%s took nothing: %s", remote, strings.Join(strings.Fields(why+" "+op.MiddleCut(out.stderr, maxBody)), " "))
	case strings.Contains(out.stderr, "Host key verification failed"):
		return fmt.Errorf("ssh does not know the host of %s, and replan confirms no host key; push once with git itself", remote)
	case r.runner.Box != nil && strings.Contains(out.stderr, "Permission denied"):
		return fmt.Errorf("%s denied access to git: an isolated program reaches no ssh agent; push with git itself once you have taken the changes", remote)
	case strings.Contains(out.stderr, "could not read Username"), strings.Contains(out.stderr, "Permission denied"):
		return fmt.Errorf("%s denied access to git, and replan cannot ask for a password; push once with git itself, or set up a key or a credential helper", remote)
	default:
		return out.failure("push to " + remote)
	}
}

// target returns the remote and the remote branch to push a branch to: its
// upstream, or a branch of the same name.
func (r gitRepository) target(ctx context.Context, branch, remote string, follow bool) (string, string, error) {
	out, err := r.must(ctx, "list the remotes", gitRun{args: []string{"remote"}})
	if err != nil {
		return "", "", err
	}
	remotes := strings.Fields(out.data)
	up, err := r.must(ctx, "find what the branch follows", gitRun{args: []string{
		"for-each-ref", "--format=%(upstream:remotename)%00%(upstream:remoteref)", "refs/heads/" + branch,
	}})
	if err != nil {
		return "", "", err
	}
	followed, ref, _ := strings.Cut(strings.TrimSpace(up.data), "\x00")
	to, isBranch := strings.CutPrefix(ref, "refs/heads/")
	switch {
	case len(remotes) == 0:
		return "", "", errors.New("the repository has no remote to push to; add one with git remote add")
	case remote != "" && !slices.Contains(remotes, remote):
		return "", "", fmt.Errorf("there is no remote %q; there is %s", remote, strings.Join(remotes, ", "))
	case followed != "" && followed != "." && isBranch && (remote == "" || remote == followed):
		return followed, to, nil
	case remote != "":
		return remote, branch, nil
	case !follow:
		return "", "", fmt.Errorf("the branch %s follows no branch of a remote yet; call vcs.push with set_upstream true, or name the remote (%s)", branch, strings.Join(remotes, ", "))
	case slices.Contains(remotes, "origin"):
		return "origin", branch, nil
	case len(remotes) == 1:
		return remotes[0], branch, nil
	default:
		return "", "", fmt.Errorf("there are several remotes; name one of %s", strings.Join(remotes, ", "))
	}
}
