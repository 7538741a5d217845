// Package files implements the operators fs.*: they read, list, search,
// change, move and remove files and folders of the workspace. It also reads
// the files that the user mentions in a message.
//
// Of the workspace it imports op, tree, change and grep. Start reading at
// [Operators.Tools].
package files
