package cli_test

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/cli/demo"
	"replan/planning/prompt"
)

// The test goes from the demo to its second act in the same session, by sending what is
// typed for the user. The recorded replies fit although the conversation is another one.
func TestSecondActFollowsOnTheScreen(t *testing.T) {
	suggestions := demo.Suggestions(1)
	s := openStory(t, tea.WindowSizeMsg{Width: 120, Height: 36}, suggestions[1:]...)
	s.until("the model and the tools are known", func() bool { return s.known })
	s.press(enterKey)
	s.until("the recorded model is chosen", func() bool { return s.replied && prompt.SameModel(s.model, demo.RecordedModel) })
	for range demo.Goals() {
		s.answered()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if want := []event.Status{event.StatusCompleted, event.StatusCompleted}; !slices.Equal(s.ends, want) {
		t.Errorf("the goals ended as %v, want %v", s.ends, want)
	}
}
