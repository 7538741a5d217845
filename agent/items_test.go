package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// eachPlan runs a change for each file that its first step finds, and a step with all
// results after it.
func eachPlan(t tester, fields string) event.RunStarted {
	return given(t, `{"title":"Change all","steps":[
		{"index":"1","title":"Find","tool":"look","args":{},"result_variable":"found"},
		{"index":"2","title":"Change","tool":"change","for_each":"${found.files}","args":{"at":"${item}"},"result_variable":"changed"`+fields+`},
		{"index":"3","title":"Tell","tool":"look","args":{"at":"${changed}"}}]}`)
}

// finding makes step 1 find the files a, b, c and so on, and change answer with its file.
func (w *world) finding(n int) {
	var files []any
	for i := range n {
		files = append(files, string(rune('a'+i)))
	}
	w.tool = func(c agent.CallTool) event.Data {
		done := event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: c.Args["at"], MS: 1}
		if c.Index == "1" {
			done.Result = map[string]any{"files": files}
		}
		return done
	}
}

// failing makes the calls for some files fail.
func (w *world) failing(files ...any) {
	works := w.tool
	w.tool = func(c agent.CallTool) event.Data {
		if slices.Contains(files, c.Args["at"]) && c.Tool.Name == "change" {
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "the disk is full", Failure: event.FailureTool}
		}
		return works(c)
	}
}

func TestStepRunsForEachItem(t *testing.T) {
	w := newWorld(t)
	mirror(w)
	w.finding(3)
	result := w.play(eachPlan(t, ""))
	if result.Reason != event.ReasonGoalMet || !slices.Equal(w.starts(), []string{"1", "2.1", "2.2", "2.3", "3"}) {
		t.Fatalf("the run ended with %s after the steps %v\n%s", result.Reason, w.starts(), w.tail())
	}
	if got := plan.CanonicalJSON(result.Variables["changed"]); got != `["a","b","c"]` {
		t.Errorf("the result is %s", got)
	}
	expanded := all[event.StepExpanded](w)
	if len(expanded) != 1 || plan.CanonicalJSON(expanded[0].Items) != `["a","b","c"]` {
		t.Errorf("the step expanded as %v", expanded)
	}
	if u := result.Usage; u.Steps != 3 || u.ToolCalls != 5 {
		t.Errorf("the run used %d steps and %d calls, want 3 and 5", u.Steps, u.ToolCalls)
	}
	if s := w.run.Step("2.2"); s == nil || s.Parent != "2" || s.Step.Title != "Change: b" || s.Status != agent.StepCompleted {
		t.Errorf("the second item is %+v", s)
	}
}

func TestItemsAreExecutedNoMoreThanAtOnce(t *testing.T) {
	w := newWorld(t)
	w.finding(7)
	most := 0
	w.watch = func([]event.Data, []agent.Effect) {
		running := 0
		for _, item := range w.run.Step("2").Items {
			if item.Status == agent.StepRunning {
				running++
			}
		}
		most = max(most, running)
	}
	w.play(given(t, `{"title":"Read all","variables":{"names":["a","b","c","d","e","f","g"]},"steps":[
		{"index":"2","title":"Read","tool":"look","for_each":"${names}","at_once":2,"args":{"at":"${item}"}}]}`))
	if most != 2 {
		t.Errorf("%d items ran at once, want 2", most)
	}
}

func TestEmptyListCompletesItsStep(t *testing.T) {
	w := newWorld(t)
	w.tool = func(c agent.CallTool) event.Data {
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: map[string]any{"files": []any{}}}
	}
	if result := w.play(eachPlan(t, "")); result.Reason != event.ReasonGoalMet || plan.CanonicalJSON(result.Variables["changed"]) != "[]" {
		t.Errorf("the run ended with %s and %v", result.Reason, result.Variables["changed"])
	}
}

func TestListThatCannotBeUsedFailsItsStep(t *testing.T) {
	for name, c := range map[string]struct {
		files any
		words string
	}{
		"text":     {"a, b", "for_each needs a list, and ${found.files} is text"},
		"51 items": {slices.Repeat([]any{"a"}, 51), "for_each has 51 items, and max is 50"},
		"nothing":  {nil, "for_each needs a list, and ${found.files} is null"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.returning(map[string]any{"files": c.files})
			result := w.play(eachPlan(t, ""))
			if failed := all[event.StepFailed](w); result.Reason != event.ReasonStepFailed || len(failed) != 1 || !strings.Contains(string(failed[0].Error), c.words) {
				t.Errorf("the run ended with %s and %v", result.Reason, failed)
			}
		})
	}
}

func TestItemsAreNeverExpanded(t *testing.T) {
	w := newWorld(t)
	w.tool = func(c agent.CallTool) event.Data {
		if c.Index == "1" {
			return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: map[string]any{"files": []any{"${found}", "$${x}"}}}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: c.Args["at"]}
	}
	if result := w.play(eachPlan(t, "")); plan.CanonicalJSON(result.Variables["changed"]) != `["${found}","$${x}"]` {
		t.Errorf("the results are %v", result.Variables["changed"])
	}
}

func TestFailedItemFollowsOnFailure(t *testing.T) {
	t.Run("abort", func(t *testing.T) {
		w := newWorld(t)
		w.finding(3)
		w.failing("b")
		result := w.play(eachPlan(t, `,"at_once":1,"on_failure":"abort"`))
		if result.Reason != event.ReasonStepFailed || !strings.Contains(string(result.Error), "2.2 (Change: b) failed: the disk is full") || slices.Contains(w.starts(), "2.3") {
			t.Errorf("the run ended with %s, %q, after %v", result.Reason, result.Error, w.starts())
		}
	})
	t.Run("skip", func(t *testing.T) {
		w := newWorld(t)
		w.finding(3)
		w.failing("b")
		result := w.play(eachPlan(t, `,"on_failure":"skip"`))
		if result.Reason != event.ReasonPartial || plan.CanonicalJSON(result.Variables["changed"]) != `["a",null,"c"]` || !slices.Contains(w.starts(), "3") {
			t.Errorf("the run ended with %s and %v", result.Reason, result.Variables["changed"])
		}
	})
	t.Run("replan", func(t *testing.T) {
		w := newWorld(t)
		w.finding(3)
		w.failing("b")
		w.reply = func(r prompt.Request) (string, error) {
			w.finding(3) // from now on all work
			return `{"title":"Again","steps":[{"index":"2","title":"Change","tool":"change","for_each":"${found.files}","args":{"at":"${item}"},"result_variable":"changed"}]}`, nil
		}
		result := w.play(eachPlan(t, `,"at_once":1,"on_failure":"replan"`))
		if result.Status != event.StatusCompleted || plan.CanonicalJSON(result.Variables["changed"]) != `["a","b","c"]` {
			t.Fatalf("the run ended with %s: %s\n%s", result.Reason, result.Error, w.tail())
		}
		if got := w.starts(); !slices.Equal(got, []string{"1", "2.1", "2.2", "2.2", "2.3"}) {
			t.Errorf("the steps %v started: a completed item may not be repeated", got)
		}
	})
}

func TestItemsLeftFollowTheStepOfTheNewPlan(t *testing.T) {
	w := newWorld(t)
	w.finding(3)
	w.failing("b")
	w.reply = func(prompt.Request) (string, error) {
		w.finding(3) // from now on all work
		return `{"title":"Again","steps":[{"index":"2","title":"Change slowly","tool":"change","for_each":["a","b","c"],"args":{"at":"${item}"},"gate":true,"timeout":"5m"}]}`, nil
	}
	start := given(t, `{"title":"Change all","on_failure":"replan","steps":[
		{"index":"2","title":"Change","tool":"change","for_each":["a","b","c"],"at_once":1,"args":{"at":"${item}"}},
		{"index":"3","title":"Look","tool":"look","args":{},"depends_on":["2"]}]}`)
	start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
	var asked []string
	w.gate = func(g event.GateRequested) event.Decision {
		asked = append(asked, g.Step)
		return event.Allow
	}
	result := w.play(start)
	if result.Status != event.StatusCompleted || !slices.Equal(asked, []string{"2.2", "2.3"}) {
		t.Fatalf("the run ended with %s, and the gates of %v opened\n%s", result.Reason, asked, w.tail())
	}
	for _, index := range []string{"2.2", "2.3"} {
		if s := w.run.Step(index).Step; s.Timeout != 5*time.Minute || !s.Title.Contains("Change slowly") {
			t.Errorf("item %s is %+v", index, s)
		}
	}
}

func TestConditionOfItemsTakesSome(t *testing.T) {
	w := newWorld(t)
	mirror(w)
	w.finding(3)
	result := w.play(eachPlan(t, `,"when":"item != 'b' and index < 5"`))
	if result.Reason != event.ReasonGoalMet || plan.CanonicalJSON(result.Variables["changed"]) != `["a",null,"c"]` {
		t.Errorf("the run ended with %s and %v", result.Reason, result.Variables["changed"])
	}
	if !w.run.Step("2.2").NotTaken {
		t.Error("the second item was taken")
	}
}

func TestConditionOfTheStepTakesAllOrNone(t *testing.T) {
	w := newWorld(t)
	w.finding(3)
	w.play(eachPlan(t, `,"when":"len(found.files) > 3"`))
	if !w.run.Step("2").NotTaken || len(all[event.StepExpanded](w)) > 0 {
		t.Errorf("the step was taken:\n%s", w.tail())
	}
}

func TestItemsHaveTheirOwnChecks(t *testing.T) {
	w := newWorld(t)
	mirror(w)
	w.finding(3)
	result := w.play(eachPlan(t, `,"check":{"title":"changed","expect":"result == item and changed == args.at"}`))
	if got := evidence(result); !slices.Equal(got, []plan.EvidenceState{"verified"}) || result.Evidence[0].Step != "2" {
		t.Errorf("the evidence is %v", result.Evidence)
	}
	w = newWorld(t)
	w.finding(3)
	result = w.play(eachPlan(t, `,"on_failure":"skip","check":{"title":"changed","expect":"result != 'b'"}`))
	if got := evidence(result); !slices.Equal(got, []plan.EvidenceState{"refuted"}) || result.Evidence[0].Step != "2.2" || result.Reason != event.ReasonPartial {
		t.Errorf("the run ended with %s and %v", result.Reason, result.Evidence)
	}
}

func TestFailedItemLeavesItsChecksUnchecked(t *testing.T) {
	for _, follows := range []string{"skip", "abort"} {
		w := newWorld(t)
		w.finding(3)
		w.failing("b")
		result := w.play(eachPlan(t, `,"on_failure":"`+follows+`","check":{"title":"changed","expect":"result == item"}`))
		if got := evidence(result); !slices.Equal(got, []plan.EvidenceState{"unchecked"}) || result.Evidence[0].Step != "2.2" {
			t.Errorf("with %s the run ended with %s and %v", follows, result.Reason, result.Evidence)
		}
	}
}

// denying denies the gates of one step and allows all others.
func (w *world) denying(step string) {
	w.gate = func(g event.GateRequested) event.Decision {
		if g.Step == step {
			return event.Deny
		}
		return event.Allow
	}
}

func TestItemsThatAreLeftOutNeedNoCheck(t *testing.T) {
	w := newWorld(t)
	mirror(w)
	w.finding(3)
	w.denying("2.2")
	result := w.play(eachPlan(t, `,"when":"item != 'c'","check":{"title":"changed","expect":"result == item"}`))
	if got := evidence(result); !slices.Equal(got, []plan.EvidenceState{"verified"}) {
		t.Errorf("the run ended with %s and %v", result.Reason, result.Evidence)
	}
}

func TestStepWithoutItemsClaimsNothing(t *testing.T) {
	for _, fields := range []string{"", `,"check":{"title":"changed","expect":"result == item"}`} {
		w := newWorld(t)
		w.finding(0)
		result := w.play(eachPlan(t, fields))
		if state := w.run.StateOf(w.run.Step("2")); len(result.Evidence) > 0 || state != "" {
			t.Errorf("with the fields %q the evidence is %v and the step is %q", fields, result.Evidence, state)
		}
	}
}

func TestChecksOfItemsCallToolsWithTheItem(t *testing.T) {
	w := newWorld(t)
	w.finding(3)
	w.finds = func(c agent.CallCheck) event.CheckCompleted { return c.Returned(c.Check.Args["at"], 1) }
	result := w.play(eachPlan(t, `,"check":{"title":"changed","tool":"look","args":{"at":"${item}"},"expect":"result == changed"}`))
	if got := evidence(result); !slices.Equal(got, []plan.EvidenceState{"verified"}) {
		t.Errorf("the run ended with %s and %v", result.Reason, result.Evidence)
	}
}

func TestItemsCarryTheTextOfTheirList(t *testing.T) {
	w := newWorld(t)
	w.finding(2)
	var asked []rule.Provenance
	w.gate = func(g event.GateRequested) event.Decision {
		asked = append(asked, g.Provenance...)
		return event.Allow
	}
	w.play(eachPlan(t, ""))
	if len(asked) != 2 || asked[0].Step != "1" || asked[0].Arg != "at" {
		t.Errorf("the gates showed %v", asked)
	}
}

func TestDeniedItemIsLeftOut(t *testing.T) {
	w := newWorld(t)
	mirror(w)
	w.finding(3)
	w.denying("2.2")
	result := w.play(eachPlan(t, ""))
	if result.Reason != event.ReasonPartial || plan.CanonicalJSON(result.Variables["changed"]) != `["a",null,"c"]` {
		t.Errorf("the run ended with %s and %v", result.Reason, result.Variables["changed"])
	}
}

func TestStepWhoseItemsAreAllDeniedIsDenied(t *testing.T) {
	w := newWorld(t)
	w.finding(3)
	w.gate = func(event.GateRequested) event.Decision { return event.Deny }
	if result := w.play(eachPlan(t, "")); result.Reason != event.ReasonDenied || len(w.starts()) > 1 {
		t.Errorf("the run ended with %s after %v", result.Reason, w.starts())
	}
}

func TestGatesOfAllItemsOpenTogether(t *testing.T) {
	w := newWorld(t)
	w.finding(20)
	most := 0
	w.choose = func(n int) int { most = max(most, len(w.run.Gates)); return 0 }
	if w.play(eachPlan(t, `,"at_once":1`)); most != 20 {
		t.Errorf("%d gates were open together, want 20", most)
	}
}

func TestGatesOfItemsTakeNoStepFromOthers(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"Change all","steps":[
		{"index":"1","title":"Change","tool":"change","for_each":["a","b","c","d"],"args":{"at":"${item}"}},
		{"index":"2","title":"Look","tool":"look","args":{}},
		{"index":"3","title":"Look again","tool":"look","args":{},"depends_on":["2"]}]}`)
	start.Limits.MaxSteps = 3
	w.choose = func(int) int { return max(0, slices.IndexFunc(w.pending, isCall("3"))) }
	w.gate = func(g event.GateRequested) event.Decision {
		if w.run.Step("3").Status != agent.StepCompleted {
			t.Errorf("gate %s was answered before the last step, which is %s", g.Gate, w.run.Step("3").Status)
		}
		return event.Allow
	}
	if result := w.play(start); result.Reason != event.ReasonGoalMet || result.Usage.Steps != 3 {
		t.Errorf("the run ended with %s after %d steps", result.Reason, result.Usage.Steps)
	}
}

func TestItemsForAModelAreNamedInTheRequest(t *testing.T) {
	w := newWorld(t)
	w.finding(2)
	var asked []string
	w.reply = func(r prompt.Request) (string, error) {
		asked = append(asked, r.Messages[len(r.Messages)-1].Content)
		return "summary", nil
	}
	start := given(t, `{"title":"Sum up","steps":[
		{"index":"1","title":"Find","tool":"look","args":{},"result_variable":"found"},
		{"index":"2","title":"Sum up","executor":"self","for_each":"${found.files}","result_variable":"texts"}]}`)
	result := w.play(start)
	if plan.CanonicalJSON(result.Variables["texts"]) != `["summary","summary"]` || len(asked) != 2 {
		t.Fatalf("the run ended with %s and %v\n%s", result.Reason, result.Variables, w.tail())
	}
	for i, item := range []string{"a", "b"} {
		if !strings.Contains(asked[i], "Sum up: "+item) {
			t.Errorf("request %d does not name its item %s:\n%s", i+1, item, asked[i])
		}
	}
}

func TestDryRunExpandsKnownItems(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"Dry","variables":{"names":["a","b"]},"steps":[
		{"index":"1","title":"Known","tool":"look","for_each":"${names}","args":{"at":"${item}"},"result_variable":"found"},
		{"index":"2","title":"Unknown","tool":"look","for_each":"${found}","args":{"at":"${item}"}}]}`)
	start.DryRun = true
	result := w.play(start)
	var args []string
	for _, d := range all[event.StepCompleted](w) {
		args = append(args, d.Index+plan.CanonicalJSON(d.Args))
	}
	if want := `[1.1{"at":"a"} 1.2{"at":"b"} 1null 2{"at":"<item>"}]`; fmt.Sprint(args) != want || result.Status != event.StatusCompleted {
		t.Errorf("the dry run ended with %s and %v, want %s", result.Reason, args, want)
	}
}

// drawForEach lets some steps run for each item of a list, or of a value that is none.
func drawForEach(t *rapid.T, step map[string]any) {
	if rapid.IntRange(0, 4).Draw(t, "expands") > 0 {
		return
	}
	step["for_each"] = rapid.SampledFrom([]any{[]any{"a", "b", "c"}, []any{}, []any{"a"}, "${on}"}).Draw(t, "items")
	step["at_once"] = rapid.IntRange(0, 2).Draw(t, "at once")
	if rapid.IntRange(0, 3).Draw(t, "chooses") == 0 {
		step["when"] = "on and item != 'b'"
	}
	if args, ok := step["args"].(map[string]any); ok {
		args["at"] = "${item}"
	}
}

// forgetItems lets a new plan repeat the items of the steps that it changes.
func (o *order) forgetItems(before, after map[string]plan.Step) {
	for index := range o.done {
		if of, _, item := strings.Cut(index, "."); item && !sameItems(before[of], after[of]) {
			delete(o.done, index)
		}
	}
}

// takeItems counts the checks of each item of a step.
func (c *checkedSteps) takeItems(d event.StepExpanded) {
	step := c.steps[d.Index]
	step.ForEach = nil
	for i := range d.Items {
		c.of[fmt.Sprintf("%s.%d", d.Index, i+1)] = len(agent.ChecksOf(step))
	}
}

// sameItems reports whether a new plan keeps the items of a step, so that none of the
// completed ones may be repeated.
func sameItems(before, after plan.Step) bool {
	if before.ForEach == nil || after.ForEach == nil {
		return before.ForEach == nil // inner calls end with their step
	}
	return plan.SameCall(before, after) && plan.EqualValues(before.ForEach.Items, after.ForEach.Items)
}
