//go:build unix

package cli_test

import (
	"strings"
	"testing"
)

func TestPullOnTerminalDrawsOneLineAndStopsAtOnce(t *testing.T) {
	t.Parallel()
	host := modelServer(t, make(chan struct{}))
	s := open(t, program{args: []string{"models", "pull", "new:3b"}, env: []string{"OLLAMA_HOST=" + host}})
	s.until(0, "50%", "500 MB of 1.0 GB")
	s.keys("\x03")
	s.until(0, "stopped; what was loaded of new:3b stays")
	if out := s.end(130); strings.Count(out, "\n") != 1 {
		t.Errorf("got %q, want one line left", out)
	}
}

func TestRemoveOnTerminalAsksFirst(t *testing.T) {
	t.Parallel()
	host := modelServer(t, nil)
	for _, c := range []struct{ answer, want string }{{"n\r", "nothing was removed"}, {"y\r", "removed sees:2b (2.0 GB)"}} {
		s := open(t, program{args: []string{"models", "remove", "sees:2b"}, env: []string{"OLLAMA_HOST=" + host}, width: 120})
		s.until(0, "remove sees:2b (2.0 GB) from the disk of Ollama at "+host)
		at := s.mark()
		s.keys(c.answer)
		s.until(at, c.want)
		s.end(0)
	}
}
