//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// Leaving the screen of a run that workers carry out asks nothing: the run continues.
func TestLeavingTheScreenLeavesARunToTheWorkers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "plan.json"), `{"title": "Write", "steps": [{"title": "Write", "tool": "fs.write", "args": {"path": "c.txt", "text": "three"}}]}`)
	home := t.TempDir()
	local := open(t, program{args: []string{"plan", "run", "plan.json"}, folder: folder, home: home})
	local.until(0, "Allow fs.write")
	local.keys("y\r")
	local.end(0)
	journals, err := filepath.Glob(filepath.Join(home, "runs", "*.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("got %v, %v", journals, err)
	}
	journal, err := os.ReadFile(journals[0])
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "run.jsonl"), string(journal))
	for _, args := range [][]string{{"write it"}, {"runs", "follow"}} {
		s := open(t, program{args: append(args, "--on", "fake:run.jsonl"), folder: folder, home: home})
		s.until(0, "allow once")
		s.keys(ctrlC)
		s.end(0)
		s.until(0, "continues. Come back: replan runs follow")
	}
}
