// Package workcopy keeps a copy of a folder in which runs work, and brings what they
// changed back when the user takes it.
//
// Each session uses a copy of its own. The copy follows the folder and keeps what runs
// changed until it is taken or dropped, also beyond the session. Programs may write
// anything into it, its repository included. It imports workspace with its change, git
// and tree. Start reading at [Open] and [Copy.Settle].
package workcopy
