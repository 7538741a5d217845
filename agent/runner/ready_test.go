package runner_test

import (
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

// notes are what the session said of servers so far.
func (s *stage) notes() string {
	var all []string
	for _, e := range s.seen {
		if note, ok := e.Data.(event.Note); ok {
			all = append(all, note.Text)
		}
	}
	return strings.Join(all, "\n")
}

// awaits are the servers that the session said it waits for.
func (s *stage) awaits() []string {
	var all []string
	for _, e := range s.seen {
		if queue, ok := e.Data.(session.Queue); ok {
			all = append(all, queue.Servers...)
		}
	}
	return all
}

func TestAServerThatDoesNotAnswerHoldsUpWhatNeedsIt(t *testing.T) {
	step := func(tool string) runner.Execute {
		return runner.Execute{Plan: plan.Plan{Title: "T", Steps: []plan.Step{
			{Index: "1", Title: "Look", Executor: plan.ExecutorTool, Tool: tool, Args: map[string]any{}},
		}}}
	}
	for name, c := range map[string]struct {
		job     runner.Command
		change  func(*stage)
		longest time.Duration
		awaited bool
	}{
		"a plan that does not name it starts at once":      {job: step("look"), change: silent},
		"a plan that names another server starts at once":  {job: step("w:look"), change: silent},
		"a plan that names it waits for it":                {job: step("mute:look"), change: silent, longest: 10 * time.Second, awaited: true},
		"a goal that has to be planned waits a moment":     {job: runner.Submit{Text: "do it"}, change: silent, longest: 2 * time.Second, awaited: true},
		"a goal whose words are enough starts at once":     {job: runner.Submit{Text: "find AuthHandler"}, change: both(silent, wording)},
		"a goal for the model starts at once without such": {job: runner.Submit{Text: "do it"}, change: func(*stage) {}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, policy.ApproveAll, c.change)
				began := time.Now()
				s.Send(c.job)
				until[event.RunStarted](t, s)
				if waited := time.Since(began); waited != c.longest {
					t.Errorf("it started after %s, want %s", waited, c.longest)
				}
				until[event.RunCompleted](t, s)
				if said := strings.Contains(s.notes(), `"mute": has not started yet`); said != c.awaited || slices.Contains(s.awaits(), "mute") != c.awaited {
					t.Errorf("said %q, and that it waits for %q", s.notes(), s.awaits())
				}
			})
		})
	}
}
