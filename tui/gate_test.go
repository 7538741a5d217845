package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui"
	"replan/tui/panetest"
)

func TestGateIgnoresKeysUntilGraceEnds(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36)
	s.press(letters("typing on")...).show(newStory().Gated())
	if !s.m.GateOpen() {
		t.Fatal("the gate does not open")
	}
	s.m.Update(enter)
	s.sent()
	s.lacks("press it again") // it would have answered nothing
	s.m.Update(pageUp)
	s.wants("Pgup did nothing, because you were typing; press it again.")
	s.m.Update(s.m.RestedBefore())
	s.m.Update(letters("y")[0])
	s.sent()
	s.m.Update(s.m.Rested())
	if got := s.m.Typed(); got != "typing ony" {
		t.Errorf("the input holds %q", got)
	}
	s.press(letters("y")...)
	s.sent(session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
	if s.m.GateOpen() {
		t.Error("the gate is still open after its answer")
	}
}

// TestWordsTypedAtADialogAnswerNothing: each letter comes before a pause, and begins
// with one that means nothing there. Only letters that would have acted are named.
func TestWordsTypedAtADialogAnswerNothing(t *testing.T) {
	at := map[string]func(t *testing.T) *screen{
		"a gate":     func(t *testing.T) *screen { return settled(t, newStory().Revised(), 120, 36) },
		"a question": func(t *testing.T) *screen { return settled(t, newStory().Failing(), 120, 36) },
		"a review":   func(t *testing.T) *screen { return looking(t, 120, 36) },
	}
	for name, text := range map[string]string{"a gate": "today", "a question": "tea", "a review": "hello k"} {
		s := at[name](t)
		keys := letters(text)
		for _, k := range keys[:len(keys)-1] {
			s.m.Update(k)
		}
		s.m.Update(letters("q")[0])
		s.lacks("too early")
		s.m.Update(keys[len(keys)-1])
		s.sent()
		s.wants(text[len(text)-1:] + " came too early; press it again.")
		if got := s.m.Typed(); got != "" {
			t.Errorf("%q at %s: the input holds %q", text, name, got)
		}
	}
}

// TestDialogThatOpensByItselfTakesNoTyping: a letter that is an answer continues the
// text, or says that it came too early, until no key was pressed for a while.
func TestDialogThatOpensByItselfTakesNoTyping(t *testing.T) {
	for name, st := range map[string]func() *story{
		"a gate":     func() *story { return newStory().Revised() },
		"a question": func() *story { return newStory().Failing() },
	} {
		for _, typed := range []string{"", "rename it"} {
			for _, key := range []string{"r", "a", "y", "n", "s"} {
				s := open(t, tui.Options{}, 120, 36).press(letters(typed)...).show(st())
				before := s.m.GateOpen()
				for range 3 {
					s.m.Update(letters(key)[0])
				}
				s.sent()
				want := typed
				if typed != "" {
					want += key + key + key
				}
				if got := s.m.Typed(); got != want || !before || !s.m.GateOpen() {
					t.Errorf("%q typed at %s: the input holds %q", key, name, got)
				}
			}
		}
	}
}

func TestEscapeHidesGateAndCtrlGReturns(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Gated())
	s.m.Update(s.m.Rested())
	s.press(escape)
	s.sent()
	if s.m.GateOpen() {
		t.Fatal("the dialog is still open")
	}
	s.wants("step 4 waits for your answer")
	s.m.Update(ctrl('g'))
	if !s.m.GateOpen() {
		t.Fatal("ctrl+g does not reopen it")
	}
	s.press(escape, escape)
	s.sent()
	s.wants("esc again stops the run")
	s.press(letters("j")[0], escape)
	s.sent() // another key cancels the warning
	s.press(escape)
	s.sent(session.Stop{})
}

func TestWarningOfStopFitsNarrowScreen(t *testing.T) {
	settled(t, newStory().Gated(), 40, 12).press(escape, escape).wants("esc again stops the run, ctrl+g returns")
}

func TestGateAskedForByKeyAnswersAtOnce(t *testing.T) {
	s := settled(t, newStory().Gated(), 120, 60).press(escape)
	s.press(ctrl('g')).press(letters("y")...)
	s.sent(session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestStepPaneDoesNotRepeatTheDiffOfTheGate(t *testing.T) {
	st := newStory().Gated()
	for i, e := range st.Events { // as the arguments of a rename, with the diff itself
		if d, ok := e.Data.(event.GateRequested); ok {
			d.Args = map[string]any{"path": "auth/handler.go", "diff": d.Diff}
			st.Events[i].Data = d
		}
	}
	s := open(t, tui.Options{}, 120, 60).show(st)
	const hunk = "@@ -12,7 +12,7 @@"
	for _, c := range []struct {
		key   tea.KeyPressMsg
		wants string
	}{{tea.KeyPressMsg{}, "lines, see the gate"}, {escape, hunk}, {ctrl('g'), "lines, see the gate"}} {
		s.m.Update(c.key)
		s.wants(c.wants)
		if n := strings.Count(s.text(), hunk); n != 1 {
			t.Errorf("after %s the diff is shown %d times:\n%s", c.key, n, s.text())
		}
		s.m.Update(s.m.Rested())
	}
}

func TestKeyForGateEndsItsGraceTime(t *testing.T) {
	s := open(t, tui.Options{}, 120, 60).show(newStory().Gated())
	s.press(ctrl('g')).lacks("too early")
	s.press(letters("y")...)
	s.sent(session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestHelpOpensOverGate(t *testing.T) {
	for _, k := range []tea.KeyPressMsg{letters("?")[0], {Code: tea.KeyF1}} {
		s := open(t, tui.Options{}, 120, 36).show(newStory().Gated())
		s.m.Update(s.m.Rested())
		s.press(k)
		s.wants("Everywhere")
		s.press(escape)
		if !s.m.GateOpen() {
			t.Errorf("%s closes the gate", k)
		}
		s.sent()
	}
}

func TestCtrlGReportsNoOpenGate(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Branching()).press(ctrl('g'))
	s.wants("No gate is open.")
}

// sending runs a command that sends one message and may also start a grace time,
// for which it does not wait.
func (s *screen) sending(cmd tea.Cmd) {
	batch, ok := cmd().(tea.BatchMsg)
	if !ok {
		return
	}
	for _, c := range batch {
		if c != nil {
			go c()
		}
	}
	<-s.session.got
}

func TestAnswerFromElsewhereClosesGate(t *testing.T) {
	st := newStory().Gated()
	s := open(t, tui.Options{}, 120, 36).show(st)
	next := &story{Now: st.Now, Seq: st.Seq}
	s.show(next.Run(event.GateResolved{Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce, By: "--approve all"}))
	if s.m.GateOpen() {
		t.Error("the gate is still open")
	}
	s.wants("allowed fs.patch in step 4 (by --approve all)")
}

// TestGoalBringsBackQuestionThatHoldsIt: no run starts before the project's servers are
// answered.
func TestGoalBringsBackQuestionThatHoldsIt(t *testing.T) {
	waiting := session.Status{Servers: []plan.ServerStatus{{Name: "tickets", State: plan.ServerWaiting}}}
	st := newStory().Servers().Session(waiting)
	s := open(t, tui.Options{}, 120, 36).show(st)
	s.m.Update(s.m.Rested())
	s.press(escape)
	s.lacks("npx -y")
	s.press(letters("list files")...).press(enter)
	s.sent(session.Submit{Text: "list files"})
	s.wants("npx -y @example/tickets-mcp --project auth")
	s.wants("Your goal waits for this answer.")
	s.show(more(st).Session(session.Queue{Doing: "list files"}))
	s.m.Update(s.m.Rested())
	s.press(escape)
	s.wants("waiting for your answer (ctrl+g)")
}

func TestAnswerTypedAsGoalOpensGate(t *testing.T) {
	s := settled(t, newStory().Gated(), 120, 36).press(escape)
	s.press(letters("y")...).press(enter)
	s.sent()
	s.wants("The gate waits here: press y again to answer it.")
	if got := s.m.Typed(); got != "" || !s.m.GateOpen() {
		t.Errorf("the input holds %q, the gate is open: %v", got, s.m.GateOpen())
	}
	s.press(letters("y")...)
	s.sent(session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestLinesBehindOtherDialogAreUnseen(t *testing.T) {
	s := settled(t, newStory().Gated(), 40, 12)
	s.press(f1).press(pageDown, pageDown, pageDown).press(escape)
	s.wants("y once (4 more)")
}
