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
	"replan/mcpclient/child"
)

// EnvWatch is the environment variable that turns the program into a watcher. Any
// program that starts one must check [Watching] first.
const EnvWatch = "REPLAN_CRASH_WATCH"

// brief is what the watcher receives at its start, as one line of JSON.
type brief struct {
	Dir     string      // for reports
	Version string      // of the program
	Tty     *term.State // state to restore; nil without a terminal
}

// mark starts a line that the program itself writes into the pipe. The rest is
// one of these words and, for a child, its group as JSON. A crash contains no
// such lines.
const mark = "\x00"

const (
	childStarted = "+"
	childEnded   = "-"
	screenOpened = "("
	screenClosed = ")"
	inOrder      = "."
)

// Watch controls the watcher of this process. It is a [child.Watcher].
type Watch struct {
	dir, version string
	tty          *os.File // nil without a terminal
	state        *term.State

	mu      sync.Mutex
	over    bool
	screen  bool                 // the full screen is open
	groups  map[child.Group]bool // running groups
	write   *os.File             // pipe to the watcher; nil if none is running
	watcher *exec.Cmd
}

// New returns a watcher that starts with the first child. It records the current
// state of the terminal tty, which may be nil, to restore later. Reports go into
// dir. New returns an error if this system does not support a watcher.
func New(dir, version string, tty *os.File) (*Watch, error) {
	if !watches {
		return nil, errors.New("watch for crashes: not on " + runtime.GOOS)
	}
	w := &Watch{dir: dir, version: version, groups: map[child.Group]bool{}}
	if tty != nil {
		state, err := term.GetState(tty.Fd())
		if err != nil {
			return nil, fmt.Errorf("watch for crashes: read the state of the terminal: %w", err)
		}
		w.tty, w.state = tty, state
	}
	return w, nil
}

// Screen sets whether the full screen is open. Only then does the watcher restore
// the terminal and print about a crash there.
func (w *Watch) Screen(open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.screen = open
	if w.write != nil {
		w.reportScreen()
	}
}

// reportScreen tells the watcher whether the screen is open.
func (w *Watch) reportScreen() {
	what, crashes := screenClosed, (*os.File)(nil)
	if w.screen {
		what, crashes = screenOpened, w.write
	}
	_, _ = w.write.WriteString(mark + what + "\n")
	_ = debug.SetCrashOutput(crashes, debug.CrashOptions{}) // on failure, crashes are merely unwatched
}

// Started registers a group that must end with the program, however that ends.
func (w *Watch) Started(g child.Group) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.groups[g] = true
	if w.write == nil {
		_ = w.start() // it reports all groups; on failure, crashes are merely unwatched
		return
	}
	w.report(childStarted, g)
}

// Ended removes a group that has ended.
func (w *Watch) Ended(g child.Group) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.groups, g)
	w.report(childEnded, g)
}

// report writes a line about a child to the watcher, if one is running.
func (w *Watch) report(what string, g child.Group) {
	if w.write == nil {
		return
	}
	if line, err := json.Marshal(g); err == nil {
		_, _ = fmt.Fprintf(w.write, "%s%s%s\n", mark, what, line)
	}
}

// Start starts the watcher, unless [Watch.Stop] was called before.
func (w *Watch) Start() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.start()
}

// start is Start with the lock held.
func (w *Watch) start() error {
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
	defer read.Close()                                              //nolint:errcheck // the watcher has it
	w.watcher = exec.Command(self)                                  //nolint:gosec // this very program
	w.watcher.Env = append(os.Environ(), EnvWatch+"=1", "GOGC=400") // it starts in four fifths of the time
	w.watcher.Stdin = read
	if w.tty != nil {
		w.watcher.Stdout, w.watcher.Stderr = w.tty, w.tty
	}
	child.Isolate(w.watcher)
	if err := w.watcher.Start(); err != nil {
		_ = write.Close()
		return fmt.Errorf("watch for crashes: start the watcher: %w", err)
	}
	w.write = write
	line, err := json.Marshal(brief{Dir: w.dir, Version: w.version, Tty: w.state})
	if err == nil {
		_, err = write.Write(append(line, '\n'))
	}
	w.reportScreen()
	for g := range w.groups {
		w.report(childStarted, g)
	}
	if err != nil {
		w.end()
		return fmt.Errorf("watch for crashes: %w", err)
	}
	return nil
}

// Stop stops the watcher and waits for it.
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
	if len(w.groups) == 0 { // otherwise the watcher ends the remaining groups
		_, _ = w.write.WriteString(mark + inOrder + "\n")
	}
	_ = w.write.Close()
	_ = w.watcher.Wait()
	w.write = nil
}

// Watching reports whether this process was started as a watcher.
func Watching() bool { return os.Getenv(EnvWatch) != "" }

// Main runs the watcher: it waits until the program that started it ends, and
// cleans up if that crashed. It returns an exit code.
func Main(in io.Reader, tty *os.File) int {
	ignoreSignals()
	lines := bufio.NewReader(in)
	first, err := lines.ReadBytes('\n')
	var b brief
	if err != nil || json.Unmarshal(first, &b) != nil {
		return 1
	}
	p := program{groups: map[child.Group]bool{}}
	p.follow(lines, func() {
		// At once: the shell takes the terminal back as soon as the program is
		// gone, and then we can no longer change it.
		if b.Tty != nil {
			giveBack(tty, b.Tty)
		}
	})
	if p.ended {
		return 0
	}
	for g := range p.groups {
		_ = g.Kill() // a resume finds what still runs
	}
	switch {
	case b.Tty == nil:
	case len(p.report) > 0:
		printSentence(tty, b.Tty, "replan "+b.report(p.report))
	case p.screen:
		giveBack(tty, b.Tty)
	}
	return 0
}

// program is the watcher's knowledge of the program that started it.
type program struct {
	groups map[child.Group]bool // running groups
	screen bool                 // the full screen is open
	ended  bool                 // it ended in order
	report []byte               // text of a crash
}

// follow reads the program's output until it ends, and calls crashed at the start
// of a crash.
func (p *program) follow(lines *bufio.Reader, crashed func()) {
	const mostReport = 4 << 20
	for {
		line, err := lines.ReadBytes('\n')
		text, own := strings.CutPrefix(string(line), mark)
		switch {
		case own:
			p.handle(strings.TrimSuffix(text, "\n"))
		case len(line) > 0:
			if len(p.report) == 0 {
				crashed()
			}
			// Keep reading beyond the limit: the program cannot end while its
			// write blocks.
			p.report = append(p.report, line[:min(len(line), mostReport-len(p.report))]...)
		}
		if err != nil {
			return
		}
	}
}

// handle handles a line of the program itself.
func (p *program) handle(text string) {
	if text == "" {
		return
	}
	var g child.Group
	switch what := text[:1]; what {
	case inOrder:
		p.ended = true
	case screenOpened, screenClosed:
		p.screen = what == screenOpened
	case childStarted, childEnded:
		if json.Unmarshal([]byte(text[1:]), &g) != nil {
			return
		}
		delete(p.groups, g)
		if what == childStarted {
			p.groups[g] = true
		}
	}
}

// Report writes the report of a recovered panic into dir. It returns a sentence
// that says what happened and where the report is.
func Report(dir, version string, value any, stack []byte) string {
	b := brief{Dir: dir, Version: version}
	return b.report(fmt.Appendf(nil, "panic: %v\n\n%s", value, stack))
}

func (b brief) report(report []byte) string {
	file, err := b.write(report, time.Now())
	return sentence(report, file, err)
}

// reset undoes the screen's terminal modes: synchronized output, the mouse,
// focus, pasting, the keyboard's protocols, colors, progress, the alternate
// screen, the hidden cursor.
const reset = "\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[<u\x1b[>4;0m\x1b[0m\x1b]9;4;0\x07\x1b]110\x07\x1b]111\x07\x1b[?1049l\x1b[?25h"

// giveBack restores the terminal.
func giveBack(tty *os.File, state *term.State) {
	_, _ = tty.WriteString(reset)
	_ = term.Restore(tty.Fd(), state)
}

// printSentence prints a sentence below the runtime's output.
func printSentence(tty *os.File, state *term.State, text string) {
	_ = term.Restore(tty.Fd(), state)
	_, _ = tty.WriteString("\n" + text + "\n")
}

// write writes a crash report to a new file and returns its name.
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

// sentence says what happened and where the report is.
func sentence(report []byte, file string, err error) string {
	what, _, _ := strings.Cut(string(report), "\n")
	message := "crashed: " + strings.Map(printable, strings.TrimPrefix(what, "panic: ")) + ".\n"
	if err != nil {
		return message + "The report could not be written: " + err.Error() + "."
	}
	return message + "The report is in " + file + ". Your session is saved: replan --continue resumes it."
}

// printable drops characters that a terminal would interpret.
func printable(r rune) rune {
	if r < ' ' || r >= 0x7f && r < 0xa0 {
		return '?'
	}
	return r
}
