package tui_test

import (
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/tui"
	"replan/tui/panetest"
)

// oneChange offers a change of a copy.
func oneChange() session.ChangesOffered {
	return session.ChangesOffered{Changes: event.Changes{Offer: "1", Files: []event.ChangedFile{
		{Path: "a.txt", Action: "created", Added: 1, Hunks: 1, Diff: "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n"},
	}}}
}

// undoing presses u in the plan of an ended run, and delivers the preview.
func undoing(t *testing.T, u event.Undo, width, height int) *screen {
	t.Helper()
	st := newStory().Finished()
	s := settled(t, st, width, height).press(tabKey).press(letters("u")...)
	s.sent(asks("undo "))
	s.wants("Looking up its changes")
	s.press(letters("y")...) // ignored before the preview
	return s.show(more(st).Session(u))
}

func TestRedoShowsDiffFirst(t *testing.T) {
	for name, begin := range map[string]func(s *screen){
		"the key in the input": func(s *screen) { s.press(panetest.Key("ctrl+y")) },
		"the key in the plan":  func(s *screen) { s.press(tabKey, panetest.Key("ctrl+y")) },
		"the word":             func(s *screen) { s.press(letters("redo")...).press(panetest.Key("enter")) },
		"the command":          func(s *screen) { s.press(letters("/redo")...).press(panetest.Key("enter")) },
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory().Finished()
			s := settled(t, st, 120, 48)
			begin(s)
			s.wants("Redo last undo")
			u := panetest.Undo()
			s.show(more(st).Session(u)) // of the undo that was asked for before
			s.lacks("auth/handler.go  will be restored")
			u.Redo = true
			s.show(more(st).Session(u))
			s.wants("Redo k3fq")
			s.wants("files to change again")
			s.wants("y bring back 3 files")
			s.press(letters("y")...)
			sent := s.session.commands()
			if got := sent[len(sent)-1]; got != any(session.Undo{Run: panetest.StoryRun, Redo: true}) {
				t.Errorf("sent %+v", sent)
			}
			s.wants("Bringing back the files")
		})
	}
}

func TestUndoOffersTheKeyThatTakesItBack(t *testing.T) {
	st := newStory().Finished()
	s := settled(t, st, 120, 48)
	s.show(more(st).Session(event.ChatUndone{Undo: panetest.Undo()}))
	s.wants("Ctrl+y redoes it")
	s.wants("undone")
	redone := panetest.Undo()
	redone.Redo = true
	s.show(more(st).Session(event.ChatUndone{Undo: redone}))
	s.lacks("− undone")
}

func TestUndoShowsDiffFirst(t *testing.T) {
	s := undoing(t, panetest.Undo(), 120, 48)
	for _, text := range []string{
		"Undo k3fq", "auth/handler.go  will be restored", "auth/notes.md  will be removed", "auth/old.go  will be recreated",
		"auth/notes.md (removed)", "authenticate(r.Context(), token)", "anything that test.run changed is not restored", "y restore 3 files",
	} {
		s.wants(text)
	}
	s.press(letters("y")...)
	s.sent(asks("undo "), session.Undo{Run: panetest.StoryRun})
	s.wants("Restoring the files")
	s.press(letters("y")...) // ignored after the first
	s.sent(asks("undo "), session.Undo{Run: panetest.StoryRun})

	st := newStory().Finished()
	u := panetest.Undo()
	s.show(more(st).Session(event.ChatUndone{Undo: u}, event.ChatReply{Text: "undid the run " + panetest.StoryRun + ":\n\n- restored `auth/handler.go`\n- removed `auth/notes.md`\n- recreated `auth/old.go`"}))
	s.lacks("put back 3 files")
	s.wants("undid the run " + panetest.StoryRun)
	s.wants("recreated auth/old.go")
	s.wants("− undone") // in the header
}

func TestUndoTakesTheNewestRunThatChangedFiles(t *testing.T) {
	for typed, sent := range map[string][]any{"undo": {asks("undo ")}, "/undo": {asks("completions commands"), asks("undo ")}} {
		t.Run(typed, func(t *testing.T) {
			st := newStory().Finished()
			s := settled(t, st, 120, 36).press(letters(typed)...).press(enter)
			s.sent(sent...)
			s.wants("Undo last run")
			u := panetest.Undo()
			u.Run, u.Goal = "r-earlier", "rename Cart to Basket"
			s.show(more(st).Session(u))
			s.wants("Undo r-earlier")
			s.wants("rename Cart to Basket")
			s.press(letters("y")...)
			s.sent(append(sent, session.Undo{Run: "r-earlier"})...)
		})
	}
}

func TestPlanKeepsKeysAfterUndo(t *testing.T) {
	s := undoing(t, panetest.Undo(), 120, 36).press(letters("y")...)
	s.show((&story{Now: newStory().Now}).Session(event.ChatUndone{Undo: event.Undo{Run: panetest.StoryRun}}))
	if got := s.m.Focus(); got != "plan" {
		t.Errorf("the %s has the keys", got)
	}
}

func TestRunListOpensUndo(t *testing.T) {
	s := listing(t, newStory().Greeted(), 120, 36).press(downKey, downKey).press(letters("u")...)
	s.sent(asks("runs"), asks("undo r-4"))
	s.wants("Looking up its changes")
	s.show((&story{Now: newStory().Now}).Session(event.Undo{Run: "r-other", Refused: "not this one"}))
	s.lacks("not this one")
	s.press(escape)
	s.wants("Runs")
}

func TestActiveRunIsNotUndone(t *testing.T) {
	s := settled(t, newStory().Branching(), 120, 36).press(tabKey).press(letters("u")...)
	s.wants("The run is active: undo it when it has ended.")
	s.sent()
	st := newStory().Branching()
	s.press(ctrlR).show(more(st).Session([]agent.Summary{
		{Run: panetest.StoryRun, Goal: panetest.StoryGoal, Status: agent.StatusRunning}, {Run: "r-other", Goal: "another's", Status: agent.StatusRunning},
	})).press(letters("u")...)
	s.wants("The run is active: undo it when it has ended.")
	s.press(downKey).press(letters("u")...)
	s.wants("Another replan is running it.")
	s.sent(asks("runs"), asks("journal r-other"))
	p := open(t, tui.Options{Replay: true}, 120, 36).show(newStory().Finished()).press(tabKey).press(letters("u")...)
	p.wants("This is a replay: nothing can be undone here.")
}
