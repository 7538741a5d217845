package runner_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/prompt"
)

func TestWarmLoadsModelOnce(t *testing.T) {
	server := &shelved{keep: 5 * time.Minute, loaded: make(chan string, 8)}
	now := time.Now()
	s := open(t, policy.ApproveAll, both(settings, func(s *stage) {
		more := s.config
		server.model = s.model
		s.config = func(c *runner.Config) {
			more(c)
			c.Model, c.Now = server, func() time.Time { return now }
		}
	}))
	// Each round ends with a query, which the session answers after the commands.
	round := func(commands ...session.Command) {
		for _, c := range commands {
			s.Send(c)
		}
		if _, err := s.Runs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	round(session.Warm{}, session.Warm{})
	if name := <-server.loaded; name != "" {
		t.Errorf("loaded %q", name)
	}
	s.run(t, "do it")
	round(session.Warm{})
	s.Send(session.Choose{Model: ptr("big")})
	status(t, s, func(st session.Status) bool { return st.Model == "big:latest" })
	round(session.Warm{})
	if name := <-server.loaded; name != "big:latest" {
		t.Errorf("loaded %q", name)
	}
	s.shut()
	if left := len(server.loaded); left > 0 {
		t.Errorf("got %d further loads, want none", left)
	}
}

func TestWarmReloadsModelBeforeItExpires(t *testing.T) {
	const (
		never   = 0
		forEver = -time.Second
	)
	for _, tc := range []struct {
		name  string
		keep  time.Duration
		after time.Duration // since the model's last work
		want  int
	}{
		{"5m, early", 5 * time.Minute, 4*time.Minute - time.Second, 0},
		{"5m, last fifth", 5 * time.Minute, 4 * time.Minute, 1},
		{"30s, early", 30 * time.Second, 23 * time.Second, 0},
		{"30s, last fifth", 30 * time.Second, 24 * time.Second, 1},
		{"expired", time.Minute, time.Hour, 1},
		{"kept for ever", forEver, 1000 * time.Hour, 0},
		{"never kept", never, time.Hour, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &shelved{keep: tc.keep, loaded: make(chan string, 8)}
				s := open(t, policy.ApproveAll, serving(server))
				s.run(t, "do it")
				time.Sleep(tc.after) // fake time
				s.Send(session.Warm{})
				s.Send(session.Warm{})
				s.shut()
				if got := len(server.loaded); got != tc.want {
					t.Errorf("loaded %d times, want %d", got, tc.want)
				}
			})
		})
	}
}

// serving makes a session use a model server.
func serving(server *shelved) func(*stage) {
	return func(s *stage) {
		server.model = s.model
		s.config = func(c *runner.Config) { c.Model = server }
	}
}

func TestFailedWarmIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &shelved{keep: 5 * time.Minute, loaded: make(chan string, 8), err: errors.New("start it")}
		s := open(t, policy.ApproveAll, serving(server))
		for i, tc := range []struct {
			err  error
			want int // loads so far
		}{
			{errors.New("start it"), 1},
			{nil, 2}, // the server answers now
			{nil, 2},
		} {
			server.err = tc.err
			s.Send(session.Warm{})
			synctest.Wait()
			if got := len(server.loaded); got != tc.want {
				t.Errorf("after %d warm commands: got %d loads, want %d", i+1, got, tc.want)
			}
		}
	})
}

func TestWarmDoesNothingDuringRun(t *testing.T) {
	server := &shelved{keep: 5 * time.Minute, loaded: make(chan string, 8)}
	hold := make(chan struct{})
	s := open(t, policy.ApproveAll, func(s *stage) {
		server.model = s.model
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
		s.config = func(c *runner.Config) { c.Model = server }
	})
	s.Send(session.Submit{Text: "do it"})
	until[event.RunStarted](t, s)
	s.Send(session.Warm{})
	if _, err := s.Runs(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(hold)
	until[event.ChatReply](t, s)
	s.shut()
	if len(server.loaded) > 0 {
		t.Errorf("loaded %q", <-server.loaded)
	}
}
