package tui_test

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui"
)

// fileEditing is the screen in a program that ends after a number of answers of the
// editor and the session.
type fileEditing struct {
	*tui.Model
	left *int
}

func (e fileEditing) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := e.Model.Update(msg)
	if tui.IsFileStep(msg) {
		if *e.left--; *e.left == 0 {
			return e, tea.Sequence(cmd, tea.Quit)
		}
	}
	return e, cmd
}

// editFile opens the editor at a gate of tool, and runs the screen until so many of
// these have come: the file, the end of the editor, the file that its text makes.
func editFile(t *testing.T, tool, script string, steps int, file func(map[string]any) (plan.FileChange, error)) *screen {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the editor of this test is a shell script")
	}
	command := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(command, []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // it must be executable
		t.Fatal(err)
	}
	st := newStory().Revised()
	for i, e := range st.Events {
		if g, ok := e.Data.(event.GateRequested); ok {
			g.Tool, g.Trusted, g.Hashes = tool, true, map[string]string{"a.go": "h"}
			st.Events[i].Data = g
		}
	}
	s := settled(t, st, 120, 36)
	s.m.SetEditor(command)
	s.session.file = file
	in, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), typing.Close() }()
	program := tea.NewProgram(fileEditing{s.m, &steps}, tea.WithInput(in), tea.WithOutput(io.Discard), tea.WithoutSignalHandler(), tea.WithWindowSize(120, 36))
	go program.Send(tea.KeyPressMsg{Code: tea.KeyF4})
	if _, err := program.Run(); err != nil {
		t.Fatal(err)
	}
	return s
}

func edits(s *screen) []session.Edit {
	var out []session.Edit
	for _, c := range s.session.commands() {
		if e, ok := c.(session.Edit); ok {
			out = append(out, e)
		}
	}
	return out
}

// oneFile answers each preview of a file with what the arguments make of it.
func oneFile(edited string) func(map[string]any) (plan.FileChange, error) {
	return func(args map[string]any) (plan.FileChange, error) {
		f := plan.FileChange{Path: "a.go", Hash: "h", Before: "one\n", After: "two\n"}
		if text, _ := args["text"].(string); strings.HasPrefix(text, edited) || args["hashes"] != nil {
			f.After = "two\n" + edited
		}
		return f, nil
	}
}

func TestFileLeftByTheEditorBecomesTheCall(t *testing.T) {
	s := editFile(t, "fs.patch", `echo three >> "$1"`, 3, oneFile("three\n"))
	want := map[string]any{"diff": "--- a/a.go\n+++ b/a.go\n@@ -1 +1,2 @@\n-one\n+two\n+three\n", "hashes": map[string]any{"a.go": "h"}}
	if got := edits(s); len(got) != 1 || !maps.EqualFunc(got[0].Args, want, plan.EqualValues) {
		t.Errorf("got %v", got)
	}
	if s.m.GateOpen() {
		t.Error("the gate of the old call is still open")
	}
}

func TestFileLeftByTheEditorBecomesTheTextOfAWrite(t *testing.T) {
	s := editFile(t, "fs.write", `echo three >> "$1"`, 3, oneFile("three\n"))
	if got := edits(s); len(got) != 1 || got[0].Args["text"] != "two\nthree\n" || got[0].Args["path"] != "auth/jwt.go" || got[0].Args["diff"] != nil {
		t.Errorf("got %v", got)
	}
}

func TestEditorThatChangesNothingOrFailsLeavesTheCall(t *testing.T) {
	for script, want := range map[string]string{
		"exit 0":                 "No changes: the call stays as it was.",
		"exit 3":                 "The call is unchanged: editor failed: exit status 3.",
		`printf 'one\n' > "$1"`:  "That is the file as it is now",
		`echo x >> "$1"; exit 1`: "The call is unchanged: editor failed: exit status 1. F4 opens your text again.",
	} {
		s := editFile(t, "fs.patch", script, 2, oneFile(""))
		s.wants(want)
		if got := edits(s); len(got) != 0 || !s.m.GateOpen() {
			t.Errorf("%s: sent %v", script, got)
		}
	}
}

func TestFileThatChangedOnDiskIsNotOverwritten(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", ".") // a short path to the kept text
	n := 0
	s := editFile(t, "fs.patch", `echo three >> "$1"`, 3, func(map[string]any) (plan.FileChange, error) {
		n++
		return plan.FileChange{Path: "a.go", Hash: strings.Repeat("h", n), Before: "one\n", After: "two\nthree\n"[:4+6*(n-1)]}, nil
	})
	s.wants("a.go changed on disk meanwhile")
	if got := edits(s); len(got) != 0 || !s.m.GateOpen() {
		t.Errorf("sent %v", got)
	}
}
