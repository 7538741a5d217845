package plan_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/planning/plan"
)

func TestTakenHunksAreAppliedAndTheOthersAreNot(t *testing.T) {
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n"
	after := "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\nfifteen\n16"
	for taken, want := range map[int]string{
		0: strings.Replace(before, "1\n", "one\n", 1),
		1: strings.Replace(before, "15\n", "fifteen\n16", 1),
	} {
		if got := plan.TakeHunks(before, after, func(hunk int) bool { return hunk == taken }); got != want {
			t.Errorf("hunk %d: got %q, want %q", taken, got, want)
		}
	}
}

func TestAllHunksMakeTheNewTextAndNoneTheOld(t *testing.T) {
	text := rapid.StringMatching(`([abc]{0,2}\n){0,30}[ab]?`)
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		if got := plan.TakeHunks(before, after, func(int) bool { return true }); got != after {
			t.Errorf("all: got %q, want %q", got, after)
		}
		if got := plan.TakeHunks(before, after, func(int) bool { return false }); got != before {
			t.Errorf("none: got %q, want %q", got, before)
		}
	})
}
