// Package crash keeps a second process beside the full screen that does what a
// program which panics cannot do any more, whichever of its goroutines did: it
// gives the terminal back as it was, writes a report and says where that lies.
//
// The runtime writes what it has to say of a crash into a pipe
// ([debug.SetCrashOutput]); the watcher reads the other end. Where the program
// ends in order nothing comes, and the watcher ends with it.
package crash

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"replan/internal/redact"
)

// EnvWatch is the environment variable that makes the program a watcher: whoever
// starts it sees to it that [Watching] is asked first.
const EnvWatch = "REPLAN_CRASH_WATCH"

// brief is what the watcher is told at its start, as one line of JSON.
type brief struct {
	Dir     string      // for reports
	Version string      // of the program
	Tty     *term.State // as it is to be given back
}

// Watch is a watcher over this process that may be started once.
type Watch struct {
	dir, version string
	tty          *os.File
	state        *term.State

	mu      sync.Mutex
	over    bool
	write   *os.File // where the runtime writes of a crash; nil while nobody watches
	watcher *exec.Cmd
}

// New notes how the terminal on tty is to be given back, which is as it is now.
// Reports will go into dir. Where nothing can watch on this system it fails.
func New(dir, version string, tty *os.File) (*Watch, error) {
	if !watches {
		return nil, errors.New("watch for crashes: not on " + runtime.GOOS)
	}
	state, err := term.GetState(tty.Fd())
	if err != nil {
		return nil, fmt.Errorf("watch for crashes: read the state of the terminal: %w", err)
	}
	return &Watch{dir: dir, version: version, tty: tty, state: state}, nil
}

// Start starts the watcher, unless [Watch.Stop] was called before.
func (w *Watch) Start() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || w.write != nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("watch for crashes: find the program: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("watch for crashes: %w", err)
	}
	defer read.Close()             //nolint:errcheck // the watcher has it
	w.watcher = exec.Command(self) //nolint:gosec // this very program
	w.watcher.Env = append(os.Environ(), EnvWatch+"=1")
	w.watcher.Stdin, w.watcher.Stdout, w.watcher.Stderr = read, w.tty, w.tty
	if err := w.watcher.Start(); err != nil {
		_ = write.Close()
		return fmt.Errorf("watch for crashes: start the watcher: %w", err)
	}
	w.write = write
	line, err := json.Marshal(brief{Dir: w.dir, Version: w.version, Tty: w.state})
	if err == nil {
		_, err = write.Write(append(line, '\n'))
	}
	if err == nil {
		err = debug.SetCrashOutput(write, debug.CrashOptions{})
	}
	if err != nil {
		w.end()
		return fmt.Errorf("watch for crashes: %w", err)
	}
	return nil
}

// Stop ends the watcher in order and waits for it.
func (w *Watch) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.end()
}

func (w *Watch) end() {
	if w.write == nil {
		return
	}
	_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
	_ = w.write.Close()
	_ = w.watcher.Wait()
	w.write = nil
}

// Watching reports whether this process was started as a watcher.
func Watching() bool { return os.Getenv(EnvWatch) != "" }

// Main is the watcher: it waits until the program that has started it ends, and
// acts where that crashed. It returns an exit code.
func Main(in io.Reader, tty *os.File) int {
	ignoreSignals()
	lines := bufio.NewReader(in)
	first, err := lines.ReadBytes('\n')
	var b brief
	if err != nil || json.Unmarshal(first, &b) != nil || b.Tty == nil {
		return 1
	}
	if _, err := lines.Peek(1); err != nil {
		return 0 // it ended in order
	}
	// At once: the shell takes the terminal as soon as the program is gone, and
	// then it is no longer ours to change.
	giveBack(tty, b.Tty)
	report, _ := io.ReadAll(io.LimitReader(lines, 4<<20))
	// What is over that is read too: the program could not end while it writes.
	_, _ = io.Copy(io.Discard, lines)
	say(tty, b.Tty, "replan "+b.report(report))
	return 0
}

// Report writes the report of a panic that was caught into dir, and returns the
// sentence that says what happened and where to look.
func Report(dir, version string, value any, stack []byte) string {
	b := brief{Dir: dir, Version: version}
	return b.report(fmt.Appendf(nil, "panic: %v\n\n%s", value, stack))
}

func (b brief) report(report []byte) string {
	file, err := b.write(report, time.Now())
	return sentence(report, file, err)
}

// reset takes back what the screen asked of the terminal: synchronized output,
// the mouse, focus, pasting, the keyboard's protocols, colours, progress, the
// other screen, the hidden cursor.
const reset = "\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[<u\x1b[>4;0m\x1b[0m\x1b]9;4;0\x07\x1b]110\x07\x1b]111\x07\x1b[?1049l\x1b[?25h"

// giveBack gives the terminal back as it was.
func giveBack(tty *os.File, state *term.State) {
	_, _ = tty.WriteString(reset)
	_ = term.Restore(tty.Fd(), state)
}

// say writes a sentence below whatever the runtime has written.
func say(tty *os.File, state *term.State, text string) {
	_ = term.Restore(tty.Fd(), state)
	_, _ = tty.WriteString("\n" + text + "\n")
}

// write writes the report of a crash into a file of its own and returns its name.
func (b brief) write(report []byte, now time.Time) (string, error) {
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(b.Dir, now.UTC().Format("2006-01-02T150405-*.txt"))
	if err != nil {
		return "", err
	}
	head := fmt.Sprintf("replan %s, %s, %s/%s\ncrashed %s\n\n", b.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, now.UTC().Format(time.RFC3339))
	_, err = file.WriteString(redact.Text(head + string(report)))
	if closed := file.Close(); err == nil {
		err = closed
	}
	return filepath.Clean(file.Name()), err
}

// sentence says what happened and where to look.
func sentence(report []byte, file string, err error) string {
	what, _, _ := strings.Cut(string(report), "\n")
	said := "crashed: " + strings.Map(printable, strings.TrimPrefix(what, "panic: ")) + ".\n"
	if err != nil {
		return said + "The report could not be written: " + err.Error() + "."
	}
	return said + "The report is in " + file + ". What a run has done is kept: replan --continue goes on."
}

// printable keeps what a terminal obeys out of what it is shown.
func printable(r rune) rune {
	if r < ' ' || r >= 0x7f && r < 0xa0 {
		return '?'
	}
	return r
}
