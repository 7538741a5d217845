package runner_test

import (
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// changedTexts are what a server has changed: a tool and its instructions, and a tool
// by more than a gate shows.
func changedTexts() []plan.ServerChange {
	return []plan.ServerChange{
		{Server: "web", Pin: "1", Diff: "-a\n+b\n"},
		{Server: "web", Tool: "search", Pin: "2", Diff: "-c\n+d\n"},
		{Server: "web", Tool: "long", Pin: "3", Diff: untrusted.Text(strings.Repeat("+more\n", plan.MaxChange))},
		{Server: "other", Tool: "search", Pin: "4", Diff: "-e\n+f\n"},
	}
}

func TestUserIsAskedAboutEachTextThatAServerHasChanged(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) { s.tools.changes = changedTexts() })
	s.Send(session.AskAboutChanges{Server: "web"})
	instructions, tool := until[event.GateRequested](t, s), until[event.GateRequested](t, s)
	if instructions.Title != "Use the instructions of web as they are now?" || instructions.Changed != "-a\n+b\n" || tool.Title != "Use web:search as it is now?" || tool.Changed != "-c\n+d\n" {
		t.Errorf("got the gates %+v and %+v", instructions, tool)
	}
	if note := until[event.Note](t, s); !strings.Contains(string(note.Text), "replan tools accept web:long") {
		t.Errorf("of the long change it says %q", note.Text)
	}
	s.Send(session.Resolve{Run: s.ID(), Gate: instructions.Gate, Decision: event.Deny})
	until[event.GateResolved](t, s)
	s.Send(session.Resolve{Run: s.ID(), Gate: tool.Gate, Decision: event.Allow})
	until[event.GateResolved](t, s)
	s.Send(session.AskAboutChanges{Server: "none"})
	if note := until[event.Note](t, s); note.Text != "nothing has changed: none is as you accepted it" {
		t.Errorf("of a server without changes it says %q", note.Text)
	}
	s.shut()
	if !slices.Equal(s.tools.accepts, []string{"web:search 2"}) {
		t.Errorf("accepted %v", s.tools.accepts)
	}
}

func TestQuestionAboutAnotherChangeIsWithdrawn(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) { s.tools.changes = changedTexts()[:1] })
	s.Send(session.AskAboutChanges{Server: "web"})
	gate := until[event.GateRequested](t, s)
	s.tools.mu.Lock()
	s.tools.changes[0].Pin, s.tools.changes[0].Diff = "5", "-a\n+z\n"
	s.tools.mu.Unlock()
	s.tools.changed()
	if resolved := until[event.GateResolved](t, s); resolved.Gate != gate.Gate || resolved.Decision != event.Deny {
		t.Errorf("got %+v", resolved)
	}
	s.Send(session.Resolve{Run: s.ID(), Gate: gate.Gate, Decision: event.Allow})
	s.shut()
	if len(s.tools.accepts) > 0 {
		t.Errorf("accepted %v", s.tools.accepts)
	}
}

func TestYesToAServerIsTakenBack(t *testing.T) {
	s := open(t, policy.ApproveAsk, nil)
	s.Send(session.Revoke{Server: "files"})
	s.Send(session.Revoke{Server: "mine"})
	if note := until[event.Note](t, s); note.Text != "mine needs no permission" {
		t.Errorf("got the note %q", note.Text)
	}
	s.shut()
	if !slices.Equal(s.tools.revoked, []string{"files"}) {
		t.Errorf("revoked %v", s.tools.revoked)
	}
}

func TestServerIsNamedOnceWhileItsChangesAreAccepted(t *testing.T) {
	web := plan.ServerStatus{Name: "web", State: plan.ServerReady, Tools: 2, Changes: 2, Note: "changed: a, b"}
	s := open(t, policy.ApproveAsk, func(s *stage) { s.tools.servers = []plan.ServerStatus{web} })
	until[event.Note](t, s)
	for _, now := range []plan.ServerStatus{{Changes: 1, Note: "changed: b"}, {Changes: 2, Note: "changed: b, c"}} {
		s.tools.mu.Lock()
		web.Changes, web.Note = now.Changes, now.Note
		s.tools.servers = []plan.ServerStatus{web}
		s.tools.mu.Unlock()
		s.tools.changed()
		for until[session.Status](t, s).Servers[0].Changes != now.Changes {
		}
	}
	if note := until[event.Note](t, s); !strings.Contains(string(note.Text), "changed: b, c") {
		t.Errorf("after the first was accepted it says %q", note.Text)
	}
}
