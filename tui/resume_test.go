package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/themes"
	"replan/tui"
	"replan/tui/panetest"
)

var ctrlR = ctrl('r')

// settled opens a screen on a story, after the grace time of its request.
func settled(t *testing.T, st *story, width, height int) *screen {
	t.Helper()
	s := open(t, tui.Options{Theme: themes.Dark}, width, height).show(st)
	s.m.Update(s.m.Rested())
	return s
}

func TestResumedRunIsNotPrintedAgain(t *testing.T) {
	s := settled(t, newStory().Resumed(), 120, 36).press(escape)
	s.wants("resumed: 2 of 4 steps done")
	s.wants("Publish the release notes")
	s.wants("Plan · 2/4 · 0:00") // the time between is not counted
	s.wants("in doubt")
	s.lacks("plan Publish")
	if !s.m.Beating() {
		return
	}
	t.Error("the clock beats although the run waits")
}

func TestResumedRunIsLive(t *testing.T) {
	s := settled(t, newStory().Rerun(), 120, 36)
	if !s.m.Beating() {
		t.Error("the clock does not beat")
	}
	s.wants("3 Open the ticket")
	s.press(escape)
	s.sent(session.Stop{})
	s.wants("stopping")
}

func TestRestoredRunAsksNothing(t *testing.T) {
	st := newStory().Restored()
	s := open(t, tui.Options{}, 120, 36).show(st)
	if s.m.GateOpen() {
		t.Error("an answered question is open again")
	}
	s.lacks("resumed:")
}

func TestOpenQuestionIsAskedAgainAfterResume(t *testing.T) {
	st := newStory().Resumed()
	s := settled(t, st, 120, 36).press(letters("a")...)
	if s.m.GateOpen() {
		t.Fatal("the question is still open")
	}
	next := &story{Now: st.Now, Seq: st.Seq}
	next.Plan(event.DoubtResolved{Step: "3", Decision: event.DoubtAbort, By: "user"},
		event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonInDoubt, Error: "step 3 may have taken effect"}},
		event.RunResumed{From: 3, Model: "qwen3:8b", Attended: true})
	if s.show(next); !s.m.GateOpen() {
		t.Error("the open doubt is not asked about again")
	}
}

func TestEndedRunIsLiveOnceResumed(t *testing.T) {
	st := newStory().Ended()
	s := settled(t, st, 120, 36)
	s.wants("✗ failed: the server answered 422: unprocessable")
	next := &story{Now: st.Now, Seq: st.Seq}
	next.Plan(event.RunResumed{From: st.Seq, Model: "qwen3:8b", Attended: true},
		event.FailureResolved{Step: "3", Decision: event.FailureRetry, Args: map[string]any{"title": "x"}, By: "user"}).
		StartStep(panetest.StoryPlanRun, "3", map[string]any{"title": "x"})
	s.show(next)
	s.wants("resumed: 2 of 4 steps done")
	s.wants("step 3 is tried again with other arguments")
	if !s.m.Beating() {
		t.Error("the clock does not beat")
	}
	s.press(escape)
	s.sent(session.Stop{})
}

func TestKeyReopensFailedStepOfEndedRun(t *testing.T) {
	for _, k := range []tea.KeyPressMsg{enter, letters("o")[0]} {
		s := settled(t, newStory().Ended(), 120, 36).press(tabKey)
		s.m.Update(k)
		s.m.Update(s.m.Rested())
		s.wants("Failed · step 3 · tickets.open")
		s.press(letters("a")...)
		s.sent()
		s.wants("The run has already ended")
		s.press(escape)
		if s.m.GateOpen() {
			t.Fatal("esc does not close the question")
		}
		s.m.Update(ctrl('g'))
		s.wants("No gate is open.")
		s.m.Update(k)
		s.m.Update(s.m.Rested())
		s.press(letters("p")...)
		s.sent(session.ResolveFailure{Run: panetest.StoryPlanRun, Step: "3", Decision: event.FailureReplan})
		s.wants("getting ready")
	}
}

func TestEnterOnDoneStepOnlyShowsIt(t *testing.T) {
	s := settled(t, newStory().Ended(), 120, 36).press(tabKey).press(letters("g")...).press(enter)
	if s.m.GateOpen() || s.m.Focus() != "step" {
		t.Errorf("got dialog %v, the focus on %s", s.m.GateOpen(), s.m.Focus())
	}
}

func TestXCancelsOnlyRunningStep(t *testing.T) {
	for name, c := range map[string]struct {
		st   *story
		keys string
		want string
		sent []any
	}{
		"a running step":     {newStory().Branching(), "x", "Step 2 is being canceled", []any{session.Cancel{Run: panetest.StoryRun, Step: "2"}}},
		"a completed step":   {newStory().Branching(), "gx", "Step 1 has ended already", nil},
		"a pending step":     {newStory().Branching(), "Gx", "Step 6 is not running yet", nil},
		"a step at its gate": {newStory().Gated(), "x", "ctrl+g shows its gate", nil},
		"a removed step":     {newStory().Tested(), "gjjjjjx", "Step 5 is no longer in the plan", nil},
		"an ended run":       {newStory().Finished(), "x", "The run has ended", nil},
		"no plan":            {newStory().Greeted(), "x", "No step selected", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, c.st, 120, 36)
			if s.m.GateOpen() {
				s.press(escape)
			}
			s.press(tabKey).press(letters(c.keys)...)
			s.sent(c.sent...)
			s.wants(c.want)
		})
	}
}

// listing opens the list of runs of a story and delivers it.
func listing(t *testing.T, st *story, width, height int) *screen {
	t.Helper()
	s := settled(t, st, width, height).press(ctrlR)
	s.wants("Looking for runs")
	next := &story{Now: st.Now, Seq: st.Seq}
	return s.show(next.Listed())
}

func TestRunListPreselectsResumableRunOnScreen(t *testing.T) {
	old := agent.Summary{Run: "r-20261120-080000-old1", Goal: panetest.StoryGoal, Status: agent.StatusUnfinished, Resumable: true}
	stopped := agent.Summary{Run: panetest.StoryRun, Goal: panetest.StoryGoal, Status: event.StatusCanceled, Resumable: true}
	for name, c := range map[string]struct {
		st    *story
		shown agent.Summary
		want  session.Command
	}{
		"stopped run":   {newStory().Stopped(), stopped, session.Resume{Run: panetest.StoryRun}},
		"completed run": {newStory().Finished(), agent.Summary{Run: panetest.StoryRun, Goal: panetest.StoryGoal, Status: event.StatusCompleted}, session.Resume{Run: old.Run}},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, c.st, 120, 36).press(ctrlR)
			next := &story{Now: c.st.Now, Seq: c.st.Seq}
			s.show(next.Session([]agent.Summary{old, c.shown}))
			s.wants("on screen · " + panetest.StoryGoal[:40])
			s.press(enter)
			s.sent(asks("runs"), c.want)
		})
	}
}

func TestEnterResumesChosenRun(t *testing.T) {
	s := listing(t, newStory().Greeted(), 120, 36).press(letters("jj")...).press(enter)
	s.sent(asks("runs"), session.Resume{Run: "r-4"})
	s.lacks("Runs")
	s.wants("getting ready")
	if !s.m.Beating() {
		t.Error("the clock does not beat while the run is being resumed")
	}
}

func TestEnterOpensCompletedRunAtItsEnd(t *testing.T) {
	st := newStory().Greeted()
	s := settled(t, st, 120, 36).press(ctrlR)
	s.show(more(st).Session([]agent.Summary{{Run: panetest.StoryRun, Goal: panetest.StoryGoal, Status: event.StatusCompleted, Started: st.Now}}))
	s.wants("enter open")
	s.press(enter)
	s.show(more(st).Session(tui.JournalAnswer(panetest.StoryRun, recorded(), nil)))
	s.wants("the replay is over")
	s.wants("Plan · rev 2")
	_, cmd := s.m.Update(letters("q")[0])
	s.m.Update(cmd())
	s.wants("Conversations")
	s.lacks("Reading its journal")
}

func TestActiveRunIsNotResumed(t *testing.T) {
	st := newStory().Branching()
	s := settled(t, st, 120, 36).press(ctrlR)
	next := &story{Now: st.Now, Seq: st.Seq}
	s.show(next.Session([]agent.Summary{{Run: panetest.StoryRun, Goal: panetest.StoryGoal, Status: agent.StatusUnfinished, Resumable: true}}))
	s.wants("running")
	s.press(enter)
	s.sent(asks("runs"), asks("journal "+panetest.StoryRun))
	s.wants("This is the active run.")
}

func TestRunListOpensOverPanesAndQuestions(t *testing.T) {
	for _, keys := range [][]tea.KeyPressMsg{nil, letters("typed"), {tabKey}, {tabKey, tabKey}} {
		s := settled(t, newStory().Branching(), 120, 36).press(keys...).press(ctrlR)
		s.wants("Looking for runs")
	}
	s := settled(t, newStory().Failing(), 120, 36).press(ctrlR)
	s.wants("Looking for runs")
	s.press(letters("a")...)
	s.sent(asks("runs"))
	if s.press(escape); !s.m.GateOpen() {
		t.Error("the question closed")
	}
	s.press(letters("e")...).press(ctrlR)
	s.lacks("Looking for runs")
}

func TestFailedResumeIsReported(t *testing.T) {
	st := newStory().Greeted()
	s := listing(t, st, 120, 36).press(enter)
	next := &story{Now: st.Now, Seq: st.Seq + 20}
	s.show(next.Session(event.ChatReply{Status: event.StatusFailed, Reason: event.ReasonStepFailed, Text: "the run cannot be resumed: it is locked by process 41"}))
	s.wants("✗ the run cannot be resumed: it is locked by process 41")
	if s.lacks("getting ready"); s.m.Beating() {
		t.Error("the clock beats")
	}
}

func TestStopBeforeStartDoesNotCarryOver(t *testing.T) {
	st := newStory().Greeted()
	s := listing(t, st, 120, 36).press(enter, escape)
	s.wants("stopping")
	next := &story{Now: st.Now, Seq: st.Seq + 20}
	s.show(next.Session(event.ChatReply{Status: event.StatusCanceled, Reason: event.ReasonInterrupted, Text: "stopped before it started"},
		event.ChatUser{Text: "something else"}))
	s.wants("getting ready")
	s.lacks("stopping")
}

func TestOnlyNewMessagesShowProgress(t *testing.T) {
	// A continued session repeats its messages before it reports its status.
	for name, c := range map[string]struct {
		story  *story
		starts bool
	}{
		"message of an earlier session": {newStory().Session(event.ChatUser{Text: "fix the tests"}).Greeted(), false},
		"command of an earlier session": {newStory().Session(event.ChatUser{Text: "/plan run x"}).Greeted(), false},
		"new message":                   {newStory().Greeted().Session(event.ChatUser{Text: "fix the tests"}), true},
		"new message before the first status": {
			newStory().Session(event.ChatUser{Text: "fix the tests"}, session.Queue{Doing: "fix the tests"}).Greeted(), true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tui.Options{}, 120, 36).show(c.story)
			if got := strings.Contains(s.text(), "getting ready"); got != c.starts || s.m.Beating() != c.starts {
				t.Errorf("got getting ready %v, beating %v, want %v", got, s.m.Beating(), c.starts)
			}
		})
	}
}

func TestResumeFailingAfterRestoreLeavesNothingRunning(t *testing.T) {
	st := newStory().Restored().Session(event.ChatReply{Status: event.StatusFailed, Text: "no space left on the device"})
	s := settled(t, st, 120, 36)
	s.wants("no space left")
	if s.m.Beating() {
		t.Error("the clock beats")
	}
	s.press(escape)
	s.sent()
	s.wants("Nothing is running.")
}

func TestDryRunIsLabeled(t *testing.T) {
	s := settled(t, newStory().DryRun(), 120, 36)
	for _, text := range []string{
		"plan Publish the release notes · 4 steps · dry run", "◆ step 3 would ask: its server does not say that it only reads",
		"dry run: nothing was called", "◆ dry run",
	} {
		s.wants(text)
	}
}

func TestGuardsAndBudgetsAreReportedOnce(t *testing.T) {
	blocked := "fs.read call limit reached (3 of 3)"
	st := newStory().Branching().Run(
		event.GuardWarned{Guard: "per_tool", Reason: "5 of 6 calls of fs.read", Used: 5, Limit: 6},
		event.BudgetWarned{Guard: "steps", Used: 8, Limit: 10},
		event.GuardBlocked{Guard: "per_tool", Reason: untrusted.Text(blocked)},
		event.StepCompleted{Index: "2", Attempt: 1}, event.StepCompleted{Index: "3", Attempt: 1},
		event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonGuard, Error: untrusted.Text(blocked)}})
	s := settled(t, st, 120, 60)
	text := s.text()
	for _, want := range []string{"5 of 6 calls of fs.read", "steps: 8 of 10 used", "fs.read call limit reached"} {
		if n := strings.Count(text, want); n != 1 {
			t.Errorf("%q is reported %d times:\n%s", want, n, text)
		}
	}
}

func TestQueuedCommandDoesNotHideActiveRun(t *testing.T) {
	st := newStory().Branching().Session(event.ChatUser{Text: "/plan run x"}, event.Note{Level: "info", Text: "queued: run the plan x"})
	s := settled(t, st, 120, 36)
	s.wants("2 Read the handler")
	s.lacks("getting ready")
}

func TestHelpListsQuestionAndRunKeys(t *testing.T) {
	s := open(t, tui.Options{}, 200, 120).press(f1)
	for _, text := range []string{"ctrl+r", "open runs", "cancel the running step", "accept the step in doubt", "run the step in doubt again", "the failed step's", "ctrl+s", "abort"} {
		s.wants(text)
	}
}
