package runner_test

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// savedPlans stores the plans that a test creates.
type savedPlans struct {
	plans map[string]plan.Plan
	err   error // returned when a plan is stored
}

// chatting makes the model answer directly: first it makes the calls, one per
// turn, then it repeats their results.
func (k *savedPlans) chatting(calls ...reply.ToolUse) func(*stage) {
	k.plans = map[string]plan.Plan{}
	return func(s *stage) {
		s.model.info.Tools = true
		s.model.replies[prompt.PurposeAnalysis] = `{"mode":"direct"}`
		s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
			if r.Purpose != prompt.PurposeChat {
				return reply.Reply{}, nil, false
			}
			var results []string
			for _, m := range r.Messages {
				if m.Role == prompt.RoleTool {
					results = append(results, m.Content)
				}
			}
			reply := reply.Reply{PromptTokens: 10, CompletionTokens: 5, ContextWindow: 8192}
			if len(results) < len(calls) {
				reply.Calls = calls[len(results) : len(results)+1]
			} else {
				reply.Text = strings.Join(results, "\n")
			}
			return reply, nil, true
		}
		more := s.config
		s.config = func(c *runner.Config) {
			c.Prompting.PlanTools = true
			storeOf(c).save = func(p plan.Plan) (plan.Plan, error) {
				p.ID = fmt.Sprint("p-", len(k.plans)+1)
				k.plans[p.ID] = p
				return p, k.err
			}
			storeOf(c).load = func(id string) (plan.Plan, error) {
				if p, ok := k.plans[id]; ok {
					return p, nil
				}
				return plan.Plan{}, fmt.Errorf("load the plan %s: %w", id, fs.ErrNotExist)
			}
			if more != nil {
				more(c)
			}
		}
	}
}

// use returns a call that the model requests.
func use(tool string, args map[string]any) reply.ToolUse {
	return reply.ToolUse{Name: tool, Args: args}
}

// both combines two changes to a stage.
func both(first, second func(*stage)) func(*stage) {
	return func(s *stage) {
		first(s)
		second(s)
	}
}

// chatOutcomes returns how the chat's calls ended, in order: their results and
// their failures.
func chatOutcomes(events []event.Event) (results []any, failures []event.StepFailed) {
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.StepCompleted:
			if strings.HasPrefix(d.Index, prompt.ChatParent+".") {
				results = append(results, d.Result)
			}
		case event.StepFailed:
			if strings.HasPrefix(d.Index, prompt.ChatParent+".") {
				failures = append(failures, d)
			}
		}
	}
	return results, failures
}

func TestChatModelCreatesPlanAndRunsIt(t *testing.T) {
	var plans savedPlans
	k := newSavedJournals()
	s := k.session(t, policy.ApproveAll, plans.chatting(
		use(prompt.PlanCreate, map[string]any{"goal": "look and change"}),
		use(prompt.PlanExecute, map[string]any{"id": "p-1"}),
		use(prompt.PlanCreateAndExecute, map[string]any{"goal": "look and change"}),
	))
	s.Send(session.Submit{Text: "do it"})
	reply := until[event.ChatReply](t, s)
	s.shut()
	if reply.Reason != event.ReasonDirect {
		t.Fatalf("%+v", reply)
	}
	results, failures := chatOutcomes(k.runs[reply.Run].events)
	if len(results) != 3 || len(failures) > 0 {
		t.Fatalf("results %v, failures %v", results, failures)
	}
	want := map[string]any{"id": "p-1", "title": "Two", "steps": []any{
		map[string]any{"index": "1", "title": "Look", "tool": "look", "depends_on": []any{}},
		map[string]any{"index": "2", "title": "Change the file", "tool": "change", "depends_on": []any{"1"}},
	}}
	if !plan.EqualValues(results[0], want) {
		t.Errorf("plan_create returned %v", results[0])
	}
	for i, result := range results[1:] {
		want := map[string]any{"run": fmt.Sprint("r-", i+4), "status": "completed", "reason": "goal_met", "steps": []any{
			map[string]any{"index": "1", "title": "Look", "status": "completed", "result": "seen"},
			map[string]any{"index": "2", "title": "Change the file", "status": "completed", "result": "seen"},
		}}
		if !plan.EqualValues(result, want) {
			t.Errorf("the run of a plan returned %v", result)
		}
	}
	if got := s.tools.called(); !slices.Equal(got, []string{"look", "change", "look", "change"}) {
		t.Errorf("called %v", got)
	}
	if len(plans.plans) != 1 {
		t.Errorf("got %d stored plans, want 1", len(plans.plans))
	}
	k.allClosed(t)
}

func TestInnerRunHasItsOwnJournalAndResult(t *testing.T) {
	var plans savedPlans
	k := newSavedJournals()
	s := k.session(t, policy.ApproveAll, plans.chatting(use(prompt.PlanCreateAndExecute, map[string]any{"goal": "look and change"})))
	s.Send(session.Submit{Text: "first"})
	until[event.ChatReply](t, s)
	s.Send(session.Submit{Text: "do it, and run the tests"})
	reply := until[event.ChatReply](t, s)
	s.shut()
	var inner []string
	replies := 0
	for _, e := range s.seen {
		if d, ok := e.Data.(event.StepCompleted); ok && d.Run != "" {
			inner = append(inner, d.Run)
		}
		if e.Data.Kind() == event.KindChatReply {
			replies++
		}
	}
	if len(inner) != 2 || replies != 2 {
		t.Fatalf("got inner runs %v and %d replies, want 2 of each", inner, replies)
	}
	outer, child := k.fold(t, reply.Run), k.fold(t, inner[1])
	if child.Result == nil || child.Result.Reason != event.ReasonGoalMet || child.Result.Answer != "" {
		t.Errorf("the inner run ended with %+v", child.Result)
	}
	if len(child.Rules()) != len(outer.Rules()) {
		t.Errorf("the inner run's rules are %v", child.Rules())
	}
	started := k.runs[inner[1]].events[0].Data.(event.RunStarted)
	if len(started.Prompting.Conversation) != 2 || started.Prompting.PlanTools || !started.Prompting.ForcePlan || started.Session != s.ID() {
		t.Errorf("the inner run started with %+v", started.Prompting)
	}
	// The outer run's usage includes the inner run's, once.
	if own := outer.Usage.ToolCalls - child.Usage.ToolCalls; own < 0 || own > 1 {
		t.Errorf("the outer run used %+v, the inner run %+v", outer.Usage, child.Usage)
	}
	if reply.Usage.Tokens() != outer.Usage.Tokens() || outer.Usage.Tokens() <= child.Usage.Tokens() {
		t.Errorf("the reply reports %+v, the outer run used %+v, the inner run %+v", reply.Usage, outer.Usage, child.Usage)
	}
}

func TestSessionBudgetCountsInnerRunOnce(t *testing.T) {
	var plans savedPlans
	plan := use(prompt.PlanCreateAndExecute, map[string]any{"goal": "look and change"})
	calls := 0
	s := open(t, policy.ApproveAll, plans.chatting(plan))
	s.Send(session.Submit{Text: "do it"})
	calls = until[event.ChatReply](t, s).Usage.ToolCalls
	s.shut()
	for left, want := range map[int]event.Reason{0: event.ReasonToolBudget, 1: event.ReasonGoalMet} {
		s := open(t, policy.ApproveAll, both(func(s *stage) {
			s.config = func(c *runner.Config) { c.SessionLimits.MaxToolCalls = calls + left }
		}, plans.chatting(plan)))
		s.Send(session.Submit{Text: "do it"})
		if first := until[event.ChatReply](t, s); first.Reason != event.ReasonDirect && left > 0 {
			t.Fatalf("with %d calls left: %+v", left, first)
		}
		s.Send(session.Execute{Plan: *planOf(t, `{"title":"Look","tool":"look","args":{}}`)})
		if then := until[event.ChatReply](t, s); then.Reason != want {
			t.Errorf("with %d calls left: %+v", left, then)
		}
		s.shut()
	}
}

func TestFailedPlanToolCallNamesTheRemedy(t *testing.T) {
	var plans savedPlans
	nothing := func(*stage) {}
	for name, tc := range map[string]struct {
		call   reply.ToolUse
		change func(*stage)
		want   string
	}{
		"blank goal":                    {use(prompt.PlanCreate, map[string]any{"goal": "  "}), nothing, `needs "goal"`},
		"unknown plan":                  {use(prompt.PlanExecute, map[string]any{"id": "p-7"}), nothing, `the plan "p-7" cannot be read: use the id that plan_create returned`},
		"plan with missing tools":       {use(prompt.PlanExecute, map[string]any{"id": "old"}), nothing, "the plan cannot be run: "},
		"planning fails":                {use(prompt.PlanCreate, map[string]any{"goal": "x"}), func(s *stage) { delete(s.model.replies, prompt.PurposePlan) }, "no plan was made"},
		"planning fails before the run": {use(prompt.PlanCreateAndExecute, map[string]any{"goal": "x"}), func(s *stage) { delete(s.model.replies, prompt.PurposePlan) }, "no plan was made"},
		"plan cannot be stored":         {use(prompt.PlanCreate, map[string]any{"goal": "x"}), func(*stage) { plans.err = fs.ErrPermission }, "cannot be stored"},
		"journal cannot be created":     {use(prompt.PlanCreate, map[string]any{"goal": "x"}), unopened(1), "no more room"},
	} {
		t.Run(name, func(t *testing.T) {
			plans.err = nil
			k := newSavedJournals()
			s := k.session(t, policy.ApproveAll, both(plans.chatting(tc.call), tc.change))
			plans.plans["old"] = *planOf(t, `{"title":"Gone","tool":"gone","args":{}}`)
			s.Send(session.Submit{Text: "do it"})
			reply := until[event.ChatReply](t, s)
			s.shut()
			results, failures := chatOutcomes(k.runs[reply.Run].events)
			if len(results) > 0 || len(failures) != 1 {
				t.Fatalf("results %v, failures %v", results, failures)
			}
			if f := failures[0]; f.Failure != event.FailureTool || !strings.Contains(string(f.Error), tc.want) {
				t.Errorf("the call failed as %s: %s", f.Failure, f.Error)
			}
			if reply.Reason != event.ReasonDirect || !strings.Contains(string(reply.Text), tc.want) {
				t.Errorf("the model received %q", reply.Text)
			}
			k.allClosed(t)
		})
	}
}

// unopened makes creating the journals of runs fail after the first n.
func unopened(n int) func(*stage) {
	return func(s *stage) {
		more := s.config
		s.config = func(c *runner.Config) {
			more(c)
			open, opened := storeOf(c).create, 0
			storeOf(c).create = func(kind, id string) (runner.Journal, error) {
				if kind == "run" {
					if opened++; opened > n {
						return nil, fmt.Errorf("no more room")
					}
				}
				return open(kind, id)
			}
		}
	}
}

func TestFailedInnerRunReturnsItsSteps(t *testing.T) {
	var plans savedPlans
	k := newSavedJournals()
	s := k.session(t, policy.ApproveAll, both(plans.chatting(use(prompt.PlanExecute, map[string]any{"id": "mine"})), func(s *stage) {
		s.tools.call = func(_ context.Context, c plan.ToolCall) (any, error) {
			if c.Tool.Name == "change" {
				return nil, &plan.ToolError{Tool: "change", Message: "not yet"}
			}
			return strings.Repeat("é", 2000), nil
		}
	}))
	plans.plans["mine"] = *planOf(t, lookStep, `{"title":"Change","tool":"change","args":{"to":"${seen}"}}`)
	s.Send(session.Submit{Text: "do it"})
	reply := until[event.ChatReply](t, s)
	s.shut()
	results, failures := chatOutcomes(k.runs[reply.Run].events)
	if len(results) != 1 || len(failures) > 0 {
		t.Fatalf("results %v, failures %v", results, failures)
	}
	got := results[0].(map[string]any)
	steps := got["steps"].([]any)
	if got["status"] != "failed" || got["reason"] != "step_failed" || got["error"] == nil || len(steps) != 2 {
		t.Fatalf("the run returned %v", got)
	}
	if second := steps[1].(map[string]any); second["status"] != "failed" || !strings.Contains(fmt.Sprint(second["error"]), "not yet") {
		t.Errorf("the failed step: %v", second)
	}
	long := steps[0].(map[string]any)["result"].(string)
	if !strings.HasPrefix(long, "ééé") || !strings.HasSuffix(long, "ééé") || !strings.Contains(long, "500 characters left out; the full text is in run "+got["run"].(string)+", step 1") {
		t.Errorf("the long result was shortened to %q", long)
	}
}

func TestDenialInInnerRunFailsUnattendedRun(t *testing.T) {
	var plans savedPlans
	k := newSavedJournals()
	s := k.session(t, policy.ApproveNone, plans.chatting(use(prompt.PlanCreateAndExecute, map[string]any{"goal": "look and change"})))
	s.Send(session.Submit{Text: "do it"})
	reply := until[event.ChatReply](t, s)
	s.shut()
	if reply.Status != event.StatusFailed || reply.Reason != event.ReasonDenied || !strings.Contains(string(reply.Text), "chat.1") {
		t.Errorf("%+v", reply)
	}
}

func TestGateOfInnerRunCanBeDenied(t *testing.T) {
	var plans savedPlans
	k := newSavedJournals()
	attended := func(s *stage) { s.config = func(c *runner.Config) { c.Attended = true } }
	s := k.session(t, policy.ApproveAsk, both(attended, plans.chatting(use(prompt.PlanCreateAndExecute, map[string]any{"goal": "look and change"}))))
	s.Send(session.Submit{Text: "do it"})
	gate := until[event.GateRequested](t, s)
	inner := s.seen[len(s.seen)-1].Run
	if gate.Tool != "change" {
		t.Fatalf("got the gate %+v", gate)
	}
	s.Send(session.Resolve{Run: inner, Gate: gate.Gate, Decision: event.Deny})
	denied := until[event.StepFailed](t, s)
	s.Send(session.ResolveFailure{Run: inner, Step: denied.Index, Decision: event.FailureAbort})
	reply := until[event.ChatReply](t, s)
	s.shut()
	results, _ := chatOutcomes(k.runs[reply.Run].events)
	if reply.Run == inner || len(results) != 1 || results[0].(map[string]any)["reason"] != "denied" {
		t.Errorf("inner run %s of run %s: results %v", inner, reply.Run, results)
	}
	if slices.Contains(s.tools.called(), "change") {
		t.Error("the denied call was made")
	}
}

func TestGrantForRunHoldsForInnerRuns(t *testing.T) {
	var plans savedPlans
	s := newSavedJournals().session(t, policy.ApproveAsk, plans.chatting(
		use("change", map[string]any{"to": "x"}), use(prompt.PlanExecute, map[string]any{"id": "mine"}),
	))
	plans.plans["mine"] = *planOf(t, `{"title":"Change","tool":"change","args":{}}`) // no text that the model could have chosen
	s.Send(session.Submit{Text: "do it"})
	gate := until[event.GateRequested](t, s)
	s.Send(session.Resolve{Run: s.seen[len(s.seen)-1].Run, Gate: gate.Gate, Decision: event.Allow, Scope: event.ScopeRun})
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonDirect {
		t.Fatalf("%+v", reply)
	}
	gates := 0
	for _, e := range s.seen {
		if e.Data.Kind() == event.KindGateRequested {
			gates++
		}
	}
	if got := s.tools.called(); gates != 1 || !slices.Equal(got, []string{"change", "change"}) {
		t.Errorf("%d gates opened, called %v", gates, got)
	}
}

// holding returns a tool that closes begun and then blocks until it is canceled.
func holding(begun chan struct{}) func(context.Context, plan.ToolCall) (any, error) {
	return func(ctx context.Context, _ plan.ToolCall) (any, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

func TestStopEndsInnerRunFirst(t *testing.T) {
	for name, stop := range map[string]func(*stage, string){
		"stopped":        func(s *stage, _ string) { s.Send(session.Stop{}) },
		"session closed": func(s *stage, _ string) { s.shut() },
	} {
		t.Run(name, func(t *testing.T) {
			var plans savedPlans
			k := newSavedJournals()
			begun := make(chan struct{})
			s := k.session(t, policy.ApproveAll, both(
				plans.chatting(use(prompt.PlanCreateAndExecute, map[string]any{"goal": "look and change"})),
				func(s *stage) { s.tools.call = holding(begun) },
			))
			s.Send(session.Submit{Text: "do it"})
			for until[event.StepStarted](t, s).Tool != "look" {
			}
			inner := s.seen[len(s.seen)-1].Run
			<-begun
			stop(s, inner)
			if name == "stopped" {
				if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonInterrupted {
					t.Errorf("%+v", reply)
				}
				s.shut()
			}
			var ended []string
			for _, e := range s.seen {
				if d, ok := e.Data.(event.RunCompleted); ok && d.Reason == event.ReasonInterrupted {
					ended = append(ended, e.Run)
				}
			}
			if len(ended) != 2 || ended[0] != inner {
				t.Errorf("the runs %v were stopped, want the inner run %s first", ended, inner)
			}
			k.allClosed(t)
		})
	}
}

func TestCancelEndsOnlyThePlanToolCall(t *testing.T) {
	var plans savedPlans
	k := newSavedJournals()
	begun := make(chan struct{})
	s := k.session(t, policy.ApproveAll, both(
		plans.chatting(use(prompt.PlanCreateAndExecute, map[string]any{"goal": "look and change"})),
		func(s *stage) { s.tools.call = holding(begun) },
	))
	s.Send(session.Submit{Text: "do it"})
	outer := until[event.StepStarted](t, s)
	run := s.seen[len(s.seen)-1].Run
	<-begun
	s.Send(session.Cancel{Run: run, Step: outer.Index})
	until[event.ChatReply](t, s)
	s.shut()
	_, failures := chatOutcomes(k.runs[run].events)
	if len(failures) != 1 || failures[0].Failure != event.FailureInterrupted || failures[0].Run == "" || failures[0].Usage == nil {
		t.Fatalf("the canceled call ended with %+v", failures)
	}
	if inner := k.fold(t, failures[0].Run); inner.Result == nil || inner.Result.Reason != event.ReasonInterrupted {
		t.Errorf("the inner run ended with %+v", inner.Result)
	}
}

func TestResumedInnerRunStillAsksBeforeTests(t *testing.T) {
	var plans savedPlans
	k := newSavedJournals()
	s := k.session(t, policy.ApproveAll, both(
		plans.chatting(use(prompt.PlanCreateAndExecute, map[string]any{"goal": "run the tests"})),
		func(s *stage) { s.tools.call = failing("look") },
	))
	s.Send(session.Submit{Text: "do it"})
	reply := until[event.ChatReply](t, s)
	results, _ := chatOutcomes(k.runs[reply.Run].events)
	inner := results[0].(map[string]any)["run"].(string)
	s.Send(session.Resume{Run: inner})
	resumed := until[event.RunResumed](t, s)
	s.shut()
	tests := plan.Tool{Name: "test.run", Server: "workspace", Trusted: true}
	if r := rule.Decide(resumed.Rules, tests, nil); r.Verdict != rule.VerdictAsk {
		t.Errorf("a goal written by a model allows the tests: %+v", r)
	}
	if r := rule.Decide(k.fold(t, reply.Run).Rules(), tests, nil); r.Verdict != rule.VerdictAsk {
		t.Errorf("%+v", r)
	}
}

func TestBothPlansOfOneReplyRun(t *testing.T) {
	var plans savedPlans
	k := newSavedJournals()
	s := k.session(t, policy.ApproveAsk, both(plans.chatting(), func(s *stage) {
		s.model.replies[prompt.PurposePlan] = `{"title":"One","steps":[{"title":"Change","tool":"change","args":{}}]}`
		s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
			goal := map[string]any{"goal": "change"}
			switch {
			case r.Purpose != prompt.PurposeChat:
				return reply.Reply{}, nil, false
			case slices.ContainsFunc(r.Messages, func(m prompt.Message) bool { return m.Role == prompt.RoleTool }):
				return reply.Reply{Text: "both"}, nil, true
			default:
				return reply.Reply{Calls: []reply.ToolUse{use(prompt.PlanCreateAndExecute, goal), use(prompt.PlanCreateAndExecute, goal)}}, nil, true
			}
		}
	}))
	s.Send(session.Submit{Text: "do it"})
	for range 2 {
		gate := until[event.GateRequested](t, s)
		s.Send(session.Resolve{Run: s.seen[len(s.seen)-1].Run, Gate: gate.Gate, Decision: event.Allow})
	}
	reply := until[event.ChatReply](t, s)
	s.shut()
	results, failures := chatOutcomes(k.runs[reply.Run].events)
	if len(results) != 2 || len(failures) > 0 || reply.Text != "both" {
		t.Errorf("%+v: results %v, failures %v", reply, results, failures)
	}
	if got := s.tools.called(); !slices.Equal(got, []string{"change", "change"}) {
		t.Errorf("called %v", got)
	}
	k.allClosed(t)
}
