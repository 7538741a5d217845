package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// A tool that refuses whatever was approved asks a bounded number of times. Then the step fails
// with the reason, in a plan, for an item and in chat, also if the program is killed meanwhile.
func TestGateThatNoAnswerSettlesFailsItsStep(t *testing.T) {
	const most = 6
	refusals := map[string]func(agent.CallTool) event.StepFailed{
		"the file changes each time": func(agent.CallTool) event.StepFailed {
			return event.StepFailed{Error: "outdated", Outdated: "f was not in the diff that was approved"}
		},
		"a link leads elsewhere each time": func(c agent.CallTool) event.StepFailed {
			return event.StepFailed{Error: "outdated", Outdated: "f was not in the diff that was approved", Paths: map[string]string{"path": fmt.Sprint(c.Attempt)}}
		},
		"it removes most of a file": func(agent.CallTool) event.StepFailed {
			return event.StepFailed{Error: "held", Removes: "f was not in the diff that was approved"}
		},
	}
	for name, refusal := range refusals {
		for _, where := range []string{"step", "item", "chat", "killed"} {
			t.Run(name+", "+where, func(t *testing.T) {
				w := newWorld(t)
				calls := 0
				w.tool = func(c agent.CallTool) event.Data {
					calls++
					failed := refusal(c)
					failed.Index, failed.Attempt, failed.Failure = c.Index, c.Attempt, event.FailureTool
					return failed
				}
				each := ""
				if where == "item" {
					each = `"for_each":["a"],`
				}
				start := given(t, `{"title":"Change","steps":[{"index":"1","title":"Change","tool":"change",`+each+`"args":{"at":"a"}}]}`)
				if where == "chat" {
					start = started(event.DefaultLimits())
					chats(nil, w, &start)
					turns := 0
					w.reply = func(prompt.Request) (string, error) { return "done", nil }
					w.calls = func(prompt.Request) []reply.ToolUse {
						if turns++; turns > 1 {
							return nil
						}
						return []reply.ToolUse{use("change", "a")}
					}
				}
				start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictAsk, Why: "it has effects"}}
				w.apply(start)
				if where == "killed" {
					w.until(event.KindStepFailed)
					w.killAt(event.KindStepFailed)
					w.apply(resumed(start))
				}
				w.finish()
				if calls > most+1 || calls < most {
					t.Errorf("it was called %d times, want %d\n%s", calls, most, w.tail())
				}
				var last event.StepFailed
				for _, d := range all[event.StepFailed](w) {
					if d.Outdated == "" && d.Removes == "" && strings.Contains(d.Index, "1") && last.Error == "" {
						last = d
					}
				}
				if !strings.Contains(string(last.Error), "its gate was asked 6 times") || !strings.Contains(string(last.Error), "f was not in the diff that was approved") {
					t.Errorf("the step failed with %q\n%s", last.Error, w.tail())
				}
			})
		}
	}
}

// The rest of a plan continues, and the next attempt may ask again.
func TestStepWithAnUnsettledGateIsTakenUpAgain(t *testing.T) {
	w := newWorld(t)
	refuses := true
	w.tool = func(c agent.CallTool) event.Data {
		if c.Index == "1" && refuses {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "outdated", Outdated: "f changed", Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "done"}
	}
	start := given(t, `{"title":"Change","on_failure":"skip","steps":[{"index":"1","title":"Change","tool":"change"},{"index":"2","title":"Look","tool":"look"}]}`)
	if got := w.play(start); got.Reason != event.ReasonPartial || w.run.Step("2").Status != agent.StepCompleted {
		t.Fatalf("the run ended with %s: %s", got.Reason, got.Error)
	}
	start.Plan.OnFailure = plan.OnFailureAbort
	w = newWorld(t)
	w.tool = func(c agent.CallTool) event.Data {
		if refuses {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "outdated", Outdated: "f changed", Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "done"}
	}
	if got := w.play(start); got.Reason != event.ReasonStepFailed {
		t.Fatalf("the run ended with %s: %s", got.Reason, got.Error)
	}
	refuses = false
	if got := w.resume(resumed(start)); got.Reason != event.ReasonGoalMet {
		t.Errorf("the resume ended with %s: %s", got.Reason, got.Error)
	}
}
