package agent_test

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/prompt"
)

func TestModelsSeeResultsOfEarlierSteps(t *testing.T) {
	asked := map[string]string{}
	partial := false
	play := func(result string) {
		w := newWorld(t)
		plan := "1. Look around → TOOL: look {\"at\":\"a\"}\n2. Fill it in → TOOL: fill\n3. Weigh it → SELF\n4. Dig deeper → AGENT: explorer\n5. Sum up → SELF"
		replies := script{prompt.PurposePlan: {plan}, prompt.PurposeStep: {`{"at":"here"}`, "weighed", "summed up"}, prompt.PurposeAgent: {"dug"}}
		w.reply = func(r prompt.Request) (string, error) {
			asked[string(r.Purpose)+r.Step] = r.Messages[len(r.Messages)-1].Content
			partial = partial || len(r.Partial) > 0
			return replies.reply(r)
		}
		w.choose = func(n int) int { return n - 1 } // an answer arrives before its timeout
		w.tool = func(c agent.CallTool) event.Data {
			return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "result of " + c.Index + result, MS: 1}
		}
		start := started(event.DefaultLimits())
		start.Prompting.Profiles = []prompt.Profile{{Name: "explorer"}}
		start.Prompting.ModelTools, start.Prompting.ContextWindow = true, 32768
		if got := w.play(start); got.Reason != event.ReasonGoalMet {
			t.Fatalf("ended %s: %s\n%s", got.Reason, got.Error, w.tail())
		}
	}
	play("")
	for request, results := range map[string]string{
		"step2": "result of 1", "step3": "result of 1,result of 2", "agent4": "result of 1,result of 2,weighed",
		"step5": "result of 1,result of 2,weighed,dug", "synthesis": "result of 1,result of 2,weighed,dug,summed up",
	} {
		for _, want := range strings.Split(results, ",") {
			if !strings.Contains(asked[request], "result: "+want+"\n") {
				t.Errorf("%s does not see %q:\n%s", request, want, asked[request])
			}
		}
	}
	play(strings.Repeat(" and so on", 2000))
	if !partial || !strings.Contains(asked["step5"], "Not shown whole, for want of room: step 1, Look around") {
		t.Errorf("the prompt does not name the shortened result:\n%.2000s", asked["step5"])
	}
}
