package agent_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// reviewed is a plan with everything that matters in a review. It has a step that
// others need, one that no other needs, a gate, and args that hold a reference.
const reviewed = `{"title":"T","steps":[
	{"index":"1","title":"Look","tool":"look","args":{"at":"a"},"result_variable":"seen"},
	{"index":"2","title":"Change","tool":"change","args":{"at":"b"}},
	{"index":"3","title":"Put","tool":"change","args":{"at":"${seen}"}},
	{"index":"4","title":"Look again","tool":"look","args":{"at":"c"},"depends_on":["2"]}],
	"milestones":[{"title":"M","steps":["1","2"]}]}`

// held starts a run whose plan is held.
func held(t tester, plan string) *world {
	t.Helper()
	w := newWorld(t)
	start := given(t, plan)
	start.Review = true
	w.apply(start)
	w.advance()
	if !w.run.AwaitsReview() {
		t.Fatalf("the plan is not held:\n%s", w.tail())
	}
	return w
}

// untilHeld plays until the plan waits for review.
func (w *world) untilHeld() {
	w.t.Helper()
	for w.advance(); !w.run.AwaitsReview(); w.advance() {
		w.deliver()
	}
}

// answerReview answers the review of a run.
func (w *world) answerReview(a agent.ReviewAnswer) {
	w.t.Helper()
	d, err := w.run.AnswerReview(a, "user")
	if err != nil {
		w.t.Fatal(err)
	}
	w.apply(d)
}

// edit sets the title and the args of a step.
func edit(v *agent.Review, index, title string, args map[string]any) error {
	step, _ := v.Plan().Step(index)
	step.Index, step.Title, step.Args = index, untrusted.Text(title), args
	return v.Edit(step)
}

// ordered returns a plan's steps in order as text.
func ordered(v *agent.Review) string {
	var out []string
	for _, s := range v.Steps() {
		if word := s.Step.Index; s.Out {
			out = append(out, "-"+word)
		} else {
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

func TestHeldPlanDoesNotStart(t *testing.T) {
	w := held(t, reviewed)
	if next := w.run.Next(); len(next) > 0 {
		t.Fatalf("got the actions %v", next)
	}
	w.answerReview(w.run.Review().Answer(event.ReviewRun))
	if r := w.finish(); r.Status != event.StatusCompleted {
		t.Fatalf("ended %s: %s", r.Reason, r.Error)
	}
}

func TestHeldPlanStartsNoDrafts(t *testing.T) {
	w := newWorld(t)
	w.reply = script{prompt.PurposePlan: {reviewed}}.reply
	start := started(event.DefaultLimits())
	start.Review = true
	w.apply(start)
	w.untilHeld()
	if began := w.starts(); len(all[event.PlanDrafting](w)) == 0 || len(began) > 0 {
		t.Fatalf("%d steps were drafted, %v started", len(all[event.PlanDrafting](w)), began)
	}
}

func TestRefusedPlanIsHeldAgainOnResume(t *testing.T) {
	w := held(t, reviewed)
	w.answerReview(agent.ReviewAnswer{Revision: 1, Decision: event.ReviewRefuse})
	result := w.finish()
	if result.Status != event.StatusFailed || result.Reason != event.ReasonDenied || !strings.Contains(string(result.Error), "refused") || len(w.starts()) > 0 {
		t.Fatalf("%s, %s: %s", result.Status, result.Reason, result.Error)
	}
	start := given(t, reviewed)
	w.begun = map[string]bool{}
	w.apply(resumed(start))
	w.advance()
	if !w.run.AwaitsReview() {
		t.Fatal("the plan is not held again")
	}
	w.answerReview(w.run.Review().Answer(event.ReviewRun))
	if result := w.finish(); result.Status != event.StatusCompleted {
		t.Fatalf("%s: %s", result.Reason, result.Error)
	}
}

func TestReviewSurvivesKill(t *testing.T) {
	w := held(t, reviewed)
	w.kill(len(w.events))
	w.apply(resumed(given(t, reviewed)))
	w.advance()
	if !w.run.AwaitsReview() || len(w.starts()) > 0 {
		t.Fatalf("held %t, started %v", w.run.AwaitsReview(), w.starts())
	}
	v := w.run.Review()
	if err := v.Remove("4", false); err != nil {
		t.Fatal(err)
	}
	if err := v.Approve("2", true); err != nil {
		t.Fatal(err)
	}
	w.answerReview(v.Answer(event.ReviewRun))
	w.kill(len(w.events))
	w.gate = func(g event.GateRequested) event.Decision {
		if g.Step == "2" {
			t.Fatal("the approval was lost")
		}
		return event.Allow
	}
	if result := w.resume(resumed(given(t, reviewed))); result.Status != event.StatusCompleted || !slices.Equal(w.starts(), []string{"1", "2", "3"}) && !slices.Equal(w.starts(), []string{"2", "1", "3"}) {
		t.Fatalf("%s after %v", result.Reason, w.starts())
	}
}

func TestResumeCanHoldRemainingSteps(t *testing.T) {
	w := newWorld(t)
	w.gate = func(event.GateRequested) event.Decision { return event.Deny }
	start := given(t, reviewed)
	w.play(start)
	resume := resumed(start)
	resume.Review = true
	w.apply(resume)
	w.advance()
	if !w.run.AwaitsReview() {
		t.Fatal("the plan is not held")
	}
	v := w.run.Review()
	for _, s := range v.Steps() {
		if s.Settled != (s.Step.Index == "1") {
			t.Fatalf("step %s: got settled %t", s.Step.Index, s.Settled)
		}
	}
	if err := v.Remove("1", true); err == nil {
		t.Fatal("a completed step can be removed")
	}
}

func TestReview(t *testing.T) {
	tests := []reviewTest{
		{name: "nothing changed", change: func(*agent.Review) error { return nil }, order: "1 2 3 4"},
		{
			name:    "edit",
			change:  func(v *agent.Review) error { return edit(v, "2", "Other", map[string]any{"at": "z"}) },
			order:   "1 2 3 4",
			changes: "1 edited",
		},
		{
			name: "edit and edit back",
			change: func(v *agent.Review) error {
				return errors.Join(edit(v, "2", "Other", map[string]any{"at": "z"}), edit(v, "2", "Change", map[string]any{"at": "b"}))
			},
			order: "1 2 3 4",
		},
		{
			name: "invalid edit is refused with all faults",
			change: func(v *agent.Review) error {
				return edit(v, "2", " ", map[string]any{"at": "${nobody}", "by": "${noone}"})
			},
			refused: "no title; step 2 refers to ${nobody}",
			order:   "1 2 3 4",
		},
		{
			name:    "edit that makes a cycle is refused",
			change:  func(v *agent.Review) error { return edit(v, "1", "Look", map[string]any{"at": "${seen}"}) },
			refused: "its own result",
			order:   "1 2 3 4",
		},
		{
			name:    "remove an unneeded step",
			change:  func(v *agent.Review) error { return v.Remove("3", false) },
			order:   "1 2 -3 4",
			changes: "1 out",
		},
		{
			name:    "removing a needed step is refused",
			change:  func(v *agent.Review) error { return v.Remove("1", false) },
			refused: "step 1 cannot be removed alone: 3 needs it",
			order:   "1 2 3 4",
		},
		{
			name:    "remove a step with its dependents",
			change:  func(v *agent.Review) error { return v.Remove("2", true) },
			order:   "1 -2 3 -4",
			changes: "2 out",
		},
		{
			name:    "removing all steps is refused",
			change:  func(v *agent.Review) error { return errors.Join(v.Remove("1", true), v.Remove("2", true)) },
			refused: "refuse the plan instead",
			order:   "-1 2 -3 4",
			changes: "2 out",
		},
		{
			name: "restore a step with its dependencies",
			change: func(v *agent.Review) error {
				_, err := v.Restore("4")
				return errors.Join(v.Remove("2", true), err, func() error { _, err := v.Restore("4"); return err }())
			},
			refused: "step 4 is not removed", // the first time
			order:   "1 2 3 4",
		},
		{
			name:    "move up",
			change:  func(v *agent.Review) error { return v.Move("2", -1) },
			order:   "2 1 3 4",
			changes: "1 moved",
		},
		{
			name:   "move up and back",
			change: func(v *agent.Review) error { return errors.Join(v.Move("2", -1), v.Move("2", 1)) },
			order:  "1 2 3 4",
		},
		{
			name:    "move down",
			change:  func(v *agent.Review) error { return v.Move("1", 1) },
			order:   "2 1 3 4",
			changes: "1 moved",
		},
		{
			name:    "step cannot pass a result that it needs",
			change:  func(v *agent.Review) error { return errors.Join(v.Move("3", -1), v.Move("3", -1)) },
			refused: "step 3 needs the result of step 1 (${seen})",
			order:   "1 3 2 4",
			changes: "1 moved",
		},
		{
			name:    "step cannot pass its dependency",
			change:  func(v *agent.Review) error { return errors.Join(v.Move("4", -1), v.Move("4", -1)) },
			refused: "step 4 depends on step 2",
			order:   "1 2 4 3",
			changes: "1 moved",
		},
		{name: "first step cannot move up", change: func(v *agent.Review) error { return v.Move("1", -1) }, refused: "already first", order: "1 2 3 4"},
		{name: "last step cannot move down", change: func(v *agent.Review) error { return v.Move("4", 1) }, refused: "already last", order: "1 2 3 4"},
		{
			name:    "moved step can be removed alone",
			change:  func(v *agent.Review) error { return errors.Join(v.Move("4", -1), v.Remove("4", false)) },
			order:   "1 2 3 -4",
			changes: "1 out",
		},
		{
			name:    "approve a gate",
			change:  func(v *agent.Review) error { return v.Approve("2", true) },
			order:   "1 2 3 4",
			changes: "1 gate approved",
		},
		{
			name:    "approving unknown args is refused",
			change:  func(v *agent.Review) error { return v.Approve("3", true) },
			refused: "it asks when it runs, because ${seen} is inserted then",
			order:   "1 2 3 4",
		},
		{
			name: "approving a step for a list is refused",
			change: func(v *agent.Review) error {
				step, _ := v.Plan().Step("2")
				step.ForEach = &plan.ForEach{Items: []any{"a", "b"}, As: "item", Max: plan.DefaultMax}
				return errors.Join(v.Edit(step), count(v.ApproveAll(), 0), v.Approve("2", true))
			},
			refused: "it asks when it runs, for each of its items",
			order:   "1 2 3 4",
			changes: "1 edited",
		},
		{
			name:    "approving a step without a gate is refused",
			change:  func(v *agent.Review) error { return v.Approve("1", true) },
			refused: "step 1 does not ask",
			order:   "1 2 3 4",
		},
		{
			name: "approve all",
			change: func(v *agent.Review) error {
				return errors.Join(edit(v, "3", "Put", map[string]any{"at": "x"}), count(v.ApproveAll(), 2), count(v.ApproveAll(), 0))
			},
			order:   "1 2 3 4",
			changes: "1 edited · 2 gates approved",
		},
		{
			name: "edit revokes the approval",
			change: func(v *agent.Review) error {
				return errors.Join(v.Approve("2", true), edit(v, "2", "Change", map[string]any{"at": "other"}))
			},
			order:   "1 2 3 4",
			changes: "1 edited",
		},
		{
			name: "undo changes one at a time",
			change: func(v *agent.Review) error {
				err := errors.Join(v.Remove("3", false), v.Approve("2", true), v.Move("2", -1))
				if v.Undo(); v.Changes().String() != "1 out · 1 gate approved" {
					return errors.Join(err, fmt.Errorf("after one undo: %s", v.Changes()))
				}
				v.Undo()
				v.Undo()
				if v.Undo() {
					return errors.New("undo succeeded with nothing left to undo")
				}
				return err
			},
			order: "1 2 3 4",
		},
	}
	for _, test := range tests {
		t.Run(test.name, test.run)
	}
}

func count(got, want int) error {
	if got != want {
		return fmt.Errorf("got %d, want %d", got, want)
	}
	return nil
}

func TestMovedStepRunsFirst(t *testing.T) {
	w := held(t, reviewed)
	v := w.run.Review()
	if err := v.Move("2", -1); err != nil {
		t.Fatal(err)
	}
	w.answerReview(v.Answer(event.ReviewRun))
	w.finish()
	if got := w.starts(); got[0] != "2" {
		t.Fatalf("got the starts %v", got)
	}
	d := all[event.PlanReviewed](w)[0]
	if want := []event.Move{{Step: "1", After: "2"}}; !reflect.DeepEqual(d.Moved, want) {
		t.Fatalf("got the moves %v, want %v", d.Moved, want)
	}
}

func TestApprovalHoldsForShownCall(t *testing.T) {
	tests := []struct {
		name   string
		change func(w *world, resume *event.RunResumed)
		asked  bool
	}{
		{name: "unchanged tool", change: func(*world, *event.RunResumed) {}},
		{name: "tool with other annotations", change: func(_ *world, r *event.RunResumed) {
			r.Catalog = slices.Clone(r.Catalog)
			r.Catalog[1].Destructive = true
		}, asked: true},
		{name: "tool in another box", change: func(_ *world, r *event.RunResumed) {
			r.Catalog = slices.Clone(r.Catalog)
			r.Catalog[1].Contained = plan.ContainedFiles
		}, asked: true},
		{name: "rule blocks the tool", change: func(_ *world, r *event.RunResumed) {
			r.Rules = append([]rule.Rule{{Tool: "change", Verdict: rule.VerdictBlock, Why: "no"}}, r.Rules...)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := held(t, `{"title":"T","steps":[{"index":"1","title":"C","tool":"change","args":{"at":"b"},"gate":true}]}`)
			v := w.run.Review()
			if n := v.ApproveAll(); n != 1 {
				t.Fatalf("approved %d gates, want 1", n)
			}
			w.answerReview(v.Answer(event.ReviewRun))
			w.kill(len(w.events))
			resume := resumed(given(t, reviewed))
			test.change(w, &resume)
			result := w.resume(resume)
			if asked := len(all[event.GateRequested](w)) > 0; asked != test.asked {
				t.Errorf("asked: %t, want %t", asked, test.asked)
			}
			switch blocked := resume.Rules[0].Verdict == rule.VerdictBlock; {
			case blocked && result.Reason != event.ReasonDenied:
				t.Errorf("ended %s", result.Reason)
			case !blocked && !test.asked:
				if rule := all[event.StepStarted](w)[0].Rule; rule == nil || !strings.Contains(string(rule.Why), "review of the plan") {
					t.Errorf("the step passed by the rule %v", rule)
				}
			}
		})
	}
}

func TestReviewAnswerIsCheckedAgainstHeldPlan(t *testing.T) {
	w := held(t, reviewed)
	p := w.run.Plan
	widened, gone := p, p
	widened.Steps = append(slices.Clone(p.Steps), plan.Step{Index: "9", Title: "More", Executor: plan.ExecutorTool, Tool: "change"})
	gone.Steps = p.Steps[1:]
	for refused, a := range map[string]agent.ReviewAnswer{
		"revision 2":           {Revision: 2, Decision: event.ReviewRun},
		"not in the plan":      {Revision: 1, Decision: event.ReviewRun, Plan: &widened},
		"defines no variables": {Revision: 1, Decision: event.ReviewRun, Plan: &gone},
		"step 1 does not ask":  {Revision: 1, Decision: event.ReviewRun, Approved: []string{"1"}},
		"run or refused":       {Revision: 1, Decision: "perhaps"},
	} {
		if _, err := w.run.AnswerReview(a, "user"); err == nil || !strings.Contains(err.Error(), refused) {
			t.Errorf("got error %v, want %q", refused, err)
		}
	}
	changed := p
	changed.Steps = slices.Clone(p.Steps)
	changed.Steps[3].Tool, changed.Steps[3].DependsOn = "change", nil
	d, err := w.run.AnswerReview(agent.ReviewAnswer{Revision: 1, Decision: event.ReviewRun, Plan: &changed}, "user")
	if err != nil || d.Plan != nil {
		t.Errorf("another tool and a removed dependency were accepted: %v, %v", d.Plan, err)
	}
}

func TestRevisionOfHeldPlanIsHeld(t *testing.T) {
	w := newWorld(t)
	w.reply = script{
		prompt.PurposePlan:   {`{"title":"T","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"a"}},{"index":"2","title":"Change","tool":"change","args":{"at":"b"},"depends_on":["1"]}]}`},
		prompt.PurposeReplan: {`{"title":"T","steps":[{"index":"3","title":"Change","tool":"change","args":{"at":"c"}}]}`},
	}.reply
	broke := false
	w.tool = func(c agent.CallTool) event.Data {
		if c.Tool.Name == "change" && !broke {
			broke = true
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "broke", Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "r"}
	}
	start := started(event.DefaultLimits())
	start.Review = true
	w.apply(start)
	for revision := 1; revision <= 2; revision++ {
		w.untilHeld()
		if w.run.Revision != revision {
			t.Fatalf("revision %d is held", w.run.Revision)
		}
		w.answerReview(w.run.Review().Answer(event.ReviewRun))
	}
	if result := w.finish(); result.Status != event.StatusCompleted {
		t.Fatalf("%s: %s", result.Reason, result.Error)
	}
}

func TestSteeringHeldPlanMakesNewHeldPlan(t *testing.T) {
	w := newWorld(t)
	w.reply = script{
		prompt.PurposePlan:   {reviewed},
		prompt.PurposeReplan: {`{"title":"T","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"elsewhere"}}]}`},
	}.reply
	start := started(event.DefaultLimits())
	start.Review = true
	w.apply(start)
	w.untilHeld()
	w.apply(event.RunSteered{Text: "look elsewhere"})
	if w.run.AwaitsReview() {
		t.Fatal("the plan is still held although a new one is being made")
	}
	w.untilHeld()
	if w.run.Revision != 2 || len(w.starts()) > 0 {
		t.Fatalf("revision %d is held, %v started", w.run.Revision, w.starts())
	}
}
