//go:build unix

package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"go.uber.org/goleak"
)

// terminal is the real program on a pseudo-terminal of its own.
type terminal struct {
	t       *testing.T
	screen  *os.File // what a terminal emulator holds
	tty     *os.File // what the program holds
	cmd     *exec.Cmd
	before  *term.State
	exited  chan struct{}
	waited  error         // what waiting for the program came to, once it has exited
	drained chan struct{} // all that was written was read

	mu   sync.Mutex
	out  []byte
	news chan struct{}
}

// program says what is started, and where.
type program struct {
	args   []string
	env    []string // beside what every one gets
	folder string   // "" is a new one
	home   string   // REPLAN_HOME; "" is a new one
	width  uint16   // 0 is 100 x 30
	height uint16
	shell  bool // the terminal is a shell's, which outlives the program
}

// open starts the program on a terminal and sees to its end.
func open(t *testing.T, p program) *terminal {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	if p.folder == "" {
		p.folder = t.TempDir()
	}
	if p.home == "" {
		p.home = t.TempDir()
	}
	if p.width == 0 {
		p.width, p.height = 100, 30
	}
	s := &terminal{t: t, news: make(chan struct{}), exited: make(chan struct{}), drained: make(chan struct{})}
	var err error
	if s.screen, s.tty, err = openPTY(); err != nil {
		t.Fatal(err)
	}
	s.resize(p.width, p.height)
	if s.before, err = term.GetState(s.tty.Fd()); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command("replan", p.args...)
	if p.shell {
		s.cmd = exec.Command("sh", "-c", `replan "$@"; code=$?; read -r _; exit $code`, "sh")
		s.cmd.Args = append(s.cmd.Args, p.args...)
	}
	s.cmd.Dir = p.folder
	s.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "NO_COLOR=", "SSH_TTY=", "TMUX=",
		"OLLAMA_HOST=127.0.0.1:1", "REPLAN_HOME="+p.home, "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=",
		"GORACE=atexit_sleep_ms=0") // a child under the race detector would linger for a second
	s.cmd.Env = append(s.cmd.Env, p.env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.tty, s.tty, s.tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.read()
	go func() {
		defer close(s.exited)
		s.waited = s.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // if it is still there
		<-s.exited
		_ = s.tty.Close()
		<-s.drained
		_ = s.screen.Close()
		goleak.VerifyNone(t, leaks)
	})
	return s
}

// openPTY opens a pseudo-terminal. Reads of its screen end when that is closed,
// which those of the file that package pty opens do not.
func openPTY() (screen, tty *os.File, err error) {
	opened, tty, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer opened.Close() //nolint:errcheck // its twin stays open
	twin, err := syscall.Dup(int(opened.Fd()))
	if err != nil {
		return nil, nil, err
	}
	syscall.CloseOnExec(twin)
	if err := syscall.SetNonblock(twin, true); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(twin), opened.Name()), tty, nil
}

// read keeps what the program writes until nobody can write any more.
func (s *terminal) read() {
	defer close(s.drained)
	piece := make([]byte, 32<<10)
	for {
		n, err := s.screen.Read(piece)
		s.mu.Lock()
		s.out = append(s.out, piece[:n]...)
		close(s.news)
		s.news = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// resize changes the size of the terminal, as a user who pulls at its corner.
func (s *terminal) resize(width, height uint16) {
	s.t.Helper()
	if err := pty.Setsize(s.tty, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		s.t.Fatal(err)
	}
}

// mark is a place in what was written; until looks behind it.
func (s *terminal) mark() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.out)
}

// since is what was written from a mark on.
func (s *terminal) since(from int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.out[from:])
}

// until waits until text was written after from. Blanks do not count, because
// the program moves the cursor over those that are there already.
func (s *terminal) until(from int, text string) {
	s.t.Helper()
	limit := time.NewTimer(longest)
	defer limit.Stop()
	for {
		s.mu.Lock()
		shown, news := packed(string(s.out[from:])), s.news
		s.mu.Unlock()
		if strings.Contains(shown, packed(text)) {
			return
		}
		select {
		case <-news:
		case <-s.exited:
			s.t.Fatalf("%q was not written before the program ended (%v); it wrote\n%s", text, s.waited, shown)
		case <-limit.C:
			s.t.Fatalf("%q was never written, but\n%s", text, shown)
		}
	}
}

// packed is text without escape sequences and blanks.
func packed(text string) string {
	return strings.Join(strings.Fields(ansi.Strip(text)), "")
}

// keys types.
func (s *terminal) keys(keys string) {
	s.t.Helper()
	if _, err := s.screen.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
)

// signal sends a signal to the program alone.
func (s *terminal) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the program's end with this exit code and returns all it wrote.
// The terminal must be as it was: whatever was switched on is off again.
func (s *terminal) end(code int) (out string) {
	s.t.Helper()
	select {
	case <-s.exited:
		var exit *exec.ExitError
		if s.waited != nil && !errors.As(s.waited, &exit) {
			s.t.Fatal(s.waited)
		}
	case <-time.After(longest):
		s.t.Fatalf("the program does not end; it wrote\n%s", packed(s.since(0)))
	}
	after, err := term.GetState(s.tty.Fd())
	if err != nil {
		s.t.Fatal(err)
	}
	if !reflect.DeepEqual(s.before, after) {
		s.t.Errorf("the terminal is left in another mode:\n%+v, before it was\n%+v", after, s.before)
	}
	_ = s.tty.Close()
	<-s.drained
	out = s.since(0)
	for _, fault := range leftOn(out) {
		s.t.Error(fault)
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("the exit code is %d, want %d, after\n%s", got, code, ansi.Strip(out))
	}
	return out
}

const (
	cursorMode    = "25" // on where the others are off
	alternateMode = "1049"
)

var (
	privateMode = regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`)
	keyboard    = regexp.MustCompile(`\x1b\[([<>=])([0-9;]*)u`)
)

// modes is which of a terminal's private modes were ever switched, and how they
// stand at the end.
func modes(out string) map[string]bool {
	on := map[string]bool{cursorMode: true}
	for _, m := range privateMode.FindAllStringSubmatch(out, -1) {
		for _, mode := range strings.Split(m[1], ";") {
			on[mode] = m[2] == "h"
		}
	}
	return on
}

// leftOn names what a program switched on and did not switch off: the alternate
// screen, the mouse, bracketed paste, the extended keyboard.
func leftOn(out string) []string {
	var faults []string
	for mode, on := range modes(out) {
		if on != (mode == cursorMode) {
			faults = append(faults, fmt.Sprintf("the terminal's mode %s is left on: %v", mode, on))
		}
	}
	pushed, flags := 0, ""
	for _, k := range keyboard.FindAllStringSubmatch(out, -1) {
		switch k[1] {
		case ">":
			pushed++
		case "<":
			pushed--
		default:
			flags, _, _ = strings.Cut(k[2], ";")
		}
	}
	if pushed > 0 || flags != "" && flags != "0" {
		faults = append(faults, fmt.Sprintf("the keyboard is left in a mode of its own: %d pushed, flags %q", pushed, flags))
	}
	return faults
}
