package tui_test

import (
	"testing"

	"replan/agent/event"
	"replan/agent/session"
	"replan/tui"
)

// askedBeside is a story with a side question whose answer streams.
func askedBeside(st *story) *story {
	progress := session.SideProgress{ChatSide: event.ChatSide{ID: 1, Question: "what is left?"}}
	progress.Model, progress.Calls = "qwen3:8b", []event.SideCall{{Tool: "fs.read", Args: map[string]any{"path": "a.go"}, Done: true}}
	progress.Text = "Two steps"
	return st.Session(event.ChatUser{Text: "/ask what is left?"}, progress)
}

func TestKeyMakesTextASideQuestion(t *testing.T) {
	s := settled(t, newStory().Exploring(), 120, 36).press(letters("what is left?")...).press(alt('i'))
	s.wants("› /ask what is left?")
	s.wants("enter ask beside the run  esc cancel the side question")
	if s.press(alt('i')); s.m.Typed() != "what is left?" {
		t.Errorf("the second time the input holds %q", s.m.Typed())
	}
	s.press(alt('i'), enter)
	s.sent(session.Submit{Text: "/ask what is left?"})
}

func TestGateMakesWayForSideQuestion(t *testing.T) {
	s := settled(t, newStory().Gated(), 120, 36)
	s.wants("alt+i ask about it")
	s.press(alt('i'))
	s.lacks("allow once")
	s.press(letters("yes or no?")...).press(enter)
	s.sent(session.Submit{Text: "/ask yes or no?"})
	s.press(ctrl('g')).wants("allow once")
}

func TestEscapeCancelsSideQuestionBeforeTheRun(t *testing.T) {
	s := settled(t, askedBeside(newStory().Exploring()), 120, 36)
	s.wants("esc cancel the side question")
	s.press(escape)
	s.sent(session.CancelSideQuestion{})
	s.show(newStory().Session(event.ChatSide{ID: 1, Question: "what is left?", Text: "Two steps", Status: event.StatusCanceled, Error: "canceled by the user"}))
	s.wants("■ Side question")
	s.press(escape).wants("The side question is over: esc again stops the run.")
	s.sent(session.CancelSideQuestion{})
	s.press(escape)
	s.sent(session.CancelSideQuestion{}, session.Stop{})
}

func TestGateReturnsAfterSideQuestion(t *testing.T) {
	answered := event.ChatSide{ID: 1, Question: "what is left?", Text: "Two steps", Status: event.StatusCompleted}
	for name, c := range map[string]struct {
		do      func(s *screen)
		returns bool
	}{
		"after the answer": {func(s *screen) {
			s.press(letters("what is left?")...).press(enter).show(askedBeside(newStory())).lacks("allow once")
			s.show(newStory().Session(answered))
		}, true},
		"not over a text": {func(s *screen) {
			s.press(letters("what is left?")...).press(enter).show(askedBeside(newStory())).press(letters("and")...)
			s.show(newStory().Session(answered))
		}, false},
		"when it is taken back":         {func(s *screen) { s.press(escape) }, true},
		"not when a text is left of it": {func(s *screen) { s.press(letters("what")...).press(escape) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, newStory().Gated(), 120, 36).press(alt('i'))
			c.do(s)
			if c.returns {
				s.wants("allow once")
			} else {
				s.lacks("allow once")
			}
		})
	}
}

func TestGateHiddenByUserStaysHiddenAfterSideQuestion(t *testing.T) {
	s := settled(t, newStory().Gated(), 120, 36).press(escape).show(askedBeside(newStory()))
	s.show(newStory().Session(event.ChatSide{ID: 1, Question: "what is left?", Text: "Two steps", Status: event.StatusCompleted})).lacks("allow once")
}

func TestEscapeTakesBackTypedSideQuestion(t *testing.T) {
	s := settled(t, newStory().Exploring(), 120, 36).press(alt('i')).press(letters("what")...).press(escape)
	if s.m.Typed() != "what" {
		t.Errorf("the input holds %q", s.m.Typed())
	}
	s.sent()
}

func TestSideQuestionIsACardBesideTheRun(t *testing.T) {
	s := settled(t, askedBeside(newStory().Exploring()), 120, 36)
	s.wants("Side question  not part of the run")
	s.wants("│ ✓ fs.read  a.go")
	s.wants("│ Two steps")
	s.lacks("getting ready")
	s.show(newStory().Session(event.ChatSide{ID: 1, Question: "what is left?", Text: "Two steps are left.", Status: event.StatusCompleted, Usage: event.Usage{PromptTokens: 1200}, MS: 2100}))
	s.wants("✓ Side question  not part of the run")
	s.wants("1.2k tokens · 2.1s")
	s.wants("│ Two steps are left.")
}

func TestFinishedRunIsAskedWithoutPreparing(t *testing.T) {
	s := settled(t, askedBeside(newStory().Finished()), 120, 36)
	s.lacks("getting ready")
	s.wants("Side question")
}

func TestSideQuestionOfEarlierSessionIsShown(t *testing.T) {
	end := event.ChatSide{ID: 1, Question: "why?", Text: "Since.", Status: event.StatusCompleted, MS: 3}
	s := open(t, tui.Options{}, 80, 24)
	s.show(newStory().Session(event.ChatUser{Text: "/ask why?"}, end, end))
	s.wants("│ Since.")
}

func TestWaitingSideQuestionSaysSo(t *testing.T) {
	second := session.SideProgress{ChatSide: event.ChatSide{ID: 2, Question: "and then?"}, Waits: true}
	s := settled(t, askedBeside(newStory().Exploring()).Session(second), 120, 36)
	s.wants("waits for the side question before it")
	s.wants("and then?")
}

func TestRunOfWorkersTakesNoSideQuestion(t *testing.T) {
	s := openOfWorkers(t).show(newStory().Exploring()).press(alt('i'))
	s.wants("A run of workers cannot be asked beside its work")
	if s.m.Typed() != "" {
		t.Errorf("the input holds %q", s.m.Typed())
	}
}
