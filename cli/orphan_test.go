//go:build unix

package cli_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A child that outlives its program takes effect once more when its step is run
// again.
func TestChildrenDoNotOutliveTheProgram(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{
		"SIGKILL": syscall.SIGKILL, "SIGQUIT": syscall.SIGQUIT, "SIGABRT": syscall.SIGABRT,
	} {
		t.Run(name, func(t *testing.T) {
			line, server := newLifeline(t), newLifeline(t)
			folder, home := t.TempDir(), t.TempDir()
			servers := filepath.Join(t.TempDir(), "servers.json")
			write(t, servers, `{"mcpServers": {"word": {"command": "toolserver", "env": {"ALIVE": "`+server.addr()+`"}}}}`)
			write(t, filepath.Join(folder, "hold.json"), holdPlan)
			s := open(t, program{folder: folder, home: home, env: []string{"ALIVE=" + line.addr()}, args: []string{
				"plan", "run", "hold.json", "--plain", "--approve", "all", "--mcp-config", servers,
			}})
			server.held()
			line.held()
			s.signal(sig)
			<-s.exited
			line.gone()
			server.gone()
		})
	}
}

const holdPlan = `{"id":"hold-1","title":"Hold","steps":[{"index":"1","title":"Hold","tool":"proc.run","args":{"argv":["toolserver","!hold"]}}]}`

// A watcher may be killed as well. Then the journal says which process may still
// run, and a resume ends it before anybody is asked.
func TestAResumeEndsWhatStillRuns(t *testing.T) {
	line := newLifeline(t)
	folder, home := t.TempDir(), t.TempDir()
	write(t, filepath.Join(folder, "hold.json"), holdPlan)
	s := open(t, program{folder: folder, home: home, env: []string{"ALIVE=" + line.addr(), "REPLAN_TEST_UNWATCHED=1"}, args: []string{
		"plan", "run", "hold.json", "--output", "json", "--approve", "all",
	}})
	line.held()
	s.until(0, `"kind":"step.process"`)
	s.until(0, `"kind":"step.output"`) // what it writes after the kill would end it
	journals, err := filepath.Glob(filepath.Join(home, "runs", "*.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("the journals are %v, %v", journals, err)
	}
	s.signal(syscall.SIGKILL)
	<-s.exited

	run := strings.TrimSuffix(filepath.Base(journals[0]), ".jsonl")
	r := open(t, program{folder: folder, home: home, args: []string{"plan", "resume", run, "--plain", "--in-doubt", "abort"}})
	r.until(0, "step 1 still ran from before (process")
	r.end(3)
	line.gone()
}
