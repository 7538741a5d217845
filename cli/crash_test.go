//go:build unix

package cli_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// panicsOnSignal has the program panic on a goroutine that nobody looks after, as
// soon as it is sent a signal. Its process is named in a file.
func panicsOnSignal(file string) {
	struck := make(chan os.Signal, 1)
	signal.Notify(struck, syscall.SIGUSR1)
	if err := os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		panic(err)
	}
	go func() {
		<-struck
		panic("struck\x1b]0;title\x07")
	}()
}

// TestAPanicAnywhereGivesTheTerminalBackAndLeavesAReport crashes the program on a
// goroutine that is neither the screen's nor a worker's.
func TestAPanicAnywhereGivesTheTerminalBackAndLeavesAReport(t *testing.T) {
	home, named := t.TempDir(), filepath.Join(t.TempDir(), "pid")
	watcher := newLifeline(t)
	s := open(t, program{home: home, env: []string{"REPLAN_TEST_PANIC=" + named, "ALIVE=" + watcher.addr()}, shell: true})
	s.until(0, "help")
	watcher.held() // it starts after the first frame
	text, err := os.ReadFile(named)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	s.until(0, "goes on.")
	s.keys("\n") // the shell goes on
	out := s.end(2)
	said := ansi.Strip(out)
	where := regexp.MustCompile(`The report is in (\S+\.txt)\.`).FindStringSubmatch(said)
	if where == nil || !strings.Contains(said, "replan crashed: struck?") || filepath.Dir(filepath.Dir(where[1])) != home {
		t.Fatalf("it says %q", said[max(len(said)-400, 0):])
	}
	report, err := os.ReadFile(where[1])
	if err != nil || !strings.Contains(string(report), "goroutine ") || !strings.Contains(string(report), "crash_test.go") {
		t.Errorf("the report does not say where: %v\n%s", err, report)
	}
	if info, err := os.Stat(where[1]); err == nil && info.Mode().Perm() != 0o600 {
		t.Errorf("the report has mode %v", info.Mode())
	}
}

func TestAProgramThatEndsInOrderLeavesNoReport(t *testing.T) {
	home := t.TempDir()
	s := open(t, program{home: home})
	s.until(0, "help")
	s.keys(ctrlC)
	s.end(0)
	if left, _ := os.ReadDir(filepath.Join(home, "crashes")); len(left) > 0 {
		t.Errorf("there are %v", left)
	}
}
