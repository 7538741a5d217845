// Package grep finds the lines of files that match: of the workspace's files, many
// at once, in the order of their paths.
//
// Of the workspace it imports tree and code/source. Start reading at [Search] and [NewFinder].
package grep
