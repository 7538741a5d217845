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
	s.until(at, "next message")
	s.keys("?" + ctrlD)
	s.end(0)
}

func TestKeySuspendsUntilTheShellContinuesTheProgram(t *testing.T) {
	t.Parallel()
	s := open(t, program{jobs: true})
	s.until(0, "ollama serve")
	at := s.mark()
	s.keys("half a goal" + ctrlZ)
	s.until(at, "it is suspended")
	at = s.mark()
	s.keys("\n")
	s.until(at, "half a goal")
	s.keys(ctrlC + ctrlD)
	s.end(0)
}
