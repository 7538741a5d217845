package agent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// TestExecutionFaultsOfPredecessors has one case for each fault that the
// predecessors of this program had in executing plans from files.
func TestExecutionFaultsOfPredecessors(t *testing.T) {
	for name, check := range map[string]func(*testing.T){
		"step waits only for its dependencies": func(t *testing.T) {
			p, times := plan.Plan{Title: "Two chains"}, map[string]int64{}
			for i, ms := range []int64{50, 300, 300, 50} {
				tool := fmt.Sprintf("t%d", i+1)
				p.Steps = append(p.Steps, plan.Step{Index: fmt.Sprint(i + 1), Title: "Step", Executor: plan.ExecutorTool, Tool: tool, Args: map[string]any{}})
				times["w:"+tool] = ms
			}
			p.Steps[1].DependsOn, p.Steps[3].DependsOn = []string{"1"}, []string{"3"}
			if got := makespan(t, p, times, nil, 4); got != 350*time.Millisecond {
				t.Errorf("it takes %v, want the critical path of 350ms", got)
			}
		},
		"null and missing variables": func(t *testing.T) {
			w := newWorld(t)
			start := given(t, `{"title":"x","variables":{"none":null},"steps":[{"title":"A","tool":"look","args":{"at":"${none}"}},{"title":"B","tool":"look","args":{"at":"${gone}"},"depends_on":["1"]}]}`)
			got := w.play(start)
			if at, there := w.run.Step("1").Args["at"]; !there || at != nil {
				t.Errorf("called with %v", w.run.Step("1").Args)
			}
			if got.Reason != event.ReasonStepFailed || slices.Contains(w.starts(), "2") || !strings.Contains(string(got.Error), "${gone}") {
				t.Errorf("%s (%s) after the starts %v", got.Reason, got.Error, w.starts())
			}
		},
		"long value survives a resume": func(t *testing.T) {
			long := strings.Repeat("x", 1_001)
			w := newWorld(t)
			w.tool = func(c agent.CallTool) event.Data {
				return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: long}
			}
			start := given(t, chain)
			w.play(start)
			w.killAt(event.KindStepCompleted)
			w.resume(resumed(start))
			if w.run.Step("2").Args["at"] != long {
				t.Errorf("called with %d characters of %d", len(fmt.Sprint(w.run.Step("2").Args["at"])), len(long))
			}
		},
		"second resume repeats no completed step": func(t *testing.T) {
			w := newWorld(t)
			w.tool = failing("3", 2, event.FailureTool)
			start := given(t, chain)
			w.play(start)
			for range 2 {
				w.kill(len(w.events))
				w.resume(resumed(start))
			}
			starts := w.starts()
			slices.Sort(starts)
			if w.run.Result.Reason != event.ReasonGoalMet || strings.Join(starts, " ") != "1 2 3 3 3 4" {
				t.Errorf("%s after the starts %v", w.run.Result.Reason, starts)
			}
		},
		"completed run is not resumed": func(t *testing.T) {
			w := newWorld(t)
			start := given(t, chain)
			w.play(start)
			if err := w.offer(resumed(start)); !errors.Is(err, agent.ErrOutOfOrder) {
				t.Errorf("got %v", err)
			}
		},
		"numbers as indices after a resume": func(t *testing.T) {
			w := newWorld(t)
			start := given(t, `{"title":"x","steps":[{"index":1,"title":"A","tool":"look","args":{}},{"index":2,"title":"B","tool":"look","args":{},"depends_on":[1]}]}`)
			w.play(start)
			w.killAt(event.KindStepCompleted)
			if got := w.resume(resumed(start)); got.Reason != event.ReasonGoalMet || strings.Join(w.starts(), " ") != "1 2" {
				t.Errorf("%s after the starts %v", got.Reason, w.starts())
			}
		},
		"dry run resolves arguments": func(t *testing.T) {
			w := newWorld(t)
			w.play(dry(t, `{"title":"x","variables":{"p":"src"},"steps":[{"title":"A","tool":"look","args":{"at":"${p}/a"}}]}`))
			if got := all[event.StepCompleted](w)[0].Args["at"]; got != "src/a" {
				t.Errorf("got %v", got)
			}
		},
		"guards hold for plan files": func(t *testing.T) {
			w := newWorld(t)
			start := given(t, serial(4, false))
			start.Limits.MaxToolCalls = 3
			if got := w.play(start); got.Reason != event.ReasonToolBudget || len(w.starts()) != 3 {
				t.Errorf("%s after %d calls", got.Reason, len(w.starts()))
			}
		},
		"limit of three warns, then blocks": func(t *testing.T) {
			w := newWorld(t)
			start := given(t, serial(4, false))
			start.Limits.MaxCallsPerTool = 3
			w.play(start)
			var got []string
			for _, e := range w.events {
				switch d := e.Data.(type) {
				case event.StepStarted:
					got = append(got, "call")
				case event.GuardWarned:
					got = append(got, "warn")
				case event.GuardBlocked:
					got = append(got, "block by "+d.Guard)
				}
			}
			if got := strings.Join(got, ", "); got != "call, call, warn, call, block by calls_per_tool" {
				t.Error(got)
			}
		},
		"limit of 0 is unlimited": func(t *testing.T) {
			w := newWorld(t)
			start := given(t, serial(40, false))
			start.Limits = event.Limits{}
			if got := w.play(start); got.Reason != event.ReasonGoalMet || len(all[event.GuardBlocked](w)) != 0 {
				t.Errorf("%s: %s", got.Reason, got.Error)
			}
		},
		"equal results are no runaway of a plan file": func(t *testing.T) {
			w := newWorld(t)
			w.tool = func(c agent.CallTool) event.Data {
				return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: 0}
			}
			start := given(t, `{"title":"x","steps":[`+strings.Repeat(`{"title":"A","tool":"look","args":{"at":1}},`, 9)+`{"title":"A","tool":"look","args":{"at":1}}]}`)
			if got := w.play(start); got.Reason != event.ReasonGoalMet {
				t.Errorf("%s: %s", got.Reason, got.Error)
			}
		},
	} {
		t.Run(name, check)
	}
}

// TestPlanningFaultsOfPredecessors has one case for each fault that they had in
// planning, budgets and replanning.
func TestPlanningFaultsOfPredecessors(t *testing.T) {
	two := calls("Two", "1:look:a", "2:look:x")
	scripted := func(t *testing.T, limit func(*event.Limits), plans ...plan.Plan) (*world, event.Result) {
		w := newWorld(t)
		w.planBy(planning.FixedPlans(plans...))
		w.tool = breaking("x", "y")
		start := started(event.DefaultLimits())
		start.Model, start.SkipSynthesis = "", true
		if limit != nil {
			limit(&start.Limits)
		}
		return w, w.play(start)
	}
	phases := func(t *testing.T, replies script, limit func(*event.Limits)) (*world, event.Result) {
		w := newWorld(t)
		w.reply = replies.reply
		start := started(event.DefaultLimits())
		start.Prompting.SkipAnalysis = false
		if limit != nil {
			limit(&start.Limits)
		}
		return w, w.play(start)
	}
	for name, check := range map[string]func(*testing.T){
		"budget is checked before planning": func(t *testing.T) {
			w, got := phases(t, script{prompt.PurposeAnalysis: {analyzed}, prompt.PurposeReview: {"fine"}, prompt.PurposePlan: {diamond}}, func(l *event.Limits) { l.MaxTokens = 220 })
			if got.Reason != event.ReasonTokenBudget || len(all[event.PhaseStarted](w)) != 2 {
				t.Errorf("%s after %d phases", got.Reason, len(all[event.PhaseStarted](w)))
			}
		},
		"budget is checked before the synthesis": func(t *testing.T) {
			w, got := phases(t, script{prompt.PurposeAnalysis: {analyzed}, prompt.PurposeReview: {"fine"}, prompt.PurposePlan: {diamond}}, func(l *event.Limits) { l.MaxTokens = 330 })
			if got.Reason != event.ReasonTokenBudget || len(all[event.SynthesisStarted](w)) != 0 {
				t.Errorf("%s after %d answers", got.Reason, len(all[event.SynthesisStarted](w)))
			}
		},
		"low budget warns once": func(t *testing.T) {
			w := newWorld(t)
			start := given(t, serial(10, false))
			start.Limits.MaxSteps, start.Limits.GrowSteps = 10, false
			w.play(start)
			if n := len(all[event.BudgetWarned](w)); n != 1 {
				t.Errorf("warned %d times", n)
			}
		},
		"long plan is refused, not cut": func(t *testing.T) {
			w, got := phases(t, script{prompt.PurposeAnalysis: {analyzed}, prompt.PurposeReview: {"fine"}, prompt.PurposePlan: {serial(16, false)}, prompt.PurposeRepair: {serial(16, false)}}, nil)
			if got.Reason != event.ReasonNoPlan || slices.Contains(w.starts(), "16") || got.Plan != nil {
				t.Errorf("%s (%s) with the plan %v after the starts %v", got.Reason, got.Error, got.Plan, w.starts())
			}
		},
		"failed analysis is reported and planning continues": func(t *testing.T) {
			w, got := phases(t, script{prompt.PurposeAnalysis: {""}, prompt.PurposePlan: {diamond}}, nil)
			if failed := all[event.PhaseFailed](w); got.Reason != event.ReasonGoalMet || len(failed) != 1 || failed[0].Phase != 1 {
				t.Errorf("%s (%s), failed %v", got.Reason, got.Error, failed)
			}
		},
		"failed phase 3 executes nothing": func(t *testing.T) {
			w, got := phases(t, script{prompt.PurposeAnalysis: {analyzed}, prompt.PurposeReview: {"fine"}, prompt.PurposePlan: {""}}, nil)
			if got.Reason != event.ReasonPlannerError || len(w.starts()) != 0 {
				t.Errorf("%s after the starts %v", got.Reason, w.starts())
			}
		},
		"failed review is reported and planning continues": func(t *testing.T) {
			w, got := phases(t, script{prompt.PurposeAnalysis: {analyzed}, prompt.PurposeReview: {""}, prompt.PurposePlan: {diamond}}, nil)
			if failed := all[event.PhaseFailed](w); got.Reason != event.ReasonGoalMet || len(failed) != 1 || failed[0].Phase != 2 {
				t.Errorf("%s (%s), failed %v", got.Reason, got.Error, failed)
			}
		},
		"plan with unknown tools is refused": func(t *testing.T) {
			w, got := phases(t, script{prompt.PurposeAnalysis: {analyzed}, prompt.PurposeReview: {"fine"}, prompt.PurposePlan: {faulty}, prompt.PurposeRepair: {faulty}}, nil)
			if got.Reason != event.ReasonNoPlan || len(w.starts()) != 0 {
				t.Errorf("%s after the starts %v", got.Reason, w.starts())
			}
		},
		"rules are obeyed": func(t *testing.T) {
			w := newWorld(t)
			start := given(t, changes)
			start.Rules = []rule.Rule{{Tool: "change", Verdict: rule.VerdictBlock, Why: "never"}, {Tool: "*", Verdict: rule.VerdictRun}}
			if got := w.play(start); got.Reason != event.ReasonDenied || slices.Contains(w.starts(), "1") {
				t.Errorf("%s after the starts %v", got.Reason, w.starts())
			}
		},
		"diff covers remaining steps and the failed one": func(t *testing.T) {
			_, got := scripted(t, nil, two, calls("Around", "2:look:b"))
			r := got.Revisions[0]
			if len(r.Removed) != 0 || len(r.Added) != 0 || !slices.Equal(r.Revised, []string{"2"}) {
				t.Errorf("got %+v", r)
			}
		},
		"failed step counts": func(t *testing.T) {
			_, got := scripted(t, nil, two, calls("Around", "3:look:b"))
			if got.Usage.Steps != 3 {
				t.Errorf("got %d steps, want 3", got.Usage.Steps)
			}
		},
		"no replan after the last step of the budget": func(t *testing.T) {
			w, got := scripted(t, func(l *event.Limits) { l.MaxSteps, l.GrowSteps = 2, false }, two, calls("Around", "3:look:b"))
			if got.Reason != event.ReasonStepBudget || len(all[event.ReplanStarted](w)) != 0 {
				t.Errorf("%s after %d replans", got.Reason, len(all[event.ReplanStarted](w)))
			}
		},
		"giving up fails the run": func(t *testing.T) {
			_, got := scripted(t, nil, two, plan.Plan{Title: "There is no way"})
			if got.Status != event.StatusFailed || got.Reason != event.ReasonGaveUp || got.Error != "There is no way" {
				t.Errorf("%s %s: %q", got.Status, got.Reason, got.Error)
			}
		},
		"failed replan ends the run": func(t *testing.T) {
			w := newWorld(t)
			w.reply, w.tool = script{prompt.PurposePlan: {diamond}, prompt.PurposeReplan: {""}, prompt.PurposeRepair: {""}}.reply, failing("3", 1, event.FailureTool)
			got := w.play(started(event.DefaultLimits()))
			if got.Status != event.StatusFailed || got.Reason != event.ReasonPlannerError || !strings.Contains(string(got.Error), "the model fell silent") || len(got.History) != 3 {
				t.Errorf("%s %s: %q after %d items of history", got.Status, got.Reason, got.Error, len(got.History))
			}
		},
	} {
		t.Run(name, check)
	}
}
