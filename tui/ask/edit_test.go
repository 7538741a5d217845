package ask_test

import (
	"encoding/json"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/panetest"
)

// editing opens the editor of a gate whose tool has a schema.
func editing(t *testing.T) *screen {
	t.Helper()
	s := settled(t, 120, 36, renames(panetest.HelperGate(), patch)...)
	s.Type("e")
	return s
}

func TestUndoRevertsEditWordByWord(t *testing.T) {
	s := editing(t)
	s.kill()
	s.Type("one two")
	for _, c := range []struct{ has, lacks string }{{"one two", "three"}, {"one", "two"}, {"one", "two"}} {
		s.Wants(c.has)
		s.Lacks(c.lacks)
		s.Press(panetest.Key("ctrl+z"))
	}
	for range 40 {
		s.Press(panetest.Key("ctrl+z"))
	}
	s.Wants("Nothing was changed here.", "verifyUser(ctx, s.token)")
	s.Press(panetest.Key("ctrl+s")) // the original text
	s.Sent()
	s.Wants("No changes: the call stays as it was.")
}

func TestEditedArgumentsAreValidatedAfterPause(t *testing.T) {
	s := editing(t)
	s.Press(panetest.Key("shift+tab"))
	s.Update(tea.PasteMsg{Content: `"yes"`})
	s.Lacks("do not fit") // not while typing
	s.Update(s.dialog.Paused())
	s.Wants("the args of fs.patch do not fit: all: got string, want boolean")
	before := s.dialog.Paused()
	s.Press(panetest.Key("backspace"))
	s.Lacks("do not fit")
	s.Update(before) // for the previous text
	s.Lacks("true or false")
	s.Update(s.dialog.Paused())
	s.Wants("all takes true or false")
	s.Press(panetest.Key("ctrl+z"))
	s.Update(s.dialog.Paused())
	s.Wants("all: got string, want boolean")
	s.Sent()
}

func TestPauseAfterClosingEditorChangesNothing(t *testing.T) {
	s := editing(t)
	s.Type("x")
	s.Press(panetest.Key("esc"))
	before := s.Text()
	s.Update(s.dialog.Paused())
	if s.Text() != before {
		t.Errorf("the dialog changed:\n%s", s.Text())
	}
	s = open(t, 80, 24)
	s.Update(s.dialog.Paused())
}

// failed is a run whose first step has failed with these arguments.
func failed(args map[string]any) []event.Data {
	p := panetest.NotesPlan()
	return []event.Data{
		started(),
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepStarted{Index: "1", Attempt: 1, Title: "Read the release notes", Executor: plan.ExecutorTool, Tool: "fs.read", Args: args},
		event.StepFailed{Index: "1", Attempt: 1, Error: "no", Failure: event.FailureTool},
	}
}

// numbered are a text, a number and an object as arguments.
func numbered() map[string]any {
	return map[string]any{"n": json.Number("12345678901234567890"), "title": "Release 1.4", "with": map[string]any{"a": true}}
}

// retry runs the first step again with other arguments.
func retry(args map[string]any) session.Command {
	return session.ResolveFailure{Run: run, Step: "1", Decision: event.FailureRetry, Args: args}
}

func TestEditedArgumentsAreSentAsTyped(t *testing.T) {
	s := settled(t, 120, 36, failed(numbered())...)
	s.Type("e")
	s.Wants("Edit arguments", "title  Release 1.4", "12345678901234567890")
	s.Press(panetest.Key("tab"))
	s.kill()
	s.Update(tea.PasteMsg{Content: "Release \"1.5\"\r\n\tand more"})
	s.Press(panetest.Key("ctrl+s"))
	want := numbered()
	want["title"] = "Release \"1.5\"\n\tand more"
	s.Sent(retry(want))
	if s.dialog.Showing() {
		t.Error("the dialog is still open")
	}
}

func TestTabsOfTextsAreKept(t *testing.T) {
	args := map[string]any{"text": "func a() {\n\treturn // ⇥\n}\n"}
	s := settled(t, 120, 36, failed(args)...)
	s.Type("e")
	s.Wants("␉return // ⇥")
	s.Press(panetest.Key("ctrl+s"))
	s.Sent(retry(args))
}

func TestInvalidArgumentsAreNotSent(t *testing.T) {
	for typed, want := range map[string]string{
		"{\n  \"a\": x}": "n is not JSON at line 2",
		"{} {}":          "something follows",
	} {
		t.Run(typed, func(t *testing.T) {
			s := settled(t, 120, 36, failed(numbered())...)
			s.Type("e")
			s.kill()
			s.Update(tea.PasteMsg{Content: typed})
			s.Press(panetest.Key("ctrl+s"))
			s.Sent()
			s.Wants(want, "Edit arguments")
			s.Type(" ")
			s.Lacks(want)
		})
	}
}

func TestEscapeDiscardsEditedArguments(t *testing.T) {
	s := settled(t, 120, 36, failed(numbered())...)
	s.Type("edra?q")
	s.Press(panetest.Key("esc"))
	s.Sent()
	if s.Lacks("Edit arguments"); !s.dialog.Showing() {
		t.Error("the question closed with the editor")
	}
	s.Type("e")
	s.Lacks("dra?q")
}

func TestControlCharactersAreEditedAsEscapes(t *testing.T) {
	args := map[string]any{"text": "a\u202eb\x1b[2J\u0085\U000e0041"}
	s := settled(t, 120, 36, failed(args)...)
	s.Type("e")
	s.Wants(`"a\u202eb\u001b[2J\u0085\udb40\udc41"`)
	s.Press(panetest.Key("ctrl+s"))
	s.Sent(retry(args))
}

func TestOversizedArgumentsCannotBeEdited(t *testing.T) {
	list := make([]any, 12_000)
	for i := range list {
		list[i] = "x"
	}
	s := settled(t, 120, 36, failed(map[string]any{"list": list})...)
	s.Type("e")
	s.Wants("These arguments are too long to be edited here.")
	s.Lacks("Edit arguments")
}

// sided reports whether a line of the diff is beside the one it replaces.
func (s *screen) sided() bool {
	for line := range strings.SplitSeq(s.Text(), "\n") {
		if strings.Contains(line, "authenticate(r.Context(), token)") && strings.Contains(line, "verifyUser(r.Context(), token)") {
			return true
		}
	}
	return false
}

func TestWideGateShowsDiffSideBySide(t *testing.T) {
	for width, want := range map[int]bool{80: false, 120: false, 135: false, 140: true, 200: true} {
		s := settled(t, width, 60, renames(panetest.HandlerGate())...)
		if got := s.sided(); got != want {
			t.Errorf("at %d columns: got side by side %v:\n%s", width, got, s.Text())
		}
	}
}

func TestSTogglesGateDiffLayout(t *testing.T) {
	s := settled(t, 120, 60, renames(panetest.HandlerGate())...)
	for _, want := range []bool{true, false} {
		if s.Type("s"); s.sided() != want {
			t.Errorf("side by side %v, want %v:\n%s", !want, want, s.Text())
		}
	}
	s.Sent()
}

func TestSReportsTooNarrowForSideBySide(t *testing.T) {
	s := settled(t, 60, 24, renames(panetest.HandlerGate())...)
	s.Type("s")
	s.Wants("Side by side needs 60 columns, not 56.")
}
