//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"replan/agent/ollama/ollamatest"
)

// lifeline is what a child of the program holds on to. When the child has
// gone, whatever ended it, the system lets go.
type lifeline struct {
	t        *testing.T
	listener *net.TCPListener
	conn     net.Conn
}

func newLifeline(t *testing.T) *lifeline {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &lifeline{t: t, listener: l}
}

func (l *lifeline) addr() string { return l.listener.Addr().String() }

// held waits until a child holds on.
func (l *lifeline) held() {
	l.t.Helper()
	_ = l.listener.SetDeadline(time.Now().Add(longest))
	var err error
	if l.conn, err = l.listener.Accept(); err != nil {
		l.t.Fatalf("no child came up: %v", err)
	}
	l.t.Cleanup(func() { _ = l.conn.Close() })
	if _, err := bufio.NewReader(l.conn).ReadString('\n'); err != nil {
		l.t.Fatalf("the child said nothing: %v", err)
	}
}

// gone waits until that child lives no more.
func (l *lifeline) gone() {
	l.t.Helper()
	_ = l.conn.SetReadDeadline(time.Now().Add(longest))
	var timeout net.Error
	if _, err := l.conn.Read(make([]byte, 1)); errors.As(err, &timeout) && timeout.Timeout() {
		l.t.Error("a child lives on")
	}
}

// With no Ollama there the screen opens, says in a sentence what to do, and
// stays usable; whichever way it is left, the terminal is as it was and the
// children are gone, even one that never answered.
func TestEveryWayOutRestoresTheTerminal(t *testing.T) {
	for name, leave := range map[string]func(*terminal){
		"ctrl+c":  func(s *terminal) { s.keys(ctrlC) },
		"ctrl+d":  func(s *terminal) { s.keys(ctrlD) },
		"SIGTERM": func(s *terminal) { s.signal(syscall.SIGTERM) },
		"SIGINT":  func(s *terminal) { s.signal(syscall.SIGINT) },
		"SIGHUP":  func(s *terminal) { s.signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			line := newLifeline(t)
			servers := filepath.Join(t.TempDir(), "servers.json")
			write(t, servers, `{"mcpServers": {"mute": {"command": "toolserver", "args": ["!mute"], "env": {"ALIVE": "`+line.addr()+`"}}}}`)
			s := open(t, program{args: []string{"--mcp-config", servers}})
			s.until(0, "ollama serve")
			line.held()

			at := s.mark()
			s.keys("say hello\r")
			s.until(at, "✗ Ollama does not answer")
			at = s.mark()
			s.keys("?")
			s.until(at, "next pane")
			at = s.mark()
			s.keys("?")
			s.until(at, "What shall be done?")

			leave(s)
			if out := s.end(0); !strings.Contains(out, "\x1b[?"+alternateMode+"h") {
				t.Error("the program never took the alternate screen")
			}
			line.gone()
		})
	}
}

// A child that runs when the user leaves is gone with the program.
func TestLeavingARunStopsItsChildren(t *testing.T) {
	for name, leave := range map[string]func(*terminal){
		"SIGINT":  func(s *terminal) { s.signal(syscall.SIGINT) },
		"SIGTERM": func(s *terminal) { s.signal(syscall.SIGTERM) },
		"ctrl+c and a yes": func(s *terminal) {
			at := s.mark()
			s.keys(ctrlC)
			s.until(at, "Stop it and quit?")
			s.keys("y")
		},
		"esc, then ctrl+c": func(s *terminal) {
			at := s.mark()
			s.keys("\x1b")
			s.until(at, "■ stopped")
			s.keys(ctrlC)
		},
	} {
		t.Run(name, func(t *testing.T) {
			line := newLifeline(t)
			model, err := ollamatest.Start(context.Background(), ollamatest.Script{
				Model: "scripted", Replies: []ollamatest.Reply{{Heading: "# Phase 1: analysis", Text: `{"mode":"plan","task":"t","goal":"g",` +
					`"unknowns":[],"resources":[],"knowledge":{"read":[],"keep":[]},"complexity":"simple","subtasks":[],"reflect":false,` +
					`"steps":[{"index":"1","title":"Hang on","executor":"tool","tool":"test.run","args":{},"depends_on":[]}]}`}},
			})
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			write(t, filepath.Join(folder, "go.mod"), "module example.com/hang\n\ngo 1.21\n")
			write(t, filepath.Join(folder, "hang_test.go"), `package hang

import (
	"fmt"
	"net"
	"testing"
)

func TestHang(t *testing.T) {
	conn, err := net.Dial("tcp", "`+line.addr()+`")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(conn, "up")
	conn.Read(make([]byte, 1))
}
`)
			s := open(t, program{args: []string{"--planner", "phases", "run the tests"}, folder: folder, env: []string{"OLLAMA_HOST=" + model.URL()}})
			line.held()
			s.until(0, "Hang on")

			leave(s)
			s.end(0)
			line.gone()
			if err := model.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Whatever is done to the window while a run goes on, the program draws on and
// leaves in order.
func TestAStormOfSizes(t *testing.T) {
	s := open(t, program{args: []string{"demo"}, width: 120, height: 36})
	s.until(0, "Press enter to send the goal below.")
	s.until(0, "demo-script")
	at := s.mark()
	s.keys("\r")
	s.until(at, "analysis")
	for round := range 12 {
		for _, size := range [][2]uint16{{200, 60}, {120, 36}, {99, 30}, {80, 24}, {41, 13}, {40, 12}, {39, 12}, {40, 11}, {10, 3}, {1, 1}, {3, 40}, {300, 2}, {40, 12}} {
			s.resize(size[0], size[1]+uint16(round%2))
		}
	}
	at = s.mark()
	s.resize(10, 3)
	s.until(at, "Enlarge the window.")
	for _, size := range [][2]uint16{{40, 12}, {80, 24}, {200, 60}} {
		at = s.mark()
		s.resize(size[0], size[1])
		s.until(at, "demo-script")
	}
	s.until(at, "allow once")
	at = s.mark()
	s.keys(ctrlC)
	s.until(at, "Stop it and quit?")
	s.keys("y")
	s.end(0)
}

// An error before the screen opens is one sentence, and the terminal is not
// touched at all.
func TestABadConfigurationDoesNotTouchTheTerminal(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "config.toml"), "[model]\nnmae = \"x\"\n")
	s := open(t, program{home: home})
	out := s.end(2)
	if !strings.Contains(out, "a key that does not exist: model.nmae") || strings.Count(strings.TrimSpace(out), "\n") != 0 {
		t.Errorf("it is not one sentence that names the key: %q", out)
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("the terminal was sent %q", out)
	}
}

// An error that only shows while a run is to start is told on the screen, which
// stays.
func TestAnErrorOnTheScreenLeavesItUsable(t *testing.T) {
	model, err := ollamatest.Start(context.Background(), ollamatest.Script{Model: "scripted"})
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	write(t, filepath.Join(home, "runs"), "not a folder")
	s := open(t, program{home: home, env: []string{"OLLAMA_HOST=" + model.URL()}})
	s.until(0, "scripted")
	at := s.mark()
	s.keys("say hello\r")
	s.until(at, "not a directory")
	s.keys(ctrlD)
	s.end(0)
	if err := model.Close(); err != nil {
		t.Error(err)
	}
}

// When the window is closed the program ends by itself, with its children.
func TestAClosedWindowEndsTheProgram(t *testing.T) {
	line := newLifeline(t)
	servers := filepath.Join(t.TempDir(), "servers.json")
	write(t, servers, `{"mcpServers": {"mute": {"command": "toolserver", "args": ["!mute"], "env": {"ALIVE": "`+line.addr()+`"}}}}`)
	s := open(t, program{args: []string{"--mcp-config", servers}})
	s.until(0, "ollama serve")
	line.held()
	_ = s.screen.Close()
	select {
	case <-s.exited:
	case <-time.After(longest):
		t.Fatal("the program does not end")
	}
	line.gone()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
