package app

import (
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/term"

	"replan/cli/ask"
)

// IO is the program's input and output, and whether a person is present.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Terminal bool // both In and Out are terminals
	Getenv   func(string) string
	Getwd    func() (string, error)
	Quiet    time.Duration // without typing before a question on a terminal appears
}

// System returns the IO of the process.
func System() IO {
	return IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Terminal: term.IsTerminal(os.Stdout.Fd()) && term.IsTerminal(os.Stdin.Fd()),
		Getenv:   os.Getenv, Getwd: os.Getwd, Quiet: ask.QuietTime,
	}
}
