// Package change changes files of the workspace: all changes of a call or none.
//
// It computes the diff that a gate shows, refuses changes to files that differ from
// the approved ones, and writes. Of the workspace it imports op, tree and
// code/source. Start reading at [Writer.Make].
package change
