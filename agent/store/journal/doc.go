// Package journal keeps the events of runs on disk: one file a run, one event a
// line, each line with a checksum. A written and synced line is never lost. A last
// line torn by a crash is cut off; a damaged last line is replaced by an event
// that says so; any other damage is refused with the number of the line.
//
// A value larger than 256 KB is kept in a file of its own beside the journal, and
// put back before the event is decoded; see values.go for the form.
//
// It imports the core and planning. Start reading at [Journal]; [Folder] holds the
// journals of many runs.
package journal
