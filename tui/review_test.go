package tui_test

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/themes"
	"replan/tui"
	"replan/tui/panetest"
)

// looking opens a screen at a review whose grace time is over.
func looking(t *testing.T, width, height int) *screen {
	t.Helper()
	s := open(t, tui.Options{Theme: themes.Dark}, width, height).show(newStory().Reviewing())
	s.m.Update(s.m.ReviewRested())
	return s
}

// reviewAnswer returns the answer to the review that was sent.
func (s *screen) reviewAnswer() agent.ReviewAnswer {
	s.t.Helper()
	for _, c := range s.session.commands() {
		if r, ok := c.(session.Review); ok {
			if r.Run != panetest.StoryRun {
				s.t.Errorf("the answer was sent for the run %s", r.Run)
			}
			return r.Answer
		}
	}
	s.t.Fatalf("no answer was sent:\n%s", s.text())
	return agent.ReviewAnswer{}
}

func TestReviewIgnoresKeysUntilGraceEnds(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).press(letters("typing on")...).show(newStory().Reviewing())
	if !s.m.Reviewing() {
		t.Fatal("the review does not open")
	}
	s.wants("Review · Tidy up")
	s.m.Update(enter)
	s.sent()
	s.wants("you were typing")
	s.m.Update(s.m.ReviewRested())
	s.press(enter)
	s.lacks("press it again")
	if a := s.reviewAnswer(); a.Decision != event.ReviewRun || a.Plan != nil || a.Revision != 1 || len(a.Approved) > 0 {
		t.Errorf("sent %+v", a)
	}
	if s.m.Reviewing() {
		t.Error("the review is still open after the answer")
	}
	if got := s.m.Typed(); got != "typing on" {
		t.Errorf("the input holds %q", got)
	}
}

func TestReviewCanBeHiddenAndReopened(t *testing.T) {
	s := looking(t, 120, 36).press(letters("A")...).press(escape)
	if s.m.Reviewing() {
		t.Fatal("the review is still open")
	}
	s.sent()
	s.wants("the plan waits for review")
	s.wants("ctrl+g review")
	s.press(escape)
	s.sent()
	s.wants("esc again stops the run")
	s.press(ctrl('g'))
	if !s.m.Reviewing() {
		t.Fatal("ctrl+g does not reopen the review")
	}
	s.wants("1 gate approved") // changes are kept
	s.press(escape, escape, escape)
	s.sent(session.Stop{})
}

func TestReviewAskedForByKeyAnswersAtOnce(t *testing.T) {
	s := looking(t, 120, 36).press(escape, ctrl('g')).press(letters("y")...)
	if a := s.reviewAnswer(); a.Decision != event.ReviewRun {
		t.Errorf("sent %+v", a)
	}
}

func TestRejectedReviewAnswerReopensReview(t *testing.T) {
	st := newStory().Reviewing()
	s := open(t, tui.Options{}, 120, 36).show(st)
	s.m.Update(s.m.ReviewRested())
	s.press(letters("Ay")...)
	next := &story{Now: st.Now, Seq: st.Seq}
	s.show(next.Session(event.Note{Level: "warn", Text: "the plan still waits for review: no"}))
	s.wants("the plan still waits for review: no")
	if !s.m.Reviewing() {
		t.Error("the review is closed")
	}
}

func TestAnswerFromElsewhereClosesReview(t *testing.T) {
	st := newStory().Reviewing()
	s := open(t, tui.Options{}, 120, 36).show(st)
	next := &story{Now: st.Now, Seq: st.Seq}
	s.show(next.Run(event.PlanReviewed{Revision: 1, Decision: event.ReviewRun, By: "user"}))
	if s.m.Reviewing() {
		t.Error("the review is still open")
	}
	s.wants("Plan · 0/")
}

func TestAltLTogglesReviewOfNextPlans(t *testing.T) {
	altL := tea.KeyPressMsg{Code: 'l', Mod: tea.ModAlt}
	st := newStory().Greeted()
	s := open(t, tui.Options{}, 120, 36).show(st).press(altL)
	s.sent(session.Hold{On: true})
	s.wants("wait for your review")
	next := &story{Now: st.Now, Seq: st.Seq}
	s.show(next.Session(session.Status{Workspace: "/src/auth-service", Model: "qwen3:8b", Review: true}))
	s.wants("review on")
	s.press(altL)
	s.sent(session.Hold{On: true}, session.Hold{On: false})
}

func TestReplayOpensNoReview(t *testing.T) {
	s := open(t, tui.Options{Replay: true}, 120, 36).show(newStory().Reviewing())
	if s.m.Reviewing() {
		t.Error("a replay opens a review")
	}
}

func TestReviewNotifiesUnfocusedTerminalOnce(t *testing.T) {
	term := inTerminal(t, tui.Options{}, "TERM=xterm-256color")
	term.update(tea.BlurMsg{})
	st := newStory().Reviewing()
	term.deliver(st)
	if got, want := term.notifications(), "\a\x1b]9;replan: Review: Tidy up\a"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	term.deliver(more(st).After(60_000).Session(event.Note{Level: "info", Text: "something else"}))
	if got := term.notifications(); got != "" {
		t.Errorf("notified again: %q", got)
	}
}
