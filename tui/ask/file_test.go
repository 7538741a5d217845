package ask

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// onDisk answers each preview with a file that has this hash.
type onDisk struct {
	session.Queries
	hash string
}

func (d onDisk) PreviewCall(_ context.Context, _, gate string, _ map[string]any) (plan.ToolPreview, error) {
	return plan.ToolPreview{File: &plan.FileChange{Path: gate + ".go", Hash: d.hash, Before: "one\n", After: "two\n"}}, nil
}

// patches shows open gates whose calls change one file each.
func patches(t *testing.T, ids ...string) *Dialog {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", ".")
	t.Setenv("TMP", ".") // of Windows
	g := New(panetest.DarkLook(), panetest.Keys(), draw.Pauses{})
	g.SetEditor([]string{"vi"})
	var asks []Request
	for _, id := range ids {
		asks = append(asks, OpenGate{Run: "r", Fits: func(map[string]any) error { return nil }, Ask: event.GateRequested{
			Gate: id, Step: id, Tool: "fs.patch", Trusted: true, Hashes: map[string]string{id + ".go": "h"},
		}})
	}
	g.Set(asks)
	g.Guard().Stop()
	return g
}

// asked returns the answer to the query of w.
func asked(t *testing.T, w keymap.Requests, hash string) FileMsg {
	t.Helper()
	if keymap.First[keymap.Query](w) == nil {
		t.Fatalf("no query, says %q", panetest.Footer(w))
	}
	m, _ := keymap.First[keymap.Query](w)(t.Context(), onDisk{hash: hash}).(FileMsg)
	return m
}

// saves opens the editor at the displayed gate, and saves text.
func saves(t *testing.T, g *Dialog, text string, failed error) keymap.Requests {
	t.Helper()
	if w := g.Update(asked(t, g.act("gate.editor"), "h")); keymap.First[tea.Cmd](w) == nil {
		t.Fatalf("no editor, says %q", panetest.Footer(w))
	}
	w := g.Update(EditedMsg{g.files.edit, text, failed})
	g.Guard().Stop()
	return w
}

// kept returns the text in the file that a message names.
func kept(t *testing.T, message string) string {
	t.Helper()
	_, path, _ := strings.Cut(message, "Your text is in ")
	path, _, _ = strings.Cut(path, ": ")
	text, err := os.ReadFile(path) //nolint:gosec // of the test
	if err != nil {
		t.Fatalf("%q names no file: %v", message, err)
	}
	return string(text)
}

func TestOneEditorOpensAtATime(t *testing.T) {
	g := patches(t, "1", "2")
	first := asked(t, g.act("gate.editor"), "h")
	g.step(1)
	g.Guard().Stop()
	if w := g.act("gate.editor"); keymap.First[keymap.Query](w) != nil || panetest.Footer(w) == "" {
		t.Errorf("a second file is requested: %+v", w)
	}
	if w := g.Update(first); keymap.First[tea.Cmd](w) != nil || !strings.Contains(panetest.Footer(w), "another request is shown") {
		t.Errorf("the file of another gate opens: %+v", w)
	}
	second := asked(t, g.act("gate.editor"), "h")
	if w := g.Update(first); keymap.First[tea.Cmd](w) != nil || panetest.Footer(w) != "" {
		t.Errorf("a late answer counts: %+v", w)
	}
	if w := g.Update(second); keymap.First[tea.Cmd](w) == nil || g.files.edit.file.Path != "2.go" {
		t.Errorf("opens %q", g.files.edit.file.Path)
	}
	if w := g.Update(second); panetest.Sent(w) != nil || keymap.First[keymap.Query](g.act("gate.editor")) != nil {
		t.Errorf("an open editor can be left behind: %+v", w)
	}
}

func TestCheckOfASavedFileIsNotRepeated(t *testing.T) {
	g := patches(t, "1")
	check := asked(t, saves(t, g, "three\n", nil), "h")
	if w := g.act("gate.editor"); keymap.First[keymap.Query](w) != nil {
		t.Error("the editor opens during the check")
	}
	if w := g.Update(check); len(panetest.Sent(w)) != 1 || g.files.edit != nil || len(g.files.unsent) != 0 {
		t.Errorf("sends %v", panetest.Sent(w))
	}
}

func TestTextOfAFailedEditorOpensAgain(t *testing.T) {
	g := patches(t, "1")
	if w := saves(t, g, "three\n", errors.New("vi failed: exit status 1")); keymap.First[keymap.Query](w) != nil || panetest.Footer(w) != "The call is unchanged: vi failed: exit status 1. Alt+e opens your text again." {
		t.Errorf("says %q", panetest.Footer(w))
	}
	if got := g.files.unsent["r 1"].text; got != "three\n" {
		t.Errorf("%q opens again", got)
	}
}

func TestTextOfAClosedGateIsKeptInAFile(t *testing.T) {
	g := patches(t, "1")
	g.Update(asked(t, g.act("gate.editor"), "h"))
	edit := g.files.edit
	g.Set(nil)
	if got := kept(t, panetest.Footer(g.Update(EditedMsg{edit, "in the editor\n", nil}))); got != "in the editor\n" {
		t.Errorf("keeps %q", got)
	}
	g = patches(t, "1")
	check := asked(t, saves(t, g, "during the check\n", nil), "h")
	g.act("gate.deny")
	g.act("gate.refuse")
	if got := kept(t, panetest.Footer(g.Update(check))); got != "during the check\n" {
		t.Errorf("keeps %q", got)
	}
}

func TestUnsentTextOutlivesItsGate(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, closes := range map[string]func(g *Dialog) tea.Cmd{
		"answered": func(g *Dialog) tea.Cmd { return keymap.First[tea.Cmd](g.act("gate.once")) },
		"denied":   func(g *Dialog) tea.Cmd { g.act("gate.deny"); return keymap.First[tea.Cmd](g.act("gate.refuse")) },
		"closed":   func(g *Dialog) tea.Cmd { return g.Set(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			g := patches(t, "1")
			saves(t, g, "three\n", errors.New("vi failed: exit status 1"))
			var said []string
			for _, msg := range messages(closes(g)) {
				said = append(said, panetest.Footer(g.Update(msg)))
			}
			if got := kept(t, strings.Join(said, "")); got != "three\n" || len(g.files.unsent) != 0 {
				t.Errorf("keeps %q, says %q", got, said)
			}
		})
	}
}

func TestUnsentTextStaysUntilItIsKept(t *testing.T) {
	g := patches(t, "1")
	saves(t, g, "three\n", errors.New("vi failed: exit status 1"))
	says := func(cmd tea.Cmd) (said string) {
		for _, msg := range messages(cmd) {
			said += panetest.Footer(g.Update(msg))
		}
		return said
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "full"))
	if said := says(g.Set(nil)); !strings.Contains(said, "could not be kept") || g.files.unsent["r 1"].text != "three\n" {
		t.Errorf("says %q, has %v", said, g.files.unsent)
	}
	t.Setenv("TMPDIR", t.TempDir())
	if got := kept(t, says(g.Set(nil))); got != "three\n" || len(g.files.unsent) != 0 {
		t.Errorf("keeps %q, has %v", got, g.files.unsent)
	}
}

func TestUnsentTextOutlivesTheScreen(t *testing.T) {
	g := patches(t, "1", "2")
	saves(t, g, "three\n", errors.New("vi failed: exit status 1"))
	said := g.Leave()
	if len(said) != 1 || !strings.HasSuffix(said[0], ": its gate was still open.") || kept(t, said[0]) != "three\n" {
		t.Errorf("says %q", said)
	}
	if said := g.Leave(); len(said) > 0 {
		t.Errorf("keeps it again: %q", said)
	}
}

// messages returns what a command and those that it batches send.
func messages(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	batch, ok := msg.(tea.BatchMsg)
	if !ok {
		return []tea.Msg{msg}
	}
	var all []tea.Msg
	for _, c := range batch {
		all = append(all, messages(c)...)
	}
	return all
}

func TestTextForAChangedFileDoesNotOpenAgain(t *testing.T) {
	g := patches(t, "1")
	w := g.Update(asked(t, saves(t, g, "three\n", nil), "changed"))
	if got := kept(t, panetest.Footer(w)); got != "three\n" || panetest.Sent(w) != nil || len(g.files.unsent) != 0 {
		t.Errorf("keeps %q, sends %v", got, panetest.Sent(w))
	}
	saves(t, g, "four\n", errors.New("vi failed"))
	w = g.Update(asked(t, g.act("gate.editor"), "changed"))
	if got := kept(t, panetest.Footer(w)); got != "four\n" || keymap.First[tea.Cmd](w) != nil || len(g.files.unsent) != 0 {
		t.Errorf("keeps %q and opens %v", got, keymap.First[tea.Cmd](w) != nil)
	}
}

func TestTextThatIsNotUTF8IsNotSent(t *testing.T) {
	g := patches(t, "1")
	w := saves(t, g, "caf\xe9\n", nil)
	if keymap.First[keymap.Query](w) != nil || panetest.Sent(w) != nil || !strings.HasPrefix(panetest.Footer(w), "The text is not UTF-8: the call is unchanged.") {
		t.Errorf("asks %v, sends %v, says %q", keymap.First[keymap.Query](w) != nil, panetest.Sent(w), panetest.Footer(w))
	}
}

func TestEditorOpensAtTheFirstChangedLine(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          int
	}{
		{"a\nb\nc\n", "a\nB\nc\n", 2},
		{"a\nb\n", "a\nb\nc\n", 3},
		{"a\nb\nc\n", "a\n", 1},
		{"", "a\nb\n", 1},
		{"a", "", 1},
		{"a\nb", "a\nc", 2},
	} {
		if got := firstChanged(c.before, c.after); got != c.want {
			t.Errorf("%q to %q: line %d, want %d", c.before, c.after, got, c.want)
		}
	}
}
