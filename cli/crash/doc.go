// Package crash runs a second process, the watcher, beside the program. If the
// program is killed, or panics on any goroutine, the watcher ends its remaining
// children and restores the terminal. It also writes a report of a panic and
// prints its path.
//
// The program and its runtime write into a pipe. They write the start and end of children,
// the program's orderly end, and the text of a crash (runtime/debug.SetCrashOutput). The
// watcher reads the other end and acts when it closes. It has its own session, so that
// signals to the program do not end it.
//
// It imports mcpclient/child, to end children, and internal/redact. Start reading
// at [Watch] for the program, at [Main] for the second process.
package crash
