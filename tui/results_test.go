package tui_test

import (
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

func TestTheChatShowsTheResultsOfAPlanWithoutAnAnswer(t *testing.T) {
	s := settled(t, newStory().Results(), 120, 40)
	golden.RequireEqual(t, s.panes()+"\n")
	s.lacks("What the steps brought") // the chat already shows them
}
