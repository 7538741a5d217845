package runner_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/prompt"
)

// installer is a model server that installs models as the test says.
type installer struct {
	*model
	pull func(ctx context.Context, name string, progress func(step string, done, total int64)) error

	mu      sync.Mutex
	removed []string
	err     error
}

func (i *installer) Pull(ctx context.Context, name string, progress func(step string, done, total int64)) error {
	return i.pull(ctx, name, progress)
}

func (i *installer) Remove(_ context.Context, name string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.removed = append(i.removed, name)
	return i.err
}

func (i *installer) Describe(ctx context.Context, name string) (prompt.ModelInfo, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.info.Name == "" {
		return prompt.ModelInfo{}, prompt.ErrNoModel
	}
	return i.model.Describe(ctx, name)
}

// installing makes a session use a server that installs models.
func installing(server *installer) func(*stage) {
	return func(s *stage) {
		server.model = s.model
		s.config = func(c *runner.Config) { c.Model = server }
	}
}

// untilPulled reads events up to the end of a pull.
func untilPulled(t *testing.T, s *stage) session.PullProgress {
	t.Helper()
	for {
		if p := until[session.PullProgress](t, s); p.Ended {
			return p
		}
	}
}

func TestSessionFindsModelAfterItsPull(t *testing.T) {
	server := &installer{}
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.info = prompt.ModelInfo{}
		installing(server)(s)
	})
	server.pull = func(_ context.Context, name string, progress func(string, int64, int64)) error {
		progress("pulling a", 40, 100)
		server.mu.Lock()
		defer server.mu.Unlock()
		server.info = prompt.ModelInfo{Name: name, ContextWindow: 4096}
		return nil
	}
	status(t, s, func(st session.Status) bool { return st.Problem != "" })
	s.Send(session.Pull{Model: " tiny:1b "})
	if got, want := until[session.PullProgress](t, s), (session.PullProgress{Model: "tiny:1b"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := until[session.PullProgress](t, s), (session.PullProgress{Model: "tiny:1b", Step: "pulling a", Done: 40, Total: 100}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := untilPulled(t, s), (session.PullProgress{Model: "tiny:1b", Step: "pulling a", Done: 40, Total: 100, Ended: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	status(t, s, func(st session.Status) bool { return st.Model == "tiny:1b" && st.Problem == "" })
}

func TestPullReportsRateAndNotTooOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &installer{pull: func(_ context.Context, _ string, progress func(string, int64, int64)) error {
			for done := range int64(200) { // 100 bytes in a second
				progress("pulling a", 1000+done, 2000)
				time.Sleep(10 * time.Millisecond) // fake time
			}
			return nil
		}}
		s := open(t, policy.ApproveAll, installing(server))
		s.Send(session.Pull{Model: "tiny"})
		reports := 0
		for {
			p := until[session.PullProgress](t, s)
			if reports++; p.Ended {
				break
			}
			if p.Done > 1050 && (p.Rate < 98 || p.Rate > 100) {
				t.Errorf("got %+v, want about 100 bytes a second", p)
			}
		}
		if reports > 25 {
			t.Errorf("got %d reports in two seconds", reports)
		}
	})
}

func TestPullsComeOneAtATimeAndCanBeCanceled(t *testing.T) {
	server := &installer{pull: func(ctx context.Context, _ string, _ func(string, int64, int64)) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	s := open(t, policy.ApproveAll, installing(server))
	s.Send(session.CancelPull{}) // cancels nothing
	s.Send(session.Pull{Model: "one"})
	s.Send(session.Pull{Model: "two"})
	if p := untilPulled(t, s); p.Model != "two" || p.Problem == "" {
		t.Errorf("got %+v, want the second pull to be refused", p)
	}
	s.Send(session.CancelPull{})
	if got, want := untilPulled(t, s), (session.PullProgress{Model: "one", Ended: true, Canceled: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	s.Send(session.Pull{Model: "three"}) // ends with the session
	if got, want := until[session.PullProgress](t, s), (session.PullProgress{Model: "three"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// starting is a model server that the test starts.
type starting struct {
	*installer
	start func(ctx context.Context) (log string, err error)
}

func (s *starting) Serve(ctx context.Context) (string, error) { return s.start(ctx) }

// startingStage opens a session without a model, whose server starts as the test says.
func startingStage(t *testing.T, server *starting) *stage {
	t.Helper()
	server.installer = &installer{}
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.info = prompt.ModelInfo{}
		server.model = s.model
		s.config = func(c *runner.Config) { c.Model = server }
	})
	status(t, s, func(st session.Status) bool { return st.Problem != "" })
	return s
}

// started compares the start of the model server and its end with what the session reports.
func started(t *testing.T, s *stage, end session.ModelServerStart) {
	t.Helper()
	for _, want := range []session.ModelServerStart{{}, end} {
		if got := until[session.ModelServerStart](t, s); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestSessionFindsModelOfTheServerItStarted(t *testing.T) {
	server := &starting{}
	server.start = func(context.Context) (string, error) {
		server.mu.Lock()
		defer server.mu.Unlock()
		server.info = prompt.ModelInfo{Name: "tiny:1b", ContextWindow: 4096}
		return "ollama.log", nil
	}
	s := startingStage(t, server)
	s.Send(session.CancelStart{}) // cancels nothing
	s.Send(session.StartModelServer{})
	started(t, s, session.ModelServerStart{Ended: true, Log: "ollama.log"})
	status(t, s, func(st session.Status) bool { return st.Model == "tiny:1b" && st.Problem == "" })
}

func TestStartOfTheServerFailsOrIsCanceled(t *testing.T) {
	server := &starting{start: func(context.Context) (string, error) { return "ollama.log", errors.New("it ended") }}
	s := startingStage(t, server)
	s.Send(session.StartModelServer{})
	started(t, s, session.ModelServerStart{Ended: true, Log: "ollama.log", Problem: "it ended"})

	server = &starting{start: func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }}
	s = startingStage(t, server)
	s.Send(session.StartModelServer{})
	s.Send(session.StartModelServer{}) // one is enough
	s.Send(session.CancelStart{})
	started(t, s, session.ModelServerStart{Ended: true, Canceled: true})
}

func TestFailedPullSaysWhy(t *testing.T) {
	server := &installer{pull: func(context.Context, string, func(string, int64, int64)) error { return errors.New("the disk is full") }}
	s := open(t, policy.ApproveAll, installing(server))
	s.Send(session.Pull{Model: "one"})
	if p := untilPulled(t, s); p.Problem != "the disk is full" {
		t.Errorf("got %+v", p)
	}
	s.Send(session.Pull{Model: " "})
	if p := untilPulled(t, s); p.Problem != "name the model to pull, like qwen3:8b" {
		t.Errorf("got %+v", p)
	}
	s = open(t, policy.ApproveAll, nil)
	s.Send(session.Pull{Model: "one"})
	s.Send(session.Remove{Model: "one"})
	if p, r := untilPulled(t, s), until[session.Removed](t, s); p.Problem == "" || p.Problem != r.Problem {
		t.Errorf("got %+v and %+v", p, r)
	}
}

func TestRemovedModelIsNoLongerTheSessions(t *testing.T) {
	server := &installer{}
	s := open(t, policy.ApproveAll, installing(server))
	status(t, s, func(st session.Status) bool { return st.Model == "m" })
	server.mu.Lock()
	server.info = prompt.ModelInfo{}
	server.mu.Unlock()
	s.Send(session.Remove{Model: "m"})
	if got, want := until[session.Removed](t, s), (session.Removed{Model: "m"}); got != want || len(server.removed) != 1 {
		t.Errorf("got %+v, removed %v", got, server.removed)
	}
	status(t, s, func(st session.Status) bool { return st.Model == "" && st.Problem != "" })
	server.mu.Lock()
	server.err = errors.New("no such model")
	server.mu.Unlock()
	s.Send(session.Remove{Model: "other"})
	if got, want := until[session.Removed](t, s), (session.Removed{Model: "other", Problem: "no such model"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestModelOfARunIsNotRemoved(t *testing.T) {
	hold, server := make(chan struct{}), &installer{}
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
		installing(server)(s)
	})
	s.Send(session.Submit{Text: "do it"})
	until[event.RunStarted](t, s)
	s.Send(session.Remove{Model: "m"})
	if r := until[session.Removed](t, s); r.Problem == "" || len(server.removed) > 0 {
		t.Errorf("got %+v, removed %v", r, server.removed)
	}
	close(hold)
	until[event.ChatReply](t, s)
}

func TestEachChoiceIsAnswered(t *testing.T) {
	s := open(t, policy.ApproveAll, settings)
	for _, tc := range []struct {
		choice  session.Choose
		model   string
		refused bool
	}{
		{choice: session.Choose{Model: new("big")}, model: "big:latest"},
		{choice: session.Choose{Think: new(prompt.ThinkLow)}},
		{choice: session.Choose{Profile: new("terse")}},
		{choice: session.Choose{Model: new("none")}, refused: true},
		{choice: session.Choose{Profile: new("none")}, refused: true},
	} {
		s.Send(tc.choice)
		got := until[session.Chosen](t, s)
		if session.Choose(got.Choice) != tc.choice || got.Info.Name != tc.model || (got.Problem != "") != tc.refused {
			t.Errorf("%+v: got %+v, want the model %q, refused %v", tc.choice, got, tc.model, tc.refused)
		}
	}
}
