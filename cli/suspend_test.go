//go:build unix

package cli_test

import (
	"syscall"
	"testing"
)

func TestScreenGoesOnAfterTheProgramWasSuspended(t *testing.T) {
	t.Parallel()
	s := open(t, program{})
	s.until(0, "ollama serve")
	s.signal(syscall.SIGSTOP)
	s.resize(120, 40)
	at := s.mark()
	s.keys("?")
	s.signal(syscall.SIGCONT)
	s.until(at, "next pane")
	s.keys("?" + ctrlD)
	s.end(0)
}
