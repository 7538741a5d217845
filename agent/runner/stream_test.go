package runner_test

import (
	"context"
	"errors"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// musing is a model that thinks before it answers.
type musing struct{ *model }

func (m musing) Ask(ctx context.Context, r prompt.Request, delta func(text, thinking string)) (reply.Reply, error) {
	delta("", "well")
	delta("", " now")
	return m.model.Ask(ctx, r, delta)
}

func TestStepOutputIsNeverEmpty(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.info.Tools = true
		s.model.replies[prompt.PurposePlan] = `{"title":"Three","steps":[{"title":"Look","tool":"look","args":{}},{"title":"Say","executor":"self"},{"title":"Ask","executor":"agent","profile":"critic"}]}`
		s.model.replies[prompt.PurposeStep] = "so it is"
		s.model.replies[prompt.PurposeAgent] = "fine by me"
		s.tools.call = func(_ context.Context, c plan.ToolCall) (any, error) {
			c.Output("")
			c.Output("seen")
			return "seen", nil
		}
		s.config = func(c *runner.Config) {
			c.Model = musing{s.model}
			c.Prompting.Profiles = []prompt.Profile{{Name: "critic"}}
		}
	})
	s.run(t, "do it")
	output, thought := map[string]string{}, ""
	for _, e := range s.seen {
		switch d := e.Data.(type) {
		case event.StepOutput:
			output[d.Index] += d.Chunk
			if d.Chunk == "" {
				t.Errorf("step %s has an empty output", d.Index)
			}
		case event.PhaseDelta:
			thought += d.Thinking
		}
	}
	if output["1"] != "seen" || output["2"] != "so it is" || output["3"] != "fine by me" {
		t.Errorf("got the outputs %q", output)
	}
	if thought == "" {
		t.Error("the thinking of the planning phase is missing")
	}
}

func TestPartialReplyIsKeptOnError(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
			half := reply.Reply{Text: "half of it", Thinking: "well", ContextWindow: 8192}
			return half, errors.New("broke off"), r.Purpose == prompt.PurposeAnalysis || r.Purpose == prompt.PurposeSynthesis
		}
	})
	s.run(t, "do it")
	if _, phase := last[event.PhaseFailed](t, s); phase.Reply.Text != "half of it" || phase.Reply.Thinking != "well" || phase.Reason != "broke off" {
		t.Errorf("the analysis kept %+v", phase)
	}
	if _, answer := last[event.SynthesisCompleted](t, s); answer.Text != "half of it" || answer.Reply.Thinking != "well" || answer.Error != "broke off" {
		t.Errorf("the answer kept %+v", answer)
	}
}
