package answerguard_test

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/tui/answerguard"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// over ends a time of a guard at a dialog in front of an input that takes text.
func over(g *answerguard.Guard, msg answerguard.OverMsg) answerguard.Verdict {
	return new(answerguard.Letters).Over(answerguard.Scene{Guard: g, TakesText: true}, msg)
}

func TestOnlyTheNewestQuietTimeEnds(t *testing.T) {
	g := answerguard.New(0, 0)
	g.Start()
	old := g.Over(0)
	g.TooEarly("enter")
	if over(g, old); !g.Ignores() || g.Message() == "" {
		t.Error("a key did not restart the quiet time")
	}
	newest := g.Over(0)
	if v := over(g, newest); g.Ignores() || g.Message() != "Enter came too early; press it again." || v.Cmd == nil {
		t.Errorf("the quiet time does not end, or not with its message: %q", g.Message())
	}
	if over(g, newest); g.Message() != "" {
		t.Error("the message does not go away")
	}
}

// pressed is what became of keys that were pressed one after another.
type pressed struct {
	letters answerguard.Letters
	scene   answerguard.Scene
	last    answerguard.Verdict
}

// press presses keys. y and n answer, j moves, and ? opens help.
func (p *pressed) press(names ...string) {
	for _, name := range names {
		means := func() (string, bool) {
			action := map[string]string{"y": "gate.once", "n": "gate.deny", "j": "move.down"}[name]
			return action, name == "?"
		}
		p.last = p.letters.Press(p.scene, answerguard.Key{KeyPressMsg: keymap.KeyNamed(name), Means: means})
	}
}

func TestLettersAtADialogAnswerOrAreAText(t *testing.T) {
	for name, c := range map[string]struct {
		keys    []string
		on      bool // the dialog has just opened
		typed   bool // the input holds a text
		fate    answerguard.Fate
		letters int
	}{
		"an answer waits for another letter":            {keys: []string{"y"}, fate: answerguard.Held},
		"enter gives the answer that waits":             {keys: []string{"y", "enter"}, fate: answerguard.Acts, letters: 1},
		"enter alone does what it does":                 {keys: []string{"enter"}, fate: answerguard.Passes},
		"a second letter makes both a text":             {keys: []string{"y", "o"}, fate: answerguard.Text, letters: 2},
		"a letter twice stays an answer":                {keys: []string{"y", "y"}, fate: answerguard.Held},
		"a letter without an action is no answer":       {keys: []string{"x"}, fate: answerguard.Unknown},
		"a key that only scrolls acts at once":          {keys: []string{"j"}, fate: answerguard.Passes},
		"an answer after a scroll is a text":            {keys: []string{"j", "y"}, fate: answerguard.Text, letters: 2},
		"a letter after held scrolling answers":         {keys: []string{"j", "j", "y"}, fate: answerguard.Held},
		"help acts at once":                             {keys: []string{"?"}, fate: answerguard.Passes},
		"a first letter at a new dialog may answer":     {keys: []string{"y"}, on: true, fate: answerguard.Passes},
		"two letters at a new dialog are a text":        {keys: []string{"y", "e"}, on: true, fate: answerguard.Text, letters: 2},
		"a letter goes on with the text of the input":   {keys: []string{"y"}, on: true, typed: true, fate: answerguard.Text, letters: 1},
		"backspace erases in the text of the input":     {keys: []string{"backspace"}, on: true, typed: true, fate: answerguard.Text, letters: 1},
		"backspace in an empty input does what it does": {keys: []string{"backspace"}, on: true, fate: answerguard.Passes},
	} {
		t.Run(name, func(t *testing.T) {
			g := answerguard.New(time.Hour, time.Hour)
			if c.on {
				g.Start()
			}
			p := pressed{scene: answerguard.Scene{Guard: g, TakesText: true, InputEmpty: !c.typed}}
			if p.press(c.keys...); p.last.Fate != c.fate || len(p.last.Letters) != c.letters {
				t.Errorf("got fate %d with %d letters, want %d with %d", p.last.Fate, len(p.last.Letters), c.fate, c.letters)
			}
		})
	}
}

func TestAnswerActsWhenNoLetterFollows(t *testing.T) {
	g := answerguard.New(time.Hour, time.Hour)
	p := pressed{scene: answerguard.Scene{Guard: g, TakesText: true, InputEmpty: true}}
	p.press("y")
	if g.Waiting() != "gate.once" {
		t.Fatalf("the action %q waits", g.Waiting())
	}
	if v := p.letters.Over(p.scene, g.Over(0)); v.Fate != answerguard.Acts || len(v.Letters) != 1 || g.Waiting() != "" {
		t.Errorf("got fate %d with %d letters; %q waits", v.Fate, len(v.Letters), g.Waiting())
	}
}

func TestAnswerActsAtOnceAtADialogThatWasAskedFor(t *testing.T) {
	for name, ask := range map[string]func(*answerguard.Guard){
		"shown again":     (*answerguard.Guard).Stop,
		"opened by a key": (*answerguard.Guard).AskedFor,
	} {
		g := answerguard.New(time.Hour, time.Hour)
		ask(g)
		p := pressed{scene: answerguard.Scene{Guard: g, TakesText: true, InputEmpty: true}}
		if p.press("y"); p.last.Fate != answerguard.Passes {
			t.Errorf("%s: got fate %d", name, p.last.Fate)
		}
	}
}

func TestPasteIsAText(t *testing.T) {
	g := answerguard.New(time.Hour, time.Hour)
	p := pressed{scene: answerguard.Scene{Guard: g, TakesText: true, InputEmpty: true}}
	p.press("y")
	if v := p.letters.Paste(p.scene); v.Fate != answerguard.Text || len(v.Letters) != 1 || !g.Ignores() {
		t.Errorf("got fate %d with %d letters", v.Fate, len(v.Letters))
	}
	p.scene.TakesText = false
	if v := p.letters.Paste(p.scene); v.Fate != answerguard.Passes {
		t.Errorf("without an input that takes text: got fate %d", v.Fate)
	}
}

func TestGuardHoldsEveryActionButThoseThatAnswerNothing(t *testing.T) {
	g, k := answerguard.New(time.Hour, time.Hour), panetest.Keys()
	done := map[string]bool{}
	actions := func() keymap.Handlers {
		hs := keymap.Handlers{}
		for _, id := range []string{"gate.once", "gate.next", "dialog.leave"} {
			hs[id] = keymap.Handler{Early: id == "gate.next", Do: func() keymap.Requests { done[id] = true; return nil }}
		}
		return g.Hold(hs, k)
	}
	press := func() {
		clear(done)
		for _, id := range []string{"gate.once", "gate.next", "dialog.leave"} {
			actions().Press(id)
		}
	}
	g.Start()
	if press(); done["gate.once"] || !done["gate.next"] || done["dialog.leave"] || g.Message() == "" {
		t.Errorf("a new dialog: done %v, message %q", done, g.Message())
	}
	g.StartStage()
	if press(); done["gate.once"] || !done["dialog.leave"] {
		t.Errorf("a stage that a key opened: done %v", done)
	}
	actions().Press("gate")
	if press(); !done["gate.once"] {
		t.Errorf("after its key: done %v", done)
	}
}

func TestKeyWithoutActionProlongsTheQuietTime(t *testing.T) {
	g := answerguard.New(0, 0)
	if _, taken := g.Ignore(tea.KeyPressMsg{Code: 'x', Text: "x"}, false); taken {
		t.Error("a guard that is off takes a key")
	}
	g.Start()
	old := g.Over(0)
	if _, taken := g.Ignore(tea.KeyPressMsg{Code: 'x', Text: "x"}, false); !taken || g.Message() != "" {
		t.Errorf("taken %v, message %q", taken, g.Message())
	}
	if over(g, old); !g.Ignores() {
		t.Error("the earlier quiet time ended")
	}
	if g.Ignore(tea.KeyPressMsg{Code: 'x', Text: "x"}, true); g.Message() == "" {
		t.Error("a key that would have been written says nothing")
	}
}
