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

// panicsOnSignal makes the program panic on an unsupervised goroutine as soon as
// it gets a signal. It writes the process ID to a file.
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

// The program panics on a goroutine that is neither the screen's nor a worker's, or
// Go's runtime ends it.
func TestPanicRestoresTerminalAndWritesReport(t *testing.T) {
	for name, c := range map[string]struct {
		sig         syscall.Signal
		says, shows string
	}{
		"panic": {syscall.SIGUSR1, "replan crashed: struck?", "crash_test.go"}, "SIGQUIT": {syscall.SIGQUIT, "replan crashed: ", "SIGQUIT: quit"},
	} {
		t.Run(name, func(t *testing.T) { checkCrash(t, c.sig, c.says, c.shows) })
	}
}

// checkCrash sends the program a signal that crashes it. It must say says, and its report
// must show where.
func checkCrash(t *testing.T, sig syscall.Signal, says, shows string) {
	t.Helper()
	home, pidFile := t.TempDir(), filepath.Join(t.TempDir(), "pid")
	watcher := newLifeline(t)
	s := open(t, program{home: home, env: []string{"REPLAN_TEST_PANIC=" + pidFile, "ALIVE=" + watcher.addr()}, shell: true})
	s.until(0, "help")
	watcher.held() // the watcher starts after the first frame
	number, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(number))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
	s.until(0, "resumes it.")
	s.keys("\n") // the shell reads it
	out := s.end(2)
	text := ansi.Strip(out)
	where := regexp.MustCompile(`The report is in (\S+\.txt)\.`).FindStringSubmatch(text)
	if where == nil || !strings.Contains(text, says) || filepath.Dir(filepath.Dir(where[1])) != home {
		t.Fatalf("got output %q", text[max(len(text)-400, 0):])
	}
	report, err := os.ReadFile(where[1])
	if err != nil || !strings.Contains(string(report), "goroutine ") || !strings.Contains(string(report), shows) {
		t.Errorf("the report does not show the place: %v\n%s", err, report)
	}
	if info, err := os.Stat(where[1]); err == nil && info.Mode().Perm() != 0o600 {
		t.Errorf("the report has mode %v, want 0600", info.Mode())
	}
}

func TestCleanExitWritesNoReport(t *testing.T) {
	home := t.TempDir()
	s := open(t, program{home: home})
	s.until(0, "help")
	s.keys(ctrlC)
	s.end(0)
	if left, _ := os.ReadDir(filepath.Join(home, "crashes")); len(left) > 0 {
		t.Errorf("got reports %v, want none", left)
	}
}
