package ask

import "golang.org/x/sys/windows"

// terminalInput is the input of the console with this handle. Its methods ignore
// errors; the question then appears as if no input were pending.
type terminalInput windows.Handle

// waits always returns false: a console's events are not only keys.
func (terminalInput) waits() bool { return false }

func (t terminalInput) drop() { _ = windows.FlushConsoleInputBuffer(windows.Handle(t)) }
