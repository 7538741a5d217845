package keymap_test

import (
	"testing"

	"replan/tui/keymap"
	"replan/tui/panetest"
)

func TestHintReturnsActionUnderPointer(t *testing.T) {
	h := panetest.Keys().Hint("move", "move.up", "move.down")
	if h.Label != "up/down" {
		t.Fatalf("the hint names %q", h.Label)
	}
	for cell, want := range map[int]string{0: "move.up", 3: "move.down", 9: "move.down"} {
		if id, _ := h.At(cell); id != want {
			t.Errorf("cell %d leads to %s, want %s", cell, id, want)
		}
	}
}

func TestRefusedActionIsNotDone(t *testing.T) {
	done := 0
	do := func() keymap.Requests { done++; return nil }
	hs := keymap.Handlers{
		"plan.open":   {Do: do},
		"plan.cancel": {Refuse: func() string { return "no step runs" }, Do: do},
		"plan.undo":   {When: func() bool { return false }, Do: do},
	}
	if _, why := hs.Act("plan.cancel"); why != "no step runs" {
		t.Errorf("refused because %q", why)
	}
	for _, id := range []string{"plan.undo", "plan.fold"} {
		if _, why := hs.Act(id); why != keymap.NotHere {
			t.Errorf("%s is refused because %q", id, why)
		}
	}
	if _, why := hs.Act("plan.open"); why != "" || done != 1 {
		t.Errorf("done %d times, refused because %q", done, why)
	}
}

func TestKeyMeansOnlyHandledActions(t *testing.T) {
	k := panetest.Keys()
	hs := keymap.Handlers{"move.onward": {Do: func() keymap.Requests { return nil }}}
	if id, found := k.Meant(keymap.KeyNamed("space"), hs); !found || id != "move.onward" {
		t.Errorf("space means %q", id)
	}
	if id, found := k.Meant(keymap.KeyNamed("x"), hs); found {
		t.Errorf("x means %q", id)
	}
}

func TestActionIsNamedByTheKeyThatWasPressed(t *testing.T) {
	k := panetest.Keys()
	for _, pressed := range []string{"f4", "alt+e"} {
		k.Meant(keymap.KeyNamed(pressed), keymap.Handlers{"gate.editor": {}})
		if got := k.Name("gate.editor"); got != pressed {
			t.Errorf("got %s, pressed %s", got, pressed)
		}
	}
	if err := k.Rebind(keymap.Keys{"gate.editor": {"ctrl+e"}}); err != nil || k.LeadingName("gate.editor") != "Ctrl+e" {
		t.Errorf("bound again: got %q, %v", k.LeadingName("gate.editor"), err)
	}
}

func TestKeyNamesFollowConfiguration(t *testing.T) {
	k := panetest.Keys()
	if err := k.Rebind(keymap.Keys{"gate": {"ctrl+b"}, "plan.follow": {}}); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"gate": "ctrl+b", "plan.follow": "no key", "run.stop": "esc"} {
		if got := k.Name(id); got != want {
			t.Errorf("the key of %s: got %q, want %q", id, got, want)
		}
	}
	if got := k.LeadingName("gate"); got != "Ctrl+b" {
		t.Errorf("at the start of a sentence: got %q", got)
	}
}

func TestTableGivesEachActionTheHandlerOfItsPlace(t *testing.T) {
	said := func(words string) keymap.Handler { return keymap.Handler{Refuse: func() string { return words }} }
	parts := map[keymap.Place]keymap.Handlers{keymap.PlacePlan: {"plan.copy": said("of the plan")}, keymap.PlaceStep: {"plan.copy": said("of the step")}}
	table := panetest.Keys().Table(parts, func(id string) keymap.Handler { return said(id + " of a dialog") })
	for place, want := range map[keymap.Place]string{keymap.PlacePlan: "of the plan", keymap.PlaceStep: "of the step"} {
		if a := table.At("plan.copy", place); a == nil || a.Refusal() != want || a.Key.Help().Desc == "" {
			t.Errorf("%v: got %+v, want the handler %s", place, a, want)
		}
	}
	if a, _ := table.Find("undo.put_back"); a == nil || a.Refusal() != "undo.put_back of a dialog" {
		t.Errorf("an action of no part: got %+v", a)
	}
}

func TestActionsThatShareTheirKeyAreConfiguredTogether(t *testing.T) {
	k := panetest.Keys()
	if err := k.Rebind(keymap.Keys{"diff.sides": {"ctrl+b"}}); err != nil || k.Name("gate.sides") != "ctrl+b" {
		t.Errorf("the gate has %s, %v", k.Name("gate.sides"), err)
	}
}
