package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// noModel makes the session's model unavailable.
func noModel(s *stage) {
	s.model.err = fmt.Errorf("Ollama does not answer: start it: %w", prompt.ErrNoModel)
}

func TestExecuteRunsPlan(t *testing.T) {
	second := `{"title":"Look","tool":"look","args":{},"depends_on":["1"]}`
	alone := `{"title":"Look","tool":"look","args":{}}`
	for _, c := range []struct {
		name    string
		execute session.Execute
		change  func(*stage)
		want    event.Reason
		calls   []string
		answer  string
	}{
		{"without a model", session.Execute{Plan: *planOf(t, changeStep, second)}, noModel, event.ReasonGoalMet, []string{"change", "look"}, ""},
		{"no answer by default", session.Execute{Plan: *planOf(t, changeStep)}, nil, event.ReasonGoalMet, []string{"change"}, ""},
		{"answer on request", session.Execute{Plan: *planOf(t, changeStep), Synthesize: true}, nil, event.ReasonGoalMet, []string{"change"}, "done"},
		{"no answer without a model", session.Execute{Plan: *planOf(t, changeStep), Synthesize: true}, noModel, event.ReasonGoalMet, []string{"change"}, ""},
		{"stops at a failure", session.Execute{Plan: *planOf(t, changeStep, second)}, func(s *stage) { s.tools.call = failing("change") }, event.ReasonStepFailed, []string{"change"}, ""},
		{"skips a failure", session.Execute{Plan: *planOf(t, changeStep, alone), OnFailure: plan.OnFailureSkip}, func(s *stage) { s.tools.call = failing("change") }, event.ReasonPartial, []string{"change", "look"}, ""},
		{"replans after a failure", session.Execute{Plan: *planOf(t, changeStep), OnFailure: plan.OnFailureReplan}, func(s *stage) {
			s.tools.call = failing("change")
			s.model.replies[prompt.PurposeReplan] = `{"title":"Other","steps":[` + alone + `]}`
		}, event.ReasonGoalMet, []string{"change", "look"}, ""},
		{"stops at a failure if no model can replan", session.Execute{Plan: *planOf(t, changeStep), OnFailure: plan.OnFailureReplan}, func(s *stage) {
			noModel(s)
			s.tools.call = failing("change")
		}, event.ReasonStepFailed, []string{"change"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, policy.ApproveAll, c.change)
			s.Send(c.execute)
			started := until[event.RunStarted](t, s)
			if started.Plan == nil || started.Goal == "" || started.Limits.MaxSteps != 0 {
				t.Errorf("the run starts with %+v", started)
			}
			result := until[event.RunCompleted](t, s)
			if result.Reason != c.want || string(result.Answer) != c.answer {
				t.Errorf("%s: %s; answer %q", result.Reason, result.Error, result.Answer)
			}
			until[event.ChatReply](t, s)
			s.shut()
			called := s.tools.called()
			slices.Sort(called)
			if !slices.Equal(called, c.calls) {
				t.Errorf("called %v", called)
			}
		})
	}
}

func TestExecuteRefusesModelStepsWithoutModel(t *testing.T) {
	s := open(t, policy.ApproveAll, noModel)
	s.Send(session.Execute{Plan: *planOf(t, changeStep, `{"title":"Think","executor":"self"}`)})
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonNoModel || reply.Run != "" {
		t.Errorf("%+v", reply)
	}
	if called := s.tools.called(); len(called) > 0 {
		t.Errorf("called %v", called)
	}
}

func TestExecutedPlanAllowsItsTests(t *testing.T) {
	for tool, want := range map[string]rule.Verdict{"test.run": rule.VerdictRun, "workspace:test.run": rule.VerdictRun, "look": rule.VerdictAsk} {
		s := open(t, policy.ApproveAll, nil)
		s.Send(session.Execute{Plan: plan.Plan{Title: "T", Steps: []plan.Step{{Index: "1", Title: "T", Tool: tool, Args: map[string]any{}}}}})
		started := until[event.RunStarted](t, s)
		if got := rule.Decide(started.Rules, plan.Tool{Server: "workspace", Name: "test.run", Trusted: true}, nil).Verdict; got != want {
			t.Errorf("a plan with %s: tests %s", tool, got)
		}
		until[event.ChatReply](t, s)
	}
}

func TestCreateStoresPlanWithoutRunningIt(t *testing.T) {
	for _, c := range []struct {
		name string
		save func(plan.Plan) (plan.Plan, error)
		text string
		want event.Reason
	}{
		{"stored", func(p plan.Plan) (plan.Plan, error) { p.ID = "two-1"; return p, nil }, "`two-1`", event.ReasonGoalMet},
		{"disk full", func(plan.Plan) (plan.Plan, error) { return plan.Plan{}, errors.New("no space left") }, "no space left", event.ReasonStepFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stored []plan.Plan
			s := open(t, policy.ApproveAll, func(s *stage) {
				s.config = func(cfg *runner.Config) {
					storeOf(cfg).save = func(p plan.Plan) (plan.Plan, error) {
						stored = append(stored, p)
						return c.save(p)
					}
				}
			})
			s.Send(session.Create{Goal: "do two things"})
			created := until[event.PlanCreated](t, s)
			reply := until[event.ChatReply](t, s)
			if reply.Reason != c.want || !strings.Contains(string(reply.Text), c.text) {
				t.Errorf("%+v", reply)
			}
			s.shut()
			if len(stored) != 1 || stored[0].Goal != "do two things" || stored[0].PlannedBy != "m" || len(created.Plan.Steps) != 2 {
				t.Errorf("stored %+v, created %+v", stored, created.Plan)
			}
			if called := s.tools.called(); len(called) > 0 {
				t.Errorf("called %v", called)
			}
			for _, e := range s.journals["run"].events {
				if d, ok := e.Data.(event.PlanCreated); ok && d.Plan.ID != created.Plan.ID {
					t.Errorf("the journal has the id %q, the event stream %q", d.Plan.ID, created.Plan.ID)
				}
			}
		})
	}
}

func TestDryRunCallsAndStoresNothing(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) {
		s.config = func(c *runner.Config) {
			c.DryRun = true
			storeOf(c).save = func(p plan.Plan) (plan.Plan, error) {
				t.Error("the plan was stored")
				return p, nil
			}
			storeOf(c).durations = durations{add: func(map[string][]int64) { t.Error("durations were stored") }}
		}
	})
	s.Send(session.Execute{Plan: *planOf(t, lookStep, `{"title":"Change","tool":"change","args":{"to":"${seen}"}}`)})
	for range 2 {
		if step := until[event.StepCompleted](t, s); !step.DryRun {
			t.Errorf("%+v", step)
		}
	}
	_, step := last[event.StepCompleted](t, s)
	if step.Gate == nil || step.Args["to"] != "<look result>" {
		t.Errorf("the change shows the args %+v and the gate %+v", step.Args, step.Gate)
	}
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonGoalMet || !strings.Contains(string(reply.Text), "Dry run: 2 of 2") {
		t.Errorf("%+v", reply)
	}
	s.shut()
	if called := s.tools.called(); len(called) > 0 {
		t.Errorf("called %v", called)
	}
}

// durations is a store that returns the test's medians and passes additions to
// the test.
type durations struct {
	medians map[string]int64
	err     error
	add     func(map[string][]int64)
	noted   func(folder string, calls []plan.HistoryItem)
}

func TestToolUseIsStored(t *testing.T) {
	k := newSavedJournals()
	var added []map[string][]int64
	var noted []plan.HistoryItem
	remember := func(err error) func(*stage) {
		return func(s *stage) {
			s.tools.call = failing("change")
			s.config = func(c *runner.Config) {
				storeOf(c).durations = durations{medians: map[string]int64{"w:look": 7}, err: err, add: func(m map[string][]int64) { added = append(added, m) }, noted: func(folder string, calls []plan.HistoryItem) {
					if folder != c.Workspace {
						t.Errorf("calls are noted for %s", folder)
					}
					noted = append(noted, calls...)
				}}
			}
		}
	}
	s := k.session(t, policy.ApproveAll, remember(nil))
	s.Send(session.Execute{Plan: *planOf(t, lookStep, `{"title":"Change","tool":"change","args":{"to":"${seen}"}}`)})
	if started := until[event.RunStarted](t, s); started.Priors["w:look"] != 7 {
		t.Errorf("the run starts with %v", started.Priors)
	} else if tool, err := started.Catalog.Find("look"); err != nil || tool.Uses != 3 {
		t.Errorf("the run starts with %+v: %v", tool, err)
	}
	run := until[event.ChatReply](t, s).Run
	s.shut()
	if len(added) != 1 || len(added[0]) != 1 || len(added[0]["w:look"]) != 1 {
		t.Errorf("stored %v, want one duration of w:look, the call that succeeded", added)
	}
	if len(noted) != 1 || noted[0].Tool != "look" || noted[0].Result == nil {
		t.Errorf("noted %+v, want the call that succeeded", noted)
	}

	added = nil
	s = k.session(t, policy.ApproveAll, func(s *stage) {
		remember(errors.New("damaged"))(s) // the session works nevertheless
		s.tools.call = nil
	})
	s.Send(session.Resume{Run: run})
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonGoalMet {
		t.Errorf("%+v", reply)
	}
	s.shut()
	if len(added) != 1 || len(added[0]["w:look"]) != 0 || len(added[0]["w:change"]) != 1 {
		t.Errorf("after a resume: stored %v, want only the new duration of w:change", added)
	}
}

func TestRunsShareSessionBudget(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit event.SessionLimits
		lease func(event.Limits) bool // checks the limits of the second run
		want  event.Reason
	}{
		{"tool calls", event.SessionLimits{MaxToolCalls: 4}, func(l event.Limits) bool { return l.MaxToolCalls == 2 }, event.ReasonToolBudget},
		{"tokens", event.SessionLimits{MaxTokens: 60}, func(l event.Limits) bool { return l.MaxTokens == 15 }, event.ReasonTokenBudget},
		{"time", event.SessionLimits{MaxDurationMS: 1000}, func(l event.Limits) bool { return l.MaxDurationMS > 0 && l.MaxDurationMS < 1000 }, event.ReasonTimeBudget},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := time.Unix(0, 0)
			s := open(t, policy.ApproveAll, func(s *stage) {
				s.config = func(cfg *runner.Config) {
					cfg.SessionLimits = c.limit
					cfg.Now = func() time.Time { // called by the session's goroutine and its workers
						s.tools.mu.Lock()
						defer s.tools.mu.Unlock()
						clock = clock.Add(10 * time.Millisecond)
						return clock
					}
				}
			})
			s.Send(session.Submit{Text: "first"})
			if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonGoalMet {
				t.Fatalf("%+v", reply)
			}
			s.Send(session.Submit{Text: "second"})
			if started := until[event.RunStarted](t, s); !c.lease(started.Limits) {
				t.Errorf("the second run has the limits %+v", started.Limits)
			}
			until[event.ChatReply](t, s)
			runs := 2
			for reply := (event.ChatReply{Run: "some"}); reply.Run != ""; runs++ {
				if runs > 20 {
					t.Fatal("the budget is never used up")
				}
				s.Send(session.Submit{Text: "and more"})
				if reply = until[event.ChatReply](t, s); reply.Run == "" && (reply.Reason != c.want || reply.Status != event.StatusFailed || !strings.Contains(string(reply.Text), "session_limits")) {
					t.Errorf("%+v", reply)
				}
			}
		})
	}
}

func TestRunsAreListed(t *testing.T) {
	for _, c := range []struct {
		name string
		list func() ([]agent.Summary, error)
		runs int
		note string
	}{
		{"no store", nil, 0, ""},
		{"two runs", func() ([]agent.Summary, error) { return []agent.Summary{{Run: "r-1"}, {Run: "r-2"}}, nil }, 2, ""},
		{"one damaged run", func() ([]agent.Summary, error) { return []agent.Summary{{Run: "r-1"}}, errors.New("r-2 is damaged") }, 1, "r-2 is damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, policy.ApproveAll, func(s *stage) { s.config = func(cfg *runner.Config) { storeOf(cfg).list = c.list } })
			runs, err := s.Runs(t.Context())
			if len(runs) != c.runs {
				t.Errorf("%v", runs)
			}
			if (err == nil) != (c.note == "") || err != nil && err.Error() != c.note {
				t.Errorf("got error %v, want %q", err, c.note)
			}
		})
	}
}

func TestSlashCommands(t *testing.T) {
	execute := session.Execute{Plan: *planOf(t, lookStep)}
	for _, c := range []struct {
		name    string
		answer  runner.Answer
		err     error
		replies []string
		status  event.Status
		runs    bool
	}{
		{"text", runner.Answer{Text: "three plans"}, nil, []string{"three plans"}, "", false},
		{"no text", runner.Answer{}, nil, []string{""}, "", false},
		{"error", runner.Answer{}, errors.New("there is no plan x"), []string{"there is no plan x"}, event.StatusFailed, false},
		{"command", runner.Answer{Then: execute}, nil, []string{"Plan: 1 of 1 steps done."}, event.StatusCompleted, true},
		{"text and command", runner.Answer{Text: "at once", Then: execute}, nil, []string{"at once", "Plan: 1 of 1 steps done."}, event.StatusCompleted, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var line string
			s := open(t, policy.ApproveAll, func(s *stage) {
				s.config = func(cfg *runner.Config) {
					cfg.Slash = func(_ context.Context, l string, _ runner.SlashState) (runner.Answer, error) {
						line = l
						return c.answer, c.err
					}
				}
			})
			s.Send(session.Submit{Text: "/plan run x"})
			var reply event.ChatReply
			for _, want := range c.replies {
				if reply = until[event.ChatReply](t, s); string(reply.Text) != want {
					t.Errorf("got the reply %q, want %q", reply.Text, want)
				}
			}
			if reply.Status != c.status || (reply.Run != "") != c.runs || line != "/plan run x" {
				t.Errorf("line %q: reply %+v", line, reply)
			}
			if _, user := last[event.ChatUser](t, s); user.Text != "/plan run x" {
				t.Errorf("the chat shows %q", user.Text)
			}
			s.Send(session.Submit{Text: "a goal"})
			started := until[event.RunStarted](t, s)
			if slices.ContainsFunc(started.Prompting.Conversation, func(m prompt.Message) bool { return strings.HasPrefix(m.Content, "/") }) {
				t.Error("the command reached the model")
			}
			until[event.ChatReply](t, s)
		})
	}
}

func TestJobsRunInOrder(t *testing.T) {
	k := newSavedJournals()
	id := k.failed(t)
	free := make(chan struct{})
	s := k.session(t, policy.ApproveAll, func(s *stage) {
		s.tools.call = func(ctx context.Context, _ plan.ToolCall) (any, error) {
			select {
			case <-free:
				return "seen", nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
	s.Send(session.Execute{Plan: *planOf(t, lookStep)})
	until[event.StepStarted](t, s)
	s.Send(session.Resume{Run: id})
	s.Send(session.Create{Goal: "plan it"})
	s.Send(session.Submit{Text: "do it"})
	for want := []string{"resume " + id, "plan it", "do it"}; ; {
		if q := until[session.Queue](t, s); slices.Equal(q.Waiting, want) {
			break
		}
	}
	close(free)
	var order []string
	for range 4 {
		reply := until[event.ChatReply](t, s)
		if reply.Status != event.StatusCompleted {
			t.Errorf("%+v", reply)
		}
		order = append(order, reply.Run)
	}
	if order[1] != id || slices.Index(order, order[3]) != 3 {
		t.Errorf("the runs came in the order %v", order)
	}
	s.shut()
	k.allClosed(t)
}

func TestStopEmptiesQueue(t *testing.T) {
	k := newSavedJournals()
	s := k.session(t, policy.ApproveAll, func(s *stage) { s.tools.call = hang })
	s.Send(session.Execute{Plan: *planOf(t, lookStep)})
	until[event.StepStarted](t, s)
	s.Send(session.Execute{Plan: plan.Plan{Title: "Later"}})
	s.Send(session.Resume{Run: "r-0"})
	s.Send(session.Stop{})
	for note := until[event.Note](t, s); !strings.HasPrefix(string(note.Text), "no longer queued"); note = until[event.Note](t, s) {
	}
	if _, note := last[event.Note](t, s); note.Text != "no longer queued: run the plan Later; resume r-0" {
		t.Errorf("%q", note.Text)
	}
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonInterrupted {
		t.Errorf("%+v", reply)
	}
	s.Send(session.Create{Goal: "plan it"}) // the session still works
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonGoalMet {
		t.Errorf("%+v", reply)
	}
	s.shut()
	if len(k.runs) != 2 {
		t.Errorf("got %d runs, want 2", len(k.runs))
	}
}
