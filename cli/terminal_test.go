//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"replan/agent/ollama/ollamatest"
)

// lifeline is a listener that a child of the program connects to. However the
// child ends, the system closes the connection.
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

// held waits until a child has connected.
func (l *lifeline) held() {
	l.t.Helper()
	_ = l.listener.SetDeadline(time.Now().Add(longest))
	var err error
	if l.conn, err = l.listener.Accept(); err != nil {
		l.t.Fatalf("no child connected: %v", err)
	}
	l.t.Cleanup(func() { _ = l.conn.Close() })
	if _, err := bufio.NewReader(l.conn).ReadString('\n'); err != nil {
		l.t.Fatalf("read from the child: %v", err)
	}
}

// waitEnded waits until the child has ended.
func (l *lifeline) waitEnded() {
	l.t.Helper()
	_ = l.conn.SetReadDeadline(time.Now().Add(longest))
	var timeout net.Error
	if _, err := l.conn.Read(make([]byte, 1)); errors.As(err, &timeout) && timeout.Timeout() {
		l.t.Error("a child is still alive")
	}
}

// Without Ollama the screen opens, shows one sentence of advice and stays usable.
// Every way to quit restores the terminal and ends the children, even one that
// never answered.
func TestEveryExitRestoresTheTerminal(t *testing.T) {
	t.Parallel()
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
			s.until(at, "✗ I do not understand")
			at = s.mark()
			s.keys("?")
			s.until(at, "next message")
			at = s.mark()
			s.keys("?")
			s.until(at, "Describe a goal, or / for commands")

			leave(s)
			if out := s.end(0); !strings.Contains(out, "\x1b[?"+alternateMode+"h") {
				t.Error("the program never switched to the alternate screen")
			}
			line.waitEnded()
		})
	}
}

// A child that runs while the user quits ends with the program.
func TestQuittingDuringRunEndsItsChildren(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*terminal){
		"SIGINT":  func(s *terminal) { s.signal(syscall.SIGINT) },
		"SIGTERM": func(s *terminal) { s.signal(syscall.SIGTERM) },
		"ctrl+c, then y": func(s *terminal) {
			at := s.mark()
			s.keys(ctrlC)
			s.until(at, "Stop it and quit?")
			s.keys("y")
		},
		"esc, then ctrl+c": func(s *terminal) {
			at := s.mark()
			s.keys("\x1b")
			s.until(at, "■ stopped")
			at = s.mark()
			s.keys(ctrlC)
			s.until(at, "again quits")
			s.keys(ctrlC)
		},
	} {
		t.Run(name, func(t *testing.T) {
			line := newLifeline(t)
			model, err := ollamatest.Start(context.Background(), ollamatest.Script{
				Model: "scripted", Replies: []ollamatest.Reply{{Purpose: "analysis", Text: `{"mode":"plan","task":"t","goal":"g",` +
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
			line.waitEnded()
			if err := model.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The program survives any resizing of the window during a run and exits cleanly.
func TestManyResizesDuringRun(t *testing.T) {
	t.Parallel()
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

// An error before the screen opens is printed as one sentence, broken between words,
// without escape sequences.
func TestInvalidConfigurationLeavesTerminalAlone(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "config.toml"), "[model]\nnmae = \"x\"\n")
	s := open(t, program{home: home})
	out := s.end(2)
	words := strings.Join(strings.Fields(out), " ")
	if !strings.Contains(words, "a key that does not exist: model.nmae") || strings.Count(out, "replan: ") != 1 {
		t.Errorf("got %q, want one sentence that names the key", out)
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("got escape sequences in %q", out)
	}
}

// An error at the start of a run is shown on the screen, which stays open.
func TestScreenStaysUsableAfterError(t *testing.T) {
	t.Parallel()
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

// Closing the window ends the program and its children.
func TestClosedWindowEndsTheProgram(t *testing.T) {
	t.Parallel()
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
		t.Fatal("the program did not end")
	}
	line.waitEnded()
}
