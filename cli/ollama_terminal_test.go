//go:build unix

package cli_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"replan/agent/ollama/ollamatest"
)

// startedServer is a server of Ollama that replan starts: it has one model.
func startedServer() {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", os.Getenv("OLLAMA_HOST"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	group, _ := syscall.Getpgid(0)
	fmt.Printf("%v process %d leads group %d\n", os.Args[1:], os.Getpid(), group)
	ollamatest.Serve(context.Background(), l, ollamatest.Script{Model: "scripted:1b"})
	select {}
}

// installOllama makes a folder with a program ollama that runs a command of the tests, and returns
// the variable PATH that begins with it.
func installOllama(t *testing.T, command string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ollama"), []byte("#!/bin/sh\n"+command+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// unusedAddress returns an address at which nothing listens.
func unusedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was never used
	return l.Addr().String()
}

func TestKeyStartsOllamaWhichOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	address, home := unusedAddress(t), t.TempDir()
	s := open(t, program{home: home, width: 120, height: 36, env: []string{"OLLAMA_HOST=" + address, installOllama(t, `exec modelserver "$@"`)}})
	s.until(0, "start it from here")
	s.keys("make everything faster\r")
	s.until(0, "start Ollama here, then send the goal again")
	at := s.mark()
	s.keys("0")
	s.until(at, "scripted:1b")
	log, err := os.ReadFile(filepath.Join(home, "logs", "ollama.log"))
	m := regexp.MustCompile(`^\[serve\] process (\d+) leads group (\d+)\n`).FindStringSubmatch(string(log))
	if err != nil || m == nil || m[1] != m[2] {
		t.Fatalf("the log holds %q, error %v", log, err)
	}
	pid, _ := strconv.Atoi(m[1])
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	s.until(at, "make everything faster") // it is sent again
	s.keys(ctrlC + ctrlC + ctrlD)
	<-s.exited
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("the server ended with the program: %v", err)
	}
	_ = answer.Body.Close()
}

func TestOllamaThatEndsAtOnceIsReportedWithItsLog(t *testing.T) {
	t.Parallel()
	s := open(t, program{width: 120, height: 36, env: []string{"OLLAMA_HOST=" + unusedAddress(t), installOllama(t, "echo no disk; exit 3")}})
	s.until(0, "start it from here")
	at := s.mark()
	s.keys("0")
	s.until(at, "ended before it answered (exit status 3)", "ollama.log")
	s.keys(ctrlC + ctrlD)
	<-s.exited
}
