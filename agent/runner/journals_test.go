package runner_test

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// savedJournals keeps the journals of runs and sessions from one session to the next.
type savedJournals struct {
	runs     map[string]*memory
	sessions map[string]*memory
	ids      int
	err      error // returned when a run is reopened
}

func newSavedJournals() *savedJournals {
	return &savedJournals{runs: map[string]*memory{}, sessions: map[string]*memory{}}
}

// session starts a session that stores its journals in k.
func (k *savedJournals) session(t *testing.T, approve policy.Approve, change func(*stage)) *stage {
	t.Helper()
	return open(t, approve, func(s *stage) {
		if change != nil {
			change(s)
		}
		more := s.config
		s.config = func(c *runner.Config) {
			storeOf(c).create, storeOf(c).reopen = k.open, k.reopen
			c.NewID = func(time.Time) string { k.ids++; return fmt.Sprint(k.ids) }
			if more != nil {
				more(c)
			}
		}
	})
}

func (k *savedJournals) open(kind, id string) (runner.Journal, error) {
	m := &memory{room: -1}
	if kind == "run" {
		k.runs[id] = m
	} else {
		k.sessions[id] = m
	}
	return m, nil
}

func (k *savedJournals) reopen(id string) (runner.Journal, []event.Event, error) {
	m := k.runs[id]
	switch {
	case k.err != nil:
		return nil, nil, k.err
	case m == nil:
		return nil, nil, fmt.Errorf("open the run %s: %w", id, fs.ErrNotExist)
	}
	m.closed = false
	return m, slices.Clone(m.events), nil
}

// allClosed fails the test if a session left a journal open.
func (k *savedJournals) allClosed(t *testing.T) {
	t.Helper()
	for id, m := range k.runs {
		if !m.closed {
			t.Errorf("the journal of run %s was left open", id)
		}
	}
}

// fold returns the state of a run according to its journal.
func (k *savedJournals) fold(t *testing.T, id string) *agent.Run {
	t.Helper()
	var run agent.Run
	for _, e := range k.runs[id].events {
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return &run
}

// failed puts a run whose second step failed into k, and returns its id.
func (k *savedJournals) failed(t *testing.T) string {
	t.Helper()
	s := k.session(t, policy.ApproveAll, func(s *stage) { s.tools.call = failing("change") })
	s.Send(session.Execute{Plan: *planOf(t, lookStep, `{"title":"Change","tool":"change","args":{"to":"${seen}"}}`)})
	reply := until[event.ChatReply](t, s)
	if reply.Reason != event.ReasonStepFailed {
		t.Fatalf("%+v", reply)
	}
	s.shut()
	return reply.Run
}

// crashing reports panics as the program does.
func crashing(s *stage) {
	s.config = func(c *runner.Config) {
		c.Crashed = func(value any, _ []byte) string { return fmt.Sprintf("crashed: %v", value) }
	}
}

func TestPanicOfToolLeavesItsEffectInDoubt(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		crashing(s)
		s.tools.call = func(_ context.Context, c plan.ToolCall) (any, error) {
			if c.Tool.Name == "change" {
				panic("out of range")
			}
			return "x", nil
		}
	})
	s.Send(session.Submit{Text: "do it"})
	result := until[event.RunCompleted](t, s).Result
	last := result.History[len(result.History)-1]
	if last.Status != plan.ItemInDoubt || !strings.Contains(string(last.Error), "internal error: crashed: out of range") {
		t.Errorf("the panicking call is %s: %s", last.Status, last.Error)
	}
	s.shut()
	if !s.journals["run"].closed {
		t.Error("the journal was left open")
	}
}

func TestPanicOfModelFailsRun(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		crashing(s)
		s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) { panic("out of range") }
	})
	s.Send(session.Submit{Text: "do it"})
	if result := until[event.RunCompleted](t, s).Result; result.Status != event.StatusFailed || !strings.Contains(string(result.Error), "crashed: out of range") {
		t.Errorf("the run is %s: %s", result.Status, result.Error)
	}
}

func TestPanicOfCoreEndsRunWithJournalClosed(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		crashing(s)
		s.model.replies[prompt.PurposePlan] = `{"title":"One","steps":[{"title":"Look","tool":"look","args":{}}]}`
		s.tools.call = func(context.Context, plan.ToolCall) (any, error) { return panicking{}, nil }
	})
	s.Send(session.Submit{Text: "do it"})
	if result := until[event.RunCompleted](t, s).Result; result.Status != event.StatusFailed || !strings.Contains(string(result.Error), "the run cannot go on: internal error: crashed: out of range") {
		t.Errorf("the run is %s: %s", result.Status, result.Error)
	}
	s.shut()
	if !s.journals["run"].closed {
		t.Error("the journal was left open")
	}
}

// panicking is a result whose use panics.
type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("out of range") }
