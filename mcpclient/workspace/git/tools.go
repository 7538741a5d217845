package git

import "replan/mcpclient/workspace/op"

// Tools returns the tools for the git repository that contains the workspace.
func (o *Operators) Tools() []op.Tool {
	return append(o.vcsReaders(),
		op.Op[branchArgs, branchResult]{
			Name:        "vcs.branch",
			Description: "Switch to a git branch, or make one and switch to it. Refused where changes that are not committed would be lost. The result is {branch, created, note}.",
			Idempotent:  true, Run: o.pusher.vcsBranch,
		}.Tool(),
		op.Op[commitArgs, commitResult]{
			Name: "vcs.commit",
			Description: "Commit changes of the workspace with git: what is staged, or everything where nothing is staged. Hooks run as usual. " +
				"The result is {hash, branch, subject, files: [{path, added, removed, status}]}.",
			Previews: true, Run: o.committer.vcsCommit,
		}.Tool(),
		op.Op[pushArgs, pushResult]{
			Name:        "vcs.push",
			Description: "Push a git branch to a remote, never by force. The result is {remote, branch, to, up_to_date, output}.",
			OpenWorld:   true, Run: o.pusher.vcsPush,
		}.Tool(),
	)
}

func (o *Operators) vcsReaders() []op.Tool {
	return []op.Tool{
		op.Op[struct{}, statusResult]{
			Name:        "vcs.status",
			Description: "Say what git sees as changed in the workspace. The result is {branch, upstream, ahead, behind, clean, files: [{path, status, staged}]}.",
			ReadOnly:    true, Idempotent: true, Run: o.reader.vcsStatus,
		}.Tool(),
		op.Op[diffArgs, diffResult]{
			Name: "vcs.diff",
			Description: "Show the changes of the workspace that are not committed, or those since a commit, as a unified diff. " +
				"The result is {diff, files: [{path, added, removed, status}], added, removed, truncated}.",
			Enum:     map[string][]string{"of": {"all", "staged", "unstaged", "commit"}},
			ReadOnly: true, Idempotent: true, Run: o.differ.vcsDiff,
		}.Tool(),
		op.Op[logArgs, logResult]{
			Name:        "vcs.log",
			Description: "List the commits of the workspace, the newest first. The result is {commits: [{hash, author, date, subject, body}], total}.",
			ReadOnly:    true, Idempotent: true, Run: o.reader.vcsLog,
		}.Tool(),
		op.Op[showArgs, showResult]{
			Name: "vcs.show",
			Description: "Show a commit: its author, whole message and changes. " +
				"The result is {hash, author, date, subject, body, diff, files: [{path, added, removed, status}], added, removed, truncated}.",
			ReadOnly: true, Idempotent: true, Run: o.shower.vcsShow,
		}.Tool(),
		op.Op[struct{}, branchesResult]{
			Name:        "vcs.branches",
			Description: "List the local git branches. The result is {current, branches: [{name, current, subject}]}.",
			ReadOnly:    true, Idempotent: true, Run: o.reader.vcsBranches,
		}.Tool(),
	}
}
