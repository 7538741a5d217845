package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/prompt"
	"replan/tui"
)

// refused are the events of a goal that was not understood, with three orders near to it.
var refused = refusal("move Lookup to lookup.go", "find where Lookup is defined", "where is Lookup used", "find Lookup")

// refusal are the events of a goal that was not understood, with the orders near to it.
func refusal(goal untrusted.Text, near ...string) []any {
	return []any{event.ChatUser{Text: goal}, event.ChatReply{
		Status: event.StatusFailed, Reason: event.ReasonNoModel, Near: near,
		Text: untrusted.Text("I do not understand \"" + string(goal) + "\". " + intent.DidYouMean(near) + " Ollama does not answer."),
	}}
}

func TestRefusalListsItsOrdersWithTheirKeys(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Greeted().Session(refused...))
	s.wants("Did you mean:")
	s.wants("1 find where Lookup is defined")
	s.wants("2 where is Lookup used")
	s.wants("3 find Lookup")
	s.wants("Ollama does not answer.")
	s.wants("1/2/3 do it")
	s.lacks("defined, or ")
	s.press(letters("2")...)
	s.sent(session.Submit{Text: "where is Lookup used"})
	s.lacks("do it")
	s.press(letters("1")...)
	s.sent(session.Submit{Text: "where is Lookup used"}) // one is enough
	s.typed("1")
}

func TestKeysOfOrdersAreTextElsewhere(t *testing.T) {
	for name, press := range map[string]func(*screen, *story) string{
		"after typed text":     func(s *screen, _ *story) string { s.press(letters("x1")...); return "x1" },
		"an order that is not": func(s *screen, _ *story) string { s.press(letters("3")...); return "3" },
		"after something newer": func(s *screen, st *story) string {
			s.show(more(st).Session(event.Note{Level: "info", Text: "a server is back"})).press(letters("1")...)
			return "1"
		},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory().Greeted().Session(refusal("rnu tests", "run the tests", "find tests")...)
			s := open(t, tui.Options{}, 120, 36).show(st)
			want := press(s, st)
			s.sent()
			s.typed(want)
		})
	}
}

func TestOnlyTheNewestRefusalOffersItsOrders(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Greeted().Session(append(refusal("rnu tests", "run the tests"), refusal("fnid it", "find it")...)...))
	if n := strings.Count(s.text(), "1 "); n != 2 || strings.Contains(s.text(), "1 run the tests") { // and the footer
		t.Errorf("%d keys:\n%s", n, s.text())
	}
	s.clickOn("run the tests")
	s.sent()
}

func TestClickGivesTheOrder(t *testing.T) {
	s := open(t, tui.Options{}, 80, 24).show(newStory().Greeted().Session(refused...))
	x, y := s.find("where is Lookup used")
	s.mouse(tea.MouseClickMsg(left(x, y)))
	s.mouse(tea.MouseReleaseMsg(left(x, y)))
	s.sent(session.Submit{Text: "where is Lookup used"})
}

func TestReplayOffersNoOrders(t *testing.T) {
	s := open(t, tui.Options{Replay: true}, 120, 36).show(newStory().Finished().Session(refused...)).press(letters("1")...)
	s.sent()
	s.lacks("do it")
	s.lacks("1 find where")
}

// unfit are the events of a goal that needs a model where none can use tools.
var unfit = append([]any{session.Status{
	Problem: "Ollama does not answer.", Trouble: prompt.ModelTrouble{Kind: prompt.TroubleUnfit, Pull: "qwen3:4b"},
}}, refusal("rnu tests", "run the tests")...)

func TestRefusalPullsTheModelThatWouldHelp(t *testing.T) {
	st := newStory().Greeted().Session(unfit...)
	s := open(t, tui.Options{}, 120, 36).show(st)
	s.wants("1 run the tests")
	s.wants("0 pull qwen3:4b from here, then send the goal again")
	s.wants("1 do it  0 pull")
	s.press(letters("0")...)
	s.sent(session.Pull{Model: "qwen3:4b"}, asks("models"))
	s.show(more(st).Session(session.PullProgress{Model: "qwen3:4b", Done: 1, Total: 4})).wants("25%")
	s.press(tui.KeyNamed("esc")).wants("1 run the tests") // the orders stay
	s.lacks("0 pull")
	s.show(more(st).Session(session.PullProgress{Model: "qwen3:4b", Ended: true, Canceled: true})).wants("0 pull")
}

// unreachable are the events of a goal that needs a model whose server can be started.
var unreachable = append([]any{session.Status{
	Problem: "Ollama does not answer.", Trouble: prompt.ModelTrouble{Kind: prompt.TroubleUnreachable, Start: true},
}}, refusal("make it faster")...)

// tell shows a story, and carries out what it has the screen do.
func (s *screen) tell(st *story) *screen {
	_, cmd := s.m.Update(tui.Batch(st.Events, st.Now))
	s.carryOut(cmd)
	return s
}

// found is the status of a session that has a model.
var found = session.Status{Model: "qwen3:4b", ContextWindow: 4096}

func TestRefusalStartsTheServerAndSendsTheGoalAgain(t *testing.T) {
	st := newStory().Greeted().Session(unreachable...)
	s := open(t, tui.Options{}, 120, 36).show(st)
	s.wants("0 start Ollama here, then send the goal again")
	s.press(letters("0")...)
	s.sent(session.StartModelServer{})
	s.tell(more(st).Session(session.ModelServerStart{})).wants("Starting Ollama; the goal is sent again once it answers")
	s.tell(more(st).Session(session.ModelServerStart{Ended: true, Log: "/tmp/ollama.log"}))
	s.wants("Ollama is started; its output is in /tmp/ollama.log")
	s.sent(session.StartModelServer{}) // there is no model yet
	s.tell(more(st).Session(found))
	s.sent(session.StartModelServer{}, session.Submit{Text: "make it faster"})
	s.tell(more(st).Session(found))
	s.sent(session.StartModelServer{}, session.Submit{Text: "make it faster"}) // once
}

func TestRefusedGoalIsSentAgainAfterThePull(t *testing.T) {
	st := newStory().Greeted().Session(unfit...)
	s := open(t, tui.Options{}, 120, 36).show(st).press(letters("0")...)
	s.tell(more(st).Session(session.PullProgress{Model: "qwen3:4b", Ended: true}, found))
	s.sent(session.Pull{Model: "qwen3:4b"}, session.Submit{Text: "rnu tests"})
	s.lacks("esc close") // the dialog of the pull is closed
}

func TestRefusedGoalIsNotSentAgain(t *testing.T) {
	for name, then := range map[string][]any{
		"after the pull was canceled": {session.PullProgress{Model: "qwen3:4b", Ended: true, Canceled: true}},
		"after the pull failed":       {session.PullProgress{Model: "qwen3:4b", Ended: true, Problem: "the disk is full"}},
		"after another goal":          {event.ChatUser{Text: "run the tests"}},
		"after a start failed":        {session.ModelServerStart{Ended: true, Problem: "it ended"}},
		"after a start was canceled":  {session.ModelServerStart{Ended: true, Canceled: true}},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory().Greeted().Session(unfit...)
			s := open(t, tui.Options{}, 120, 36).show(st).press(letters("0")...)
			s.tell(more(st).Session(append(then, found)...))
			s.sent(session.Pull{Model: "qwen3:4b"})
		})
	}
	t.Run("if no key was pressed", func(t *testing.T) {
		st := newStory().Greeted().Session(unfit...)
		s := open(t, tui.Options{}, 120, 36).show(st)
		s.tell(more(st).Session(found)).sent()
	})
}

func TestKeyCancelsTheStartOfTheServer(t *testing.T) {
	st := newStory().Greeted().Session(unreachable...).Session(session.ModelServerStart{})
	s := open(t, tui.Options{}, 80, 24).show(st).press(letters("0")...)
	s.sent(session.CancelStart{})
}

func TestWelcomePageStartsTheServer(t *testing.T) {
	st := newStory().Session(unreachable[0])
	s := open(t, tui.Options{}, 120, 36).show(st)
	s.wants("start it from here")
	s.press(letters("0")...)
	s.sent(session.StartModelServer{})
	s.tell(more(st).Session(session.ModelServerStart{})).wants("Starting Ollama")
	s.tell(more(st).Session(session.ModelServerStart{Ended: true, Log: "/tmp/ollama.log"}, found)).wants("its output is in /tmp/ollama.log")
	s.sent(session.StartModelServer{})
}

func TestTheWordHelpOpensTheKeys(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Greeted()).press(letters("help")...).press(enter)
	if s.sent(); !s.m.HelpOpen() {
		t.Errorf("no help:\n%s", s.text())
	}
}
