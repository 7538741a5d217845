package tui_test

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/tui"
)

// unmaking is the preview of an undo of the story's run.
func unmaking() event.Undo {
	return event.Undo{
		Run: storyRun, Goal: storyGoal,
		Diff: "--- a/auth/notes.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-what was renamed\n" + handlerDiff,
		Files: []event.UndoneFile{
			{Path: "auth/handler.go", Action: "restored"}, {Path: "auth/notes.md", Action: "removed"}, {Path: "auth/old.go", Action: "recreated"},
		},
		Notes: []string{"anything that test.run changed is not restored"},
	}
}

// oneChange offers a change of a copy.
func oneChange() session.ChangesOffered {
	return session.ChangesOffered{Changes: event.Changes{Offer: "1", Files: []event.ChangedFile{
		{Path: "a.txt", Action: "created", Added: 1, Hunks: 1, Diff: "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n"},
	}}}
}

// refusedUnmaking is a refused one.
func refusedUnmaking() event.Undo {
	return event.Undo{Run: storyRun, Goal: storyGoal, Refused: "auth/jwt.go changed since: nothing was put back", Diff: helperDiff}
}

// undoing presses u in the plan of an ended run, and delivers the preview.
func undoing(t *testing.T, u event.Undo, width, height int) *screen {
	t.Helper()
	st := newStory().finished()
	s := settled(t, st, width, height).press(tabKey).press(letters("u")...)
	s.sent(asks("undo "))
	s.wants("Looking up its changes")
	s.press(letters("y")...) // ignored before the preview
	return s.show(more(st).session(u))
}

func TestUndoShowsDiffFirst(t *testing.T) {
	s := undoing(t, unmaking(), 120, 48)
	for _, text := range []string{
		"Undo k3fq", "auth/handler.go  will be restored", "auth/notes.md  will be removed", "auth/old.go  will be recreated",
		"auth/notes.md (removed)", "authenticate(r.Context(), token)", "anything that test.run changed is not restored", "y restore 3 files",
	} {
		s.wants(text)
	}
	s.press(letters("y")...)
	s.sent(asks("undo "), session.Undo{Run: storyRun})
	s.wants("Restoring the files")
	s.press(letters("y")...) // ignored after the first
	s.sent(asks("undo "), session.Undo{Run: storyRun})

	st := newStory().finished()
	u := unmaking()
	s.show(more(st).session(event.ChatUndone{Undo: u}, event.ChatReply{Text: "undid the run " + storyRun + ":\n\n- restored `auth/handler.go`\n- removed `auth/notes.md`\n- recreated `auth/old.go`"}))
	s.lacks("put back 3 files")
	s.wants("undid the run " + storyRun)
	s.wants("recreated auth/old.go")
	s.wants("− undone") // in the header
}

func TestRunListNamesAnUndoneRun(t *testing.T) {
	s := settled(t, newStory().greeted(), 120, 36).press(ctrlR).show(more(newStory().greeted()).session([]agent.Summary{
		{Run: "r-7", Goal: "rename it", Status: agent.StatusUnfinished, Undone: true, Restored: 2},
	}))
	s.wants("− undone")
	s.wants("Undone: 2 files restored")
	s.lacks("resume")
}

func TestUndoTakesTheNewestRunThatChangedFiles(t *testing.T) {
	for typed, sent := range map[string][]any{"undo": {asks("undo ")}, "/undo": {asks("completions commands"), asks("undo ")}} {
		t.Run(typed, func(t *testing.T) {
			st := newStory().finished()
			s := settled(t, st, 120, 36).press(letters(typed)...).press(enter)
			s.sent(sent...)
			s.wants("Undo last run")
			u := unmaking()
			u.Run, u.Goal = "r-earlier", "rename Cart to Basket"
			s.show(more(st).session(u))
			s.wants("Undo r-earlier")
			s.wants("rename Cart to Basket")
			s.press(letters("y")...)
			s.sent(append(sent, session.Undo{Run: "r-earlier"})...)
		})
	}
}

func TestUndoNeedsConfirmation(t *testing.T) {
	for name, keys := range map[string][]tea.KeyPressMsg{"esc": {escape}, "n": letters("n")} {
		t.Run(name, func(t *testing.T) {
			s := undoing(t, unmaking(), 120, 36).press(keys...)
			s.lacks("put back")
			s.press(letters("y")...)
			s.sent(asks("undo "))
		})
	}
}

func TestPlanKeepsKeysAfterUndo(t *testing.T) {
	s := undoing(t, unmaking(), 120, 36).press(letters("y")...)
	s.show((&story{now: newStory().now}).session(event.ChatUndone{Undo: event.Undo{Run: storyRun}}))
	if got := s.m.Focus(); got != "plan" {
		t.Errorf("the %s has the keys", got)
	}
}

func TestRefusedUndoTakesNoConfirmation(t *testing.T) {
	for name, c := range map[string]struct {
		undo event.Undo
		want string
	}{
		"file changed since": {refusedUnmaking(), "auth/jwt.go changed since: nothing was put back"},
		"already undone":     {event.Undo{Run: storyRun, Already: true}, "It is already undone"},
		"nothing changed":    {event.Undo{Run: storyRun}, "It changed no file"},
	} {
		t.Run(name, func(t *testing.T) {
			s := undoing(t, c.undo, 120, 36)
			s.wants(c.want)
			s.lacks("y put back")
			s.press(letters("y")...)
			s.sent(asks("undo "))
		})
	}
}

func TestRunListOpensUndo(t *testing.T) {
	s := listing(t, newStory().greeted(), 120, 36).press(downKey, downKey).press(letters("u")...)
	s.sent(asks("runs"), asks("undo r-4"))
	s.wants("Looking up its changes")
	s.show((&story{now: newStory().now}).session(event.Undo{Run: "r-other", Refused: "not this one"}))
	s.lacks("not this one")
	s.press(escape)
	s.wants("Runs")
}

func TestActiveRunIsNotUndone(t *testing.T) {
	s := settled(t, newStory().branching(), 120, 36).press(tabKey).press(letters("u")...)
	s.wants("The run is active: undo it when it has ended.")
	s.sent()
	st := newStory().branching()
	s.press(ctrlR).show(more(st).session([]agent.Summary{
		{Run: storyRun, Goal: storyGoal, Status: agent.StatusRunning}, {Run: "r-other", Goal: "another's", Status: agent.StatusRunning},
	})).press(letters("u")...)
	s.wants("The run is active: undo it when it has ended.")
	s.press(downKey).press(letters("u")...)
	s.wants("Another replan is running it.")
	s.sent(asks("runs"), asks("journal r-other"))
	p := open(t, tui.Options{Replay: true}, 120, 36).show(newStory().finished()).press(tabKey).press(letters("u")...)
	p.wants("This is a replay: nothing can be undone here.")
}

func TestTheUndoDialogIsDrawnWideAndNarrow(t *testing.T) {
	for name, u := range map[string]event.Undo{"shown": unmaking(), "refused": refusedUnmaking()} {
		for _, size := range []struct{ w, h int }{{120, 36}, {80, 24}, {40, 12}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(t *testing.T) {
				golden.RequireEqual(t, undoing(t, u, size.w, size.h).front()+"\n")
			})
		}
	}
}
