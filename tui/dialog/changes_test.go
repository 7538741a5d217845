package dialog_test

import (
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/session"
	"replan/tui/dialog"
	"replan/tui/draw"
	"replan/tui/panetest"
)

const twoHunks = "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+ONE\n@@ -9,1 +9,1 @@\n-nine\n+NINE\n"

// offered returns the dialog with a file of two hunks, a new file, and one that changed
// in the folder too.
func offered(t *testing.T) *dialog.Changes {
	t.Helper()
	d := dialog.NewChanges(panetest.DarkLook(), panetest.Keys(), draw.Pauses{})
	d.Open(event.Changes{Offer: "1", Moves: []string{"created topic"}, Files: []event.ChangedFile{
		{Path: "a.txt", Action: "changed", Diff: twoHunks, Hunks: 2, Added: 2, Removed: 2},
		{Path: "b.txt", Action: "created", Diff: "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n", Hunks: 1, Added: 1},
		{Path: "c.txt", Action: "changed", Conflict: true},
	}})
	d.View(draw.Rect{W: 80, H: 40})
	return d
}

// choose presses keys, and returns what the key that takes changes sends.
func choose(t *testing.T, d *dialog.Changes, actions ...string) event.ChangesChoice {
	t.Helper()
	for _, id := range actions {
		d.Actions().Press(id)
	}
	w := d.Actions().Press("changes.take")
	if len(panetest.Sent(w)) != 1 {
		t.Fatalf("got %+v", w)
	}
	return panetest.Sent(w)[0].(session.SettleChanges).Choice
}

func TestAllChangesAreChosenAtFirst(t *testing.T) {
	if c := choose(t, offered(t)); !c.All || c.Offer != "1" {
		t.Errorf("got %+v", c)
	}
}

func TestFilesAndHunksAreLeftOut(t *testing.T) {
	// The second hunk of the first file, and the second file.
	c := choose(t, offered(t), "move.down", "move.down", "changes.choose", "move.down", "changes.choose")
	if f := c.Files["a.txt"]; c.All || len(c.Files) != 1 || f.All || !slices.Equal(f.Hunks, []int{0}) {
		t.Errorf("got %+v", c)
	}
	// A file leaves its hunks out.
	c = choose(t, offered(t), "changes.choose")
	if f := c.Files["b.txt"]; c.All || len(c.Files) != 1 || !f.All {
		t.Errorf("got %+v", c)
	}
}

func TestChangesAreDroppedAtTheSecondPress(t *testing.T) {
	d := offered(t)
	if w := d.Actions().Press("changes.drop"); len(panetest.Sent(w)) > 0 {
		t.Fatal("the first press drops them")
	}
	d.Actions().Press("move.down")
	if w := d.Actions().Press("changes.drop"); len(panetest.Sent(w)) > 0 {
		t.Fatal("the first press after another key drops them")
	}
	w := d.Actions().Press("changes.drop")
	if len(panetest.Sent(w)) != 1 {
		t.Fatalf("got %+v", w)
	}
	if c := panetest.Sent(w)[0].(session.SettleChanges).Choice; c.All || len(c.Files) > 0 || c.Offer != "1" {
		t.Errorf("got %+v", c)
	}
}

func TestKeysInTheFirstMomentTakeNothing(t *testing.T) {
	d := offered(t)
	d.Begin()
	if w := d.Actions().Press("changes.take"); len(panetest.Sent(w)) > 0 {
		t.Error("an early key takes the changes")
	}
}

func TestFileThatChangedInBothIsNotChosen(t *testing.T) {
	d := offered(t)
	text := panetest.Stripped(d.View(draw.Rect{W: 100, H: 40}))
	if !strings.Contains(text, " ! c.txt") && !strings.Contains(text, " !  c.txt") {
		t.Errorf("the conflict is not marked:\n%s", text)
	}
	for range 4 {
		d.Actions().Press("move.down")
	}
	d.Actions().Press("changes.choose")
	if c := choose(t, d); len(c.Files) != 2 {
		t.Errorf("got %+v", c)
	}
}

func TestRefusedChangesStayOpenWithTheReason(t *testing.T) {
	d := offered(t)
	choose(t, d)
	d.Settled(event.SettledChanges{Refused: "a run is active"})
	if text := panetest.Stripped(d.View(draw.Rect{W: 80, H: 40})); !d.Shown() || !strings.Contains(text, "a run is active") {
		t.Errorf("got\n%s", text)
	}
	d.Settled(event.SettledChanges{})
	if d.Shown() {
		t.Error("it stays open")
	}
}
