package dialog_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/tui/dialog"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/panetest"
)

func TestRunListNamesAnUndoneRun(t *testing.T) {
	s := listed(t, 120, 36, []agent.Summary{
		{Run: "r-7", Goal: "rename it", Status: agent.StatusUnfinished, Undone: true, Restored: 2},
	}...)
	s.Wants("− undone")
	s.Wants("Undone: 2 files restored")
	s.Lacks("resume")
	s.Withholds("resume")
}

func TestCtrlRListsUnfinishedRunsFirst(t *testing.T) {
	s := listed(t, 120, 36, panetest.Summaries(now)...)
	s.Sent()
	text := s.Text()
	at := -1
	for _, goal := range []string{panetest.StoryGoal[:40], "why does the login test fail", "publish the release notes", "add tests for", "Deploy"} {
		i := strings.Index(text, goal)
		if i <= at {
			t.Fatalf("%q is out of order:\n%s", goal, text)
		}
		at = i
	}
}

func TestRunsWithSameGoalAreDistinguishable(t *testing.T) {
	at := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	for _, size := range []struct{ w, h int }{{120, 36}, {40, 12}} {
		s := listed(t, size.w, size.h, []agent.Summary{
			{Run: "r-20261121-110000-aaaa", Title: "Fix it", Goal: "why", Status: agent.StatusUnfinished, Started: at(61), Steps: 3, Resumable: true},
			{Run: "r-20261121-110000-bbbb", Title: "Fix it", Goal: "why", Status: agent.StatusUnfinished, Started: at(75), Steps: 3, Resumable: true},
			{Run: "r-20261119-110000-cccc", Title: "Fix it", Goal: "fix IT", Status: agent.StatusUnfinished, Started: at(3000), Steps: 3, Resumable: true},
		}...)
		for _, text := range []string{"aaaa", "bbbb", "cccc", "1 h 1 min", "1 h 15 min", "2 d 2 h", "Fix it · why"} {
			s.Wants(text)
		}
		s.Lacks("Fix it · fix")
	}
}

func TestClickChoosesRun(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {40, 12}} {
		s := listed(t, size.w, size.h, panetest.Summaries(now)...)
		for y, line := range s.Lines() {
			if strings.Contains(line, "publish the release") {
				s.Update(tea.MouseClickMsg{X: 20, Y: y, Button: tea.MouseLeft})
			}
		}
		s.Update(tea.MouseClickMsg{X: 20, Y: 0, Button: tea.MouseLeft})
		s.Update(tea.MouseClickMsg{X: 20, Y: size.h - 3, Button: tea.MouseLeft})
		s.Press(panetest.Key("enter"))
		s.Sent(session.Resume{Run: "r-4"})
	}
}

func TestRunWithoutPlanShowsNoFraction(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {60, 24}} {
		s := listed(t, size.w, size.h, []agent.Summary{
			{Run: "r-2", Goal: "no plan yet", Status: agent.StatusUnfinished, Started: now, Done: 1},
			{Run: "r-1", Goal: "planned", Status: agent.StatusUnfinished, Started: now, Done: 1, Steps: 4},
		}...)
		s.Wants("1/4")
		s.Lacks("1/0")
		s.Lacks("·  ·")
	}
}

func TestStatusKeyListsRunsOfOneStatus(t *testing.T) {
	s := listed(t, 120, 36, panetest.Summaries(now)...)
	for _, c := range []struct{ holds, lacks string }{
		{"rename authenticate", "why does"}, {"why does", "publish"}, {"publish", "why does"}, {"why does", "status "},
	} {
		s.Type("s").Wants(c.holds)
		s.Lacks(c.lacks)
	}
	s.Type("s/nothing like it").Press(panetest.Key("enter"))
	s.Wants("No match for nothing like it; esc shows all.")
	s.Offers("esc show all")
	s.Withholds("esc close")
	s.Press(panetest.Key("esc")).Wants("why does")
	s.Offers("esc close")
	s.Press(panetest.Key("esc"))
	s.Lacks("Conversations")
}

func TestTabSwitchesToConversationsAndBack(t *testing.T) {
	s := listed(t, 120, 36, panetest.Summaries(now)...)
	s.Press(panetest.Key("tab"))
	if keymap.First[keymap.Query](s.Requests) == nil {
		t.Error("the conversations are not asked for")
	}
	s.Press(panetest.Key("tab")).Wants("publish the release notes")
}

func TestStatusWithoutRunsSaysSo(t *testing.T) {
	s := listed(t, 120, 36, []agent.Summary{{Run: "r-1", Goal: "old", Status: event.StatusCompleted, Started: now}}...)
	s.Type("s").Wants("No unfinished runs; esc shows all.")
	s.Offers("esc show all")
}

func TestRunListFiltersByFolderAndSearch(t *testing.T) {
	s := listed(t, 120, 36, []agent.Summary{
		{Run: "r-1", Goal: "fix the parser", Status: event.StatusCompleted, Started: now, Workspace: "/src/auth-service"},
		{Run: "r-2", Goal: "rename it", Status: event.StatusFailed, Started: now, Workspace: "/src/auth-service"},
		{Run: "r-3", Goal: "of another folder", Status: event.StatusFailed, Started: now, Workspace: "/src/other"},
	}...)
	s.Wants("fix the parser")
	s.Lacks("of another folder")
	s.Type("f").Wants("of another folder")
	s.Type("/pars").Wants("fix the parser")
	s.Lacks("rename it")
	s.Press(panetest.Key("enter")).Type("p")
	if keymap.First[keymap.Recall](s.Requests).Run != "r-1" {
		t.Errorf("the run is not replayed: %+v", s.Requests)
	}
	s.Press(panetest.Key("esc")).Wants("rename it")
}

// now is when the runs are listed.
var now = time.Date(2026, 11, 21, 11, 42, 0, 0, time.UTC)

// listed is the list of these runs.
func listed(t *testing.T, width, height int, runs ...agent.Summary) *panetest.Driver {
	t.Helper()
	k, look := panetest.Keys(), panetest.DarkLook()
	look.Now = now
	d := dialog.NewRuns(look, k, &live.Runs{}, false)
	d.Open("/src/auth-service")
	s := panetest.Drive(t, d, k, width, height)
	s.Wants("Looking for runs")
	s.Update(keymap.AnswerMsg[[]agent.Summary]{Value: runs})
	return s
}
