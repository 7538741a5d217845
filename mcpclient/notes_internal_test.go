package mcpclient

import (
	"slices"
	"testing"
)

func TestNotesAreTakenOnceAndOfOneServer(t *testing.T) {
	var n notes
	n.add("", "of none")
	n.add("a", "of a")
	n.add("b", "of b")
	if got := n.NotesOn("a"); !slices.Equal(got, []string{"of none", "of a"}) {
		t.Errorf("got %q", got)
	}
	if got := n.NotesOn(""); len(got) > 0 {
		t.Errorf("again: %q", got)
	}
}
