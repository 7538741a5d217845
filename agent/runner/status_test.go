package runner_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/session"
	"replan/planning/prompt"
)

func TestStatusCountsToolsOfProfile(t *testing.T) {
	s := open(t, policy.ApproveAll, settings)
	if started := s.run(t, "one"); len(started.Catalog) != 2 {
		t.Fatalf("got %d tools without a profile, want 2", len(started.Catalog))
	}
	s.Send(session.Choose{Profile: ptr("careful")})
	if st := status(t, s, func(st session.Status) bool { return st.Profile == "careful" }); st.Tools != 1 {
		t.Errorf("got %d tools with the profile, want 1", st.Tools)
	}
	s.Send(session.Choose{Profile: ptr("terse")})
	if st := status(t, s, func(st session.Status) bool { return st.Profile == "terse" }); st.Tools == 1 {
		t.Error("the tools are still those of the previous profile")
	}
}

func TestChoiceDuringRunAddsNoNote(t *testing.T) {
	hold := make(chan struct{})
	s := open(t, policy.ApproveAll, settings)
	s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
	s.Send(session.Submit{Text: "one"})
	until[event.RunStarted](t, s)
	s.Send(session.Choose{Think: ptr(prompt.ThinkLow)})
	status(t, s, func(st session.Status) bool { return st.Think == prompt.ThinkLow })
	close(hold)
	until[event.ChatReply](t, s)
	for _, e := range s.seen {
		if note, ok := e.Data.(event.Note); ok && strings.Contains(string(note.Text), "next run") {
			t.Errorf("got the note: %s", note.Text)
		}
	}
}
