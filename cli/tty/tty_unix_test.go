//go:build unix

package tty_test

import (
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"

	"replan/cli/tty"
	"replan/themes"
)

// pseudoTerminal returns a terminal of 40 columns.
func pseudoTerminal(t *testing.T) *os.File {
	t.Helper()
	control, terminal, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminal:", err)
	}
	t.Cleanup(func() { _ = control.Close(); _ = terminal.Close() })
	if err := pty.Setsize(control, &pty.Winsize{Rows: 20, Cols: 40}); err != nil {
		t.Fatal(err)
	}
	return terminal
}

// open returns the terminal for these variables; nil is none.
func open(t *testing.T, variables map[string]string) *tty.Terminal {
	t.Helper()
	for _, name := range []string{"TERM", "COLORTERM", "NO_COLOR", "TMUX", "CLICOLOR", "CLICOLOR_FORCE"} {
		t.Setenv(name, variables[name])
	}
	terminal := pseudoTerminal(t)
	return tty.Open(terminal, tty.Options{
		Theme: themes.Dark, Getenv: os.Getenv, Mode: themes.Mode{NoColor: variables["NO_COLOR"] != ""},
	})
}

func TestSentenceIsBrokenBetweenWordsOnTerminal(t *testing.T) {
	const sentence = "unknown command \"rnu\"; did you mean run? To use it as a goal: replan -- rnu"
	terminal := pseudoTerminal(t)
	want := "replan: unknown command \"rnu\"; did you\n        mean run? To use it as a goal:\n        replan -- rnu\n"
	if got := tty.Sentence(terminal, "replan:", sentence); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := tty.Sentence(&strings.Builder{}, "replan:", sentence), "replan: "+sentence+"\n"; got != want {
		t.Errorf("in a pipe, got\n%s", got)
	}
}

func TestTerminalGetsOnlyColorsThatItHas(t *testing.T) {
	for name, c := range map[string]struct {
		variables map[string]string
		want      string // begins the color; "" is none
	}{
		"true color": {map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "38;2;"},
		"256":        {map[string]string{"TERM": "xterm-256color"}, "38;5;"},
		"16":         {map[string]string{"TERM": "xterm"}, "91m"},
		"NO_COLOR":   {map[string]string{"TERM": "xterm-256color", "NO_COLOR": "yes"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			terminal := open(t, c.variables)
			var out strings.Builder
			if _, err := terminal.Writer(&out).Write([]byte(terminal.Styles.Danger.UnsetBold().Render("x"))); err != nil {
				t.Fatal(err)
			}
			want := "\x1b[" + c.want
			if c.want == "" {
				want = "x"
			}
			if got := out.String(); !strings.HasPrefix(got, want) {
				t.Errorf("got %q, want it to begin with %q", got, want)
			}
		})
	}
	if open(t, map[string]string{"TERM": "dumb"}) != nil {
		t.Error("a dumb terminal gets escape sequences")
	}
}
