package agent_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// calls returns a scripted plan. Each word has the index of a step, its tool and
// its argument, as in "3:look:z". Each step depends on the one before it.
func calls(title string, words ...string) plan.Plan {
	p := plan.Plan{Title: untrusted.Text(title)}
	for i, word := range words {
		parts := strings.Split(word, ":")
		s := plan.Step{
			Index: parts[0], Title: untrusted.Text("Step " + parts[0]), Executor: plan.ExecutorTool, Tool: parts[1],
			Args: map[string]any{"at": parts[2]}, ExpectedOutcome: untrusted.Text("it says " + parts[2]),
		}
		if i > 0 {
			s.DependsOn = []string{p.Steps[i-1].Index}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// breaking fails each call with one of these arguments.
func breaking(words ...string) func(agent.CallTool) event.Data {
	return func(c agent.CallTool) event.Data {
		if at, _ := c.Args["at"].(string); slices.Contains(words, at) {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: untrusted.Text(at + " is broken"), Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "result of " + c.Index}
	}
}

// TestReplanTransitions covers everything that can follow the failed steps of a
// plan, with a planner that needs no model.
func TestReplanTransitions(t *testing.T) {
	four := calls("Four", "1:look:a", "2:look:x", "3:look:c", "4:look:d")
	around := calls("Around x", "5:look:e", "6:look:y", "7:look:g")
	last := calls("Two more", "8:look:h", "9:look:i")
	type diff struct{ removed, added, revised string }
	for name, c := range map[string]struct {
		plans   []plan.Plan
		broken  []string
		limit   func(*event.Limits)
		status  event.Status
		reason  event.Reason
		starts  string
		diffs   []diff
		replans int
	}{
		"success": {
			plans: []plan.Plan{four}, status: event.StatusCompleted, reason: event.ReasonGoalMet, starts: "1 2 3 4",
		},
		"one replan": {
			plans: []plan.Plan{four, around}, broken: []string{"x"}, status: event.StatusCompleted, reason: event.ReasonGoalMet,
			starts: "1 2 5 6 7", diffs: []diff{{"2 3 4", "5 6 7", ""}}, replans: 1,
		},
		"two replans": {
			plans: []plan.Plan{four, around, last}, broken: []string{"x", "y"}, status: event.StatusCompleted, reason: event.ReasonGoalMet,
			starts: "1 2 5 6 8 9", diffs: []diff{{"2 3 4", "5 6 7", ""}, {"6 7", "8 9", ""}}, replans: 2,
		},
		"revised step keeps its index": {
			plans: []plan.Plan{four, calls("Other words", "2:look:b", "3:look:c")}, broken: []string{"x"}, status: event.StatusCompleted, reason: event.ReasonGoalMet,
			starts: "1 2 2 3", diffs: []diff{{"4", "", "2"}}, replans: 1,
		},
		"replans spent": {
			plans: []plan.Plan{four, around, last}, broken: []string{"x", "y"}, limit: func(l *event.Limits) { l.MaxReplans = 1 },
			status: event.StatusFailed, reason: event.ReasonReplanBudget, starts: "1 2 5 6", diffs: []diff{{"2 3 4", "5 6 7", ""}}, replans: 1,
		},
		"replans spent on repeated failures": {
			plans: []plan.Plan{calls("Two", "1:look:x", "2:look:b"), calls("Same", "1:look:x", "2:look:b"), calls("Same", "5:look:x", "6:look:b")}, broken: []string{"x"},
			limit: func(l *event.Limits) { l.MaxReplans = 2 }, status: event.StatusFailed, reason: event.ReasonReplanBudget, starts: "1", replans: 2,
		},
		"steps spent": {
			plans: []plan.Plan{four, around}, broken: []string{"x"}, limit: func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 4, false },
			status: event.StatusFailed, reason: event.ReasonStepBudget, starts: "1 2", replans: 1,
		},
		"steps spent before the replan": {
			plans: []plan.Plan{four, around}, broken: []string{"d"}, limit: func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 4, false },
			status: event.StatusFailed, reason: event.ReasonStepBudget, starts: "1 2 3 4",
		},
		"nothing to replan": {
			plans: []plan.Plan{four, {Title: "There is no way around x"}}, broken: []string{"x"}, status: event.StatusFailed, reason: event.ReasonGaveUp, starts: "1 2", replans: 1,
		},
		"script exhausted": {
			plans: []plan.Plan{four}, broken: []string{"x"}, status: event.StatusFailed, reason: event.ReasonGaveUp, starts: "1 2", replans: 1,
		},
		"no plan": {
			plans: []plan.Plan{{Title: "Nothing"}}, status: event.StatusFailed, reason: event.ReasonNoPlan,
		},
		"planner fails": {
			plans: []plan.Plan{four, calls("Wrong", "5:nowhere:e")}, broken: []string{"x"}, status: event.StatusFailed, reason: event.ReasonPlannerError, starts: "1 2", replans: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.planBy(planning.FixedPlans(c.plans...))
			w.tool = breaking(c.broken...)
			start := started(event.DefaultLimits())
			start.Model, start.SkipSynthesis = "", true
			if c.limit != nil {
				c.limit(&start.Limits)
			}
			got := w.play(start)
			if got.Status != c.status || got.Reason != c.reason {
				t.Fatalf("ended %s %s (%s), want %s %s", got.Status, got.Reason, got.Error, c.status, c.reason)
			}
			if starts := strings.Join(w.starts(), " "); starts != c.starts {
				t.Errorf("started %s, want %s", starts, c.starts)
			}
			if got.Usage.Replans != c.replans || len(all[event.ReplanStarted](w)) != c.replans || got.Usage.ModelCalls != 0 {
				t.Errorf("used %+v, want %d replans and no model", got.Usage, c.replans)
			}
			if len(got.Revisions) != len(c.diffs) {
				t.Fatalf("%d revisions, want %d", len(got.Revisions), len(c.diffs))
			}
			for i, want := range c.diffs {
				r := got.Revisions[i]
				if got := (diff{strings.Join(r.Removed, " "), strings.Join(r.Added, " "), strings.Join(r.Revised, " ")}); got != want || r.Revision != i+2 {
					t.Errorf("revision %d: %+v, want %+v", r.Revision, got, want)
				}
			}
			if again := replay(t, w); again != dump(t, w.run) {
				t.Error("folding the events again gives another state")
			}
		})
	}
}

// replay folds the events again with the same planners and returns the run's
// visible state.
func replay(t *testing.T, w *world) string {
	run := agent.NewRun(w.planners)
	for _, e := range w.events {
		if err := run.Apply(reread(t, e)); err != nil {
			t.Fatal(err)
		}
	}
	return dump(t, run)
}

func TestReplanKeepsFinishedSteps(t *testing.T) {
	w := newWorld(t)
	w.reply = script{
		prompt.PurposePlan: {`{"title":"x","steps":[
			{"index":"1","title":"A","tool":"look","args":{"at":"a"},"result_variable":"a"},
			{"index":"2","title":"B","tool":"look","args":{"at":"b"},"result_variable":"b","depends_on":["1"]},
			{"index":"3","title":"C","tool":"look","args":{"at":"c"},"depends_on":["2"]}]}`},
		// The finished step 1 gets a new meaning here; references to it must follow.
		prompt.PurposeReplan: {`{"title":"x","steps":[
			{"index":"1","title":"New","tool":"look","args":{"at":"new"},"result_variable":"n"},
			{"index":"3","title":"C again","tool":"look","args":{"at":"${n} ${a}"},"depends_on":["1","2"]}]}`},
	}.reply
	w.tool = failing("3", 1, event.FailureTool)
	got := w.play(started(event.DefaultLimits()))
	if got.Reason != event.ReasonGoalMet {
		t.Fatalf("%s: %s", got.Reason, got.Error)
	}
	if starts := strings.Join(w.starts(), " "); starts != "1 2 3 4 3" {
		t.Errorf("started %s, want 1 2 3, then 4 for the new step 1, then 3", starts)
	}
	if s := w.run.Step("1"); s.Step.Title != "A" || s.Result != "result of 1" || s.Attempt != 1 {
		t.Errorf("the finished step is now %+v", s.Step)
	}
	if s := w.run.Step("3"); !slices.Contains(s.Step.DependsOn, "4") || s.Args["at"] != "result of 4 result of 1" {
		t.Errorf("step 3 depends on %v and was called with %v", s.Step.DependsOn, s.Args)
	}
	r := got.Revisions[0]
	if !slices.Equal(r.Added, []string{"4"}) || !slices.Equal(r.Revised, []string{"3"}) || len(r.Removed) != 0 {
		t.Errorf("the diff is %+v", r)
	}
}

func TestReplanPromptDescribesFailure(t *testing.T) {
	w := newWorld(t)
	w.reply = script{
		prompt.PurposePlan:   {with(diamond, `"args":{"at":"b"}`, `"args":{"at":"b"},"expected_outcome":"the b is right"`)},
		prompt.PurposeReplan: {`{"title":"x","steps":[]}`},
	}.reply
	w.tool = failing("3", 1, event.FailureTool)
	w.play(started(event.DefaultLimits()))
	asked := all[event.ModelRequested](w)
	if len(asked) != 1 {
		t.Fatalf("%d requests outside the phases, want one", len(asked))
	}
	prompt := asked[0].Request.Messages[len(asked[0].Request.Messages)-1].Content
	for name, words := range map[string]string{
		"the error": "it broke", "the expected outcome": "the b is right", "a result": "result of 1", "a step that remains": "Join",
	} {
		if !strings.Contains(prompt, words) {
			t.Errorf("the prompt lacks %s (%q):\n%s", name, words, prompt)
		}
	}
	if d := all[event.ReplanStarted](w)[0]; d.Step != "3" || d.Error != "it broke" || !slices.Equal(d.Remaining, []string{"3", "4"}) {
		t.Errorf("got the event %+v", d)
	}
}

func TestRefusedReplanCountsAndNamesReason(t *testing.T) {
	w := newWorld(t)
	same := `{"title":"x","steps":[{"index":"3","title":"Right","tool":"change","args":{"at":"b"},"depends_on":["1"]},{"index":"4","title":"Join","tool":"look","args":{"at":"c"},"depends_on":["2","3"]}]}`
	w.reply = script{prompt.PurposePlan: {diamond}, prompt.PurposeReplan: {same, `{"title":"x","steps":[{"index":"9","title":"Other","tool":"look","args":{"at":"z"}}]}`}}.reply
	w.tool = failing("3", 1, event.FailureTool)
	got := w.play(started(event.DefaultLimits()))
	if got.Reason != event.ReasonGoalMet || got.Usage.Replans != 2 || len(got.Revisions) != 1 {
		t.Fatalf("%s (%s) after %d replans and %d revisions", got.Reason, got.Error, got.Usage.Replans, len(got.Revisions))
	}
	if refused := all[event.ReplanRefused](w); len(refused) != 1 || refused[0].Attempt != 1 || refused[0].Reason == "" {
		t.Errorf("refused %+v", refused)
	}
	second := all[event.ReplanStarted](w)[1]
	if !strings.Contains(string(second.Error), "The last answer was refused") {
		t.Errorf("the second request lacks the reason of the refusal: %q", second.Error)
	}
}

func TestResultListsRevisions(t *testing.T) {
	w := newWorld(t)
	w.planBy(planning.FixedPlans(calls("A", "1:look:x"), calls("B", "2:look:y")))
	w.tool = breaking("x")
	start := started(event.DefaultLimits())
	start.SkipSynthesis = true
	got := w.play(start)
	text, err := json.Marshal(got.Revisions)
	if want := `[{"revision":2,"reason":"x is broken","removed":["1"],"added":["2"],"revised":[]}]`; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
}

func TestReplyToAReplanStreams(t *testing.T) {
	ask := agent.CallModel{Request: prompt.Request{Purpose: prompt.PurposeReplan}}
	if got := ask.Delta("{", "hm"); got != (event.ReplanDelta{Text: "{", Thinking: "hm"}) {
		t.Errorf("got %+v", got)
	}
	if ask.Index = "4"; ask.Delta("{", "") != nil {
		t.Error("the replan of a sub-agent streams as one of the run")
	}
}
