package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/prompt"
)

// TestRandomReviewKeepsPlanValid plays random changes on random plans: the plan
// stays valid and runs in its order, and each change can be undone.
func TestRandomReviewKeepsPlanValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := randomPlan(t, 1, 3) // without steps that fail
		if strings.Contains(plan, `"steps":[]`) {
			return
		}
		w := held(t, strings.ReplaceAll(plan, `"nowhere"`, `"change"`))
		v := w.run.Review()
		changeAtRandom(t, v)
		snapshot := func() string {
			text, _ := json.Marshal(v.Plan())
			return ordered(v) + v.Changes().String() + string(text)
		}
		before := snapshot()
		_ = v.Remove(rapid.SampledFrom(v.Plan().Steps).Draw(t, "one more").Index, true)
		if snapshot() != before && (!v.Undo() || snapshot() != before) {
			t.Fatalf("after the undo it is\n%s\nwant\n%s", snapshot(), before)
		}
		c := v.Changes()
		w.answerReview(v.Answer(event.ReviewRun))
		passes := map[string]bool{}
		for _, a := range c.Approved {
			passes[a.Step] = true
		}
		w.gate = func(g event.GateRequested) event.Decision {
			if passes[g.Step] {
				t.Fatalf("the approved gate of step %s asks:\n%s", g.Step, w.tail())
			}
			return event.Allow
		}
		w.reply = func(prompt.Request) (string, error) { return "words", nil }
		w.finish()
		started := map[string]int{}
		for i, index := range w.starts() {
			step, _, _ := strings.Cut(index, ".") // of an item
			started[step] = i
		}
		for _, index := range c.Removed {
			if _, yes := started[index]; yes {
				t.Fatalf("removed step %s started", index)
			}
		}
		for _, m := range c.Moved {
			if started[m.Step] < started[m.After] {
				t.Fatalf("step %s was moved after %s but started first", m.Step, m.After)
			}
		}
	})
}

// changeAtRandom makes random changes of a user to a plan.
func changeAtRandom(t *rapid.T, v *agent.Review) {
	for range rapid.IntRange(0, 8).Draw(t, "changes") {
		index := rapid.SampledFrom(v.Steps()).Draw(t, "changed").Step.Index
		switch rapid.IntRange(0, 11).Draw(t, "change") {
		case 0:
			_ = edit(v, index, "Edited", map[string]any{"at": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "args")})
		case 1:
			_ = v.Remove(index, rapid.Bool().Draw(t, "with dependents"))
		case 2:
			_, _ = v.Restore(index)
		case 3, 4:
			_ = v.Move(index, rapid.SampledFrom([]int{-1, 1}).Draw(t, "by"))
		case 5:
			_ = v.Approve(index, rapid.Bool().Draw(t, "approved"))
		case 6:
			v.ApproveAll()
		case 7:
			_ = editChecks(v, index, `{"expect": "len(string(result)) >= 0"}`)
		case 8:
			_ = v.EditAcceptance(checks(`[{"tool": "look", "args": {"at": "a"}, "expect": "len(string(result)) >= 0"}]`))
		case 9:
			_ = editFields(v, index, rapid.SampledFrom([]string{`{"when": "1 < 2"}`, `{"when": null}`}).Draw(t, "condition"))
		case 10:
			_ = editFields(v, index, rapid.SampledFrom([]string{`{"for_each": ["a", "b"], "as": null}`, `{"for_each": null}`}).Draw(t, "list"))
		default:
			v.Undo()
		}
		if _, err := json.Marshal(v.Plan()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRunsOfOldJournalsKeepIndicesThatNewPlansMayNotHave(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"T","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"a"}},{"index":"2","title":"Look again","tool":"look","args":{"at":"c"},"depends_on":["1"]}]}`)
	start.Review = true
	first, second := "1\x1b[2J", "step\u202e two"
	start.Plan.Steps[0].Index, start.Plan.Steps[1].Index, start.Plan.Steps[1].DependsOn = first, second, []string{first}
	w.apply(reread(t, event.Event{Run: "r", Data: start}).Data)
	w.review = func(v *agent.Review) event.ReviewDecision {
		if err := v.Remove(second, false); err != nil {
			t.Error(err)
		}
		if _, err := v.Restore(second); err != nil {
			t.Error(err)
		}
		return event.ReviewRun
	}
	result := w.finish()
	if result.Status != event.StatusCompleted || w.run.Step(second).Status != agent.StepCompleted {
		t.Errorf("got %+v after\n%s", result, w.tail())
	}
}
