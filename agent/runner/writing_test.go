package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/prompt"
)

// scriptedHelp knows one file and records the texts that were sent.
type scriptedHelp struct {
	mu   sync.Mutex
	sent []string
	hold chan struct{} // closed once files can be read; nil never blocks
	text string
}

func (a *scriptedHelp) Complete(_ context.Context, of session.Completing) ([]session.Completion, bool, error) {
	if of != session.CompleteMentions {
		return nil, false, errors.New("there are none")
	}
	return []session.Completion{{Text: "a.go"}}, true, nil
}

func (a *scriptedHelp) Mention(ctx context.Context, name string) (prompt.Mention, error) {
	if a.hold != nil {
		select {
		case <-a.hold:
		case <-ctx.Done():
			return prompt.Mention{}, ctx.Err()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if name != "a.go" {
		return prompt.Mention{}, fmt.Errorf("there is no %s: %w", name, runner.ErrUnnamed)
	}
	return prompt.Mention{Name: name, Text: a.text, Bytes: len(a.text)}, nil
}

func (a *scriptedHelp) History() (session.History, error) {
	return session.History{Here: []string{"before"}}, errors.New("some of it is damaged")
}

func (a *scriptedHelp) Remember(text string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sent = append(a.sent, text)
	return nil
}

func helped(t *testing.T, a *scriptedHelp, change func(*stage)) *stage {
	t.Helper()
	if a.text == "" {
		a.text = "package a"
	}
	return open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.InputHelp = a }
		if change != nil {
			change(s)
		}
	})
}

func TestMentionedFileIsStoredAndSent(t *testing.T) {
	s := helped(t, &scriptedHelp{}, nil)
	s.Send(session.Submit{Text: "explain @a.go to @somebody"})
	if user := until[event.ChatUser](t, s); len(user.Mentions) != 1 || user.Mentions[0].Text != "package a" {
		t.Errorf("got the message %+v", user)
	}
	until[event.ChatReply](t, s)
	const attached = "Data: the file a.go, which the user mentions\n```\npackage a\n```"
	messages := s.model.requests(prompt.PurposeAnalysis)[0].Messages
	if asks := messages[len(messages)-1].Content; !strings.Contains(asks, attached+"\n\n") || !strings.HasSuffix(asks, "\n\nGoal: explain @a.go to @somebody") {
		t.Errorf("the request is\n%s", asks)
	}
	// The next turn still includes the file.
	s.Send(session.Submit{Text: "and now?"})
	until[event.ChatReply](t, s)
	next := s.model.requests(prompt.PurposeAnalysis)[1].Messages
	if !slices.ContainsFunc(next, func(m prompt.Message) bool { return m.Content == attached }) {
		t.Error("the next request lacks the mentioned file")
	}
}

func TestUnreadableMentionReturnsMessage(t *testing.T) {
	s := helped(t, &scriptedHelp{}, nil)
	s.Send(session.Submit{Text: "explain @b.go"})
	if back := until[session.Returned](t, s); back.Text != "explain @b.go" || !strings.Contains(string(back.Reason), "there is no b.go") || !strings.Contains(string(back.Reason), `write \@b.go`) {
		t.Errorf("%+v", back)
	}
	s.shut()
	if slices.ContainsFunc(s.seen, func(e event.Event) bool { return e.Data.Kind() == event.KindChatUser }) {
		t.Error("the message is in the conversation")
	}
}

func TestMessagesKeepOrderWhileFilesAreRead(t *testing.T) {
	a := &scriptedHelp{hold: make(chan struct{})}
	s := helped(t, a, nil)
	s.Send(session.Submit{Text: "first @a.go"})
	s.Send(session.Submit{Text: "second"})
	close(a.hold)
	for _, want := range []string{"first @a.go", "second"} {
		if user := until[event.ChatUser](t, s); string(user.Text) != want {
			t.Errorf("got %q, want %q", user.Text, want)
		}
		until[event.ChatReply](t, s)
	}
}

func TestStopReturnsPendingMessages(t *testing.T) {
	s := helped(t, &scriptedHelp{hold: make(chan struct{})}, nil)
	s.Send(session.Submit{Text: "first @a.go"})
	s.Send(session.Submit{Text: "second"})
	s.Send(session.Stop{})
	got := []string{until[session.Returned](t, s).Text, until[session.Returned](t, s).Text}
	slices.Sort(got)
	if !slices.Equal(got, []string{"first @a.go", "second"}) {
		t.Errorf("got back %q", got)
	}
}

func TestQueuedMessageReadsFileWhenItStarts(t *testing.T) {
	a := &scriptedHelp{}
	hold := make(chan struct{})
	s := helped(t, a, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeSynthesis: hold}
	})
	s.Send(session.Submit{Text: "do it"})
	until[event.RunStarted](t, s)
	s.Send(session.Submit{Text: "explain @a.go"})
	for q := until[session.Queue](t, s); len(q.Waiting) == 0; {
		q = until[session.Queue](t, s)
	}
	a.mu.Lock()
	a.text = "package b"
	a.mu.Unlock()
	close(hold)
	if user := until[event.ChatUser](t, s); len(user.Mentions) != 1 || user.Mentions[0].Text != "package b" {
		t.Errorf("got the message %+v", user)
	}
}

func TestUnqueueReturnsMessage(t *testing.T) {
	hold := make(chan struct{})
	s := helped(t, &scriptedHelp{}, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
	})
	for _, text := range []string{"go on", "one", "two"} {
		s.Send(session.Submit{Text: text})
	}
	var q session.Queue
	for len(q.Jobs) < 2 {
		q = until[session.Queue](t, s)
	}
	s.Send(session.Unqueue{ID: q.Jobs[1].ID, Back: true})
	if back := until[session.Returned](t, s); back.Text != "two" || back.Reason != "" {
		t.Errorf("got back %+v", back)
	}
	s.Send(session.Unqueue{ID: q.Jobs[0].ID})
	for len(q.Waiting) != 0 { // skip the queue with one message
		q = until[session.Queue](t, s)
	}
	close(hold)
}

func TestHistoryLeavesOutLinesWithLeadingBlank(t *testing.T) {
	a := &scriptedHelp{}
	s := helped(t, a, nil)
	if h := until[session.History](t, s); !slices.Equal(h.Here, []string{"before"}) {
		t.Errorf("got the history %q", h.Here)
	}
	s.Send(session.Submit{Text: "do it"})
	until[event.ChatReply](t, s)
	s.Send(session.Submit{Text: " keep it to yourself"})
	if user := until[event.ChatUser](t, s); user.Text != "keep it to yourself" {
		t.Errorf("got the message %q", user.Text)
	}
	s.shut()
	if !slices.Equal(a.sent, []string{"do it"}) {
		t.Errorf("the history recorded %q", a.sent)
	}
}

func TestCompletionsListCandidates(t *testing.T) {
	s := helped(t, &scriptedHelp{}, nil)
	if c, err := s.Completions(t.Context(), session.CompleteMentions); err != nil || c.Of != session.CompleteMentions || len(c.Items) != 1 || !c.More {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := s.Completions(t.Context(), session.CompletePlans); err == nil || err.Error() != "there are none" {
		t.Errorf("%+v, %v", c, err)
	}
}
