// Package crash runs a second process, the watcher, beside the program. When the
// program is killed, or panics on any goroutine, the watcher ends the children that
// still run, restores the terminal, writes a report of a panic and says where it is.
//
// The program and its runtime write into a pipe: which children start and end, that
// the program ends in order, and the text of a crash (runtime/debug.SetCrashOutput). The
// watcher reads the other end, and acts when it is closed. It has a session of its
// own, so that what ends the program does not end it.
//
// It imports mcpclient/child, to end children, and internal/redact. Start reading at
// [Watch] for the program, at [Main] for the second process.
package crash
