package cli_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/cli"
)

// commandsIn returns a function that runs a command in a folder, with what is typed on a
// terminal if there is one. Runs are kept in home.
func commandsIn(t *testing.T, home, dir string) func(terminal bool, typed string, args ...string) (code int, output string) {
	return func(terminal bool, typed string, args ...string) (code int, output string) {
		var out, failed bytes.Buffer
		code = cli.Main(t.Context(), args, cli.IO{
			In: strings.NewReader(typed), Out: &out, Err: &failed, Terminal: terminal,
			Getenv: func(name string) string {
				return map[string]string{"REPLAN_HOME": home, "OLLAMA_HOST": "127.0.0.1:1"}[name]
			},
			Getwd: func() (string, error) { return dir, nil },
		})
		if strings.Contains(failed.String(), "[y]es") {
			t.Errorf("the question is on standard error: %q", failed.String())
		}
		return code, out.String() + failed.String()
	}
}

func TestUndoThatWasKilledBeforeItWasRecordedIsFound(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	run := commandsIn(t, home, dir)
	if code, output := run(false, "", "tools", "call", "fs.write", "--args", `{"path":"notes.txt","text":"two\n"}`, "--approve", "safe"); code != 0 {
		t.Fatalf("got exit code %d: %s", code, output)
	}
	if code, output := run(false, "", "undo", "last", "--yes"); code != 0 {
		t.Fatalf("got exit code %d: %s", code, output)
	}
	journals, err := filepath.Glob(filepath.Join(home, "runs", "*.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("got the journals %q, %v", journals, err)
	}
	whole, err := os.ReadFile(journals[0])
	if err != nil {
		t.Fatal(err)
	}
	started, _, _ := bytes.Cut(whole, []byte("\n")) // as if the run and then the undo had been killed
	for _, c := range []struct {
		args, wants string
		code        int
	}{
		{"runs", "\tundone\t", 0},
		{"runs show", "undone", 0},
		{"plan resume last", "is undone, so its steps cannot be continued", 2},
		{"--continue --plain", "no run of this folder was interrupted", 2},
	} {
		// The lock file would tell how many lines there were.
		if err := errors.Join(os.WriteFile(journals[0], append(started, '\n'), 0o600), os.RemoveAll(journals[0]+".lock")); err != nil {
			t.Fatal(err)
		}
		if code, output := run(false, "", strings.Fields(c.args)...); code != c.code || !strings.Contains(output, c.wants) {
			t.Errorf("%s: got exit code %d, %q; want %q", c.args, code, output, c.wants)
		}
		if text, err := os.ReadFile(journals[0]); err != nil || !bytes.Contains(text, []byte(`"run.undone"`)) {
			t.Errorf("%s: the journal is %s, %v", c.args, text, err)
		}
	}
}

func TestUndoWithoutARunTakesTheNewestThatChangedFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "notes.txt")
	run := commandsIn(t, t.TempDir(), dir)
	call := func(tool, args string) {
		t.Helper()
		if code, output := run(false, "", "tools", "call", tool, "--args", args, "--approve", "safe"); code != 0 {
			t.Fatalf("got exit code %d: %s", code, output)
		}
	}
	call("fs.write", `{"path":"notes.txt","text":"one\n"}`)
	call("fs.write", `{"path":"notes.txt","text":"two\n"}`)
	call("fs.read", `{"path":"notes.txt"}`) // newer, but it changed nothing
	for _, want := range []string{"one\n", ""} {
		code, output := run(false, "", "undo", "--yes")
		if text, _ := os.ReadFile(file); code != 0 || string(text) != want || !strings.Contains(output, "restored 1 file") {
			t.Errorf("got exit code %d, file %q, want %q: %s", code, text, want, output)
		}
	}
	if code, output := run(false, "", "undo", "--yes"); code != 2 || !strings.Contains(output, "no run changed files here") {
		t.Errorf("with no run left: got exit code %d, %s", code, output)
	}
}

func TestUndoOfARunWhoseFilesAreAsBeforeSaysThatItIsUndone(t *testing.T) {
	dir := t.TempDir()
	run := commandsIn(t, t.TempDir(), dir)
	if code, output := run(false, "", "tools", "call", "fs.write", "--args", `{"path":"notes.txt","text":"two\n"}`, "--approve", "safe"); code != 0 {
		t.Fatalf("got exit code %d: %s", code, output)
	}
	if err := os.Remove(filepath.Join(dir, "notes.txt")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args, wants string
		code        int
	}{
		{"undo last --dry-run", "are as they were before it", 0},
		{"runs show", "done", 0},
		{"undo last --yes", "is undone: its files are as they were before it", 0},
		{"plan resume last", "is undone, so its steps cannot be continued", 2},
	} {
		if code, output := run(false, "", strings.Fields(c.args)...); code != c.code || !strings.Contains(output, c.wants) {
			t.Errorf("%s: got exit code %d, %q; want %q", c.args, code, output, c.wants)
		}
	}
}

func TestUndoAsksOnATerminal(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(file, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := commandsIn(t, home, dir)
	if code, output := run(false, "", "tools", "call", "fs.write", "--args", `{"path":"notes.txt","text":"two\n"}`, "--approve", "safe"); code != 0 {
		t.Fatalf("got exit code %d: %s", code, output)
	}
	for _, c := range []struct {
		typed, args  string
		code         int
		output, file string
	}{
		{"n\n", "undo", 1, "restore 1 file changed by run", "two\n"},
		{"", "undo last", 1, "nothing was changed", "two\n"},
		{"", "undo --dry-run", 0, "+one", "two\n"},
		{"y\n", "undo", 0, "-two\n+one\n", "one\n"},
	} {
		code, output := run(true, c.typed, strings.Fields(c.args)...)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if code != c.code || !strings.Contains(output, c.output) || string(text) != c.file || strings.Count(output, "-two") > 1 {
			t.Errorf("%s, typed %q: got exit code %d, %q and the file %q", c.args, c.typed, code, output, text)
		}
	}
}
