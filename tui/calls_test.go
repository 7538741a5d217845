package tui_test

import (
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/planning/reply"
	"replan/tui"
	"replan/tui/panetest"
)

func TestAgentGateNamesUntrustedSourceAndIsFollowed(t *testing.T) {
	s := settled(t, newStory().Patching(), 120, 36)
	s.wants("written by the model after reading 1 result ▸")
	s.press(letters("i")...).wants("a model wrote the call after reading the untrusted result of step 2.2 (fs.read)")
	s.press(letters("i")...)
	if s.m.Selected() != "calls 2" {
		t.Errorf("%s is selected while the calls are folded", s.m.Selected())
	}
	s.press(letters("y")...)
	s.sent(session.Resolve{Run: panetest.StoryRun, Gate: "2.4.1.1", Decision: event.Allow, Scope: event.ScopeOnce})

	s = settled(t, newStory().Patching(), 120, 36).press(escape, tabKey, space)
	if s.press(letters("f")...); s.m.Selected() != "2.4" {
		t.Errorf("%s is selected while the calls are unfolded", s.m.Selected())
	}
}

func TestAgentWaitingAtGateDoesNotAnimate(t *testing.T) {
	for name, want := range map[string]bool{"exploring": true, "patching": false, "calling": true, "delegating": false, "returned": true, "told": false, "choosing": false} {
		st := moments[name]()
		s := open(t, tui.Options{}, 120, 36)
		s.m.Update(tui.Batch(st.Events, st.Now))
		if name == "delegating" || name == "patching" {
			// The call and the step around it are under way, but nothing on the screen may animate.
			s.m.Update(tui.Beat(st.Now.Add(time.Second)))
		}
		if s.m.Beating() != want {
			t.Errorf("%s: got beating %v", name, s.m.Beating())
		}
	}
}

func TestChildRunIsShownWithinItsCall(t *testing.T) {
	st := newStory().Delegating()
	s := settled(t, st, 120, 36)
	s.wants("Plan · 1/2")
	s.wants("│ ✓ plan 2 steps")
	s.press(letters("y")...)
	s.sent(session.Resolve{Run: panetest.StoryChildRun, Gate: "2.1.1", Decision: event.Allow, Scope: event.ScopeOnce})

	s = settled(t, newStory().Returned(), 120, 36)
	s.wants("│ ✓ done  0:01")
	s.wants("the model continues")
	s.wants("Plan · 2/2") // stays visible
	if s.m.GateOpen() {
		t.Error("a gate is open")
	}
	s.press(escape)
	s.sent(session.Stop{})

	s = settled(t, newStory().ChatAnswered(), 120, 36)
	s.wants("The helper is renamed")
	s.wants("done  0:07")
	if n := strings.Count(s.text(), "The helper is renamed"); n != 1 {
		t.Errorf("the answer is shown %d times", n)
	}
	s.press(escape)
	s.wants("Nothing is running.")
}

func TestGatesOfParentAndChildRunQueueTogether(t *testing.T) {
	st := newStory().Delegating()
	third := reply.ToolUse{Name: "fs_patch", Args: map[string]any{"path": "b.go"}}
	// The chat asked for two calls at once: the plan, and a change that needs approval as well.
	var events []event.Event
	for _, e := range st.Events {
		if d, ok := e.Data.(event.ModelReplied); ok && len(d.Reply.Calls) == 1 {
			d.Reply.Calls = append(d.Reply.Calls, third)
			e.Data = d
		}
		events = append(events, e)
	}
	st.Events = events
	st.Chat(event.GateRequested{Gate: "chat.5.0.1", Step: "chat.5", Title: "fs.patch", Tool: "fs.patch", Args: third.Args, Rule: rule.Rule{Why: "it changes files"}})
	s := settled(t, st, 120, 36)
	s.wants("Gate 1 of 2")
	s.wants("call 5")
	_, cmd := s.m.Update(letters("y")[0])
	s.sending(cmd)
	s.wants("Rename in the token helper  fs.patch · workspace · step 2")
	s.m.Update(s.m.Rested())
	s.press(letters("n")...).press(enter)
	s.sent(
		session.Resolve{Run: panetest.StoryChatRun, Gate: "chat.5.0.1", Decision: event.Allow, Scope: event.ScopeOnce},
		session.Resolve{Run: panetest.StoryChildRun, Gate: "2.1.1", Decision: event.Deny, Scope: event.ScopeOnce},
	)
}

func TestNextRunClearsPlanAndExchanges(t *testing.T) {
	st := newStory().ChatAnswered()
	st.Session(event.ChatUser{Text: "again"}).Run(event.RunStarted{Goal: "again", Workspace: "/src", Model: "qwen3:8b"})
	s := settled(t, st, 120, 36)
	s.press(tabKey).wants("The steps appear here as they are planned.")
	s.press(ctrlX)
	s.wants("No model has been asked yet")
}

// lineOf returns the line of the screen that contains text.
func lineOf(s *screen, text string) int {
	for i, line := range s.lines() {
		if strings.Contains(line, text) {
			return i
		}
	}
	s.t.Fatalf("%q is not on the screen:\n%s", text, s.text())
	return -1
}

func TestEndOfRunEndsItsChildRuns(t *testing.T) {
	st := newStory().Delegating().Chat(event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonGuard, Error: "no more"}})
	s := settled(t, st, 120, 36)
	if s.m.GateOpen() || s.m.Beating() {
		t.Errorf("gate open %v, beating %v", s.m.GateOpen(), s.m.Beating())
	}
	next := &story{Now: st.Now, Seq: st.Seq}
	s.show(next.Session(event.ChatUser{Text: "again"}).Run(event.RunStarted{Goal: "again", Workspace: "/src", Model: "qwen3:8b"}, event.PhaseStarted{Phase: 1, Label: "analysis"}))
	s.wants("analysis 0s")
	s.wants("■ plan_create_and_execute")
	if line := s.lines()[lineOf(s, "analysis 0s")]; strings.Contains(line, "│ │") {
		t.Errorf("the phase is shown within a call: %s", line)
	}
}
