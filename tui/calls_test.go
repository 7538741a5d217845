package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/runner"
	"replan/planning/reply"
	"replan/tui"
)

func TestTheCallsOfAnAgentFoldAndUnfold(t *testing.T) {
	s := settled(t, newStory().exploring(), 120, 36).press(tabKey)
	if s.m.Selected() != "2" {
		t.Fatalf("step %s is chosen", s.m.Selected())
	}
	s.wants("▸ 3 calls")
	s.wants("fs.read  auth/session.go") // the one that runs
	s.lacks("2.1 fs.search")
	for _, open := range []tea.KeyPressMsg{space, enter} {
		if open == enter {
			s.press(letters("j")...) // enter opens the line itself, on the step it looks in
		}
		s.press(open)
		s.wants("▾ 3 calls")
		s.wants("2.1 fs.search  ExpiresAt")
		s.press(open)
		s.wants("▸ 3 calls")
		s.lacks("2.1 fs.search")
	}
	s.press(space).press(letters("j")...)
	if s.m.Selected() != "2.1" {
		t.Fatalf("%s is chosen", s.m.Selected())
	}
	s.wants("Step 2.1")
	s.wants(`matches ["auth/session.go:41"]`)
	s.press(letters("1")...)
	s.wants(`query "ExpiresAt"`)
	if s.press(space); s.m.Selected() != "calls 2" {
		t.Errorf("folding from a call chooses %s", s.m.Selected())
	}
}

func TestSpaceSaysWhereThereIsNothingToFold(t *testing.T) {
	s := settled(t, newStory().exploring(), 120, 36).press(tabKey).press(letters("G")...).press(space)
	s.wants("there is nothing to fold")
}

func TestCancelStopsAnAgentWholeOrOneCallOfIt(t *testing.T) {
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		step string
	}{
		"the agent":        {letters("x"), "2"},
		"the folded calls": {letters("jx"), "2.3"},
		"the call":         {append([]tea.KeyPressMsg{space}, letters("jjjjx")...), "2.3"},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, newStory().exploring(), 120, 36).press(tabKey).press(c.keys...)
			s.sent(runner.Cancel{Run: storyRun, Step: c.step})
			s.wants("Step " + c.step + " is being cancelled")
		})
	}
	s := settled(t, newStory().exploring(), 120, 36).press(tabKey, space).press(letters("jjx")...)
	s.sent()
	s.wants("Step 2.1 has ended already.")
}

func TestAGateOfACallSaysWhoWroteItAndIsFollowed(t *testing.T) {
	s := settled(t, newStory().patching(), 120, 36)
	s.wants("a model wrote the call after reading the untrusted result of step 2.2 (fs.read)")
	if s.m.Selected() != "calls 2" {
		t.Errorf("%s is chosen while the calls are folded", s.m.Selected())
	}
	s.press(letters("y")...)
	s.sent(runner.Resolve{Run: storyRun, Gate: "2.4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})

	s = settled(t, newStory().patching(), 120, 36).press(escape, tabKey, space)
	if s.press(letters("f")...); s.m.Selected() != "2.4" {
		t.Errorf("%s is chosen while the calls are not folded", s.m.Selected())
	}
}

func TestAnAgentThatOnlyWaitsAtAGateMovesNothing(t *testing.T) {
	for name, want := range map[string]bool{"exploring": true, "patching": false, "calling": true, "delegating": false, "returned": true, "told": false, "choosing": false} {
		st := moments[name]()
		s := open(t, tui.Options{}, 120, 36)
		s.m.Update(tui.Batch(st.events, st.now))
		if name == "delegating" || name == "patching" {
			// The call and the step around it are under way, but none of that is to be seen moving.
			s.m.Update(tui.Beat(st.now.Add(time.Second)))
		}
		if s.m.Beating() != want {
			t.Errorf("%s: beating %v", name, s.m.Beating())
		}
	}
}

func TestACardTellsOfEachCallOfTheChat(t *testing.T) {
	s := settled(t, newStory().calling(), 120, 36)
	text := s.text()
	for _, want := range []string{
		"Let me look at the log and at the file itself.", "✓ vcs.log  auth/jwt.go  60ms", "fs.read  auth/jwt.go", "✗ fs.read  auth/token_helper", "there is no file",
	} {
		s.wants(want)
	}
	if n := strings.Count(text, "Let me look"); n != 1 {
		t.Errorf("what the model wrote stands there %d times:\n%s", n, text)
	}
	if strings.Index(text, "Let me look") > strings.Index(text, "✓ vcs.log  auth/jwt.go  60ms") {
		t.Errorf("the calls stand before the words that led to them:\n%s", text)
	}
}

func TestARunThatACallStartsIsShownAndLeadsBack(t *testing.T) {
	st := newStory().delegating()
	s := settled(t, st, 120, 36)
	s.wants("Plan · 1/2")
	s.wants("│ ✓ plan 2 steps")
	s.press(letters("y")...)
	s.sent(runner.Resolve{Run: storyChildRun, Gate: "2.1.1", Decision: event.Allow, Scope: event.ScopeOnce})

	s = settled(t, newStory().returned(), 120, 36)
	s.wants("│ ✓ done  0:01")
	s.wants("the model goes on")
	s.wants("Plan · 2/2") // stays to be looked at
	if s.m.GateOpen() {
		t.Error("a gate is open")
	}
	s.press(escape)
	s.sent(runner.Stop{})

	s = settled(t, newStory().told(), 120, 36)
	s.wants("The helper is renamed")
	s.wants("done  0:07")
	if n := strings.Count(s.text(), "The helper is renamed"); n != 1 {
		t.Errorf("the answer stands there %d times", n)
	}
	s.press(escape)
	s.wants("Nothing runs.")
}

func TestGatesOfBothRunsQueueAndAreAnsweredEachInItsOwn(t *testing.T) {
	st := newStory().delegating()
	third := reply.ToolUse{Name: "fs_patch", Args: map[string]any{"path": "b.go"}}
	// The chat asked for two calls at once: the plan, and a change that asks as well.
	var events []event.Event
	for _, e := range st.events {
		if d, ok := e.Data.(event.ModelReplied); ok && len(d.Reply.Calls) == 1 {
			d.Reply.Calls = append(d.Reply.Calls, third)
			e.Data = d
		}
		events = append(events, e)
	}
	st.events = events
	st.chat(event.GateRequested{Gate: "chat.5.0.1", Step: "chat.5", Title: "fs.patch", Tool: "fs.patch", Args: third.Args, Rule: rule.Rule{Why: "it changes files"}})
	s := settled(t, st, 120, 36)
	s.wants("Gate 1 of 2")
	s.wants("call 5")
	_, cmd := s.m.Update(letters("y")[0])
	s.sending(cmd)
	s.wants("Rename in the token helper  fs.patch · workspace · step 2")
	s.m.Update(s.m.Rested())
	s.press(letters("n")...)
	s.sent(
		runner.Resolve{Run: storyChatRun, Gate: "chat.5.0.1", Decision: event.Allow, Scope: event.ScopeOnce},
		runner.Resolve{Run: storyChildRun, Gate: "2.1.1", Decision: event.Deny, Scope: event.ScopeOnce},
	)
}

func TestAStoppedChildLeavesItsRemedyToTheRunAroundIt(t *testing.T) {
	st := newStory().delegating()
	cancelled := event.Result{Status: event.StatusCancelled, Reason: event.ReasonInterrupted}
	st.child(event.RunPaused{Reason: "user"}, event.RunCompleted{Result: cancelled}).
		chat(event.RunPaused{Reason: "user"}, event.RunCompleted{Result: cancelled})
	s := settled(t, st, 120, 60)
	if n := strings.Count(s.text(), "ctrl+r takes the run up again"); n != 1 {
		t.Errorf("said %d times:\n%s", n, s.text())
	}
}

func TestTheNextRunLeavesTheLastOneBehind(t *testing.T) {
	st := newStory().told()
	st.session(event.ChatUser{Text: "again"}).run(event.RunStarted{Goal: "again", Workspace: "/src", Model: "qwen3:8b"})
	s := settled(t, st, 120, 36)
	s.wants("The steps appear here as they are planned.")
	s.press(ctrlX)
	s.wants("No model has been asked yet")
}

func TestTheCardOfAPlanIsFollowedUntilTheCallReturns(t *testing.T) {
	st := newStory().returned()
	s := open(t, tui.Options{}, 120, 36)
	for _, e := range st.events {
		s.show(&story{events: []event.Event{e}}).text()
	}
	s.wants("✓ plan_create_and_execute")
}

// lineOf is the line of the screen that says text.
func lineOf(s *screen, text string) int {
	for i, line := range s.lines() {
		if strings.Contains(line, text) {
			return i
		}
	}
	s.t.Fatalf("%q is not on the screen:\n%s", text, s.text())
	return -1
}

func TestARunThatIsOverTakesThoseOfItsCallsWithIt(t *testing.T) {
	st := newStory().delegating().chat(event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonGuard, Error: "no more"}})
	s := settled(t, st, 120, 36)
	if s.m.GateOpen() || s.m.Beating() {
		t.Errorf("gate open %v, beating %v", s.m.GateOpen(), s.m.Beating())
	}
	next := &story{now: st.now, seq: st.seq}
	s.show(next.session(event.ChatUser{Text: "again"}).run(event.RunStarted{Goal: "again", Workspace: "/src", Model: "qwen3:8b"}, event.PhaseStarted{Phase: 1, Label: "analysis"}))
	s.wants("analysis 0s")
	s.wants("■ plan_create_and_execute")
	if line := s.lines()[lineOf(s, "analysis 0s")]; strings.Contains(line, "│ │") {
		t.Errorf("it stands below a call: %s", line)
	}
}
