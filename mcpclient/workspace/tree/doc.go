// Package tree opens the files of one folder, the workspace. No path leads out of it,
// whatever it says and wherever a link points.
//
// It resolves paths, reads and writes whole files, and walks folders without what
// git ignores. Of this program it imports internal/lazyregexp alone. Start reading
// at [Tree] and [Tree.Resolve].
package tree
