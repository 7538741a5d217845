//go:build unix

package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
)

// terminal runs the real program on its own pseudo-terminal.
type terminal struct {
	t          *testing.T
	screen     *os.File // the terminal emulator's end
	tty        *os.File // the program's end
	cmd        *exec.Cmd
	before     *term.State
	exited     chan struct{}
	waited     error       // result of Wait, valid once exited is closed
	after      *term.State // of the terminal at the end, valid once exited is closed
	afterError error
	drained    chan struct{} // closed when all output has been read

	mu   sync.Mutex
	out  []byte
	news chan struct{}
}

// program describes a program to start.
type program struct {
	args   []string
	env    []string // in addition to the common environment
	folder string   // "" means a new one
	home   string   // REPLAN_HOME; "" means a new one
	width  uint16   // 0 means 100 x 30
	height uint16
	shell  bool // run the program from a shell that outlives it
	jobs   bool // run it as a job of a shell that says so when it is suspended, and continues it once a line comes
}

// open starts the program on a terminal and kills it when the test ends.
func open(t *testing.T, p program) *terminal {
	t.Helper()
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
	if p.jobs {
		s.cmd = exec.Command("sh", "-mc", `replan "$@"; echo it is suspended; read -r _; fg`, "sh")
		s.cmd.Args = append(s.cmd.Args, p.args...)
	}
	s.cmd.Dir = p.folder
	s.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "COLORFGBG=15;0", "NO_COLOR=", "SSH_TTY=", "TMUX=",
		"OLLAMA_HOST=127.0.0.1:1", "REPLAN_HOME="+p.home, "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=-ldflags=-w", "GOGC="+lessCollection,
		"GORACE=atexit_sleep_ms=0") // a child with the race detector would linger for a second
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
		s.after, s.afterError = term.GetState(s.tty.Fd())
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = s.tty.Close() // the reader takes what is left, and ends
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // if it still runs
		<-s.exited
		<-s.drained
		_ = s.screen.Close()
	})
	return s
}

// openPTY opens a pseudo-terminal. Closing its screen ends reads from it, unlike
// with the file that package pty opens.
func openPTY() (screen, tty *os.File, err error) {
	opened, tty, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer opened.Close() //nolint:errcheck // its duplicate stays open
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

// read collects the program's output until the terminal is closed.
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

// resize changes the size of the terminal.
func (s *terminal) resize(width, height uint16) {
	s.t.Helper()
	s.mu.Lock() // the end of the program closes it
	defer s.mu.Unlock()
	if err := pty.Setsize(s.tty, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		s.t.Fatal(err)
	}
}

// mark returns the current position in the output, for until and since.
func (s *terminal) mark() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.out)
}

// since returns the output after a mark.
func (s *terminal) since(from int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.out[from:])
}

// until waits for one of the texts in the output after from. It ignores blanks, because
// the program skips existing ones by moving the cursor.
func (s *terminal) until(from int, texts ...string) {
	s.t.Helper()
	limit := time.NewTimer(longest)
	defer limit.Stop()
	for {
		ended := isClosed(s.drained)
		s.mu.Lock()
		shown, news := packed(string(s.out[from:])), s.news
		s.mu.Unlock()
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(shown, packed(text)) }) {
			return
		}
		if ended {
			<-s.exited
			s.t.Fatalf("the program ended (%v) without writing %q; it wrote\n%s", s.waited, texts, shown)
		}
		select {
		case <-news:
		case <-s.drained:
		case <-limit.C:
			s.t.Fatalf("timed out waiting for %q; the program wrote\n%s", texts, shown)
		}
	}
}

// isClosed reports whether a channel is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// packed returns text without escape sequences and blanks.
func packed(text string) string {
	return strings.Join(strings.Fields(ansi.Strip(text)), "")
}

// keys types keys.
func (s *terminal) keys(keys string) {
	s.t.Helper()
	if _, err := s.screen.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	ctrlZ = "\x1a"
)

// signal sends a signal to the program alone.
func (s *terminal) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the program to end, checks its exit code and returns all of its
// output. It also checks that the terminal is restored and all modes are off.
func (s *terminal) end(code int) (out string) {
	s.t.Helper()
	select {
	case <-s.exited:
		var exit *exec.ExitError
		if s.waited != nil && !errors.As(s.waited, &exit) {
			s.t.Fatal(s.waited)
		}
	case <-time.After(longest):
		s.t.Fatalf("the program did not end; it wrote\n%s", packed(s.since(0)))
	}
	if s.afterError != nil {
		s.t.Fatal(s.afterError)
	}
	if !reflect.DeepEqual(s.before, s.after) {
		s.t.Errorf("got terminal mode\n%+v, want\n%+v", s.after, s.before)
	}
	<-s.drained
	out = s.since(0)
	for _, fault := range leftOn(out) {
		s.t.Error(fault)
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("got exit code %d, want %d, after\n%s", got, code, ansi.Strip(out))
	}
	return out
}

// Private modes of a terminal. Wrapping and the cursor are on by default, unlike the
// others. Wrapping is off only while the last cell of the window is written.
const (
	wrappingMode  = "7"
	cursorMode    = "25"
	alternateMode = "1049"
)

var (
	privateMode = regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`)
	keyboard    = regexp.MustCompile(`\x1b\[([<>=])([0-9;]*)u`)
)

// modes returns the final state of each private mode that was ever switched.
func modes(out string) map[string]bool {
	on := map[string]bool{cursorMode: true}
	for _, m := range privateMode.FindAllStringSubmatch(out, -1) {
		for _, mode := range strings.Split(m[1], ";") {
			on[mode] = m[2] == "h"
		}
	}
	return on
}

// leftOn lists the modes that a program did not restore: the alternate screen, the
// mouse, bracketed paste, the extended keyboard.
func leftOn(out string) []string {
	var faults []string
	for mode, on := range modes(out) {
		if on != (mode == cursorMode || mode == wrappingMode) {
			faults = append(faults, fmt.Sprintf("terminal mode %s was left as: %v", mode, on))
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
		faults = append(faults, fmt.Sprintf("the keyboard mode was not restored: %d pushed, flags %q", pushed, flags))
	}
	return faults
}
