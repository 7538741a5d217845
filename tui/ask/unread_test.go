package ask

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// longGate is a gate whose call fills many screens.
func longGate(lines int) *Dialog {
	g := New(panetest.DarkLook(), panetest.Keys(), draw.Pauses{})
	g.Set([]Request{OpenGate{Run: "r", Ask: event.GateRequested{
		Gate: "1", Step: "1", Tool: "proc.run", Server: "workspace", Args: map[string]any{"shell": "echo ok\n" + strings.Repeat("#\n", lines) + "touch end-of-it"},
	}}})
	return g
}

func TestYesPagesDownUntilTheEndWasInView(t *testing.T) {
	g, size := longGate(300), draw.Rect{W: 100, H: 30}
	shown, presses := "", 0
	for ; presses < 50; presses++ {
		shown += strings.Join(show(g, size), "\n")
		g.Guard().Stop()
		if w, _ := g.Actions().Act("gate.once"); keymap.Has[keymap.Answered](w) {
			break
		}
	}
	if !strings.Contains(shown, "touch end-of-it") || presses < 10 || presses == 50 {
		t.Errorf("the call is allowed at press %d; its end was in view: %v", presses+1, strings.Contains(shown, "touch end-of-it"))
	}
}

func TestEndOfGateIsEnoughOnceItsSizeWasSaid(t *testing.T) {
	press := func(g *Dialog, id string) keymap.Requests {
		g.Guard().Stop()
		w, _ := g.Actions().Act(id)
		if !keymap.Has[keymap.Answered](w) {
			show(g, draw.Rect{W: 100, H: 30})
		}
		return w
	}
	g := longGate(300)
	show(g, draw.Rect{W: 100, H: 30})
	press(g, "move.last")
	refused := press(g, "gate.once")
	if keymap.Has[keymap.Answered](refused) || !strings.Contains(panetest.Footer(refused), english.Count(len(g.reading.unseen()), "more line")) {
		t.Fatalf("a yes at the end of a call whose size was not said is %+v", refused)
	}
	if w := press(g, "gate.once"); keymap.Has[keymap.Answered](w) {
		t.Fatal("a second yes allows what was not in view")
	}
	press(g, "move.last")
	if w := press(g, "gate.once"); !keymap.Has[keymap.Answered](w) {
		t.Errorf("after its size and its end were shown a yes is %+v", w)
	}
}
