package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"replan/mcpclient/box"
)

// Every program of a run is in the box: commands, tests and stdio servers.
func TestIsolatedProgramsChangeNothingOutsideTheFolder(t *testing.T) {
	t.Parallel()
	if _, err := box.Supported(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	above := t.TempDir()
	folder, home := filepath.Join(above, "work"), filepath.Join(above, "home")
	for _, dir := range []string{folder, home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(above, "outside")
	servers := filepath.Join(t.TempDir(), "servers.json")
	write(t, servers, `{"mcpServers": {"word": {"command": "sh", "args": ["-c", "echo server > `+folder+`/server.txt; echo server > `+outside+`; exec toolserver word"]}}}`)
	write(t, filepath.Join(folder, "Makefile"), "test:\n\techo test > test.txt; ! echo test > "+outside+"\n")
	write(t, filepath.Join(folder, "plan.json"), `{"id":"escape-1","title":"Escape","steps":[
		{"index":"1","title":"Run","tool":"proc.run","args":{"shell":"echo command > command.txt; echo command > `+outside+`; echo stolen: $(cat `+home+`/config.toml)","allow_failure":true}},
		{"index":"2","title":"Test","tool":"test.run"},
		{"index":"3","title":"Ask","tool":"word:lookup","args":{"word":"x"}}]}`)
	write(t, filepath.Join(home, "config.toml"), "[isolate]\nenabled = true\nin_place = true\n\n# secret\n")
	s := open(t, program{folder: folder, home: home, args: []string{"plan", "run", "plan.json", "--plain", "--approve", "contained", "--mcp-config", servers}})
	out := s.end(0)
	for _, name := range []string{"command.txt", "test.txt", "server.txt"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a program wrote outside the folder")
	}
	if !strings.Contains(strings.Join(strings.Fields(out), " "), "contained: changes only this folder or its copy, but can use the network and read your files") {
		t.Errorf("the gate does not say what contains the call, and what does not:\n%s", out)
	}
	_, missing, err := box.Description()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out, "# secret") && len(missing) == 0 {
		t.Error("a program read the configuration")
	}
}

// A process that begins a session of its own is ended with its command.
func TestIsolatedProgramsLeaveNoProcessBehind(t *testing.T) {
	t.Parallel()
	if _, err := box.Supported(); err != nil {
		t.Skip(err)
	}
	line := newLifeline(t)
	folder := t.TempDir()
	write(t, filepath.Join(folder, "leave.json"), `{"id":"leave-1","title":"Leave","steps":[{"index":"1","title":"Leave","tool":"proc.run","args":{"shell":"mkfifo said; setsid toolserver '!hold' >said 2>/dev/null & head -c 1 said"}}]}`)
	s := open(t, program{folder: folder, home: t.TempDir(), env: []string{"ALIVE=" + line.addr()}, args: []string{"plan", "run", "leave.json", "--plain", "--approve", "all", "--isolate", "--in-place"}})
	line.held()
	s.end(0)
	line.waitEnded()
}

// Git assembles a commit in a folder of its own, outside the workspace.
func TestIsolatedGitCommits(t *testing.T) {
	t.Parallel()
	if _, err := box.Supported(); err != nil {
		t.Skip(err)
	}
	folder := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("config", "user.name", "A")
	git("config", "user.email", "a@example.com")
	write(t, filepath.Join(folder, "commit.json"), `{"id":"commit-1","title":"Commit","steps":[
		{"index":"1","title":"Branch","tool":"vcs.branch","args":{"name":"topic","create":true}},
		{"index":"2","title":"Write","tool":"fs.write","args":{"path":"a.txt","text":"a\n"},"depends_on":["1"]},
		{"index":"3","title":"Commit","tool":"vcs.commit","args":{"message":"Add a","paths":["a.txt"]},"depends_on":["2"]},
		{"index":"4","title":"Diff","tool":"vcs.diff","args":{},"depends_on":["3"]}]}`)
	open(t, program{folder: folder, home: t.TempDir(), args: []string{"plan", "run", "commit.json", "--plain", "--approve", "contained", "--isolate", "--in-place"}}).end(0)
	if log := git("log", "--oneline", "--name-only", "topic"); !strings.Contains(log, "Add a\na.txt") {
		t.Error(log)
	}
}

func TestServedProgramsAreIsolatedToo(t *testing.T) {
	if _, err := box.Supported(); err != nil {
		t.Skip(err)
	}
	above := t.TempDir()
	folder := filepath.Join(above, "work")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s := serve(t.Context(), t, folder, t.TempDir(), "--isolate")
	reply := s.ask(t, 1, "tools/call", `{"name":"proc.run","arguments":{"shell":"echo x > in; echo x > ../out"}}`)
	if _, err := os.Stat(filepath.Join(folder, "in")); err != nil {
		t.Error(err, reply)
	}
	if _, err := os.Stat(filepath.Join(above, "out")); err == nil {
		t.Error("a program wrote outside the folder")
	}
}
