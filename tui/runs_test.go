package tui_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/session"
	"replan/tui"
	"replan/tui/dialog"
	"replan/tui/panetest"
)

func TestActiveRunsOfThisSessionAreLabeled(t *testing.T) {
	st := newStory().Delegating()
	st.Session([]agent.Summary{
		{Run: panetest.StoryChatRun, Goal: "the one around", Status: agent.StatusRunning, Started: st.Now},
		{Run: panetest.StoryChildRun, Goal: "the one in it", Status: agent.StatusRunning, Started: st.Now, Steps: 2, Done: 1},
		{Run: "r-other", Goal: "not of this session", Status: agent.StatusRunning, Started: st.Now, Steps: 3},
	})
	for name, c := range map[string]struct {
		keys        []tea.KeyPressMsg
		goal, label string
		refusal     string
	}{
		"parent run":             {nil, "the one around", "running", "This is the active run."},
		"child run":              {[]tea.KeyPressMsg{downKey}, "the one in it", "running", "This is the active run."},
		"run of another session": {[]tea.KeyPressMsg{downKey, downKey}, "not of this session", "elsewhere", "Another replan is running it."},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, newStory().Delegating(), 120, 36).press(ctrlR)
			s.show(&story{Answers: st.Answers, Now: st.Now}).press(c.keys...).press(enter)
			s.wants(c.refusal)
			if line := s.lines()[lineOf(s, c.goal)]; !strings.Contains(line, c.label) {
				t.Errorf("the row lacks %q: %s", c.label, line)
			}
		})
	}
}

// openOfWorkers opens the screen of a run of workers.
func openOfWorkers(t *testing.T) *screen {
	t.Helper()
	f := newFakeSession()
	f.can = new(remote.Session).Abilities()
	return openOn(t, f, tui.Options{}, 120, 36)
}

func TestRunsOfWorkersHaveTheirOwnWords(t *testing.T) {
	st := newStory()
	s := openOfWorkers(t).show(newStory().Greeted()).press(ctrlR)
	s.show(more(st).Session([]agent.Summary{
		{Run: "r-1-1-aaa", Goal: "tidy up", Status: agent.StatusRunning, Started: st.Now, Steps: 3},
		{Run: "r-1-1-bbb", Goal: "sweep", Status: agent.StatusWaiting, Started: st.Now},
		{Run: "r-1-1-ccc", Goal: "dust", Status: agent.StatusWaiting, Started: st.Now, Why: "no worker offers the model gemma"},
		{Run: "r-1-1-ddd", Goal: "wipe", Status: event.StatusFailed, Reason: event.ReasonStepFailed, Started: st.Now, Resumable: true},
	}))
	for _, other := range []string{"elsewhere", "Conversations", "conversations"} {
		s.lacks(other)
	}
	if s.press(tabKey); s.m.Focus() != "chat" {
		t.Errorf("the key of the other list moves to the %s", s.m.Focus())
	}
	s.sent(asks("runs"), asks("journal r-1-1-aaa"))
	s.wants("Running on a worker")
	s.press(enter).wants("A worker is running it. To follow it: replan runs follow aaa")
	s.press(downKey).wants("Waiting for a worker")
	s.press(enter).wants("It waits for a worker. To follow it: replan runs follow bbb")
	s.press(downKey).wants("Waiting: no worker offers the model gemma")
	s.press(downKey).wants("enter open")
	s.lacks("undo")
	s.press(enter).wants("Reading its journal")
}

func TestScreenOfARunOfWorkersOffersOnlyWhatCanBeDoneThere(t *testing.T) {
	s := openOfWorkers(t).show(newStory().Branching())
	s.wants("Type a remark: ctrl+t sends it")
	s.lacks("enter queue")
	openOfWorkers(t).show(newStory().Answering()).press(append(letters("x"), ctrl('t'))...).wants("No model in this run can read it now.")
	s = openOfWorkers(t).show(newStory().Greeted())
	s.wants("ctrl+c leaves the run to its workers")
	s.press(letters("hurry")...).lacks("enter send  tab pane")
	s.press(ctrl('t')).wants("The run has not begun.")
	s = openOfWorkers(t).show(newStory().Ended())
	s.m.Update(tui.Over())
	s.wants("ctrl+c quits, ctrl+r lists runs")
	for _, offer := range []string{"Describe a goal", "enter send", "resume"} {
		s.lacks(offer)
	}
	if s.press(tabKey); s.m.Focus() != "plan" {
		t.Fatalf("the focus is on the %s", s.m.Focus())
	}
	s.lacks("continue from here")
	s = openOfWorkers(t).show(newStory().Branching().Run(event.RunCompleted{Result: event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted}}))
	s.wants("replan plan resume k3fq resumes")
	s.lacks("enter resumes")
	s = openOfWorkers(t).show(newStory().Finished()).press(tabKey)
	s.lacks("u undo")
	s.press(letters("u")...).wants("A run of workers cannot be undone.")
}

func TestRunOfWorkersIsStoppedBeforeItBegins(t *testing.T) {
	s := openOfWorkers(t)
	s.wants("waiting for a worker to begin")
	s.wants("esc stop")
	s.press(escape).wants("stopping")
	s.sent(session.Stop{})
	reply := event.ChatReply{Status: event.StatusCanceled, Reason: event.ReasonInterrupted, Text: "stopped by ann before it began"}
	s.show((&story{Now: newStory().Now}).Session(reply)).wants("stopped by ann before it began")
	s.press(escape).wants("Nothing is running.")
}

// previewed opens the list of runs on a finished run and delivers its journal.
func previewed(t *testing.T, width, height int, err error) *screen {
	t.Helper()
	st := newStory().Finished()
	s := open(t, tui.Options{}, width, height).show(newStory().Greeted()).press(ctrlR)
	s.wants("Looking for runs")
	events := recorded()
	if err != nil {
		events = nil
	}
	s.show(more(st).Session([]agent.Summary{
		{Run: panetest.StoryRun, Goal: panetest.StoryGoal, Title: "Rename authenticate", Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Started: newStory().Now, Steps: 5, Done: 5, Replans: 1},
		{Run: "r-old", Goal: "the one before", Status: event.StatusFailed, Reason: event.ReasonStepFailed, Started: newStory().Now, Steps: 2, Resumable: true},
	}))
	s.m.Update(tui.Answer(dialog.NewPastRun(panetest.StoryRun, events, err)))
	return s
}

func TestPreviewShowsChosenRun(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			golden.RequireEqual(t, previewed(t, size.w, size.h, nil).front()+"\n")
		})
	}
}

func TestPreviewSaysWhyJournalCannotBeRead(t *testing.T) {
	s := previewed(t, 120, 36, errors.New("line 3 is damaged"))
	s.wants("The journal cannot be read: line 3 is damaged")
	s.wants("Done")
}

func TestPreviewReadsOneJournalAtATime(t *testing.T) {
	s := previewed(t, 120, 36, nil)
	s.press(downKey)
	s.sent(asks("runs"), asks("journal r-old"))
	s.press(upKey, downKey)
	s.sent(asks("runs"), asks("journal r-old"))
	s.m.Update(tui.Answer(dialog.NewPastRun(panetest.StoryRun, recorded(), nil)))
	s.wants("Failed: a step did not succeed")
	s.lacks("github.com")
}
