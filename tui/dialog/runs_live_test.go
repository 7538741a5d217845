package dialog_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/remote"
	"replan/tui/dialog"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/panetest"
)

// listedBeside lists runs beside those on the screen.
func listedBeside(t *testing.T, onScreen *live.Runs, width, height int, runs ...agent.Summary) *panetest.Driver {
	t.Helper()
	k, look := panetest.Keys(), panetest.DarkLook()
	look.SetTime(panetest.NewStory().Finished().Now)
	d := dialog.NewRuns(look, k, onScreen, false)
	d.Open("/src/auth-service")
	s := panetest.Drive(t, d, k, width, height)
	s.Draw()
	s.Update(keymap.AnswerMsg[[]agent.Summary]{Value: runs})
	return s
}

func TestActiveRunsOfThisSessionAreLabeled(t *testing.T) {
	st := panetest.NewStory().Delegating()
	for name, c := range map[string]struct{ keys, goal, label, refusal string }{
		"parent run":             {"", "the one around", "running", "This is the active run."},
		"child run":              {"j", "the one in it", "running", "This is the active run."},
		"run of another session": {"jj", "not of this session", "elsewhere", "Another replan is running it."},
	} {
		t.Run(name, func(t *testing.T) {
			s := listedBeside(t, st.Runs(t), 120, 36,
				agent.Summary{Run: panetest.StoryChatRun, Goal: "the one around", Status: agent.StatusRunning, Started: st.Now},
				agent.Summary{Run: panetest.StoryChildRun, Goal: "the one in it", Status: agent.StatusRunning, Started: st.Now, Steps: 2, Done: 1},
				agent.Summary{Run: "r-other", Goal: "not of this session", Status: agent.StatusRunning, Started: st.Now, Steps: 3})
			s.Type(c.keys).Press(panetest.Key("enter")).Wants(c.refusal)
			if line := s.Lines()[s.Line(c.goal)]; !strings.Contains(line, c.label) {
				t.Errorf("the row lacks %q: %s", c.label, line)
			}
		})
	}
}

func TestRunsOfWorkersHaveTheirOwnWords(t *testing.T) {
	at := panetest.NewStory().Now
	s := listedBeside(t, &live.Runs{Can: new(remote.Session).Abilities()}, 120, 36,
		agent.Summary{Run: "r-1-1-aaa", Goal: "tidy up", Status: agent.StatusRunning, Started: at, Steps: 3},
		agent.Summary{Run: "r-1-1-bbb", Goal: "sweep", Status: agent.StatusWaiting, Started: at},
		agent.Summary{Run: "r-1-1-ccc", Goal: "dust", Status: agent.StatusWaiting, Started: at, Why: "no worker offers the model gemma"},
		agent.Summary{Run: "r-1-1-ddd", Goal: "wipe", Status: event.StatusFailed, Reason: event.ReasonStepFailed, Started: at, Resumable: true})
	s.Lacks("elsewhere", "Conversations")
	s.Withholds("conversations", "undo")
	s.Wants("Running on a worker")
	s.Press(panetest.Key("enter")).Wants("A worker is running it. To follow it: replan runs follow aaa")
	s.Press(panetest.Key("down")).Wants("Waiting for a worker")
	s.Press(panetest.Key("enter")).Wants("It waits for a worker. To follow it: replan runs follow bbb")
	s.Press(panetest.Key("down")).Wants("Waiting: no worker offers the model gemma")
	s.Press(panetest.Key("down")).Offers("enter open")
	s.Press(panetest.Key("enter")).Wants("Reading its journal")
}

// previewed lists a finished run and another one, and delivers the journal of the first.
func previewed(t *testing.T, width, height int, err error) *panetest.Driver {
	t.Helper()
	at := panetest.NewStory().Now
	s := listedBeside(t, &live.Runs{}, width, height,
		agent.Summary{Run: panetest.StoryRun, Goal: panetest.StoryGoal, Title: "Rename authenticate", Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Started: at, Steps: 5, Done: 5, Replans: 1},
		agent.Summary{Run: "r-old", Goal: "the one before", Status: event.StatusFailed, Reason: event.ReasonStepFailed, Started: at, Steps: 2, Resumable: true})
	var events []event.Event
	if err == nil {
		events = panetest.NewStory().Finished().Journal()
	}
	s.Update(keymap.AnswerMsg[dialog.PastRun]{Value: dialog.NewPastRun(panetest.StoryRun, events, err)})
	return s
}

func TestPreviewShowsChosenRun(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			golden.RequireEqual(t, previewed(t, size.w, size.h, nil).Front()+"\n")
		})
	}
}

func TestPreviewSaysWhyJournalCannotBeRead(t *testing.T) {
	previewed(t, 120, 36, errors.New("line 3 is damaged")).Wants("The journal cannot be read: line 3 is damaged", "Done")
}

func TestPreviewReadsOneJournalAtATime(t *testing.T) {
	s := previewed(t, 120, 36, nil)
	reads := func(key string) bool {
		return keymap.First[keymap.Query](s.Press(panetest.Key(key)).Requests) != nil
	}
	if !reads("down") || reads("up") || reads("down") {
		t.Error("a journal is asked for although another one is still being read")
	}
	s.Update(keymap.AnswerMsg[dialog.PastRun]{Value: dialog.NewPastRun(panetest.StoryRun, panetest.NewStory().Finished().Journal(), nil)})
	s.Wants("Failed: a step did not succeed")
	s.Lacks("github.com")
}
