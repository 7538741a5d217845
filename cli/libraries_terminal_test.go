//go:build unix

package cli_test

import (
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// noises are the ways in which libraries write by themselves.
var noises = map[string]func(text string){
	"slog":           func(text string) { slog.Warn(text) },
	"slog's logger":  func(text string) { slog.Default().With("a", 1).Error(text) },
	"log":            func(text string) { log.Print(text) },
	"log's logger":   func(text string) { log.Default().Println(text) },
	"standard error": func(text string) { _, _ = fmt.Fprintln(os.Stderr, text) },
	"half a line":    func(text string) { _, _ = fmt.Fprint(os.Stderr, text+"\n"+text+", the rest") },
}

// noiseOf is what a noise of a name writes.
func noiseOf(name string) string { return "noise-" + strings.ReplaceAll(name, " ", "-") }

// noisyOnSignal makes the program write in all of these ways once it gets a signal, and
// then end.
func noisyOnSignal() {
	struck := make(chan os.Signal, 1)
	signal.Notify(struck, syscall.SIGUSR1)
	go func() {
		<-struck
		for name, write := range noises {
			write(noiseOf(name))
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	}()
}

func TestLibrariesWriteToTheLogWhileTheScreenIsUp(t *testing.T) {
	home := t.TempDir()
	s := open(t, program{home: home, env: []string{"REPLAN_TEST_NOISE=1"}})
	s.until(0, "help")
	s.signal(syscall.SIGUSR1)
	out := s.end(0)
	logged, err := os.ReadFile(filepath.Join(home, "logs", "replan.log")) //nolint:gosec // a file of this test
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out, "noise-") {
		t.Errorf("the terminal got %q", out[strings.Index(out, "noise-"):][:40])
	}
	for name := range noises {
		if !strings.Contains(string(logged), noiseOf(name)) {
			t.Errorf("%s is not in the log:\n%s", name, logged)
		}
	}
}
