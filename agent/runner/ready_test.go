package runner_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
)

// silent adds a server that never answers.
func silent(s *stage) {
	s.tools.servers = []plan.ServerStatus{
		{Name: "w", State: plan.ServerReady, Tools: 2}, {Name: "mute", State: plan.ServerStarting},
	}
}

// slow lets the silent server take five minutes to start.
func slow(s *stage) { s.tools.servers[1].StartLimit = 5 * time.Minute }

// notes returns the session's notes so far.
func (s *stage) notes() string {
	var all []string
	for _, e := range s.seen {
		if note, ok := e.Data.(event.Note); ok {
			all = append(all, string(note.Text))
		}
	}
	return strings.Join(all, "\n")
}

// awaits returns the servers that the session reported to wait for.
func (s *stage) awaits() []string {
	var all []string
	for _, e := range s.seen {
		if queue, ok := e.Data.(session.Queue); ok {
			all = append(all, queue.Servers...)
		}
	}
	return all
}

func TestStartWaitsOnlyForNeededServers(t *testing.T) {
	step := func(tool string) session.Execute {
		return session.Execute{Plan: plan.Plan{Title: "T", Steps: []plan.Step{
			{Index: "1", Title: "Look", Executor: plan.ExecutorTool, Tool: tool, Args: map[string]any{}},
		}}}
	}
	for name, c := range map[string]struct {
		job     session.Command
		change  func(*stage)
		wait    time.Duration
		awaited bool
	}{
		"plan without the server":                   {job: step("look"), change: silent},
		"plan with another server":                  {job: step("w:look"), change: silent},
		"plan with the server":                      {job: step("mute:look"), change: silent, wait: 2 * time.Minute, awaited: true},
		"plan with a server that starts slowly":     {job: step("mute:look"), change: both(silent, slow), wait: 5*time.Minute + time.Second, awaited: true},
		"goal for the model":                        {job: session.Submit{Text: "do it"}, change: silent, wait: 2 * time.Second, awaited: true},
		"goal answered by a route":                  {job: session.Submit{Text: "find AuthHandler"}, change: both(silent, wording)},
		"goal for the model with all servers ready": {job: session.Submit{Text: "do it"}, change: func(*stage) {}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, policy.ApproveAll, c.change)
				began := time.Now()
				s.Send(c.job)
				until[event.RunStarted](t, s)
				if waited := time.Since(began); waited != c.wait {
					t.Errorf("started after %s, want %s", waited, c.wait)
				}
				until[event.RunCompleted](t, s)
				if noted := strings.Contains(s.notes(), `"mute": has not started yet`); noted != c.awaited || slices.Contains(s.awaits(), "mute") != c.awaited {
					t.Errorf("notes %q, waiting for %q", s.notes(), s.awaits())
				}
			})
		})
	}
}

// rereadable are tools whose configuration can be read again.
type rereadable struct {
	*tools
	reload func() error
}

func (r rereadable) Reload() error { return r.reload() }

func TestRecheckReadsConfigurationOfServersAgain(t *testing.T) {
	read := 0
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) {
			c.Tools = rereadable{s.tools, func() error {
				read++
				return errors.New("mcp.json is not JSON")
			}}
		}
	})
	s.Send(session.Recheck{})
	if got := until[event.Note](t, s); got.Level != "warn" || got.Text != "mcp.json is not JSON" || read != 1 {
		t.Errorf("got %+v after reading %d times", got, read)
	}
	s.shut()
}

// hanging are tools whose starting servers have been starting for a while.
type hanging struct {
	runner.Tools
	since time.Duration
}

func (h hanging) StartingFor([]string) time.Duration { return h.since }

func TestGoalDoesNotWaitForServersThatHang(t *testing.T) {
	for since, want := range map[time.Duration]time.Duration{
		0: 2 * time.Second, 500 * time.Millisecond: 1500 * time.Millisecond, 2 * time.Second: 0, time.Hour: 0,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, policy.ApproveAll, func(s *stage) {
				silent(s)
				s.config = func(c *runner.Config) { c.Tools = hanging{c.Tools, since} }
			})
			begun := time.Now()
			s.Send(session.Submit{Text: "do it"})
			until[event.RunStarted](t, s)
			if took := time.Since(begun); took != want {
				t.Errorf("starting for %s: the run started after %s, want %s", since, took, want)
			}
			until[event.ChatReply](t, s)
		})
	}
}

func TestUserSkipsServersThatStillStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, policy.ApproveAll, silent)
		begun := time.Now()
		s.Send(session.Submit{Text: "do it"})
		for queue := until[session.Queue](t, s); len(queue.Servers) == 0; queue = until[session.Queue](t, s) {
		}
		s.Send(session.SkipServers{})
		until[event.RunStarted](t, s)
		if took := time.Since(begun); took >= 2*time.Second {
			t.Errorf("the run started after %s", took)
		}
		s.Send(session.SkipServers{}) // nothing is awaited any more
		until[event.ChatReply](t, s)
	})
}
