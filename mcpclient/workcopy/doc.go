// Package workcopy keeps a copy of a folder in which runs work, and brings what they
// changed back when the user takes it.
//
// A folder has one copy for each session at a time. The copy follows the folder, and
// keeps what runs changed until it is taken or dropped, also beyond the session. It
// imports workspace and box's neighbours below it. Start reading at [Open] and
// [Copy.Refresh].
package workcopy
