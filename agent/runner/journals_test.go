package runner_test

import (
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
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
