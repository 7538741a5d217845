// Package journal stores the events of runs on disk: one file per run and one
// event per line. Each line has a checksum and a code that authenticates it and
// those before it (chain.go). A written and synced line is never lost. A last
// line torn by a crash is cut off, and a damaged last line is replaced with an
// event that reports it. Any other damage is an error with the line number.
//
// A value larger than 256 KB goes to a separate file beside the journal and is restored
// before the event is decoded. Package values has the format. Content of results that is
// no text lies in the same folder.
//
// It imports the core, planning and agent/store/values. Start reading at [Journal]; [Folder] holds
// the journals of many runs.
package journal
