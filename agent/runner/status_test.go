package runner_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/prompt"
)

func TestTheToolsThatAreToldAreThoseThatTheProfileLeaves(t *testing.T) {
	s := open(t, policy.ApproveAll, settings)
	if started := s.run(t, "one"); len(started.Catalogue) != 2 {
		t.Fatalf("%d tools are on offer without a profile", len(started.Catalogue))
	}
	s.Send(runner.Choose{Profile: ptr("careful")})
	if st := status(t, s, func(st session.Status) bool { return st.Profile == "careful" }); st.Tools != 1 {
		t.Errorf("%d tools are told under a profile that leaves 1", st.Tools)
	}
	s.Send(runner.Choose{Profile: ptr("terse")})
	if st := status(t, s, func(st session.Status) bool { return st.Profile == "terse" }); st.Tools == 1 {
		t.Error("the tools are still those of the profile before")
	}
}

func TestAChoiceWhileARunGoesOnIsToldByTheStatusAlone(t *testing.T) {
	hold := make(chan struct{})
	s := open(t, policy.ApproveAll, settings)
	s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
	s.Send(runner.Submit{Text: "one"})
	until[event.RunStarted](t, s)
	s.Send(runner.Choose{Think: ptr(prompt.ThinkLow)})
	status(t, s, func(st session.Status) bool { return st.Think == prompt.ThinkLow })
	close(hold)
	until[event.ChatReply](t, s)
	for _, e := range s.seen {
		if note, ok := e.Data.(event.Note); ok && strings.Contains(note.Text, "next run") {
			t.Errorf("said besides: %s", note.Text)
		}
	}
}
