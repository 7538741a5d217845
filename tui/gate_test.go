package tui_test

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/runner"
	"replan/planning/plan"
	"replan/tui"
)

func TestAGateTakesNoKeyBeforeAMomentOfQuiet(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36)
	s.press(letters("typing on")...).show(newStory().gated())
	if !s.m.GateOpen() {
		t.Fatal("the gate does not open by itself")
	}
	s.m.Update(letters("y")[0])
	s.sent()
	s.wants("too early")
	s.m.Update(s.m.RestedBefore())
	s.m.Update(letters("y")[0])
	s.sent()
	s.m.Update(s.m.Rested())
	s.lacks("too early")
	if got := s.m.Typed(); got != "typing on" {
		t.Errorf("a key meant for the gate went to the input: %q", got)
	}
	s.press(letters("y")...)
	s.sent(runner.Resolve{Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
	if s.m.GateOpen() {
		t.Error("the gate is still open after its answer")
	}
}

func TestTheAnswersToAGate(t *testing.T) {
	for key, want := range map[string]runner.Resolve{
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

func TestOtherKeysAnswerNoGate(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().gated())
	s.m.Update(s.m.Rested())
	s.press(enter, tabKey, ctrl('y'), ctrl('d')).press(letters("qYNR ")...)
	s.m.Update(tea.PasteMsg{Content: "y"})
	s.sent()
	if !s.m.GateOpen() {
		t.Error("the gate went away without an answer")
	}
}

func TestEscapeAtAGateLooksAroundAndControlGComesBack(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().gated())
	s.m.Update(s.m.Rested())
	s.press(escape)
	s.sent()
	if s.m.GateOpen() {
		t.Fatal("the dialog is still there")
	}
	s.wants("step 4 waits for your answer")
	s.m.Update(ctrl('g'))
	if !s.m.GateOpen() {
		t.Fatal("ctrl+g does not bring it back")
	}
	s.m.Update(letters("y")[0])
	s.sent() // it has just opened: another moment of quiet
	s.m.Update(s.m.Rested())
	s.press(escape, escape)
	s.sent()
	s.wants("esc again stops the run")
	s.press(letters("j")[0], escape)
	s.sent() // another key took the question back
	s.press(escape)
	s.sent(runner.Stop{})
}

func TestHelpOpensOverAGate(t *testing.T) {
	for _, k := range []tea.KeyPressMsg{letters("?")[0], {Code: tea.KeyF1}} {
		s := open(t, tui.Options{}, 120, 36).show(newStory().gated())
		s.m.Update(s.m.Rested())
		s.press(k)
		s.wants("Everywhere")
		s.press(escape)
		if !s.m.GateOpen() {
			t.Errorf("%s took the gate away", k)
		}
		s.sent()
	}
}

func TestControlGSaysThatNoGateIsOpen(t *testing.T) {
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
		runner.Resolve{Run: storyRun, Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce},
		runner.Resolve{Run: storyRun, Gate: "5.1.1", Decision: event.Deny, Scope: event.ScopeOnce},
	)
	if s.m.GateOpen() {
		t.Error("a gate is still open")
	}
}

// sending carries out a command that sends one thing and may also begin a grace
// time, which it does not wait for.
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

func TestAnAnswerFromElsewhereClosesTheGate(t *testing.T) {
	st := newStory().gated()
	s := open(t, tui.Options{}, 120, 36).show(st)
	next := &story{now: st.now, seq: st.seq}
	s.show(next.run(event.GateResolved{Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce, By: "--approve all"}))
	if s.m.GateOpen() {
		t.Error("the gate is still open")
	}
	s.wants("allowed fs.patch in step 4 (by --approve all)")
}

func TestServersOfTheProjectAreAskedFor(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().servers())
	s.wants("npx -y @example/tickets-mcp --project auth")
	s.m.Update(s.m.Rested())
	s.press(letters("r")...)
	s.sent()
	s.wants("y or n")
	s.press(letters("y")...)
	s.sent(runner.Resolve{Run: storySession, Gate: "servers.1", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestAGateShowsTheWholeCall(t *testing.T) {
	s := open(t, tui.Options{}, 120, 60).show(newStory().gated())
	for _, text := range []string{
		"it changes files of the workspace", "func verifyUser(ctx context.Context, token string) (User, error) {",
		"\"auth/handler.go\"", "+// verifyUser returns", "-// authenticate returns", "carries text from step 2 (fs.read)",
	} {
		s.wants(text)
	}
}

// routed is a rename whose diff and hashes come from a tool of that server.
func routed(own bool, tool string) *story {
	st := newStory().gated()
	for i, e := range st.events {
		switch d := e.Data.(type) {
		case event.RunStarted:
			d.Catalogue = plan.Catalogue{{Name: tool, Server: "s", Trusted: own, ReadOnly: true, Annotated: true}}
			st.events[i].Data = d
		case event.GateRequested:
			d.Provenance = []rule.Provenance{{Arg: "diff", Step: "2", Tool: tool}, {Arg: "hashes", Step: "2", Tool: tool}}
			st.events[i].Data = d
		}
	}
	return st
}

func TestWhatTheWorkspaceComputedIsNoAlarm(t *testing.T) {
	s := open(t, tui.Options{}, 120, 60).show(routed(true, "code.transform"))
	s.wants(`"diff" and "hashes" carry what was computed by step 2 (code.transform)`)
	s.lacks("untrusted")
	s.lacks("beware")
	for name, st := range map[string]*story{"another server's": routed(false, "code.transform"), "what was read": routed(true, "fs.read")} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tui.Options{}, 120, 60).show(st)
			s.wants(`"diff" and "hashes" carry text from step 2`)
			s.wants("an untrusted result")
			s.wants("beware")
			s.wants("untrusted text")
		})
	}
}

func TestAGateOpensAtItsTopAndCountsItsChanges(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		s := open(t, tui.Options{}, size[0], size[1]).show(newStory().gated())
		s.wants("it changes files of the workspace")
		s.wants("auth/handler.go  +3 −3")
	}
}

func TestAlwaysIsOnlyOfferedWhereThereIsARule(t *testing.T) {
	open(t, tui.Options{}, 120, 36).show(newStory().gated()).lacks("a always")
	open(t, tui.Options{}, 120, 36).show(newStory().revised()).wants("a always…")
}
