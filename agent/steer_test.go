package agent_test

import (
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

const threeInARow = `{"title":"Three","steps":[
	{"index":"1","title":"A","tool":"look","args":{"at":"a"}},
	{"index":"2","title":"B","tool":"look","args":{"at":"b"},"depends_on":["1"]},
	{"index":"3","title":"C","tool":"look","args":{"at":"c"},"depends_on":["2"]}]}`

const otherWay = `{"title":"Other","steps":[{"index":"9","title":"Other","tool":"look","args":{"at":"z"},"depends_on":[],"expected_outcome":"x"}]}`

func TestSteeringReplansRun(t *testing.T) {
	for _, tc := range []struct {
		name    string
		at      event.Kind // the user steers after this event
		replies script
		steps   string // of the last plan
		want    event.Reason
	}{
		{"during execution", event.KindStepCompleted, script{prompt.PurposePlan: {threeInARow}, prompt.PurposeReplan: {otherWay}}, "1 2 9", event.ReasonGoalMet},
		{"during planning", event.KindPhaseStarted, script{prompt.PurposePlan: {threeInARow}, prompt.PurposeReplan: {otherWay}}, "9", event.ReasonGoalMet},
		{"equal plan changes nothing", event.KindStepCompleted, script{prompt.PurposePlan: {threeInARow}, prompt.PurposeReplan: {tail(threeInARow)}}, "1 2 3", event.ReasonGoalMet},
		{"failing planner changes nothing", event.KindStepCompleted, script{prompt.PurposePlan: {threeInARow}, prompt.PurposeReplan: {""}}, "1 2 3", event.ReasonGoalMet},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = tc.replies.reply
			mirror(w)
			start := started(event.DefaultLimits())
			start.Prompting.Patient = true // no step starts before the steering
			w.apply(start)
			w.until(tc.at)
			if !w.run.Steerable() {
				t.Fatal("the run is not steerable")
			}
			w.apply(event.RunSteered{Text: "look at z"})
			result := w.finish()
			if result.Reason != tc.want {
				t.Fatalf("ended for %s: %s\n%s", result.Reason, result.Error, w.tail())
			}
			var steps []string
			for _, s := range result.Plan.Steps {
				steps = append(steps, s.Index)
			}
			if got := strings.Join(steps, " "); got != tc.steps {
				t.Errorf("got the steps %s, want %s", got, tc.steps)
			}
			asked := all[event.ReplanStarted](w)
			if len(asked) != 1 || !strings.Contains(string(asked[0].Error), "look at z") || asked[0].Step != "" {
				t.Errorf("the planner got %+v", asked)
			}
		})
	}
}

// tail returns the plan of a chain without its first step.
func tail(proposed string) string {
	p, _ := plan.DecodePlan([]byte(proposed))
	p.Steps = p.Steps[1:]
	text, err := p.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestSteeringReachesNextTurnOfLoop(t *testing.T) {
	steered := func(r prompt.Request) bool {
		return slices.ContainsFunc(r.Messages, func(m prompt.Message) bool {
			return m.Role == prompt.RoleUser && strings.HasSuffix(m.Content, "mind the gap")
		})
	}
	t.Run("sub-agent", func(t *testing.T) {
		w := newWorld(t)
		k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {text: "seen"}}}
		k.join(w)
		w.apply(scouting(t, prompt.Profile{}))
		w.until(event.KindModelReplied)
		w.apply(event.RunSteered{Text: "mind the gap"})
		if result := w.finish(); result.Reason != event.ReasonGoalMet || len(all[event.ReplanStarted](w)) > 0 {
			t.Fatalf("ended for %s after %d replans", result.Reason, len(all[event.ReplanStarted](w)))
		}
		last := k.requests[1].Messages[len(k.requests[1].Messages)-1]
		if steered(k.requests[0]) || !steered(k.requests[1]) || last.Content != "The user says: mind the gap" {
			t.Errorf("the second turn ends with %q", last.Content)
		}
	})
	t.Run("sub-agent that answered meanwhile", func(t *testing.T) {
		w := newWorld(t)
		k := &replyingModel{turns: []turn{{text: "too soon"}, {text: "in time"}}}
		k.join(w)
		w.apply(scouting(t, prompt.Profile{}))
		w.until(event.KindModelRequested)
		w.apply(event.RunSteered{Text: "mind the gap"})
		if result := w.finish(); result.Variables["found"] != "in time" || !steered(k.requests[1]) {
			t.Errorf("got the result %v", result.Variables["found"])
		}
	})
	t.Run("chat", func(t *testing.T) {
		w := newWorld(t)
		k := &replyingModel{turns: []turn{{text: "too soon"}, {text: "in time"}}}
		w.apply(chatting(w, k))
		w.until(event.KindSynthesisStarted)
		w.apply(event.RunSteered{Text: "mind the gap"})
		if result := w.finish(); result.Answer != "in time" || !steered(k.requests[1]) {
			t.Errorf("answered %q", result.Answer)
		}
	})
	t.Run("chat during the analysis", func(t *testing.T) {
		w := newWorld(t)
		k := &replyingModel{turns: []turn{{text: "in time"}}}
		w.apply(chatting(w, k))
		w.until(event.KindPhaseStarted)
		w.apply(event.RunSteered{Text: "mind the gap"})
		if result := w.finish(); result.Answer != "in time" || !steered(k.requests[0]) {
			t.Errorf("answered %q", result.Answer)
		}
	})
}

func TestRunIsNotSteerable(t *testing.T) {
	w := newWorld(t)
	w.reply = script{prompt.PurposePlan: {diamond}}.reply
	w.apply(started(event.DefaultLimits()))
	w.until(event.KindSynthesisStarted)
	if w.run.Steerable() {
		t.Error("a run is steerable during the synthesis")
	}
	w.finish()
	if w.run.Steerable() {
		t.Error("an ended run is steerable")
	}
	alone := newWorld(t)
	start := given(t, diamond)
	start.Model = ""
	alone.apply(start)
	alone.advance()
	if alone.run.Steerable() {
		t.Error("a run without a planner is steerable")
	}
}

func TestEmptyChatReplyIsRequestedAgain(t *testing.T) {
	for _, tc := range []struct {
		name   string
		turns  []turn
		answer string
		want   event.Reason
	}{
		{"answers then", []turn{{}, {text: "there"}}, "there", event.ReasonDirect},
		{"never answers", []turn{{}, {}, {}}, "", event.ReasonPlannerError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			result := w.play(chatting(w, &replyingModel{turns: tc.turns}))
			if result.Reason != tc.want || string(result.Answer) != tc.answer {
				t.Errorf("ended for %s with %q: %s", result.Reason, result.Answer, result.Error)
			}
		})
	}
}
