package ask

import "golang.org/x/sys/windows"

// terminalInput is the input of the console with this handle. What fails leaves
// it as it is: then a question is put as if nothing were there.
type terminalInput windows.Handle

// waits is not asked here: the events of a console are more than keys.
func (terminalInput) waits() bool { return false }

func (t terminalInput) drop() { _ = windows.FlushConsoleInputBuffer(windows.Handle(t)) }
