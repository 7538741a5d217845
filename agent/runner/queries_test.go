package runner_test

import (
	"context"
	"errors"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/prompt"
	"replan/planning/reply"
)

func TestQueriesReadSessionState(t *testing.T) {
	damaged := errors.New("one is damaged")
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) {
			storeOf(c).read = func(run string) ([]event.Event, error) {
				return []event.Event{{Seq: 1, Run: run, Data: event.Note{Text: "hello"}}}, nil
			}
			storeOf(c).conversations = func() ([]session.Conversation, error) {
				return []session.Conversation{{Session: "s-1"}, {Session: "s-old"}}, damaged
			}
			c.Settings = func() session.Settings { return session.Settings{File: "config.toml"} }
		}
	})
	ctx := t.Context()
	if events, err := s.Journal(ctx, "r-1"); err != nil || len(events) != 1 || events[0].Run != "r-1" {
		t.Errorf("journal %v, %v", events, err)
	}
	conversations, err := s.Conversations(ctx)
	if len(conversations) != 2 || !errors.Is(err, damaged) {
		t.Fatalf("conversations %+v, %v", conversations, err)
	}
	if conversations[0].Open != (conversations[0].Session == s.ID()) || conversations[1].Open {
		t.Errorf("only %s is open: %+v", s.ID(), conversations)
	}
	if settings, err := s.Settings(ctx); err != nil || settings.File != "config.toml" {
		t.Errorf("settings %+v, %v", settings, err)
	}
	servers, err := s.Servers(ctx)
	if err != nil || len(servers.Servers) != 1 || len(servers.Tools) != 2 {
		t.Fatalf("servers %+v, %v", servers, err)
	}
	if look, change := servers.Tools[0], servers.Tools[1]; !look.ReadOnly || look.Verdict != rule.VerdictAsk && look.Verdict != rule.VerdictRun || !change.Destructive || look.Tokens <= 0 {
		t.Errorf("tools %+v", servers.Tools)
	}
}

func TestJournalFailsWithoutStore(t *testing.T) {
	s := open(t, policy.ApproveAll, nil)
	if events, err := s.Journal(t.Context(), "r-1"); err == nil || events != nil {
		t.Errorf("journal %v, %v", events, err)
	}
}

func TestQueriesFailAfterSessionEnds(t *testing.T) {
	s := open(t, policy.ApproveAll, nil)
	s.shut()
	if _, err := s.Runs(t.Context()); !errors.Is(err, session.ErrClosed) {
		t.Errorf("got error %v, want ErrClosed", err)
	}
}

func TestQueriesEndWithContextAndSession(t *testing.T) {
	listing := make(chan struct{}, 2)
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.Model = &mute{model: s.model, listing: listing} }
	})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := s.Models(ctx)
		failed <- err
	}()
	<-listing
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("canceled query: %v", err)
	}
	go func() {
		_, err := s.Models(context.Background())
		failed <- err
	}()
	<-listing
	s.shut() // waits for the query's worker
	if err := <-failed; err != nil && !errors.Is(err, session.ErrClosed) {
		t.Errorf("query at the end of the session: %v", err)
	}
}

// mute blocks in Models until the context ends.
type mute struct {
	*model
	shelved
	listing chan struct{}
}

func (m *mute) Describe(ctx context.Context, name string) (prompt.ModelInfo, error) {
	return m.model.Describe(ctx, name)
}

func (m *mute) Ask(ctx context.Context, r prompt.Request, delta func(text, thinking string)) (reply.Reply, error) {
	return m.model.Ask(ctx, r, delta)
}

func (m *mute) Models(ctx context.Context) ([]prompt.ModelInfo, error) {
	m.listing <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}
