package runner_test

import (
	"context"
	"sync"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/prompt"
)

// slowHelp knows every file, and reads late.go only once it may.
type slowHelp struct {
	scriptedHelp
	once       sync.Once
	begun, may chan struct{}
}

func (a *slowHelp) Mention(_ context.Context, name string) (prompt.Mention, error) {
	if name == "late.go" {
		a.once.Do(func() { close(a.begun) })
		<-a.may
	}
	return prompt.Mention{Name: name, Text: "package a", Bytes: 9}, nil
}

func (a *slowHelp) History() (session.History, error) { return session.History{}, nil }

// A message that waited may begin while those behind it still have their files read.
func TestQueuedMessageKeepsItsOwnFilesWhileLaterOnesAreRead(t *testing.T) {
	a := &slowHelp{begun: make(chan struct{}), may: make(chan struct{})}
	hold := make(chan struct{})
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.InputHelp = a }
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeSynthesis: hold}
	})
	s.Send(session.Submit{Text: "do it"})
	until[event.RunStarted](t, s)
	s.Send(session.Submit{Text: "explain @early.go"})
	for q := until[session.Queue](t, s); len(q.Waiting) == 0; {
		q = until[session.Queue](t, s)
	}
	s.Send(session.Submit{Text: "explain @late.go"})
	<-a.begun
	close(hold)
	until[event.ChatReply](t, s)
	close(a.may)
	for _, want := range []string{"early.go", "late.go"} {
		user := until[event.ChatUser](t, s)
		if len(user.Mentions) != 1 || string(user.Text) != "explain @"+want || user.Mentions[0].Name != want {
			t.Errorf("%q has the files %+v, want %s", user.Text, user.Mentions, want)
		}
	}
}
