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

// aids know one file and what was sent.
type aids struct {
	mu   sync.Mutex
	sent []string
	hold chan struct{} // closed when files can be read; nil never holds
	text string
}

func (a *aids) Complete(_ context.Context, of session.Completing) ([]session.Completion, bool, error) {
	if of != session.CompleteMentions {
		return nil, false, errors.New("there are none")
	}
	return []session.Completion{{Text: "a.go"}}, true, nil
}

func (a *aids) Mention(ctx context.Context, name string) (prompt.Mention, error) {
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

func (a *aids) History() (session.History, error) {
	return session.History{Here: []string{"before"}}, errors.New("some of it is damaged")
}

func (a *aids) Remember(text string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sent = append(a.sent, text)
	return nil
}

func helped(t *testing.T, a *aids, change func(*stage)) *stage {
	t.Helper()
	if a.text == "" {
		a.text = "package a"
	}
	return open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.Aids = a }
		if change != nil {
			change(s)
		}
	})
}

func TestWhatAMessageNamesIsKeptWithItAndSentToTheModel(t *testing.T) {
	s := helped(t, &aids{}, nil)
	s.Send(runner.Submit{Text: "explain @a.go to @somebody"})
	if said := until[event.ChatUser](t, s); len(said.Mentions) != 1 || said.Mentions[0].Text != "package a" {
		t.Errorf("kept %+v", said)
	}
	until[event.ChatReply](t, s)
	messages := s.model.requests(prompt.PurposeAnalysis)[0].Messages
	if goal, before := messages[len(messages)-2].Content, messages[len(messages)-3].Content; goal != "explain @a.go to @somebody" || !strings.Contains(before, "package a") {
		t.Errorf("sent %q before %q", before, goal)
	}
	// The next turn still knows it.
	s.Send(runner.Submit{Text: "and now?"})
	until[event.ChatReply](t, s)
	next := s.model.requests(prompt.PurposeAnalysis)[1].Messages
	if !slices.ContainsFunc(next, func(m prompt.Message) bool { return m.Content == messages[len(messages)-3].Content }) {
		t.Error("the next request does not hold what was mentioned")
	}
}

func TestAMessageThatNamesWhatCannotBeReadComesBack(t *testing.T) {
	s := helped(t, &aids{}, nil)
	s.Send(runner.Submit{Text: "explain @b.go"})
	if back := until[session.Returned](t, s); back.Text != "explain @b.go" || !strings.Contains(back.Reason, "there is no b.go") || !strings.Contains(back.Reason, `write \@b.go`) {
		t.Errorf("%+v", back)
	}
	s.shut()
	if slices.ContainsFunc(s.seen, func(e event.Event) bool { return e.Data.Kind() == event.KindChatUser }) {
		t.Error("it stands in the conversation")
	}
}

func TestWhatComesBehindAMessageThatIsReadWaitsForIt(t *testing.T) {
	a := &aids{hold: make(chan struct{})}
	s := helped(t, a, nil)
	s.Send(runner.Submit{Text: "first @a.go"})
	s.Send(runner.Submit{Text: "second"})
	close(a.hold)
	for _, want := range []string{"first @a.go", "second"} {
		if said := until[event.ChatUser](t, s); said.Text != want {
			t.Errorf("%q came, not %q", said.Text, want)
		}
		until[event.ChatReply](t, s)
	}
}

func TestStopGivesBackWhatIsBeingRead(t *testing.T) {
	s := helped(t, &aids{hold: make(chan struct{})}, nil)
	s.Send(runner.Submit{Text: "first @a.go"})
	s.Send(runner.Submit{Text: "second"})
	s.Send(runner.Stop{})
	got := []string{until[session.Returned](t, s).Text, until[session.Returned](t, s).Text}
	slices.Sort(got)
	if !slices.Equal(got, []string{"first @a.go", "second"}) {
		t.Errorf("%q came back", got)
	}
}

func TestAFileIsReadAnewWhenItsTurnHasCome(t *testing.T) {
	a := &aids{}
	hold := make(chan struct{})
	s := helped(t, a, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeSynthesis: hold}
	})
	s.Send(runner.Submit{Text: "do it"})
	until[event.RunStarted](t, s)
	s.Send(runner.Submit{Text: "explain @a.go"})
	for q := until[session.Queue](t, s); len(q.Waiting) == 0; {
		q = until[session.Queue](t, s)
	}
	a.mu.Lock()
	a.text = "package b"
	a.mu.Unlock()
	close(hold)
	if said := until[event.ChatUser](t, s); len(said.Mentions) != 1 || said.Mentions[0].Text != "package b" {
		t.Errorf("kept %+v", said)
	}
}

func TestWhatIsQueuedCanBeTakenBack(t *testing.T) {
	hold := make(chan struct{})
	s := helped(t, &aids{}, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
	})
	for _, text := range []string{"go on", "one", "two"} {
		s.Send(runner.Submit{Text: text})
	}
	var q session.Queue
	for len(q.Jobs) < 2 {
		q = until[session.Queue](t, s)
	}
	s.Send(runner.Unqueue{ID: q.Jobs[1].ID, Back: true})
	if back := until[session.Returned](t, s); back.Text != "two" || back.Reason != "" {
		t.Errorf("%+v came back", back)
	}
	s.Send(runner.Unqueue{ID: q.Jobs[0].ID})
	for len(q.Waiting) != 0 { // the queue with one of them is told first
		q = until[session.Queue](t, s)
	}
	close(hold)
}

func TestWhatIsSentIsRememberedButForLinesThatBeginWithABlank(t *testing.T) {
	a := &aids{}
	s := helped(t, a, nil)
	if h := until[session.History](t, s); !slices.Equal(h.Here, []string{"before"}) {
		t.Errorf("it begins with %q", h.Here)
	}
	s.Send(runner.Submit{Text: "do it"})
	until[event.ChatReply](t, s)
	s.Send(runner.Submit{Text: " keep it to yourself"})
	if said := until[event.ChatUser](t, s); said.Text != "keep it to yourself" {
		t.Errorf("%q is said", said.Text)
	}
	s.shut()
	if !slices.Equal(a.sent, []string{"do it"}) {
		t.Errorf("%q is remembered", a.sent)
	}
}

func TestWhatCanBeCompletedIsTold(t *testing.T) {
	s := helped(t, &aids{}, nil)
	if c, err := s.Completions(t.Context(), session.CompleteMentions); err != nil || c.Of != session.CompleteMentions || len(c.Items) != 1 || !c.More {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := s.Completions(t.Context(), session.CompletePlans); err == nil || err.Error() != "there are none" {
		t.Errorf("%+v, %v", c, err)
	}
}
