//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder may bring programs of its own; nothing starts them by their name, though PATH
// leads there: neither replan nor a step. By its path a step starts any.
func TestProgramsOfTheFolderAreNotTakenByName(t *testing.T) {
	t.Parallel()
	folder, home := t.TempDir(), t.TempDir()
	mark := filepath.Join(t.TempDir(), "ran")
	if err := os.Mkdir(filepath.Join(folder, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".", "bin"} {
		for _, name := range []string{"git", "go", "gopls", "sh", "make", "python3", "golangci-lint", "tool"} {
			write(t, filepath.Join(folder, dir, name), "#!/bin/sh\necho "+name+" >> "+mark+"\n")
			if err := os.Chmod(filepath.Join(folder, dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, filepath.Join(folder, "go.mod"), "module example.com/m\n\ngo 1.24\n")
	write(t, filepath.Join(folder, "a.go"), "package m\n\nfunc A() {}\n")
	write(t, filepath.Join(folder, "plan.json"), `{"id":"path-1","title":"Run","on_failure":"skip","steps":[
		{"index":"1","title":"Shell","tool":"proc.run","args":{"shell":"git --version; tool || true"}},
		{"index":"2","title":"Program","tool":"proc.run","args":{"argv":["git","--version"]}},
		{"index":"3","title":"Use","tool":"code.references","args":{"symbol":"A"}},
		{"index":"4","title":"State","tool":"vcs.status","args":{}},
		{"index":"5","title":"Lint","tool":"test.lint","args":{}}]}`)
	write(t, filepath.Join(folder, "named.json"), `{"id":"path-2","title":"Run","steps":[{"index":"1","title":"Named","tool":"proc.run","args":{"argv":["./bin/tool"]}}]}`)
	path := strings.Join([]string{folder, filepath.Join(folder, "bin"), "", ".", "bin", os.Getenv("PATH")}, string(filepath.ListSeparator))
	run := func(code int, args ...string) string {
		return open(t, program{folder: folder, home: home, env: []string{"PATH=" + path}, args: args}).end(code)
	}
	run(0, "plan", "run", "plan.json", "--plain", "--approve", "all")
	report := run(1, "doctor") // without a model
	if ran, err := os.ReadFile(mark); err == nil {
		t.Errorf("these programs of the folder ran: %s", ran)
	}
	if words := strings.Join(strings.Fields(report), " "); !strings.Contains(words, filepath.Join(folder, "bin")) || !strings.Contains(words, "no program is taken from it") {
		t.Errorf("doctor says nothing of it:\n%s", report)
	}
	run(0, "plan", "run", "named.json", "--plain", "--approve", "all")
	if ran, err := os.ReadFile(mark); err != nil || string(ran) != "tool\n" {
		t.Errorf("a program that a step names by its path did not run: %q, %v", ran, err)
	}
}
