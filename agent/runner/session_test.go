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
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

func TestRunIsStreamedJournaledAndAnswered(t *testing.T) {
	s := open(t, policy.ApproveAll, nil)
	s.Send(session.Submit{Text: "do it"})
	result := until[event.RunCompleted](t, s).Result
	if result.Reason != event.ReasonGoalMet || result.Answer != "done" {
		t.Fatalf("%s: %q %s", result.Reason, result.Answer, result.Error)
	}
	if reply := until[event.ChatReply](t, s); reply.Text != "done" {
		t.Errorf("got the reply %q", reply.Text)
	}
	s.shut()
	var streamed []event.Event
	for _, e := range s.seen {
		if e.Run != s.ID() && !e.Data.Kind().Passing() {
			streamed = append(streamed, e)
		}
	}
	journal := s.journals["run"]
	if len(streamed) != len(journal.events) {
		t.Fatalf("%d durable events streamed, %d journaled", len(streamed), len(journal.events))
	}
	var folded agent.Run
	for _, e := range journal.events {
		if err := folded.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if folded.Result == nil || folded.Result.Reason != event.ReasonGoalMet {
		t.Errorf("the journal folds to %+v", folded.Result)
	}
	if !journal.closed || !s.journals["session"].closed {
		t.Error("a journal was left open")
	}
}

func TestGateShowsDiffAndWaits(t *testing.T) {
	s := open(t, policy.ApproveAsk, nil)
	s.Send(session.Submit{Text: "do it"})
	gate := until[event.GateRequested](t, s)
	if gate.Diff == "" || gate.Hashes["f"] == "" || gate.Tool != "change" {
		t.Errorf("the gate shows %+v", gate)
	}
	run := s.seen[len(s.seen)-1].Run
	if slices.Contains(s.tools.calls, "change") {
		t.Fatal("the call was made before the gate was answered")
	}
	s.Send(session.Resolve{Run: run, Gate: gate.Gate, Decision: event.Allow})
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestDeniedGateEndsRun(t *testing.T) {
	s := open(t, policy.ApproveNone, nil)
	s.Send(session.Submit{Text: "do it"})
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonDenied {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
	if slices.Contains(s.tools.calls, "change") {
		t.Error("the denied call was made")
	}
}

func TestStopEndsRunningCall(t *testing.T) {
	p := `{"title":"One","steps":[{"title":"Wait","tool":"%s","args":{}}]}`
	for tool, doubt := range map[string]bool{"look": false, "change": true} {
		t.Run(tool, func(t *testing.T) {
			begun := make(chan struct{})
			s := open(t, policy.ApproveAll, func(s *stage) {
				s.model.replies[prompt.PurposePlan] = fmt.Sprintf(p, tool)
				s.tools.call = func(ctx context.Context, _ plan.ToolCall) (any, error) {
					close(begun)
					<-ctx.Done()
					return nil, ctx.Err()
				}
			})
			s.Send(session.Submit{Text: "do it"})
			for e := range s.Events() {
				if d, ok := e.Data.(event.StepStarted); ok && d.Tool == tool {
					break
				}
			}
			<-begun
			s.Send(session.Stop{})
			result := until[event.RunCompleted](t, s)
			if result.Status != event.StatusCanceled || result.Reason != event.ReasonInterrupted {
				t.Errorf("%s %s", result.Status, result.Reason)
			}
			last := result.History[len(result.History)-1]
			if got := last.Status == plan.ItemInDoubt; got != doubt {
				t.Errorf("a stopped call of %s is %s", tool, last.Status)
			}
		})
	}
}

func TestStopCancelsModelRequest(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposePlan: make(chan struct{})}
	})
	s.Send(session.Submit{Text: "do it"})
	for until[event.PhaseStarted](t, s).Phase != 3 {
	}
	s.Send(session.Stop{})
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonInterrupted {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestCloseEndsRunAsInterrupted(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposePlan: make(chan struct{})}
	})
	s.Send(session.Submit{Text: "do it"})
	for until[event.PhaseStarted](t, s).Phase != 3 {
	}
	s.shut()
	events := s.journals["run"].events
	end, ok := events[len(events)-1].Data.(event.RunCompleted)
	if !ok || end.Reason != event.ReasonInterrupted {
		t.Errorf("the journal ends with %v", events[len(events)-1].Data)
	}
}

func TestTimeoutOfEffectfulCallLeavesDoubt(t *testing.T) {
	p := `{"title":"One","steps":[{"title":"Wait","tool":"%s","args":{},"timeout":"1ms","on_failure":"abort"}]}`
	for tool, want := range map[string]event.Reason{"look": event.ReasonStepFailed, "change": event.ReasonInDoubt} {
		s := open(t, policy.ApproveAll, func(s *stage) {
			s.model.replies[prompt.PurposePlan] = fmt.Sprintf(p, tool)
			s.tools.call = func(ctx context.Context, _ plan.ToolCall) (any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		})
		s.Send(session.Submit{Text: "do it"})
		if result := until[event.RunCompleted](t, s); result.Reason != want {
			t.Errorf("%s: %s %s, want %s", tool, result.Reason, result.Error, want)
		}
	}
}

func TestQueuedGoalSeesEarlierTurns(t *testing.T) {
	s := open(t, policy.ApproveAll, nil)
	s.Send(session.Submit{Text: "first"})
	s.Send(session.Submit{Text: "second"})
	until[event.ChatReply](t, s)
	start := until[event.RunStarted](t, s)
	if start.Goal != "second" || len(start.Prompting.Conversation) != 2 || start.Prompting.Conversation[0].Content != "first" {
		t.Errorf("the second run starts with %q and %v", start.Goal, start.Prompting.Conversation)
	}
	until[event.ChatReply](t, s)
}

func TestSubmitWithoutModelExitsWithCode5(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.err = fmt.Errorf("Ollama does not answer: start it: %w", prompt.ErrNoModel)
	})
	s.Send(session.Submit{Text: "do it"})
	reply := until[event.ChatReply](t, s)
	if reply.Reason.ExitCode() != 5 || reply.Run != "" {
		t.Errorf("%+v", reply)
	}
}

func TestFullJournalEndsRun(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) { s.journals["run"] = &memory{room: 2} })
	s.Send(session.Submit{Text: "do it"})
	if result := until[event.RunCompleted](t, s); result.Status != event.StatusFailed || !strings.Contains(string(result.Error), "no space left") {
		t.Errorf("%+v", result.Result)
	}
	if len(s.tools.calls) > 0 {
		t.Error("a tool was called although its start was not stored")
	}
	if reply := until[event.ChatReply](t, s); reply.Run == "" || reply.Reason.ExitCode() != 1 {
		t.Errorf("%+v", reply)
	}
}

func TestRunWithoutJournalDoesNotStart(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) { s.journals["run"] = &memory{room: 0} })
	s.Send(session.Submit{Text: "do it"})
	reply := until[event.ChatReply](t, s)
	if reply.Run != "" || reply.Reason.ExitCode() != 1 || !strings.Contains(string(reply.Text), "no space left") {
		t.Errorf("%+v", reply)
	}
	for _, e := range s.seen {
		if e.Run != s.ID() {
			t.Errorf("got the event %s of a run that is not on disk", e.Data.Kind())
		}
	}
}

func TestRequestThatDoesNotFitModelIsMadeOnce(t *testing.T) {
	for _, purpose := range []prompt.Purpose{prompt.PurposeAnalysis, prompt.PurposePlan, prompt.PurposeReplan} {
		s := open(t, policy.ApproveAll, func(s *stage) {
			s.tools.call = failing("change")
			s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
				return reply.Reply{}, fmt.Errorf("m has a window of 8k: %w", prompt.ErrTooLong), r.Purpose == purpose
			}
		})
		s.Send(session.Submit{Text: "do it"})
		result := until[event.RunCompleted](t, s)
		if result.Reason != event.ReasonPlannerError || result.Error != "m has a window of 8k: the prompt is too long" {
			t.Errorf("%s: ended %s: %s", purpose, result.Reason, result.Error)
		}
		if n := len(s.model.requests(purpose)) + len(s.model.requests(prompt.PurposeRepair)); n != 1 {
			t.Errorf("%s: got %d requests", purpose, n)
		}
		s.shut()
	}
}

func TestPlanningContinuesWithoutReviewThatDoesNotFit(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
			switch r.Purpose {
			case prompt.PurposeAnalysis:
				return reply.Reply{Text: `{"mode":"plan","task":"x","goal":"y","complexity":"medium","reflect":true}`}, nil, true
			case prompt.PurposeReview:
				return reply.Reply{}, fmt.Errorf("m has a window of 8k: %w", prompt.ErrTooLong), true
			default:
				return reply.Reply{}, nil, false
			}
		}
	})
	s.Send(session.Submit{Text: "do it"})
	until[event.RunCompleted](t, s)
	if len(s.model.requests(prompt.PurposeReview)) != 1 || len(s.model.requests(prompt.PurposePlan)) != 1 {
		t.Error("the plan was not asked for once, after one review")
	}
	s.shut()
}

func TestProjectServersWaitForApproval(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) {
		s.tools.pending = []plan.PendingServer{{Name: "files", Command: []string{"serve", "."}}}
	})
	gate := until[event.GateRequested](t, s)
	if !plan.EqualValues(gate.Args["files"], map[string]any{"command": []any{"serve", "."}}) {
		t.Errorf("the gate shows %v", gate.Args)
	}
	s.Send(session.Resolve{Run: s.ID(), Gate: gate.Gate, Decision: event.Allow})
	until[event.GateResolved](t, s)
	s.shut()
	if !slices.Equal(s.tools.answers, []bool{true}) {
		t.Errorf("answers %v", s.tools.answers)
	}
}

func TestEachProjectServerIsAskedAboutInTheOrderOfItsFile(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) {
		s.tools.pending = []plan.PendingServer{{Name: "zoo", Command: []string{"serve", "."}}, {Name: "ant", URL: "http://x/"}, {Name: "bee", Command: []string{"b"}}}
	})
	var gates []event.GateRequested
	for range 3 {
		gates = append(gates, until[event.GateRequested](t, s))
	}
	for i, name := range []string{"zoo", "ant", "bee"} {
		if _, ok := gates[i].Args[name]; !ok || len(gates[i].Args) != 1 {
			t.Errorf("gate %d shows %v", i, gates[i].Args)
		}
	}
	s.Send(session.Submit{Text: "do it"})
	for _, i := range []int{1, 2} {
		s.Send(session.Resolve{Run: s.ID(), Gate: gates[i].Gate, Decision: event.Deny})
		until[event.GateResolved](t, s)
	}
	if i := slices.IndexFunc(s.seen, func(e event.Event) bool { return e.Data.Kind() == event.KindRunStarted }); i >= 0 {
		t.Error("the goal did not wait for the last answer")
	}
	s.Send(session.Resolve{Run: s.ID(), Gate: gates[0].Gate, Decision: event.Allow})
	until[event.RunStarted](t, s)
	s.shut()
	if !slices.Equal(s.tools.answers, []bool{false, false, true}) {
		t.Errorf("answers %v", s.tools.answers)
	}
}

func TestQuestionAboutAServerThatIsGoneIsWithdrawn(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) {
		s.tools.pending = []plan.PendingServer{{Name: "files", Command: []string{"serve", "."}}}
	})
	gate := until[event.GateRequested](t, s)
	s.tools.mu.Lock()
	s.tools.pending = nil
	s.tools.mu.Unlock()
	s.tools.offer(plan.PendingServer{Name: "files", Command: []string{"serve", "/"}})
	if resolved := until[event.GateResolved](t, s); resolved.Gate != gate.Gate || resolved.Decision != event.Deny {
		t.Errorf("got %+v", resolved)
	}
	if again := until[event.GateRequested](t, s); again.Gate == gate.Gate {
		t.Error("the changed entry has the gate of the old one")
	}
}

func TestGoalWaitsForServerApproval(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.tools.pending = []plan.PendingServer{{Name: "files", Command: []string{"serve", "."}}}
	})
	gate := until[event.GateRequested](t, s)
	s.Send(session.Submit{Text: "do it"})
	until[event.ChatUser](t, s)
	s.Send(session.Resolve{Run: s.ID(), Gate: gate.Gate, Decision: event.Deny})
	if started := until[event.RunStarted](t, s); started.Goal != "do it" {
		t.Errorf("%+v", started)
	}
	if i := slices.IndexFunc(s.seen, func(e event.Event) bool { return e.Data.Kind() == event.KindGateResolved }); i < 0 {
		t.Error("the run started before the answer")
	}
}

func TestProgramsAreOfferedAfterRun(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) {
		s.tools.call = func(context.Context, plan.ToolCall) (any, error) {
			s.tools.offer(plan.PendingServer{Name: "gopls", Question: "Install gopls", Why: "it finds names by type"})
			return "seen", nil
		}
	})
	s.Send(session.Submit{Text: "do it"})
	first := until[event.GateRequested](t, s)
	if first.Tool != "change" {
		t.Fatalf("got the first gate %+v", first)
	}
	s.answer(first, event.Deny, event.ScopeOnce)
	until[event.ChatReply](t, s)
	if offer := until[event.GateRequested](t, s); offer.Title != "Install gopls" {
		t.Errorf("got the gate %+v", offer)
	}
	s.Send(session.Submit{Text: "do more"})
	until[event.RunStarted](t, s) // does not wait for an answer
}

func TestStopEndsWaitForServerApproval(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) {
		s.tools.pending = []plan.PendingServer{{Name: "files", Command: []string{"serve", "."}}}
	})
	s.Send(session.Submit{Text: "do it"})
	s.Send(session.Stop{})
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonInterrupted {
		t.Errorf("%+v", reply)
	}
}

func TestRunsRecordHowServersWantToBeUsed(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.tools.servers = []plan.ServerStatus{
			{Name: "w", State: plan.ServerReady, Instructions: "look before you change"},
			{Name: "without tools", State: plan.ServerReady, Instructions: "none"},
		}
	})
	s.Send(session.Submit{Text: "do it"})
	if said := until[event.RunStarted](t, s).Prompting.Servers; len(said) != 1 || said["w"] != "look before you change" {
		t.Errorf("got %q", said)
	}
}

func TestServerProblemsAreReportedOnce(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.GoalWithin = time.Millisecond }
		s.tools.servers = []plan.ServerStatus{
			{Name: "broken", State: plan.ServerFailed, Error: "exited"},
			{Name: "slow", State: plan.ServerStarting},
			{Name: "unwanted", State: plan.ServerStopped, Note: "you said no"},
			{Name: "fine", State: plan.ServerReady},
		}
	})
	s.Send(session.Submit{Text: "do it"})
	until[event.ChatReply](t, s)
	var notes []string
	for _, e := range s.seen {
		if note, ok := e.Data.(event.Note); ok {
			notes = append(notes, string(note.Text))
		}
	}
	want := []string{
		`the MCP server "broken": exited`,
		`the MCP server "slow": has not started yet; the run starts without its tools`,
	}
	if !slices.Equal(notes, want) {
		t.Errorf("got the notes %q", notes)
	}
}

// picky is a journal that rejects the start of a step.
type picky struct{ memory }

func (p *picky) Append(events ...event.Event) error {
	for _, e := range events {
		if e.Data.Kind() == event.KindStepStarted {
			return errors.New("no space left")
		}
	}
	return p.memory.Append(events...)
}

func TestCallNeedsJournaledStart(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) { s.open = func(string) runner.Journal { return &picky{memory{room: -1}} } })
	s.Send(session.Submit{Text: "do it"})
	until[event.ChatReply](t, s)
	s.shut()
	if len(s.tools.calls) > 0 {
		t.Errorf("called %v", s.tools.calls)
	}
}

func TestStopEmptiesGoalQueue(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: make(chan struct{})}
	})
	s.Send(session.Submit{Text: "first"})
	until[event.RunStarted](t, s)
	s.Send(session.Submit{Text: "second"})
	s.Send(session.Stop{})
	until[event.ChatReply](t, s)
	s.shut()
	for _, e := range s.seen {
		if d, ok := e.Data.(event.RunStarted); ok && d.Goal == "second" {
			t.Error("the queued goal started after the stop")
		}
	}
}

func TestTimeBudgetEndsRunningCall(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.limits.MaxDurationMS = 50
		s.tools.call = func(ctx context.Context, _ plan.ToolCall) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	s.Send(session.Submit{Text: "do it"})
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonTimeBudget {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestCallCarriesTimeLimitOfItsStep(t *testing.T) {
	limits := make(chan time.Duration, 1)
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.replies[prompt.PurposePlan] = `{"title":"One","steps":[{"title":"Look","tool":"look","args":{},"timeout":"20m"}]}`
		s.tools.call = func(_ context.Context, call plan.ToolCall) (any, error) {
			limits <- call.Timeout
			return "seen", nil
		}
	})
	s.Send(session.Submit{Text: "do it"})
	if limit := <-limits; limit != 20*time.Minute {
		t.Errorf("the call has a time limit of %s", limit)
	}
}

func TestToolDeadlineIsTimeout(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.tools.call = func(context.Context, plan.ToolCall) (any, error) { return nil, context.DeadlineExceeded }
	})
	s.Send(session.Submit{Text: "do it"})
	if failed := until[event.StepFailed](t, s); failed.Failure != event.FailureTimeout {
		t.Errorf("got the failure %q, want a timeout", failed.Failure)
	}
}

func TestUnstoredApprovalStartsNoServer(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) {
		s.tools.pending = []plan.PendingServer{{Name: "files", Command: []string{"serve"}}}
		s.open = func(string) runner.Journal { return &memory{} }
	})
	gate := until[event.GateRequested](t, s)
	s.Send(session.Resolve{Run: s.ID(), Gate: gate.Gate, Decision: event.Allow})
	until[event.Note](t, s)
	s.shut()
	if slices.Contains(s.tools.answers, true) {
		t.Error("the servers started")
	}
}
