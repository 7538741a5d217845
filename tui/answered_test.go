package tui_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/prompt"
	"replan/tui"
)

// more is a story that goes on where another stands.
func more(st *story) *story { return &story{now: st.now, seq: st.seq} }

func TestWhatCameOfACompactionEndsTheWaitForIt(t *testing.T) {
	note := func(text string) event.Data { return event.Note{Level: "info", Text: text} }
	for name, c := range map[string]struct {
		sent string
		came event.Data
		says string
	}{
		"it is summed up":             {"/compact", event.ChatCompacted{Turns: 3, Kept: 4, Before: 900, After: 200}, "3 messages summed up"},
		"it is put back":              {"/compact undo", event.ChatCompacted{Undone: true, Turns: 3, Before: 200, After: 900}, "3 messages stand in the conversation again"},
		"nothing is there to sum up":  {"/compact", note("there is nothing to sum up in the conversation"), "nothing to sum up"},
		"nothing is there to be back": {"/compact undo", note("the conversation was not summed up, so there is nothing to put back"), "was not summed up"},
		"it is stopped":               {"/compact", note("stopped: the conversation stays as it is"), "stays as it is"},
		"it fails":                    {"/compact", event.Note{Level: "warn", Text: "the conversation stays as it is: no model"}, "stays as it is"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory().greeted().session(event.ChatUser{Text: c.sent}, session.Queue{Doing: "sum up the conversation"})
			s := open(t, tui.Options{}, 120, 36).show(st)
			s.wants("sum up the conversation…")
			if strings.HasPrefix(name, "it is s") {
				s.press(escape)
				s.sent(runner.Stop{})
				s.wants("stopping")
			}
			s.show(more(st).session(c.came, session.Queue{}))
			s.wants(c.says)
			s.lacks("sum up the conversation…")
			s.lacks("stopping")
			if s.m.Beating() {
				t.Error("the clock goes on")
			}
			s.press(escape)
			s.wants("Nothing runs.")
		})
	}
}

func TestAStreamingAnswerGoesOnBehindACommand(t *testing.T) {
	st := newStory().answering()
	s := settled(t, st, 120, 60)
	next := more(st).session(event.ChatUser{Text: "/runs"}, event.ChatReply{Text: "no runs"})
	s.show(next.run(event.SynthesisDelta{Text: storyAnswer[180:]})).text()
	s.wants("Nothing outside auth/ refers to it.")
	s.show(more(next).run(event.SynthesisCompleted{Text: storyAnswer + "\nAnd that is all."}))
	s.wants("And that is all.")
}

func TestAnAnswerThatIsCutOffSaysSo(t *testing.T) {
	for name, direct := range map[string]bool{"a direct answer": true, "a synthesis": false} {
		t.Run(name, func(t *testing.T) {
			q := request(prompt.PurposeSynthesis, "")
			if direct {
				q = request(prompt.PurposeChat, "")
			}
			cut := sampleReply("It begins with", 900, 64)
			cut.CutOff = true
			st := newStory().asked().run(event.PhaseCompleted{Phase: 1, Label: "analysis", Reply: sampleReply(`{"mode":"direct"}`, 860, 20)},
				event.SynthesisStarted{Direct: direct, Request: q}, event.SynthesisCompleted{Text: cut.Text, Reply: cut})
			s := settled(t, st, 120, 36)
			s.wants("! the answer was cut off at 64 tokens")
			if lineOf(s, "cut off") < lineOf(s, "It begins with") {
				t.Error("it is said before the answer")
			}
		})
	}
	settled(t, newStory().finished(), 120, 60).lacks("cut off")
}

func TestWhatWaitsIsNamedUntilItIsTaken(t *testing.T) {
	st := newStory().answering()
	s := open(t, tui.Options{}, 120, 60).show(st)
	next := more(st).session(session.Queue{Waiting: []string{"hello three", "run the plan Tidy up", "resume r-7", "hello four"}})
	s.show(next)
	for _, text := range []string{"· 1 queued: hello three", "· 2 queued: run the plan Tidy up", "· 4 queued: hello four (1 more before it)"} {
		s.wants(text)
	}
	if line := lineOf(s, "· 1 queued: hello three"); !strings.HasPrefix(s.lines()[line-1], "├") {
		t.Errorf("it does not stand over the input:\n%s", s.text())
	}
	next = more(next).run(event.SynthesisCompleted{Text: storyAnswer},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Answer: storyAnswer}}).
		session(event.ChatReply{Run: storyRun, Status: event.StatusCompleted}, event.ChatUser{Text: "hello three"},
			session.Queue{Doing: "hello three", Waiting: []string{"hello four"}})
	s.show(next)
	s.wants("getting ready")
	s.wants("· 1 queued: hello four")
	s.lacks("queued: hello three")
	s.show(more(next).session(event.Note{Level: "info", Text: "no longer queued: hello four"}, session.Queue{Doing: "hello three"}))
	s.lacks("· 1 queued:")
}
