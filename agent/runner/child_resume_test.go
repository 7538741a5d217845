package runner_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/fit"
	"replan/planning/prompt"
)

// planned makes a model in chat plan and run something once.
func planned(plans *savedPlans) func(*stage) {
	calls := plans.chatting(use(prompt.PlanCreateAndExecute, map[string]any{"goal": "look and change"}))
	return both(calls, also(func(c *runner.Config) { c.InDoubt = event.DoubtRerun }))
}

// also makes a further change to the configuration of a session.
func also(change func(*runner.Config)) func(*stage) {
	return func(s *stage) {
		more := s.config
		s.config = func(c *runner.Config) {
			if more != nil {
				more(c)
			}
			change(c)
		}
	}
}

// cut returns the journals that a crash leaves behind if only these events reached
// the disk.
func (k *savedJournals) cut(events []event.Event) *savedJournals {
	left := newSavedJournals()
	left.ids = k.ids
	for _, e := range events {
		if left.runs[e.Run] == nil {
			left.runs[e.Run] = &memory{room: -1}
		}
		left.runs[e.Run].events = append(left.runs[e.Run].events, e)
	}
	return left
}

// completedRun returns the journals of a run that started an inner one, and its id.
func completedRun(t *testing.T, plans *savedPlans) (k *savedJournals, outer string) {
	t.Helper()
	k = newSavedJournals()
	s := k.session(t, policy.ApproveAll, planned(plans))
	s.Send(session.Submit{Text: "do it"})
	outer = until[event.ChatReply](t, s).Run
	s.shut()
	return k, outer
}

func TestResumeAfterKillRepeatsNothingInInnerRun(t *testing.T) {
	var plans savedPlans
	k, outer := completedRun(t, &plans)
	var all []event.Event
	for _, m := range k.runs {
		all = append(all, m.events...)
	}
	// The events of both runs in the order in which the one writing goroutine
	// stored them.
	slices.SortStableFunc(all, func(a, b event.Event) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Seq, b.Seq))
	})
	whole := *k.fold(t, outer).Result
	for n := 1; n < len(all); n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			left := k.cut(all[:n])
			done := map[string]bool{}
			for _, e := range all[:n] {
				if d, ok := e.Data.(event.StepCompleted); ok && e.Run != outer {
					done[left.fold(t, e.Run).Step(d.Index).Step.Tool] = true
				}
			}
			s := left.session(t, policy.ApproveAll, planned(&plans))
			s.Send(session.Resume{Run: outer})
			reply := until[event.ChatReply](t, s)
			s.shut()
			if reply.Reason != event.ReasonDirect {
				t.Fatalf("%+v", reply)
			}
			for _, tool := range s.tools.called() {
				if done[tool] {
					t.Errorf("%s was called again", tool)
				}
			}
			if got := left.fold(t, outer).Result.Usage; got.CompletionTokens < whole.Usage.CompletionTokens {
				t.Errorf("got %d tokens, want at least %d", got.CompletionTokens, whole.Usage.CompletionTokens)
			}
			if len(left.runs) != 2 {
				t.Errorf("got %d runs, want 2", len(left.runs))
			}
		})
	}
}

func TestResumeContinuesStoppedInnerRun(t *testing.T) {
	var plans savedPlans
	k := newSavedJournals()
	begun := make(chan struct{})
	measured := func(s *stage) { s.model.info.Fit = &fit.Finding{Source: fit.SourceMeasured} }
	s := k.session(t, policy.ApproveAll, both(both(planned(&plans), measured), func(s *stage) { s.tools.call = holding(begun) }))
	s.Send(session.Submit{Text: "do it"})
	<-begun
	s.Send(session.Stop{})
	stopped := until[event.ChatReply](t, s)
	s.shut()
	used := k.fold(t, stopped.Run).Result.Usage
	if len(k.runs) != 2 || stopped.Reason != event.ReasonInterrupted {
		t.Fatalf("%d runs, %+v", len(k.runs), stopped)
	}
	s = k.session(t, policy.ApproveAll, both(planned(&plans), measured))
	s.Send(session.Resume{Run: stopped.Run})
	reply := until[event.ChatReply](t, s)
	s.shut()
	if reply.Reason != event.ReasonDirect || len(k.runs) != 2 {
		t.Errorf("%d runs, %+v", len(k.runs), reply)
	}
	if got := s.tools.called(); !slices.Equal(got, []string{"look", "change"}) {
		t.Errorf("called %v", got)
	}
	inner := ""
	for id := range k.runs {
		if id != stopped.Run {
			inner = id
		}
	}
	if k.fold(t, inner).Measured() == nil {
		t.Error("the resumed run does not name the finding that drives its model")
	}
	// The chat itself made one more request; the inner run's planning is counted
	// once.
	whole, child := k.fold(t, stopped.Run).Result.Usage, k.fold(t, inner).Result.Usage
	if more := whole.Since(used); whole.PromptTokens < child.PromptTokens || more.PromptTokens >= child.PromptTokens+used.PromptTokens {
		t.Errorf("usage %+v when stopped and %+v at the end; the inner run used %+v", used, whole, child)
	}
}

func TestResumableRunsLeaveOutInnerRuns(t *testing.T) {
	var plans savedPlans
	k := newSavedJournals()
	begun := make(chan struct{})
	s := k.session(t, policy.ApproveAll, both(planned(&plans), func(s *stage) {
		s.tools.call = holding(begun)
		more := s.config
		s.config = func(c *runner.Config) {
			more(c)
			storeOf(c).list = func() (list []agent.Summary, _ error) {
				for id := range k.runs {
					list = append(list, k.fold(t, id).Summary())
				}
				return list, nil
			}
		}
	}))
	s.Send(session.Submit{Text: "do it"})
	<-begun
	s.Send(session.Stop{})
	stopped := until[event.ChatReply](t, s)
	runs, err := s.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.shut()
	if len(k.runs) != 2 || len(runs) != 1 || runs[0].Run != stopped.Run {
		t.Errorf("of %d runs these are listed: %+v", len(k.runs), runs)
	}
}

func TestDoubtInInnerRunIsDecidedThere(t *testing.T) {
	var plans savedPlans
	k, outer := completedRun(t, &plans)
	inner := ""
	var stored []event.Event
	for id := range k.runs {
		for _, e := range k.runs[id].events {
			stored = append(stored, e)
			if _, ok := e.Data.(event.RunSpawned); ok {
				break
			}
			if d, ok := e.Data.(event.StepStarted); ok && id != outer && d.Index == "2" {
				inner = id
				break // killed during the change
			}
		}
	}
	left := k.cut(stored)
	resume := func(doubt event.DoubtDecision) event.ChatReply {
		s := left.session(t, policy.ApproveAll, both(planned(&plans), also(func(c *runner.Config) { c.InDoubt = doubt })))
		s.Send(session.Resume{Run: outer})
		defer s.shut()
		return until[event.ChatReply](t, s)
	}
	if reply := resume(""); reply.Reason != event.ReasonInDoubt || !strings.Contains(string(reply.Text), inner) || strings.Count(string(reply.Text), "--in-doubt") != 1 {
		t.Errorf("%+v", reply)
	}
	if o, i := left.fold(t, outer).Usage, left.fold(t, inner).Usage; o.PromptTokens < i.PromptTokens {
		t.Errorf("the outer run counts %+v, the inner one %+v", o, i)
	}
	if reply := resume(event.DoubtDone); reply.Reason != event.ReasonDirect {
		t.Errorf("%+v", reply)
	}
	if i := left.fold(t, inner); i.Result.Status != event.StatusCompleted || i.Step("2").Status != agent.StepCompleted {
		t.Errorf("the inner run is %s", i.Result.Reason)
	}
}

func TestRaisedLimitsReachInnerRun(t *testing.T) {
	var plans savedPlans
	k := newSavedJournals()
	begun := make(chan struct{})
	low := also(func(c *runner.Config) { c.Limits.MaxToolCalls = 2 })
	s := k.session(t, policy.ApproveAll, both(both(planned(&plans), low), func(s *stage) { s.tools.call = holding(begun) }))
	s.Send(session.Submit{Text: "do it"})
	<-begun
	s.Send(session.Stop{})
	stopped := until[event.ChatReply](t, s)
	s.shut()
	s = k.session(t, policy.ApproveAll, both(planned(&plans), also(func(c *runner.Config) {
		c.Raise = func(l event.Limits) event.Limits {
			l.MaxToolCalls = 50
			return l
		}
	})))
	s.Send(session.Resume{Run: stopped.Run})
	until[event.ChatReply](t, s)
	s.shut()
	for id := range k.runs {
		if r := k.fold(t, id); r.Result.Status != event.StatusCompleted {
			t.Errorf("run %s with a limit of %d calls: %s", id, r.Limits.MaxToolCalls, r.Result.Error)
		}
	}
}

func TestQueueNamesGoalUntilItsRunStarts(t *testing.T) {
	s := open(t, policy.ApproveAll, settings)
	s.run(t, "one")
	s.Send(session.Compact{})
	s.Send(session.Submit{Text: "two"})
	until[event.ChatReply](t, s)
	s.shut()
	doing := ""
	for _, e := range s.seen {
		switch d := e.Data.(type) {
		case session.Queue:
			doing = d.Doing
		case event.RunStarted:
			if doing != string(d.Goal) {
				t.Errorf("the run of %q started while the queue named %q", d.Goal, doing)
			}
		}
	}
}

func TestUndoneInnerRunIsStartedAnewUnlessItsCallIsDone(t *testing.T) {
	var plans savedPlans
	k, outer := completedRun(t, &plans)
	for _, done := range []bool{false, true} {
		var stored []event.Event
		inner := ""
		for _, e := range k.runs[outer].events {
			_, ends := e.Data.(event.StepCompleted)
			if !ends || done {
				stored = append(stored, e)
			}
			if d, ok := e.Data.(event.RunSpawned); ok {
				inner = d.Run
			}
			if ends {
				break // killed before or after the call's end
			}
		}
		whole := k.runs[inner].events
		last := whole[len(whole)-1]
		stored = append(append(stored, whole...), event.Event{Seq: last.Seq + 1, Time: last.Time, Run: inner, Data: event.RunUndone{}})
		left := k.cut(stored)
		s := left.session(t, policy.ApproveAll, both(planned(&plans), also(func(c *runner.Config) {
			storeOf(c).read = func(id string) ([]event.Event, error) { return left.runs[id].events, nil }
		})))
		s.Send(session.Resume{Run: outer})
		reply := until[event.ChatReply](t, s)
		s.shut()
		if refused := reply.Reason == event.ReasonNotOpened && strings.Contains(string(reply.Text), "the run "+inner+", which it started"); refused != done {
			t.Errorf("call done %v: got %+v", done, reply)
		}
		if again := len(s.tools.called()) > 0; again == done {
			t.Errorf("call done %v: called %v", done, s.tools.called())
		}
		if !left.runs[outer].closed {
			t.Errorf("call done %v: the journal is left open", done)
		}
	}
}
