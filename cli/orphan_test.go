//go:build unix

package cli_test

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"replan/mcpclient/box"
)

// The effects of a child that outlives the program would happen twice if its step
// ran again.
func TestChildrenDoNotOutliveTheProgram(t *testing.T) {
	t.Parallel()
	_, unsupported := box.Supported()
	for name, c := range map[string]struct {
		sig   syscall.Signal
		flags []string
	}{
		"SIGKILL": {sig: syscall.SIGKILL}, "SIGQUIT": {sig: syscall.SIGQUIT}, "SIGABRT": {sig: syscall.SIGABRT},
		"SIGKILL with a box": {sig: syscall.SIGKILL, flags: []string{"--isolate"}},
	} {
		t.Run(name, func(t *testing.T) {
			if len(c.flags) > 0 && unsupported != nil {
				t.Skip(unsupported)
			}
			line, server := newLifeline(t), newLifeline(t)
			folder, home := t.TempDir(), t.TempDir()
			servers := filepath.Join(t.TempDir(), "servers.json")
			write(t, servers, `{"mcpServers": {"word": {"command": "toolserver", "env": {"ALIVE": "`+server.addr()+`"}}}}`)
			write(t, filepath.Join(folder, "hold.json"), holdPlan)
			s := open(t, program{folder: folder, home: home, env: []string{"ALIVE=" + line.addr()}, args: append([]string{
				"plan", "run", "hold.json", "--plain", "--approve", "all", "--mcp-config", servers,
			}, c.flags...)})
			server.held()
			line.held()
			s.signal(c.sig)
			<-s.exited
			line.waitEnded()
			server.waitEnded()
		})
	}
}

// A browser that a server started in a session of its own is not in its group.
func TestDetachedChildrenOfServersDoNotOutliveTheProgram(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the environment of other processes can be read only on Linux")
	}
	for name, end := range map[string]func(s *terminal){
		"SIGKILL":  func(s *terminal) { s.signal(syscall.SIGKILL) },
		"SIGQUIT":  func(s *terminal) { s.signal(syscall.SIGQUIT) },
		"in order": func(s *terminal) { s.signal(syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			line, browser := newLifeline(t), newLifeline(t)
			folder, home := t.TempDir(), t.TempDir()
			servers := filepath.Join(t.TempDir(), "servers.json")
			write(t, servers, `{"mcpServers": {"word": {"command": "sh", "args": ["-c", "setsid toolserver '!hold' >/dev/null & unset ALIVE; exec toolserver word"], "env": {"ALIVE": "`+browser.addr()+`"}}}}`)
			write(t, filepath.Join(folder, "hold.json"), holdPlan)
			s := open(t, program{folder: folder, home: home, env: []string{"ALIVE=" + line.addr()}, args: []string{
				"plan", "run", "hold.json", "--plain", "--approve", "all", "--mcp-config", servers,
			}})
			browser.held()
			line.held()
			end(s)
			<-s.exited
			browser.waitEnded()
			line.waitEnded()
		})
	}
}

const holdPlan = `{"id":"hold-1","title":"Hold","steps":[{"index":"1","title":"Hold","tool":"proc.run","args":{"argv":["toolserver","!hold"]}}]}`

// The watcher can be killed as well. Then the journal names the process that may
// still run, and a resume ends it before it asks the user anything.
func TestResumeEndsRunningChild(t *testing.T) {
	t.Parallel()
	line := newLifeline(t)
	folder, home := t.TempDir(), t.TempDir()
	held := holdPlan
	if _, err := exec.LookPath("setpriv"); err == nil { // else Linux would end the child
		held = strings.Replace(held, `["toolserver"`, `["setpriv","--pdeathsig","clear","toolserver"`, 1)
	}
	write(t, filepath.Join(folder, "hold.json"), held)
	s := open(t, program{folder: folder, home: home, env: []string{"ALIVE=" + line.addr(), "REPLAN_TEST_UNWATCHED=1"}, args: []string{
		"plan", "run", "hold.json", "--output", "json", "--approve", "all",
	}})
	line.held()
	s.until(0, `"kind":"step.process"`)
	s.until(0, `"kind":"step.output"`) // output after the kill would end the child
	journals, err := filepath.Glob(filepath.Join(home, "runs", "*.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("got journals %v, %v; want one", journals, err)
	}
	s.signal(syscall.SIGKILL)
	<-s.exited

	run := strings.TrimSuffix(filepath.Base(journals[0]), ".jsonl")
	r := open(t, program{folder: folder, home: home, args: []string{"plan", "resume", run, "--plain", "--in-doubt", "abort"}})
	r.until(0, "step 1 was still running (process")
	r.end(3)
	line.waitEnded()
}
