package tui_test

import (
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/tui/panetest"
)

func TestTheChatShowsTheResultsOfAPlanWithoutAnAnswer(t *testing.T) {
	s := settled(t, newStory().Results(), 120, 40)
	golden.RequireEqual(t, s.panes()+"\n")
	s.lacks("What the steps brought") // the chat already shows them
}

func TestResultsOfEarlierSessionUnfold(t *testing.T) {
	s := settled(t, newStory().Greeted().Session(
		event.ChatUser{Text: "/plan run release-notes"},
		event.ChatReply{Run: panetest.StoryPlanRun, Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Text: "Publish the release notes: 4 of 4 steps done.", Results: "**1. Read**: completed\n\n```\n- faster\n```\n"},
	), 100, 30)
	s.wants("4 of 4 steps done.")
	s.wants("results of the steps")
	s.lacks("- faster")
	s.press(alt('u'))
	s.wants("- faster")
}
