package tui_test

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/tui"
	"replan/tui/panetest"
)

func allow(step string) session.Resolve {
	return session.Resolve{Run: panetest.StoryRun, Gate: step + ".1.1", Decision: event.Allow, Scope: event.ScopeOnce}
}

var altA = tea.KeyPressMsg{Code: 'a', Mod: tea.ModAlt}

// seen pages through the open gate, so that all of its call has been in view.
func (s *screen) seen() *screen {
	for range 30 {
		s.press(pageDown)
	}
	return s
}

func TestAltAShowsAllowedCallsAndPastGates(t *testing.T) {
	s := settled(t, newStory().Crowded(), 120, 40).press(altA)
	s.wants("workspace:fs.write with any arguments")
	s.wants("step 1 · fs.patch · allowed for this run")
	s.press(escape)
	if !s.m.GateOpen() {
		t.Error("the gate is closed")
	}
	s = open(t, tui.Options{}, 120, 36).press(altA)
	s.wants("There is no run yet.")
}
