package runner_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/agent/store/journal"
	"replan/planning/prompt"
)

func TestResumeReplaysEventsAndContinues(t *testing.T) {
	k := newSavedJournals()
	id := k.failed(t)
	before := slices.Clone(k.runs[id].events)
	s := k.session(t, policy.ApproveAll, nil)
	s.Send(session.Resume{Run: id})
	resuming := until[session.Resuming](t, s)
	if resuming.Run != id || resuming.Upto != before[len(before)-1].Seq {
		t.Errorf("%+v", resuming)
	}
	begun := len(s.seen)
	if resumed := until[event.RunResumed](t, s); resumed.From != resuming.Upto || resumed.Session != s.ID() {
		t.Errorf("%+v", resumed)
	}
	replayed := slices.DeleteFunc(slices.Clone(s.seen[begun:len(s.seen)-1]), func(e event.Event) bool { return e.Run != id })
	if len(replayed) != len(before) || replayed[0].Seq != before[0].Seq || replayed[len(replayed)-1].Seq != resuming.Upto {
		t.Errorf("replayed %d events, want %d", len(replayed), len(before))
	}
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonGoalMet || reply.Run != id {
		t.Errorf("%+v", reply)
	}
	s.shut()
	if called := s.tools.called(); !slices.Equal(called, []string{"change"}) {
		t.Errorf("called %v", called)
	}
	after := k.runs[id].events
	for i, e := range before {
		if after[i].Seq != e.Seq || after[i].Data.Kind() != e.Data.Kind() {
			t.Fatalf("event %d of the journal was rewritten", i)
		}
	}
	if after[len(before)].Data.Kind() != event.KindRunResumed {
		t.Errorf("the journal continues with %s", after[len(before)].Data.Kind())
	}
	if run := k.fold(t, id); run.Result.Reason != event.ReasonGoalMet || run.Variables()["seen"] != "seen" {
		t.Errorf("the journal folds to %+v", run.Result)
	}
	k.allClosed(t)
}

func TestResumeAfterEveryEvent(t *testing.T) {
	k := newSavedJournals()
	id := k.failed(t)
	events := k.runs[id].events
	for cut := 1; cut < len(events); cut++ {
		t.Run(fmt.Sprintf("after %s", events[cut-1].Data.Kind()), func(t *testing.T) {
			k.runs[id] = &memory{room: -1, events: slices.Clone(events[:cut])}
			s := k.session(t, policy.ApproveAll, func(s *stage) {
				s.config = func(c *runner.Config) { c.InDoubt = event.DoubtRerun }
			})
			s.Send(session.Resume{Run: id})
			if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonGoalMet {
				t.Errorf("%+v", reply)
			}
			s.shut()
			k.fold(t, id)
		})
	}
}

func TestResumeOfCompletedRunDoesNothing(t *testing.T) {
	k := newSavedJournals()
	s := k.session(t, policy.ApproveAll, nil)
	s.Send(session.Execute{Plan: *planOf(t, lookStep)})
	id := until[event.ChatReply](t, s).Run
	calls, events := len(s.tools.called()), len(k.runs[id].events)
	s.Send(session.Resume{Run: id})
	reply := until[event.ChatReply](t, s)
	if reply.Run != id || reply.Status != event.StatusCompleted || reply.Reason.ExitCode() != 0 || !strings.Contains(string(reply.Text), "there is nothing to resume") {
		t.Errorf("%+v", reply)
	}
	s.shut()
	if len(s.tools.called()) != calls || len(k.runs[id].events) != events {
		t.Error("the resume called a tool or wrote to the journal")
	}
	k.allClosed(t)
}

func TestResumeReportsUnopenedRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(k *savedJournals, id string, c *runner.Config)
		want   string
	}{
		{"no store", func(_ *savedJournals, _ string, c *runner.Config) { storeOf(c).reopen = nil }, errNotKept.Error()},
		{"locked", func(k *savedJournals, _ string, _ *runner.Config) { k.err = journal.ErrLocked }, journal.ErrLocked.Error()},
		{"damaged", func(k *savedJournals, _ string, _ *runner.Config) {
			k.err = &journal.DamageError{Path: "p", Line: 3, Why: "w"}
		}, "line 3"},
		{"missing", func(k *savedJournals, id string, _ *runner.Config) { delete(k.runs, id) }, "not exist"},
		{"other workspace", func(_ *savedJournals, _ string, c *runner.Config) { c.Workspace = "/elsewhere" }, "/w"},
		{"inconsistent events", func(k *savedJournals, id string, _ *runner.Config) {
			k.runs[id].events = append(k.runs[id].events, k.runs[id].events[0])
		}, "does not fit together"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newSavedJournals()
			id := k.failed(t)
			s := k.session(t, policy.ApproveAll, func(s *stage) {
				s.config = func(cfg *runner.Config) { c.change(k, id, cfg) }
			})
			s.Send(session.Resume{Run: id})
			reply := until[event.ChatReply](t, s)
			if reply.Reason != event.ReasonNotOpened || reply.Reason.ExitCode() != 2 || !strings.Contains(string(reply.Text), c.want) {
				t.Errorf("%+v", reply)
			}
			s.Send(session.Execute{Plan: *planOf(t, lookStep)}) // the session still works
			if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonGoalMet {
				t.Errorf("the next job: %+v", reply)
			}
			s.shut()
			k.allClosed(t)
		})
	}
}

func TestResumeRaisesLimits(t *testing.T) {
	k := newSavedJournals()
	s := k.session(t, policy.ApproveAll, func(s *stage) { s.limits.MaxToolCalls = 1 })
	s.Send(session.Execute{Plan: *planOf(t, lookStep, changeStep)})
	spent := until[event.ChatReply](t, s)
	if spent.Reason != event.ReasonToolBudget {
		t.Fatalf("%+v", spent)
	}
	s.Send(session.Resume{Run: spent.Run})
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonToolBudget {
		t.Errorf("with the limits of the journal: %+v", reply)
	}
	s.shut()
	s = k.session(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) {
			c.Raise = func(l event.Limits) event.Limits { l.MaxToolCalls++; return l }
		}
	})
	s.Send(session.Resume{Run: spent.Run})
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonGoalMet {
		t.Errorf("with one more call: %+v", reply)
	}
}

func TestResumeWithoutPlanNeedsModel(t *testing.T) {
	k := newSavedJournals()
	s := k.session(t, policy.ApproveAll, func(s *stage) {
		delete(s.model.replies, prompt.PurposeAnalysis)
		delete(s.model.replies, prompt.PurposePlan)
	})
	s.Send(session.Submit{Text: "do it"})
	reply := until[event.ChatReply](t, s)
	s.shut()
	s = k.session(t, policy.ApproveAll, func(s *stage) { s.model.err = prompt.ErrNoModel })
	s.Send(session.Resume{Run: reply.Run})
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonNoModel {
		t.Errorf("without a model: %+v", reply)
	}
	s.shut()
	s = k.session(t, policy.ApproveAll, nil)
	s.Send(session.Resume{Run: reply.Run})
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonGoalMet {
		t.Errorf("with a model: %+v", reply)
	}
	s.shut()
	k.allClosed(t)
}

func TestResumeFailsWithFullJournal(t *testing.T) {
	k := newSavedJournals()
	id := k.failed(t)
	k.runs[id].room = len(k.runs[id].events)
	s := k.session(t, policy.ApproveAll, nil)
	s.Send(session.Resume{Run: id})
	reply := until[event.ChatReply](t, s)
	if reply.Run != id || reply.Reason.ExitCode() != 1 || !strings.Contains(string(reply.Text), "no space left") {
		t.Errorf("%+v", reply)
	}
	s.shut()
	if called := s.tools.called(); len(called) > 0 {
		t.Errorf("called %v although the journal is full", called)
	}
}

func TestSessionIsRestored(t *testing.T) {
	k := newSavedJournals()
	s := k.session(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) {
			c.Slash = func(context.Context, string, runner.SlashState) (runner.Answer, error) {
				return runner.Answer{Text: "three plans"}, nil
			}
		}
	})
	s.Send(session.Submit{Text: "first"})
	until[event.ChatReply](t, s)
	s.Send(session.Submit{Text: "/plan list"})
	until[event.ChatReply](t, s)
	id := s.ID()
	s.shut()
	stored := k.sessions[id]
	before := len(stored.events)

	s = k.session(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) {
			c.Restored = &runner.Restored{ID: id, Journal: stored, Events: slices.Clone(stored.events)}
		}
	})
	s.Send(session.Submit{Text: "second"})
	started := until[event.RunStarted](t, s)
	want := []prompt.Message{{Role: prompt.RoleUser, Content: "first"}, {Role: prompt.RoleAssistant, Content: "done"}}
	if !reflect.DeepEqual(started.Prompting.Conversation, want) {
		t.Errorf("the prompt has the conversation %v", started.Prompting.Conversation)
	}
	var texts []string
	for _, e := range s.seen {
		switch d := e.Data.(type) {
		case event.ChatUser:
			texts = append(texts, string(d.Text))
		case event.ChatReply:
			texts = append(texts, string(d.Text))
		}
	}
	if want := []string{"first", "done", "/plan list", "three plans", "second"}; s.ID() != id || !slices.Equal(texts, want) {
		t.Errorf("session %s has the texts %q", s.ID(), texts)
	}
	until[event.ChatReply](t, s)
	s.shut()
	if len(k.sessions) != 1 || len(stored.events) <= before {
		t.Error("the session did not continue its own journal")
	}
	if !slices.IsSortedFunc(stored.events, func(a, b event.Event) int { return int(a.Seq) - int(b.Seq) }) {
		t.Error("the events are not numbered in order")
	}
}

func TestSessionNeedsWritableJournal(t *testing.T) {
	_, err := runner.NewSession(t.Context(), runner.Config{
		Store: &fakeStore{create: func(string, string) (runner.Journal, error) { return nil, errors.New("read-only file system") }},
		NewID: func(time.Time) string { return "1" },
	})
	if err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("%v", err)
	}
}
