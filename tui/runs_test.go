package tui_test

import (
	"testing"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/session"
	"replan/tui"
)

// openOfWorkers opens the screen of a run of workers.
func openOfWorkers(t *testing.T) *screen {
	t.Helper()
	f := newFakeSession()
	f.can = new(remote.Session).Abilities()
	return openOn(t, f, tui.Options{}, 120, 36)
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
