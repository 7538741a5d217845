package ask

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// twoGates shows two open gates after their grace time.
func twoGates() *Dialog {
	g := New(panetest.DarkLook(), keymap.New(), draw.Pauses{})
	gate := func(id string) OpenGate {
		return OpenGate{Run: "r", Ask: event.GateRequested{Gate: id, Step: id, Tool: "fs.write", Args: map[string]any{"path": id}}}
	}
	g.Set([]Asking{gate("1"), gate("2")})
	g.Grace.On = false
	show(g, draw.Rect{W: 80, H: 24})
	return g
}

// show gives the dialog its place and draws it.
func show(g *Dialog, size draw.Rect) []string {
	g.SetState(State{Size: size})
	return g.View(size)
}

func TestAnswersAreCommandsForShownRequest(t *testing.T) {
	g := twoGates()
	w, why := g.Actions().Act("gate.deny")
	want := session.Resolve{Run: "r", Gate: "1", Decision: event.Deny, Scope: event.ScopeOnce}
	if why != "" || !w.Answer || len(w.Send) != 1 || w.Send[0] != session.Command(want) {
		t.Fatalf("refused %q, asks for %+v", why, w)
	}
	if g.Waiting() != 1 || !g.Grace.On {
		t.Errorf("%d requests wait, grace time %v", g.Waiting(), g.Grace.On)
	}
}

func TestGraceTimeBlocksEveryAnswer(t *testing.T) {
	g := twoGates()
	g.Grace.On = true
	for id, h := range g.Actions() {
		if id == "gate.next" || id == "gate.previous" {
			continue
		}
		if w := h.Do(); w.Send != nil || !g.Open || g.Waiting() != 2 {
			t.Errorf("%s acts too early: %+v", id, w)
		}
	}
	if g.Actions()["gate.next"].Do(); g.at != 1 {
		t.Error("no move to the next request")
	}
}

func TestClicksChooseRequestsAndPressKeys(t *testing.T) {
	g := twoGates()
	if w := g.Update(tea.MouseClickMsg{X: 4, Y: 2}); g.at != 1 || w.ActionClicked {
		t.Errorf("a click on the second request shows number %d, acted %v", g.at, w.ActionClicked)
	}
	g.Grace.On = false
	show(g, draw.Rect{W: 80, H: 24})
	b := g.buttons[0]
	if w := g.Update(tea.MouseClickMsg{X: b.X, Y: b.Y}); !w.ActionClicked || !w.Answer {
		t.Errorf("a click on the first key asks for %+v", w)
	}
}

func TestAnswerToHiddenRequestOnlyShowsIt(t *testing.T) {
	g := twoGates()
	g.Actions()["dialog.leave"].Do()
	if g.Showing() {
		t.Fatal("the dialog stays")
	}
	if w := g.Answers()["gate.once"].Do(); w.Send != nil || !w.Gate {
		t.Errorf("asks for %+v", w)
	}
	if g.Reopen(); !g.Showing() || g.Grace.On {
		t.Errorf("asked for: shown %v, grace time %v", g.Showing(), g.Grace.On)
	}
}

func TestQuestionOfTheSessionNamesItsPrograms(t *testing.T) {
	for _, size := range []draw.Rect{{W: 200, H: 9}, {W: 120, H: 9}, {W: 80, H: 10}, {W: 40, H: 10}} {
		t.Run(fmt.Sprintf("%dx%d", size.W, size.H), func(t *testing.T) {
			g := New(panetest.DarkLook(), keymap.New(), draw.Pauses{})
			g.Set([]Asking{OpenGate{Run: "s", Ask: panetest.ToolServers(), Session: true}})
			g.Grace.On = false
			if wanted := g.Height(size.W); wanted != size.H && size.W > 40 {
				t.Errorf("the dialog wants %d lines, not %d", wanted, size.H)
			}
			golden.RequireEqual(t, panetest.Stripped(show(g, size))+"\n")
		})
	}
}

func TestKeyThatDoesNothingNamesThoseThatWork(t *testing.T) {
	g := New(panetest.DarkLook(), keymap.New(), draw.Pauses{})
	g.Set([]Asking{Question{Run: "r"}})
	if got, want := g.refusal("gate.once"), "y does nothing here: use r, s, p or a."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := g.noFile(), "Alt+e does nothing here: use r, s, p or a."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEditThatChangesNothingDecidesNothing(t *testing.T) {
	g := twoGates()
	g.Answers()["gate.edit"].Do()
	if !g.Editing() {
		t.Fatal("no editor opened")
	}
	if w := g.sendEdited(); w.Send != nil || w.Ask != nil || w.Footer != "No changes: the call stays as it was." {
		t.Errorf("asks for %+v", w)
	}
	if g.Editing() || !g.Showing() || g.Edits != 0 {
		t.Error("the gate does not wait for an answer")
	}
}
