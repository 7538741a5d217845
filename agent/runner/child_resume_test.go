package runner_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"replan/agent"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/planning"
)

// planned has a model in chat have something planned and carried out, once.
func planned(plans *planShelf) func(*stage) {
	return both(plans.chatting(use(planning.PlanCreateAndExecute, map[string]any{"goal": "look and change"})), func(s *stage) {
		more := s.config
		s.config = func(c *runner.Config) {
			more(c)
			c.InDoubt = agent.DoubtRerun
		}
	})
}

// cut is the shelf as a crash leaves it when so many events are on disk.
func (k *shelf) cut(events []agent.Event) *shelf {
	left := newShelf()
	left.ids = k.ids
	for _, e := range events {
		if left.runs[e.Run] == nil {
			left.runs[e.Run] = &memory{room: -1}
		}
		left.runs[e.Run].events = append(left.runs[e.Run].events, e)
	}
	return left
}

func TestKilledAnywhereAnInnerRunIsTakenUpAndNothingInItIsDoneTwice(t *testing.T) {
	var plans planShelf
	k := newShelf()
	s := k.session(t, policy.ApproveAll, planned(&plans))
	s.Send(runner.Submit{Text: "do it"})
	outer := until[agent.ChatReply](t, s).Run
	s.shut()
	var all []agent.Event
	for _, m := range k.runs {
		all = append(all, m.events...)
	}
	// Of both runs as they came to disk: one goroutine has written them.
	slices.SortStableFunc(all, func(a, b agent.Event) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Seq, b.Seq))
	})
	whole := *k.fold(t, outer).Result
	for n := 1; n < len(all); n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			left := k.cut(all[:n])
			done := map[string]bool{}
			for _, e := range all[:n] {
				if d, ok := e.Data.(agent.StepCompleted); ok && e.Run != outer {
					done[left.fold(t, e.Run).Step(d.Index).Step.Tool] = true
				}
			}
			s := left.session(t, policy.ApproveAll, planned(&plans))
			s.Send(runner.Resume{Run: outer})
			reply := until[agent.ChatReply](t, s)
			s.shut()
			if reply.Reason != agent.ReasonDirect {
				t.Fatalf("%+v", reply)
			}
			for _, tool := range s.tools.called() {
				if done[tool] {
					t.Errorf("%s is called again", tool)
				}
			}
			if got := left.fold(t, outer).Result.Usage; got.CompletionTokens < whole.Usage.CompletionTokens {
				t.Errorf("%d tokens are counted, of %d", got.CompletionTokens, whole.Usage.CompletionTokens)
			}
			if len(left.runs) != 2 {
				t.Errorf("there are %d runs", len(left.runs))
			}
		})
	}
}

func TestAnInnerRunThatWasStoppedIsTakenUpWithTheOuterOne(t *testing.T) {
	var plans planShelf
	k := newShelf()
	begun := make(chan struct{})
	s := k.session(t, policy.ApproveAll, both(planned(&plans), func(s *stage) { s.tools.call = holding(begun) }))
	s.Send(runner.Submit{Text: "do it"})
	<-begun
	s.Send(runner.Stop{})
	stopped := until[agent.ChatReply](t, s)
	s.shut()
	used := k.fold(t, stopped.Run).Result.Usage
	if len(k.runs) != 2 || stopped.Reason != agent.ReasonInterrupted {
		t.Fatalf("%d runs, %+v", len(k.runs), stopped)
	}
	s = k.session(t, policy.ApproveAll, planned(&plans))
	s.Send(runner.Resume{Run: stopped.Run})
	reply := until[agent.ChatReply](t, s)
	s.shut()
	if reply.Reason != agent.ReasonDirect || len(k.runs) != 2 {
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
	// The chat itself asked once more; the planning of the inner run is counted once.
	whole, of := k.fold(t, stopped.Run).Result.Usage, k.fold(t, inner).Result.Usage
	if more := whole.Since(used); whole.PromptTokens < of.PromptTokens || more.PromptTokens >= of.PromptTokens+used.PromptTokens {
		t.Errorf("used %+v when it was stopped, %+v in the end; the inner run %+v", used, whole, of)
	}
}

func TestAnInnerRunIsNotOfferedBesideTheOneItIsTakenUpWith(t *testing.T) {
	var plans planShelf
	k := newShelf()
	begun := make(chan struct{})
	s := k.session(t, policy.ApproveAll, both(planned(&plans), func(s *stage) {
		s.tools.call = holding(begun)
		more := s.config
		s.config = func(c *runner.Config) {
			more(c)
			c.List = func() (list []agent.Summary, _ error) {
				for id := range k.runs {
					list = append(list, k.fold(t, id).Summary())
				}
				return list, nil
			}
		}
	}))
	s.Send(runner.Submit{Text: "do it"})
	<-begun
	s.Send(runner.Stop{})
	stopped := until[agent.ChatReply](t, s)
	s.Send(runner.List{})
	runs := until[agent.SessionRuns](t, s).Runs
	s.shut()
	if len(k.runs) != 2 || len(runs) != 1 || runs[0].Run != stopped.Run {
		t.Errorf("of %d runs these are offered: %+v", len(k.runs), runs)
	}
}
