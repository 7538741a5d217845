// Package git holds the operators vcs.* for the git repository that the workspace
// lies in. They run the git command, and nothing that the repository configures
// unless a call has to: hooks and filters run for commits, branches and pushes only.
//
// Of the workspace it imports op and tree. Start reading at [Operators.Tools] and
// repository.go.
package git
