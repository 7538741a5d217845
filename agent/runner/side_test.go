package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// atGate returns a session whose run waits at a gate, and the gate.
func atGate(t *testing.T, change func(*stage)) (*stage, session.Resolve) {
	t.Helper()
	s := open(t, policy.ApproveAsk, change)
	s.Send(session.Submit{Text: "do it"})
	gate := until[event.GateRequested](t, s)
	return s, session.Resolve{Run: s.seen[len(s.seen)-1].Run, Gate: gate.Gate, Decision: event.Allow}
}

// readsRuns has the store read the journal of the run.
func (s *stage) readsRuns(c *runner.Config) {
	storeOf(c).read = func(string) ([]event.Event, error) { return slices.Clone(s.journals["run"].events), nil }
}

func TestSideQuestionIsAnsweredWhileRunWaits(t *testing.T) {
	s, allow := atGate(t, nil)
	before := len(s.journals["run"].events)
	s.Send(session.AskSideQuestion{Question: "which file is it about?"})
	end := until[event.ChatSide](t, s)
	if end.Status != event.StatusCompleted || end.Text != "hello" || end.Question != "which file is it about?" {
		t.Fatalf("got %+v", end)
	}
	if end.Usage.PromptTokens != 10 || end.Usage.CompletionTokens != 5 {
		t.Errorf("it used %+v", end.Usage)
	}
	if after := len(s.journals["run"].events); after != before {
		t.Errorf("the journal of the run grew from %d to %d events", before, after)
	}
	asked := s.model.requests(prompt.PurposeChat)[0]
	words := asked.Messages[len(asked.Messages)-1].Content
	for _, want := range []string{"do it", "waiting for the user to allow step 2", "step 1, Look (look): completed", "seen", "Data: the call that waits", "Question: which file is it about?"} {
		if !strings.Contains(words, want) {
			t.Errorf("the model is not told %q:\n%s", want, words)
		}
	}
	s.Send(allow)
	if result := until[event.RunCompleted](t, s).Result; result.Reason != event.ReasonGoalMet || result.Usage.PromptTokens != 30 {
		t.Errorf("the run ended with %s and used %+v", result.Reason, result.Usage)
	}
}

func TestSideQuestionStreams(t *testing.T) {
	s, _ := atGate(t, func(s *stage) { s.model.replies[prompt.PurposeChat] = "one two three" })
	s.Send(session.AskSideQuestion{Question: "what is next here?"})
	until[event.ChatSide](t, s)
	var texts []string
	for _, e := range s.seen {
		if d, ok := e.Data.(session.SideProgress); ok {
			texts = append(texts, string(d.Text))
		}
	}
	if texts[0] != "" || texts[len(texts)-1] != "one two three" || !slices.IsSortedFunc(texts, func(a, b string) int { return len(a) - len(b) }) {
		t.Errorf("it streamed %q", texts)
	}
}

// TestSideQuestionOnlyReads holds that a model is offered no tool that may change anything, and
// that a call of one is denied with the reason, also if the user approves everything.
func TestSideQuestionOnlyReads(t *testing.T) {
	turns := 0
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.info.Tools, s.model.info.Loops = true, prompt.LoopsManaged
		s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
			if r.Purpose != prompt.PurposeChat {
				return reply.Reply{}, nil, false
			}
			if turns++; turns > 2 {
				return reply.Reply{Text: "it was denied"}, nil, true
			}
			return reply.Reply{Calls: []reply.ToolUse{{Name: []string{"change", "look"}[turns-1], Args: map[string]any{}}}}, nil, true
		}
	})
	s.Send(session.AskSideQuestion{Question: "please change the file"})
	end := until[event.ChatSide](t, s)
	if end.Status != event.StatusCompleted || end.Text != "it was denied" {
		t.Fatalf("got %+v", end)
	}
	if called := s.tools.called(); !slices.Equal(called, []string{"look"}) {
		t.Errorf("called %q", called)
	}
	if len(end.Calls) != 2 || !strings.Contains(string(end.Calls[0].Error), "a side question only reads") || end.Calls[1].Error != "" {
		t.Errorf("the calls are %+v", end.Calls)
	}
	asked := s.model.requests(prompt.PurposeChat)
	for _, tool := range asked[0].Tools {
		if !tool.ReadOnly {
			t.Errorf("the model is offered %s", tool.Name)
		}
	}
	if told := fmt.Sprint(asked[1].Messages); !strings.Contains(told, "a side question only reads") {
		t.Errorf("the model is not told why: %s", told)
	}
}

func TestCanceledSideQuestionLeavesRun(t *testing.T) {
	s, allow := atGate(t, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeChat: make(chan struct{})}
	})
	s.Send(session.AskSideQuestion{Question: "what does it wait for exactly?"})
	until[session.SideProgress](t, s)
	s.Send(session.CancelSideQuestion{})
	if end := until[event.ChatSide](t, s); end.Status != event.StatusCanceled || end.Error != "canceled by the user" {
		t.Errorf("got %+v", end)
	}
	s.Send(allow)
	if result := until[event.RunCompleted](t, s).Result; result.Reason != event.ReasonGoalMet {
		t.Errorf("the run ended with %s: %s", result.Reason, result.Error)
	}
}

func TestStopOfRunLeavesSideQuestion(t *testing.T) {
	hold := make(chan struct{})
	s, _ := atGate(t, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeChat: hold}
	})
	s.Send(session.AskSideQuestion{Question: "what is the second file?"})
	until[session.SideProgress](t, s)
	s.Send(session.Stop{})
	until[event.RunCompleted](t, s)
	close(hold)
	if end := until[event.ChatSide](t, s); end.Text != "hello" {
		t.Errorf("got %+v", end)
	}
}

func TestSecondSideQuestionWaits(t *testing.T) {
	hold := make(chan struct{})
	s, _ := atGate(t, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeChat: hold}
	})
	s.Send(session.AskSideQuestion{Question: "first one, please?"})
	s.Send(session.AskSideQuestion{Question: "second one, please?"})
	for !until[session.SideProgress](t, s).Waits {
	}
	if n := len(s.model.requests(prompt.PurposeChat)); n > 0 {
		t.Errorf("%d requests were made", n)
	}
	close(hold)
	for i, want := range []string{"first one, please?", "second one, please?"} {
		if end := until[event.ChatSide](t, s); string(end.Question) != want || end.ID != i+1 || end.Text != "hello" {
			t.Errorf("answer %d is %+v", i, end)
		}
	}
}

func TestClearSideQuestionsNeedNoModel(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.info.Name = ""
		s.model.err = prompt.ErrNoModel
		s.tools.call = failing("look")
		s.config = func(c *runner.Config) { c.Routing.Planner = event.PlannerAuto; s.readsRuns(c) }
	})
	steps := plan.Plan{Title: "Two", Steps: []plan.Step{
		{Index: "1", Title: "Look", Executor: plan.ExecutorTool, Tool: "look", Args: map[string]any{}},
		{Index: "2", Title: "Look again", Executor: plan.ExecutorTool, Tool: "look", Args: map[string]any{}, DependsOn: []string{"1"}},
	}}
	s.Send(session.Execute{Plan: steps})
	until[event.ChatReply](t, s)
	for question, want := range map[string]string{
		"Why did step 1 fail?":   "Step 1 (Look) failed: ",
		"what failed":            "Step 1 (Look) failed: ",
		"how far is it?":         "It is over: it failed",
		"why did step 2 fail":    "Step 2 (Look again) did not fail: it never began.",
		"why did step 9 fail":    "The plan has no step 9.",
		"paint the house please": "",
	} {
		s.Send(session.AskSideQuestion{Question: question})
		end := until[event.ChatSide](t, s)
		if !strings.HasPrefix(string(end.Text), want) || end.Usage.ModelCalls != 0 {
			t.Errorf("%s is answered with %+v", question, end)
		}
		if answered := end.Status == event.StatusCompleted; answered != (want != "") {
			t.Errorf("%s ends %s: %s", question, end.Status, end.Error)
		}
	}
}

func TestGoalThatAsksWhyTheLastRunFailedIsAnswered(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.info.Name = ""
		s.model.err = prompt.ErrNoModel
		s.tools.call = failing("look")
		s.config = func(c *runner.Config) { c.Routing.Planner = event.PlannerAuto; s.readsRuns(c) }
	})
	s.Send(session.Submit{Text: "why did it fail"})
	if reply := until[event.ChatReply](t, s); reply.Status != event.StatusFailed {
		t.Errorf("without a run: %+v", reply)
	}
	s.Send(session.Execute{Plan: plan.Plan{Title: "One", Steps: []plan.Step{{Index: "1", Title: "Look", Executor: plan.ExecutorTool, Tool: "look", Args: map[string]any{}}}}})
	until[event.ChatReply](t, s)
	s.Send(session.Submit{Text: "why did it fail?"})
	if reply := until[event.ChatReply](t, s); !strings.HasPrefix(string(reply.Text), "Step 1 (Look) failed: ") || reply.Status != "" {
		t.Errorf("after a failed run: %+v", reply)
	}
}

func TestSideQuestionIsNoPartOfTheConversation(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.replies[prompt.PurposeChat] = "a secret answer"
		s.config = s.readsRuns
	})
	s.Send(session.Submit{Text: "do it"})
	until[event.ChatReply](t, s)
	s.Send(session.AskSideQuestion{Question: "which secret was found?"})
	until[event.ChatSide](t, s)
	s.Send(session.Submit{Text: "do the next"})
	until[event.ChatReply](t, s)
	requests := s.model.requests(prompt.PurposeAnalysis)
	told := fmt.Sprint(requests[len(requests)-1].Messages)
	if strings.Contains(told, "secret") || !strings.Contains(told, "do it") {
		t.Errorf("the next goal is planned with %s", told)
	}
}

func TestSessionEndsDuringSideQuestion(t *testing.T) {
	s, _ := atGate(t, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeChat: make(chan struct{})}
	})
	s.Send(session.AskSideQuestion{Question: "is anyone there?"})
	until[session.SideProgress](t, s)
	s.shut()
	for _, e := range s.journals["session"].events {
		if _, ok := e.Data.(event.ChatSide); ok {
			t.Errorf("the journal holds %+v", e.Data)
		}
	}
}

func TestCrashOfModelEndsOnlySideQuestion(t *testing.T) {
	s, allow := atGate(t, func(s *stage) {
		s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
			if r.Purpose == prompt.PurposeChat {
				panic("out of paper")
			}
			return reply.Reply{}, nil, false
		}
		s.config = func(c *runner.Config) {
			c.Crashed = func(value any, _ []byte) string { return fmt.Sprintf("crashed: %v", value) }
		}
	})
	s.Send(session.AskSideQuestion{Question: "will it print?"})
	if end := until[event.ChatSide](t, s); end.Status != event.StatusFailed || !strings.Contains(string(end.Error), "out of paper") {
		t.Errorf("got %+v", end)
	}
	s.Send(allow)
	if result := until[event.RunCompleted](t, s).Result; result.Reason != event.ReasonGoalMet {
		t.Errorf("the run ended with %s: %s", result.Reason, result.Error)
	}
}
