package tui_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui"
	"replan/tui/panetest"
)

// more is a story that continues where another one ends.
func more(st *story) *story { return &story{Now: st.Now, Seq: st.Seq} }

func TestCompactionResultEndsProgress(t *testing.T) {
	note := func(text string) event.Data { return event.Note{Level: "info", Text: untrusted.Text(text)} }
	for name, c := range map[string]struct {
		sent   string
		result event.Data
		want   string
	}{
		"summarized":           {"/compact", event.ChatCompacted{Turns: 3, Kept: 4, Before: 900, After: 200}, "3 messages summarized"},
		"undone":               {"/compact undo", event.ChatCompacted{Undone: true, Turns: 3, Before: 200, After: 900}, "3 messages are back in the conversation"},
		"nothing to summarize": {"/compact", note("there is nothing to summarize"), "nothing to summarize"},
		"nothing to undo":      {"/compact undo", note("the conversation was not summarized: nothing to restore"), "was not summarized"},
		"stopped":              {"/compact", note("stopped: the conversation stays as it is"), "stays as it is"},
		"failed":               {"/compact", event.Note{Level: "warn", Text: "the conversation stays as it is: no model"}, "stays as it is"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory().Greeted().Session(event.ChatUser{Text: untrusted.Text(c.sent)}, session.Queue{Doing: "summarize the conversation"})
			s := open(t, tui.Options{}, 120, 36).show(st)
			s.wants("summarize the conversation…")
			if strings.HasPrefix(name, "s") {
				s.press(escape)
				s.sent(session.Stop{})
				s.wants("stopping")
			}
			s.show(more(st).Session(c.result, session.Queue{}))
			s.wants(c.want)
			s.lacks("summarize the conversation…")
			s.lacks("stopping")
			if s.m.Beating() {
				t.Error("the clock still beats")
			}
			s.press(escape)
			s.wants("Nothing is running.")
		})
	}
}

func TestQueuedEntriesAreListedUntilTaken(t *testing.T) {
	st := newStory().Answering()
	s := open(t, tui.Options{}, 120, 60).show(st)
	next := more(st).Session(session.Queue{Waiting: []string{"hello three", "run the plan Tidy up", "resume r-7", "hello four"}})
	s.show(next)
	for _, text := range []string{"◦ 1 queued: hello three", "◦ 2 queued: run the plan Tidy up", "◦ 4 queued: hello four (1 more before it)"} {
		s.wants(text)
	}
	if line := lineOf(s, "◦ 1 queued: hello three"); !strings.HasPrefix(s.lines()[line-1], "├") {
		t.Errorf("the queue is not above the input:\n%s", s.text())
	}
	next = more(next).Run(event.SynthesisCompleted{Text: panetest.StoryAnswer},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Answer: panetest.StoryAnswer}}).
		Session(event.ChatReply{Run: panetest.StoryRun, Status: event.StatusCompleted}, event.ChatUser{Text: "hello three"},
			session.Queue{Doing: "hello three", Waiting: []string{"hello four"}})
	s.show(next)
	s.wants("getting ready")
	s.wants("◦ 1 queued: hello four")
	s.lacks("queued: hello three")
	s.show(more(next).Session(event.Note{Level: "info", Text: "no longer queued: hello four"}, session.Queue{Doing: "hello three"}))
	s.lacks("◦ 1 queued:")
}
