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
	"replan/agent/session"
	"replan/planning/plan"
	"replan/themes"
	"replan/tui"
	"replan/tui/panetest"
)

// recorded returns the journal of the story's run.
func recorded() []event.Event { return newStory().Finished().Journal() }

// playing opens a replay that is paused at its start.
func playing(t *testing.T, width, height int) *screen {
	t.Helper()
	s := open(t, tui.Options{
		Theme: themes.Dark, Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, recorded()), Speed: 1,
	}, width, height)
	return s.quietly(space)
}

// quietly presses keys without running their commands, which would wait for the
// player.
func (s *screen) quietly(keys ...tea.KeyPressMsg) *screen {
	for _, k := range keys {
		s.m.Update(k)
	}
	return s
}

var endKey = tea.KeyPressMsg{Code: tea.KeyEnd}

func TestAReplayIsDrawnWideAndNarrow(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			s := playing(t, size.w, size.h).quietly(endKey, leftKey, leftKey)
			golden.RequireEqual(t, s.text()+"\n")
		})
	}
}

func TestReplaySeeksBackAndForth(t *testing.T) {
	s := playing(t, 120, 36)
	s.quietly(endKey).wants("the end")
	s.wants("✓ done")
	end := s.text()
	s.quietly(leftKey).lacks("the replay is over")
	s.quietly(letters("0")...)
	s.lacks("verify")
	s.wants("0:00/")
	s.quietly(rightKey).wants("analysis")
	s.quietly(letters("..")...)
	s.wants("6/42")
	s.quietly(letters(",")...)
	s.wants("5/42")
	s.quietly(endKey)
	if s.text() != end {
		t.Errorf("after seeking the end is\n%s\nwant\n%s", s.text(), end)
	}
}

func TestReplayNamesTheEndOnlyThere(t *testing.T) {
	st := newStory().Finished()
	end := len(st.Events)
	st.After(6000).Run(event.RunResumed{Session: panetest.StorySession, Limits: event.DefaultLimits()}, event.RunCompleted{Result: event.Result{Status: event.StatusCanceled}})
	s := open(t, tui.Options{Replay: true, Recorded: st.Events, Speed: 1}, 120, 36).quietly(space, endKey)
	s.wants("the end")
	for range len(st.Events) - end {
		s.quietly(letters(",")...)
	}
	s.wants("the run stops")
	s.lacks("the end")
	s.quietly(letters(".")...).wants("the run is resumed")
}

func TestSeekingBackRestoresEarlierFrames(t *testing.T) {
	s := playing(t, 120, 36)
	// The followed row may differ if many events arrive at once.
	edges := func() string { return s.lines()[0] + s.lines()[34] }
	var moments []string
	for range 20 {
		s.quietly(rightKey)
		moments = append(moments, edges())
	}
	for i := len(moments) - 2; i >= 0; i-- {
		if s.quietly(leftKey); edges() != moments[i] {
			t.Fatalf("on the way back moment %d is\n%s\nwant\n%s", i, edges(), moments[i])
		}
	}
}

func TestReplaySpeeds(t *testing.T) {
	s := playing(t, 120, 36)
	for _, want := range []string{"2x", "4x", "8x", "16x", "max", "max"} {
		s.quietly(letters("+")...).wants(want)
	}
	s.quietly(letters("<<<<<<<<")...).wants("0.25x")
}

func TestReplayPlaysToEndAndStartsOver(t *testing.T) {
	s := playing(t, 120, 36)
	s.quietly(letters("+++++")...) // at once
	_, cmd := s.m.Update(space)
	for i := 0; cmd != nil && i < 100; i++ {
		msg := tui.Played(cmd)
		if msg == nil {
			break
		}
		_, cmd = s.m.Update(msg)
	}
	s.wants("the end")
	s.wants("space play from start")
	s.quietly(space).wants("space pause")
	s.lacks("the replay is over")
}

func TestReplayOfListedRunOpensAndCloses(t *testing.T) {
	for name, c := range map[string]struct {
		key  string
		want string
	}{"played": {"p", "0:00/"}, "shown as it ended": {"o", "the end"}} {
		t.Run(name, func(t *testing.T) {
			st := newStory().Greeted()
			s := open(t, tui.Options{Theme: themes.Dark}, 120, 36).show(st).press(ctrlR)
			s.show(more(st).Session([]agent.Summary{{Run: panetest.StoryRun, Goal: "rename", Status: event.StatusCompleted, Started: st.Now}}))
			s.press(letters(c.key)...)
			s.sent(asks("runs"), asks("journal "+panetest.StoryRun))
			s.show(more(st).Session(tui.JournalAnswer(panetest.StoryRun, recorded(), nil)))
			s.wants("replay of " + panetest.StoryRun)
			s.wants(c.want)
			_, cmd := s.m.Update(letters("q")[0])
			s.m.Update(cmd())
			s.wants("Conversations")
			s.lacks("replay of")
			s.press(escape)
			if s.press(letters("q")...); s.m.Typed() != "q" {
				t.Errorf("typed %q", s.m.Typed())
			}
		})
	}
}

func TestUnreadableJournalIsReportedInRunList(t *testing.T) {
	st := newStory().Greeted()
	s := open(t, tui.Options{}, 120, 36).show(st).press(ctrlR)
	s.show(more(st).Session([]agent.Summary{{Run: "r-1", Goal: "x", Status: event.StatusCompleted, Started: st.Now}}))
	s.press(letters("p")...)
	s.show(more(st).Session(tui.JournalAnswer("r-1", nil, errors.New("line 3 is damaged"))))
	s.wants("The replay cannot be shown: line 3 is damaged")
}

func TestConversationCanBeContinued(t *testing.T) {
	st := newStory().Greeted()
	continued := ""
	s := open(t, tui.Options{GoOn: func(session string) { continued = session }}, 120, 36).show(st).press(ctrlR, tabKey)
	s.sent(asks("runs"), asks("conversations"))
	s.show(more(st).Session([]session.Conversation{
		{Session: "s-2", First: "what is this", Turns: 3, Runs: 2, Changed: st.Now, Workspace: "/src/auth-service"},
		{Session: "s-1", First: "this very one", Turns: 1, Changed: st.Now, Open: true},
		{Session: "s-0", First: "elsewhere", Turns: 1, Changed: st.Now, Workspace: "/other"},
	}))
	s.wants("what is this")
	s.lacks("elsewhere")
	s.press(downKey, enter).wants("It is already open")
	s.press(letters("f")...).press(downKey, enter).wants("start replan --continue there")
	s.press(upKey, upKey)
	_, cmd := s.m.Update(enter)
	if !quits(cmd) || continued != "s-2" {
		t.Errorf("continued with %q, quits %v", continued, quits(cmd))
	}
}

// A step was canceled in the middle of its items, and the run was resumed.
func TestReplayShowsCanceledItemsAlikeFromBothSides(t *testing.T) {
	p := plan.Plan{Title: "Read all", Steps: []plan.Step{{
		Index: "1", Title: "Read", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "${item}"},
		ForEach: &plan.ForEach{Items: []any{"a", "b", "c"}, As: "item", Max: 50, AtOnce: 1},
	}}}
	begins := func(index string, attempt int) event.Data {
		return event.StepStarted{Index: index, Parent: "1", Attempt: attempt, Title: "Read", Executor: plan.ExecutorTool, Tool: "fs.read"}
	}
	stops := func(index string) event.Data {
		return event.StepFailed{Index: index, Attempt: 1, Error: "canceled by the user", Failure: event.FailureInterrupted}
	}
	over := event.Result{Run: panetest.StoryRun, Status: event.StatusCanceled, Reason: event.ReasonInterrupted, Error: "stopped by the user"}
	again := over
	again.Status, again.Reason, again.Error = event.StatusCompleted, event.ReasonGoalMet, ""
	expands := event.StepExpanded{Index: "1", Attempt: 1, Title: "Read", Items: []any{"a", "b", "c"}}
	repeats := expands
	repeats.Attempt = 2
	st := newStory()
	for _, d := range []event.Data{
		event.RunStarted{Goal: "read all", Plan: &p, Limits: event.DefaultLimits()},
		event.PlanCreated{Plan: p, Revision: 1},
		expands, begins("1.1", 1),
		event.StepCompleted{Index: "1.1", Attempt: 1, Result: "x"},
		begins("1.2", 1),
		stops("1.3"), stops("1.2"), stops("1"),
		event.RunCompleted{Result: over},
		event.RunResumed{Session: panetest.StorySession, Limits: event.DefaultLimits()},
		repeats,
		begins("1.2", 2),
		event.StepCompleted{Index: "1.2", Attempt: 2, Result: "x"},
		begins("1.3", 2),
		event.StepCompleted{Index: "1.3", Attempt: 2, Result: "x"},
		event.StepCompleted{Index: "1", Attempt: 2, Result: []any{"x", "x", "x"}},
		event.RunCompleted{Result: again},
	} {
		st.After(100).Run(d)
	}
	s := open(t, tui.Options{Replay: true, Recorded: st.Events, Speed: 1}, 120, 36).quietly(space)
	var moments []string
	for !strings.Contains(s.text(), "the end") {
		moments = append(moments, s.text())
		s.quietly(letters(".")...)
	}
	s.wants("3 items")
	for i := len(moments) - 1; i >= 0; i-- {
		if s.quietly(letters(",")...); s.text() != moments[i] {
			t.Fatalf("on the way back moment %d is\n%s\nwant\n%s", i, s.text(), moments[i])
		}
	}
}
