package tui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui"
	"replan/tui/panetest"
)

func TestGateIgnoresKeysUntilGraceEnds(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36)
	s.press(letters("typing on")...).show(newStory().gated())
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
	s.sent(session.Resolve{Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
	if s.m.GateOpen() {
		t.Error("the gate is still open after its answer")
	}
}

func TestGateAnswers(t *testing.T) {
	for key, want := range map[string]session.Resolve{
		"y": {Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce},
		"r": {Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeRun},
		"n": {Run: storyRun, Gate: "4.1.1", Decision: event.Deny, Scope: event.ScopeOnce},
	} {
		t.Run(key, func(t *testing.T) {
			s := open(t, tui.Options{}, 120, 36).show(newStory().gated())
			s.m.Update(s.m.Rested())
			s.press(letters(key)...)
			s.sent(want)
		})
	}
}

func TestOtherKeysDoNotAnswerGate(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().gated())
	s.m.Update(s.m.Rested())
	s.press(enter, tabKey, ctrl('y'), ctrl('d')).press(letters("qYNR ")...)
	s.m.Update(tea.PasteMsg{Content: "y"})
	s.sent()
	if !s.m.GateOpen() {
		t.Error("the gate closed without an answer")
	}
}

// TestWordsTypedAtADialogAnswerNothing: each letter comes before a pause, and begins
// with one that means nothing there. Only letters that would have acted are named.
func TestWordsTypedAtADialogAnswerNothing(t *testing.T) {
	at := map[string]func(t *testing.T) *screen{
		"a gate":     func(t *testing.T) *screen { return settled(t, newStory().revised(), 120, 36) },
		"a question": func(t *testing.T) *screen { return settled(t, newStory().failing(), 120, 36) },
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
		"a gate":     func() *story { return newStory().revised() },
		"a question": func() *story { return newStory().failing() },
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

func TestRuleAndEditorOfGateIgnoreEarlyKeys(t *testing.T) {
	s := settled(t, newStory().revised(), 120, 36)
	s.m.Update(letters("a")[0])
	s.m.Update(letters("y")[0])
	s.sent()
	s.wants("Allow always")
	s.wants("y came too early; press it again.")
	s.m.Update(escape) // leaving saves nothing, and counts at once
	s.lacks("Allow always")
	s.m.Update(s.m.Rested())
	s.m.Update(letters("e")[0])
	before := s.lines()[:33]
	for _, k := range letters("dit") {
		s.m.Update(k)
	}
	s.wants("t came too early")
	if got := s.lines()[:33]; !slices.Equal(got, before) {
		t.Errorf("typed into the editor:\n%s", s.text())
	}
}

func TestEscapeHidesGateAndCtrlGReturns(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().gated())
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
	settled(t, newStory().gated(), 40, 12).press(escape, escape).wants("esc again stops the run, ctrl+g returns")
}

func TestGateAskedForByKeyAnswersAtOnce(t *testing.T) {
	s := settled(t, newStory().gated(), 120, 60).press(escape)
	s.press(ctrl('g')).press(letters("y")...)
	s.sent(session.Resolve{Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
}

// TestEarlyKeyIsNamedForAWhile: whoever looks up after the key sees what became of it.
func TestEarlyKeyIsNamedForAWhile(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 12}} {
		s := open(t, tui.Options{}, size[0], size[1]).show(newStory().gated())
		s.press(letters("y")...)
		s.sent()
		s.wants("y came too early; press it again.")
		s.m.Update(s.m.Rested()) // the grace time is over
		s.wants("y came too early; press it again.")
		s.m.Update(s.m.Rested()) // the message has been shown
		s.lacks("too early")
	}
	s := open(t, tui.Options{}, 120, 60).show(newStory().gated()).press(letters("y")...)
	s.m.Update(s.m.Rested())
	s.press(letters("y")...).lacks("too early")
	s.sent(session.Resolve{Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestStepPaneDoesNotRepeatTheDiffOfTheGate(t *testing.T) {
	st := newStory().gated()
	for i, e := range st.events { // as the arguments of a rename, with the diff itself
		if d, ok := e.Data.(event.GateRequested); ok {
			d.Args = map[string]any{"path": "auth/handler.go", "diff": d.Diff}
			st.events[i].Data = d
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
	s := open(t, tui.Options{}, 120, 60).show(newStory().gated())
	s.press(ctrl('g')).lacks("too early")
	s.press(letters("y")...)
	s.sent(session.Resolve{Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
}

// TestNewGateBesideHiddenOneIgnoresKeys: the dialog opens again at the gate that the
// user left, while the keys went to the input.
func TestNewGateBesideHiddenOneIgnoresKeys(t *testing.T) {
	st := newStory().abreast("1")
	s := settled(t, st, 120, 60).press(escape)
	s.show(more(st).run(panetest.Reading("2")))
	s.wants("Gate 1 of 2")
	s.m.Update(letters("y")[0])
	s.sent()
	s.wants("too early")
}

func TestHelpOpensOverGate(t *testing.T) {
	for _, k := range []tea.KeyPressMsg{letters("?")[0], {Code: tea.KeyF1}} {
		s := open(t, tui.Options{}, 120, 36).show(newStory().gated())
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
	s := open(t, tui.Options{}, 120, 36).show(newStory().branching()).press(ctrl('g'))
	s.wants("No gate is open.")
}

func TestSeveralGatesQueue(t *testing.T) {
	st := newStory().branching().run(
		event.GateRequested{Gate: "4.1.1", Step: "4", Title: "First question", Tool: "fs.read", Args: map[string]any{"path": "a"}},
		event.GateRequested{Gate: "5.1.1", Step: "5", Title: "Second question", Tool: "fs.read", Args: map[string]any{"path": "b"}},
	)
	s := open(t, tui.Options{}, 120, 36).show(st)
	s.m.Update(s.m.Rested())
	s.wants("Gate 1 of 2")
	s.wants("First question")
	_, first := s.m.Update(letters("y")[0])
	s.sending(first)
	s.wants("Second question")
	s.lacks("of 2")
	s.m.Update(letters("y")[0]) // too early for the second
	s.m.Update(s.m.Rested())
	_, second := s.m.Update(letters("n")[0])
	s.sending(second)
	s.sent(
		session.Resolve{Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce},
		session.Resolve{Run: storyRun, Gate: "5.1.1", Decision: event.Deny, Scope: event.ScopeOnce},
	)
	if s.m.GateOpen() {
		t.Error("a gate is still open")
	}
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
	st := newStory().gated()
	s := open(t, tui.Options{}, 120, 36).show(st)
	next := &story{now: st.now, seq: st.seq}
	s.show(next.run(event.GateResolved{Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce, By: "--approve all"}))
	if s.m.GateOpen() {
		t.Error("the gate is still open")
	}
	s.wants("allowed fs.patch in step 4 (by --approve all)")
}

func TestProjectServersOpenGate(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().servers())
	s.wants("npx -y @example/tickets-mcp --project auth")
	s.m.Update(s.m.Rested())
	s.press(letters("r")...)
	s.sent()
	s.wants("y or n")
	s.press(letters("y")...)
	s.sent(session.Resolve{Run: storySession, Gate: "servers.1", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestGateShowsWholeCall(t *testing.T) {
	s := settled(t, newStory().gated(), 120, 60).press(letters("i")...)
	for _, text := range []string{
		"it changes files of the workspace", "func verifyUser(ctx context.Context, token string) (User, error) {",
		"\"auth/handler.go\"", "+// verifyUser returns", "-// authenticate returns", `"new" includes output of step 2 (fs.read)`,
	} {
		s.wants(text)
	}
}

// TestGoalBringsBackQuestionThatHoldsIt: no run starts before the project's servers are
// answered.
func TestGoalBringsBackQuestionThatHoldsIt(t *testing.T) {
	waiting := session.Status{Servers: []plan.ServerStatus{{Name: "tickets", State: plan.ServerWaiting}}}
	st := newStory().servers().session(waiting)
	s := open(t, tui.Options{}, 120, 36).show(st)
	s.m.Update(s.m.Rested())
	s.press(escape)
	s.lacks("npx -y")
	s.press(letters("list files")...).press(enter)
	s.sent(session.Submit{Text: "list files"})
	s.wants("npx -y @example/tickets-mcp --project auth")
	s.wants("Your goal waits for this answer.")
	s.show(more(st).session(session.Queue{Doing: "list files"}))
	s.m.Update(s.m.Rested())
	s.press(escape)
	s.wants("waiting for your answer (ctrl+g)")
}

func TestAnswerTypedAsGoalOpensGate(t *testing.T) {
	s := settled(t, newStory().gated(), 120, 36).press(escape)
	s.press(letters("y")...).press(enter)
	s.sent()
	s.wants("The gate waits here: press y again to answer it.")
	if got := s.m.Typed(); got != "" || !s.m.GateOpen() {
		t.Errorf("the input holds %q, the gate is open: %v", got, s.m.GateOpen())
	}
	s.press(letters("y")...)
	s.sent(session.Resolve{Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestGateNamesItsKeysAtOthers(t *testing.T) {
	s := settled(t, newStory().gated(), 120, 36).press(letters("x")...)
	s.sent()
	s.wants("x is no answer: use y, r, n or e. Esc looks around.")
	s.m.Update(s.m.Rested())
	s.press(enter)
	s.sent()
	s.wants("Enter is no answer: use y, r, n or e. Esc looks around.")
}

// routed is a rename whose diff and hashes come from a tool of a server, trusted
// or not.
func routed(trusted bool, tool string) *story {
	st := newStory().gated()
	for i, e := range st.events {
		switch d := e.Data.(type) {
		case event.RunStarted:
			d.Catalogue = plan.Catalogue{{Name: tool, Server: "s", Trusted: trusted, ReadOnly: true, Annotated: true}}
			st.events[i].Data = d
		case event.GateRequested:
			d.Provenance = []rule.Provenance{{Arg: "diff", Step: "2", Tool: tool}, {Arg: "hashes", Step: "2", Tool: tool}}
			st.events[i].Data = d
		}
	}
	return st
}

func TestWorkspaceComputedArgumentsRaiseNoWarning(t *testing.T) {
	s := settled(t, routed(true, "code.transform"), 120, 60)
	s.wants("computed by step 2 (code.transform) ▸")
	s.press(letters("i")...)
	s.wants(`"diff" and "hashes" include what was computed by step 2 (code.transform)`)
	s.lacks("untrusted")
	s.lacks("beware")
	for name, st := range map[string]*story{"untrusted server": routed(false, "code.transform"), "text that was read": routed(true, "fs.read")} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, st, 120, 60)
			s.wants("arguments include output of step 2")
			s.wants("contains untrusted text")
			s.lacks("beware")
			s.press(letters("i")...)
			s.wants(`"diff" and "hashes" include output of step 2`)
			s.wants("an untrusted result")
		})
	}
}

func TestGateOpensAtFirstChangedLine(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {60, 20}, {80, 24}, {120, 36}, {200, 60}} {
		s := open(t, tui.Options{}, size[0], size[1]).show(newStory().gated())
		s.wants("-    user, err := authenticate(r")
		s.wants("asks: ")
		if size[1] >= 24 {
			s.wants("auth/handler.go  +3 −3")
		}
	}
}

func TestYesIsTakenOnceAllChangesWereInView(t *testing.T) {
	once := session.Resolve{Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce}
	s := settled(t, newStory().gated(), 40, 12)
	s.wants("y once (4 more)")
	s.m.Update(letters("y")[0])
	s.sent()
	s.wants("y shows the next")
	s.wants("-// authenticate returns") // the next unseen part
	s.press(letters("y")...)
	s.sent() // a key held down does not answer
	for range 20 {
		s.m.Update(s.m.Rested())
		if strings.Contains(s.text(), "This is the rest of it") {
			break
		}
		s.press(letters("r")...)
		s.sent()
	}
	s.press(letters("r")...)
	s.sent(session.Resolve{Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeRun})

	s = settled(t, newStory().gated(), 80, 24)
	s.wants("y allow once (2 more changed lines below)")
	s.press(letters("r")...)
	s.sent()
	s.m.Update(s.m.Rested())
	s.press(letters("j")...)
	s.seen()
	s.lacks("more changed line")
	s.press(letters("y")...)
	s.sent(once)
}

// TestRestOfChangesIsNotUnread: the first yes scrolls to the end of the changes.
func TestRestOfChangesIsNotUnread(t *testing.T) {
	s := settled(t, newStory().gated(), 80, 24)
	s.wants("y allow once (2 more changed lines below)")
	s.press(letters("y")...)
	s.sent()
	s.wants("This is the rest of it; y again allows it.")
	s.lacks("more changed line")
}

// TestEndOfGateIsReached: the answers may need another line once all changes were in
// view.
func TestEndOfGateIsReached(t *testing.T) {
	for _, size := range [][2]int{{100, 36}, {80, 24}, {60, 20}} {
		for n := 4; n < 40; n += 3 {
			diff := fmt.Sprintf("--- a/a.md\n+++ b/a.md\n@@ -0,0 +1,%d @@\n", n) + strings.Repeat("+new\n", n-1) + "+the end\n"
			st := newStory().gated()
			ask := panetest.Patching("5", "a.md", panetest.PatchRule)
			ask.Diff = diff
			st.run(event.GateResolved{Gate: "4.1.1", Decision: event.Deny, Scope: event.ScopeOnce, By: "user"}, ask)
			s := settled(t, st, size[0], size[1]).press(tea.KeyPressMsg{Code: tea.KeyEnd})
			s.wants("+the end")
		}
	}
}

func TestSeenChangesStaySeen(t *testing.T) {
	s := settled(t, newStory().gated(), 80, 24).seen()
	s.m.Update(tea.WindowSizeMsg{Width: 60, Height: 20})
	s.press(pageUp, pageUp, pageUp)
	s.lacks("more changed line")
	s.press(letters("as")...).press(escape)
	s.m.Update(ctrl('g'))
	s.lacks("more changed line")
}

func TestLinesBehindOtherDialogAreUnseen(t *testing.T) {
	s := settled(t, newStory().gated(), 40, 12)
	s.press(f1).press(pageDown, pageDown, pageDown).press(escape)
	s.wants("y once (4 more)")
}

func TestAlwaysIsOfferedOnlyWithRule(t *testing.T) {
	open(t, tui.Options{}, 120, 36).show(newStory().gated()).lacks("a always")
	open(t, tui.Options{}, 120, 36).show(newStory().revised()).wants("a always…")
}
