//go:build unix

package tui

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// suspension stops the program, as a job of its shell, until the shell continues it.
// It is a [tea.ExecCommand]: the terminal is the shell's until Run returns.
//
// tea.Suspend does the same but may stop the program while a child is about to
// become another program. The child is then stopped first, the thread that started
// it waits for it, and the shell never sees that the program has stopped.
type suspension struct {
	stop func() error // stops the program's process group
}

// suspend returns the command of the key.
func suspend() tea.Msg {
	stop := func() error { return syscall.Kill(0, syscall.SIGTSTP) }
	return tea.Exec(suspension{stop: stop}, nil)()
}

// Run stops the program at a moment without such a child, and returns once the
// program continues.
func (s suspension) Run() error {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := s.stop(); err != nil {
		return os.NewSyscallError("kill", err)
	}
	<-continued
	return nil
}

// SetStdin does nothing: the shell has the terminal.
func (suspension) SetStdin(io.Reader) {}

// SetStdout does nothing.
func (suspension) SetStdout(io.Writer) {}

// SetStderr does nothing.
func (suspension) SetStderr(io.Writer) {}
