package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// question is what the tool of asking asks.
var question = plan.Elicitation{Server: "w", Message: "Which table?", Schema: json.RawMessage(`{"type":"object","properties":{"guests":{"type":"integer"}},"required":["guests"]}`)}

// asking opens a session whose plan has one step, the tool of which asks a question
// and returns the answer.
func asking(t *testing.T, q plan.Elicitation, timeout string, change func(*runner.Config)) *stage {
	return open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) {
			if c.Attended = true; change != nil {
				change(c)
			}
		}
		s.model.replies[prompt.PurposePlan] = fmt.Sprintf(`{"title":"One","steps":[{"title":"Book","tool":"look","args":{},"timeout":%q,"on_failure":"abort"}]}`, timeout)
		s.tools.call = func(ctx context.Context, c plan.ToolCall) (any, error) {
			a := c.Elicit(ctx, q)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return map[string]any{"action": string(a.Action), "content": a.Content}, nil
		}
	})
}

func TestAnswerOfTheUserReachesTheCallAndOnlyItsKindIsRecorded(t *testing.T) {
	s := asking(t, question, "1m", nil)
	s.Send(session.Submit{Text: "do it"})
	asked := until[event.ElicitationRequested](t, s)
	run := s.seen[len(s.seen)-1].Run
	if asked.Server != "w" || asked.Message != "Which table?" || asked.Step == "" || asked.Attempt != 1 {
		t.Errorf("asked %+v", asked)
	}
	answer := session.AnswerElicitation{Run: run, ID: asked.ID, Action: plan.ElicitationAccept, Content: map[string]any{"guests": "many"}}
	s.Send(answer)
	if note := until[event.Note](t, s); !strings.Contains(string(note.Text), "guests takes a whole number") {
		t.Errorf("a wrong answer: %q", note.Text)
	}
	answer.Content = map[string]any{"guests": json.Number("4711")}
	s.Send(answer)
	resolved := until[event.ElicitationResolved](t, s)
	if resolved.ID != asked.ID || resolved.Action != plan.ElicitationAccept || resolved.By != "user" {
		t.Errorf("resolved %+v", resolved)
	}
	text, err := json.Marshal(resolved)
	if err != nil || strings.Contains(string(text), "4711") {
		t.Errorf("recorded %s, %v", text, err)
	}
	done := until[event.StepCompleted](t, s)
	if got := plan.CanonicalJSON(done.Result); got != `{"action":"accept","content":{"guests":4711}}` {
		t.Errorf("the tool got %s", got)
	}
	until[event.RunCompleted](t, s)
	s.Send(answer) // too late, and so without effect
}

func TestThinkingTimeDoesNotCountAsTimeOfTheStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = time.Minute
		s := asking(t, question, limit.String(), nil)
		s.Send(session.Submit{Text: "do it"})
		asked := until[event.ElicitationRequested](t, s)
		run := s.seen[len(s.seen)-1].Run
		time.Sleep(2 * limit) // fake time
		s.Send(session.AnswerElicitation{Run: run, ID: asked.ID, Action: plan.ElicitationDecline})
		if done := until[event.StepCompleted](t, s); plan.CanonicalJSON(done.Result) != `{"action":"decline","content":null}` {
			t.Errorf("got %v", done.Result)
		}
	})
}

func TestQuestionIsDeclinedIfNobodyIsThere(t *testing.T) {
	s := asking(t, question, "1m", func(c *runner.Config) { c.Attended = false })
	s.Send(session.Submit{Text: "do it"})
	resolved := until[event.ElicitationResolved](t, s)
	if resolved.Action != plan.ElicitationDecline || resolved.By != "nobody was there to be asked" {
		t.Errorf("got %+v", resolved)
	}
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestStopWithdrawsTheQuestion(t *testing.T) {
	s := asking(t, question, "1m", nil)
	s.Send(session.Submit{Text: "do it"})
	until[event.ElicitationRequested](t, s)
	s.Send(session.Stop{})
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonInterrupted {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestQuestionOfAStepThatThePlanDropsIsCanceled(t *testing.T) {
	repair := make(chan struct{})
	s := asking(t, question, "1m", nil)
	s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeRepair: repair}
	s.model.replies[prompt.PurposePlan] = `{"title":"One","steps":[{"index":"1","title":"Early","tool":"look","args":{}},{"index":"2","title":"Faulty","tool":"nowhere","args":{}}]}`
	s.model.replies[prompt.PurposeRepair] = `{"title":"Other","steps":[{"index":"1","title":"Other","tool":"look","args":{"at":"a"}}]}`
	answers := make(chan plan.ElicitationAnswer, 1)
	s.tools.call = func(ctx context.Context, c plan.ToolCall) (any, error) {
		if len(c.Args) == 0 {
			answers <- c.Elicit(ctx, question)
		}
		return "seen", nil
	}
	s.Send(session.Submit{Text: "do it"})
	until[event.ElicitationRequested](t, s)
	close(repair)
	if got := <-answers; got.Action != plan.ElicitationCancel {
		t.Errorf("got %+v", got)
	}
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestAcceptedQuestionOpensItsPage(t *testing.T) {
	page := plan.Elicitation{Server: "w", Message: "Pay here.", URL: "https://pay.example/7"}
	for name, open := range map[string]func(string) error{
		"in the browser": nil,
		"by the user":    func(string) error { return errors.New("no display") },
	} {
		t.Run(name, func(t *testing.T) {
			opened := make(chan string, 1)
			s := asking(t, page, "1m", func(c *runner.Config) {
				if c.OpenPage = open; open == nil {
					c.OpenPage = func(url string) error {
						opened <- url
						return nil
					}
				}
			})
			s.Send(session.Submit{Text: "do it"})
			asked := until[event.ElicitationRequested](t, s)
			if len(opened) > 0 {
				t.Fatal("opened before the answer")
			}
			s.Send(session.AnswerElicitation{Run: s.seen[len(s.seen)-1].Run, ID: asked.ID, Action: plan.ElicitationAccept})
			if open == nil {
				if got := <-opened; got != page.URL {
					t.Errorf("opened %s", got)
				}
				return
			}
			if note := until[event.Note](t, s); note.Text != untrusted.Text("open the page yourself: https://pay.example/7 (no display)") {
				t.Errorf("got the note %q", note.Text)
			}
		})
	}
}
