// Package change changes files of the workspace: all changes of a call or none.
//
// It works out the diff that a gate shows, refuses what is no longer what was
// approved, and writes. Of the workspace it imports op, tree and code/source. Start
// reading at [Writer.Make].
package change
