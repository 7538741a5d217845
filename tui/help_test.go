package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/tui"
)

func TestHelpOfTheChatBeginsWithTheTenKeysOneNeeds(t *testing.T) {
	for _, width := range []int{120, 80} {
		s := open(t, tui.Options{}, width, 24).show(newStory().Branching()).press(f1)
		for _, words := range []string{"The keys you need first", "send your goal", "at a gate: allow once", "past runs and conversations"} {
			s.wants(words)
		}
	}
	s := open(t, tui.Options{}, 120, 36).show(newStory().Branching()).press(tabKey, f1)
	s.lacks("The keys you need first")
}

// In two columns the heading of a section may be beside that of an earlier one.
func TestTabLeadsThroughTheSectionsOfHelp(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {80, 24}, {40, 12}} {
		s := open(t, tui.Options{}, size.w, size.h).show(newStory().Branching()).press(f1)
		s.wants("The keys you need first")
		for _, title := range []string{"Chat", "Everywhere", "Conversation", "Writing", "Plan", "Step", "Moving", "Gate", "Question"} {
			if s.press(tabKey); !s.hasLine(title) {
				t.Fatalf("%dx%d: tab does not lead to %s:\n%s", size.w, size.h, title, s.text())
			}
		}
		s.press(tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift})
		if !s.hasLine("Gate") {
			t.Errorf("shift+tab does not lead back:\n%s", s.text())
		}
	}
}

// hasLine reports whether the screen has a heading.
func (s *screen) hasLine(title string) bool {
	for line := range strings.SplitSeq(s.text(), "\n") {
		for _, part := range strings.Split(strings.ReplaceAll(line, "│", "   "), "   ") {
			if strings.TrimSpace(part) == title {
				return true
			}
		}
	}
	return false
}
