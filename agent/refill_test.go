package agent_test

import (
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// TestRefusedArgumentsAreAskedForOnceMore holds that a change that its operator refused is
// written anew once, with the reason. The new arguments wait at a gate of their own.
func TestRefusedArgumentsAreAskedForOnceMore(t *testing.T) {
	for name, tt := range map[string]struct {
		foreign bool // the tool is another server's
		refused int  // calls that the tool refuses
		asked   int  // requests for arguments
		gates   int
		reason  event.Reason
	}{
		"a change refused once":               {refused: 1, asked: 2, gates: 2, reason: event.ReasonGoalMet},
		"a change refused twice":              {refused: 2, asked: 2, gates: 2, reason: event.ReasonStepFailed},
		"a tool that may have done something": {foreign: true, refused: 1, asked: 1, gates: 1, reason: event.ReasonStepFailed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var last []string
			w.reply = func(r prompt.Request) (string, error) {
				if r.Purpose == prompt.PurposeStep {
					last = append(last, r.Messages[len(r.Messages)-1].Content)
				}
				return []string{`{"at":"first"}`, `{"at":"second"}`}[min(len(last), 2)-1], nil
			}
			calls := 0
			w.tool = func(c agent.CallTool) event.Data {
				if calls++; calls <= tt.refused {
					return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "no such text", Failure: event.FailureTool}
				}
				return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "done"}
			}
			start := given(t, `{"title":"T","steps":[{"index":"1","title":"Edit","tool":"edit","on_failure":"abort"}]}`)
			start.Catalog = append(slices.Clone(catalog), plan.Tool{
				Name: "edit", Server: "workspace", Annotated: true, Trusted: !tt.foreign, Previews: true, InputSchema: catalog[2].InputSchema,
			})
			result := w.play(start)
			if result.Reason != tt.reason || len(last) != tt.asked {
				t.Fatalf("ended %s (%s) after %d requests, want %s and %d\n%s", result.Reason, result.Error, len(last), tt.reason, tt.asked, w.tail())
			}
			if tt.asked == 2 && (!strings.Contains(last[1], "no such text") || !strings.Contains(last[1], `{"at":"first"}`) || strings.Contains(last[0], "no such text")) {
				t.Errorf("the second request does not show what was refused, and why:\n%s", last[1])
			}
			if gates := len(all[event.GateRequested](w)); gates != tt.gates {
				t.Errorf("%d gates, want one for each arguments: %d", gates, tt.gates)
			}
		})
	}
}

// TestTextThatRepeatsTheGoalIsAskedForOnceMore holds that no such text is written.
func TestTextThatRepeatsTheGoalIsAskedForOnceMore(t *testing.T) {
	for name, tt := range map[string]struct {
		replies []string
		reason  event.Reason
	}{
		"once":  {[]string{`{"text":"describe everything"}`, `{"text":"Sums up."}`}, event.ReasonGoalMet},
		"twice": {[]string{`{"text":"describe everything"}`, `{"text":"Describe  everything."}`}, event.ReasonStepFailed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var asked []string
			w.reply = func(r prompt.Request) (string, error) {
				asked = append(asked, r.Messages[len(r.Messages)-1].Content)
				return tt.replies[min(len(asked), 2)-1], nil
			}
			var written []any
			w.tool = func(c agent.CallTool) event.Data {
				written = append(written, c.Args["text"])
				return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "done"}
			}
			start := given(t, `{"title":"T","steps":[{"index":"1","title":"Edit","tool":"write","on_failure":"abort"}]}`)
			start.Goal = "Describe everything."
			start.Catalog = append(slices.Clone(catalog), plan.Tool{
				Name: "write", Server: "workspace", Annotated: true, Trusted: true, Previews: true,
				InputSchema: []byte(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
			})
			result := w.play(start)
			if result.Reason != tt.reason || len(asked) != 2 || !strings.Contains(asked[1], "repeats the goal") {
				t.Fatalf("ended %s (%s) after %d requests\n%s", result.Reason, result.Error, len(asked), w.tail())
			}
			if want := tt.reason == event.ReasonGoalMet; want != (len(written) == 1 && written[0] == "Sums up.") {
				t.Errorf("written: %q", written)
			}
		})
	}
}
