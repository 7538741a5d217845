package workspace

// vcsOperators are the tools over the git repository that the workspace lies
// in.
func (o *Operators) vcsOperators() []operator {
	return append(o.vcsReaders(),
		operator{
			name:        "vcs.branch",
			description: "Switch to a git branch, or make one and switch to it. Refused where changes that are not committed would be lost. The result is {branch, created, note}.",
			args: []arg{
				needed("name", "string", "name of the branch"),
				optional("create", "boolean", "make the branch, from the commit that is checked out"),
			},
			idempotent: true, result: branchResult{}, run: o.vcsBranch,
		},
		operator{
			name: "vcs.commit",
			description: "Commit changes of the workspace with git: what is staged, or everything where nothing is staged. Hooks run as usual. " +
				"The result is {hash, branch, subject, files: [{path, added, removed, status}]}.",
			args: []arg{
				needed("message", "string", "message of the commit; its first line is the subject"),
				{name: "paths", kind: "array", items: "string", description: "only these files and folders, as they are now"},
				optional("all", "boolean", "everything, also where something is staged"),
			},
			previews: true, result: commitResult{}, run: o.vcsCommit,
		},
		operator{
			name:        "vcs.push",
			description: "Push a git branch to a remote, never by force. The result is {remote, branch, to, up_to_date, output}.",
			args: []arg{
				optional("remote", "string", "name of a remote; the one that the branch follows where it is left out"),
				optional("branch", "string", "the branch to push; the one that is checked out where it is left out"),
				optional("set_upstream", "boolean", "have the branch follow the one it is pushed to"),
			},
			openWorld: true, result: pushResult{}, run: o.vcsPush,
		},
	)
}

func (o *Operators) vcsReaders() []operator {
	return []operator{
		{
			name:        "vcs.status",
			description: "Say what git sees as changed in the workspace. The result is {branch, upstream, ahead, behind, clean, files: [{path, status, staged}]}.",
			readOnly:    true, idempotent: true, result: statusResult{}, run: o.vcsStatus,
		},
		{
			name: "vcs.diff",
			description: "Show the changes of the workspace that are not committed, or those since a commit, as a unified diff. " +
				"The result is {diff, files: [{path, added, removed, status}], added, removed, truncated}.",
			args: []arg{
				{
					name: "of", kind: "string", enum: []string{"all", "staged", "unstaged", "commit"},
					description: "all (where it is left out): everything with new files; staged; unstaged; commit: what vcs.commit would take",
				},
				optional("path", "string", "only this file or folder"),
				optional("ref", "string", "compare with this commit, branch or tag, or two of them, like main..topic"),
			},
			readOnly: true, idempotent: true, result: diffResult{}, run: o.vcsDiff,
		},
		{
			name:        "vcs.log",
			description: "List the commits of the workspace, the newest first. The result is {commits: [{hash, author, date, subject, body}], total}.",
			args: []arg{
				optional("path", "string", "only commits that changed this file or folder"),
				optional("max", "integer", "how many commits to return; 20 where it is left out"),
				optional("since", "string", "only commits after this date, like 2025-01-31 or 2 weeks ago"),
				optional("allow_none", "boolean", "answer no commits instead of failing where there is no repository"),
			},
			readOnly: true, idempotent: true, result: logResult{}, run: o.vcsLog,
		},
		{
			name:        "vcs.branches",
			description: "List the local git branches. The result is {current, branches: [{name, current, subject}]}.",
			readOnly:    true, idempotent: true, result: branchesResult{}, run: o.vcsBranches,
		},
	}
}
