// Package git implements the operators vcs.* for the git repository that
// contains the workspace. They run the git command. They run the repository's
// hooks and filters only if necessary: for commits, branches and pushes.
//
// Of the workspace it imports op and tree. Start reading at [Operators.Tools]
// and repository.go.
package git
