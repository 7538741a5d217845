package agent_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// A run with a fan-out is cut after every event and resumed. No call with an effect that
// has returned is repeated, and each doubt is about one item.
func TestKillInsideAFanOutRepeatsNothing(t *testing.T) {
	const items = 5
	played := func() (*world, event.RunStarted, map[any]int) {
		w := newWorld(t)
		w.finding(items)
		effects := map[any]int{}
		works := w.tool
		w.tool = func(c agent.CallTool) event.Data {
			if c.Tool.Name == "change" {
				effects[c.Args["at"]]++
			}
			return works(c)
		}
		start := eachPlan(t, `,"at_once":3,"check":{"expect":"result == item"}`)
		start.InDoubt = event.DoubtRerun
		w.play(start)
		return w, start, effects
	}
	whole, _, _ := played()
	for n := 1; n < len(whole.events); n++ {
		w, start, effects := played()
		returned := map[any]bool{}
		for _, e := range w.events[:n] {
			if d, ok := e.Data.(event.StepCompleted); ok && strings.HasPrefix(d.Index, "2.") {
				returned[d.Result] = true
			}
		}
		clear(effects)
		w.kill(n)
		result := w.resume(resumed(start))
		if result.Status != event.StatusCompleted || plan.CanonicalJSON(result.Variables["changed"]) != `["a","b","c","d","e"]` {
			t.Fatalf("killed after event %d, the run ended with %s and %v\n%s", n, result.Reason, result.Variables["changed"], w.tail())
		}
		for item, times := range effects {
			if returned[item] || times > 1 {
				t.Errorf("killed after event %d, item %v was changed %d times more", n, item, times)
			}
		}
		for _, d := range all[event.StepInDoubt](w) {
			if !strings.HasPrefix(d.Index, "2.") {
				t.Errorf("killed after event %d, step %s is in doubt", n, d.Index)
			}
		}
	}
}

func TestOnlyItemsOfAKilledStepAreInDoubt(t *testing.T) {
	w := newWorld(t)
	w.finding(3)
	w.play(eachPlan(t, `,"at_once":1`))
	w.kill(1 + slices.IndexFunc(w.events, func(e event.Event) bool {
		started, ok := e.Data.(event.StepStarted)
		return ok && started.Index == "2.2"
	}))
	if got := w.run.Snapshot(false).InDoubt; !slices.Equal(got, []string{"2.2"}) {
		t.Errorf("the steps %v are in doubt, want 2.2", got)
	}
}

func TestFailedRunWithItemsResumesTheRest(t *testing.T) {
	w := newWorld(t)
	w.finding(4)
	w.failing("c")
	start := eachPlan(t, `,"at_once":1`)
	w.play(start)
	w.finding(4)
	if result := w.resume(resumed(start)); result.Status != event.StatusCompleted {
		t.Fatalf("the resume ended with %s: %s", result.Reason, result.Error)
	}
	if got := w.starts(); !slices.Equal(got, []string{"1", "2.1", "2.2", "2.3", "2.3", "2.4", "3"}) {
		t.Errorf("the steps %v started", got)
	}
}

// A new plan has another order of the list. Killed after any event, the run repeats no
// completed item.
func TestNewOrderOfTheListRepeatsNothing(t *testing.T) {
	played := func() (*world, event.RunStarted, map[any]int) {
		w := newWorld(t)
		changed, broken := map[any]int{}, true
		w.tool = func(c agent.CallTool) event.Data {
			if c.Args["at"] == "b" && broken {
				return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "the disk is full", Failure: event.FailureTool}
			}
			changed[c.Args["at"]]++
			return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: c.Args["at"], MS: 1}
		}
		w.reply = func(prompt.Request) (string, error) {
			broken = false
			return `{"title":"Again","steps":[{"index":"1","title":"Change","tool":"change","for_each":["b","c","a","a"],"at_once":1,"args":{"at":"${item}"},"result_variable":"changed"}]}`, nil
		}
		start := given(t, `{"title":"Change all","on_failure":"replan","steps":[
			{"index":"1","title":"Change","tool":"change","for_each":["a","b","c"],"at_once":1,"args":{"at":"${item}"},"result_variable":"changed"}]}`)
		start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
		start.InDoubt = event.DoubtDone // so no doubt repeats a call
		w.play(start)
		return w, start, changed
	}
	twice := map[any]int{"a": 2, "b": 1, "c": 1} // a is twice in the new list
	whole, _, changed := played()
	if !maps.Equal(changed, twice) {
		t.Fatalf("the items were changed %v times\n%s", changed, whole.tail())
	}
	if got := plan.CanonicalJSON(whole.run.Result.Variables["changed"]); got != `["b","c","a","a"]` {
		t.Errorf("the result is %s", got)
	}
	replanned := slices.IndexFunc(whole.events, func(e event.Event) bool {
		_, ok := e.Data.(event.PlanDiff)
		return ok
	})
	for n := replanned + 1; n < len(whole.events); n++ {
		w, start, changed := played()
		done := map[any]int{}
		for _, e := range w.events[:n] {
			if d, ok := e.Data.(event.StepCompleted); ok && strings.HasPrefix(d.Index, "1.") {
				done[d.Result]++
			}
		}
		clear(changed)
		w.kill(n)
		w.resume(resumed(start))
		for item, times := range changed {
			if done[item]+times > twice[item] {
				t.Errorf("killed after event %d, item %v was changed %d times after %d before\n%s", n, item, times, done[item], w.tail())
			}
		}
	}
}

// A review before the resume changes a step that failed in the middle of its list.
func TestReviewedItemsFollowTheEditedStep(t *testing.T) {
	for _, test := range []struct {
		name, was, is, calls string
	}{
		{"another condition keeps those that are done", `"on_failure":""`, `"when":"item != 'd'"`, "c"},
		{"another list keeps those that are done", `["a","b","c","d"]`, `["d","c","b"]`, "d c"},
		{"other arguments repeat all", `"at":"${item}"`, `"at":"x${item}"`, "xa xb xc xd"},
		{"no list is one call", `"for_each":["a","b","c","d"],"at_once":1,"args":{"at":"${item}"}`, `"args":{"at":"e"}`, "e"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.failing("c")
			text := `{"title":"Change all","steps":[
				{"index":"1","title":"Change","tool":"change","for_each":["a","b","c","d"],"at_once":1,"args":{"at":"${item}"},"on_failure":""}]}`
			start := given(t, text)
			start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
			w.play(start)
			var calls []string
			w.tool = func(c agent.CallTool) event.Data {
				calls = append(calls, c.Args["at"].(string))
				return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: c.Args["at"], MS: 1}
			}
			w.review = func(v *agent.Review) event.ReviewDecision {
				edited := given(t, strings.Replace(text, test.was, test.is, 1)).Plan.Steps[0]
				if err := v.Edit(edited); err != nil {
					t.Fatal(err)
				}
				return event.ReviewRun
			}
			d := resumed(start)
			d.Review = true
			if result := w.resume(d); result.Status != event.StatusCompleted {
				t.Fatalf("the resume ended with %s: %s", result.Reason, result.Error)
			}
			if got := strings.Join(calls, " "); got != test.calls {
				t.Errorf("called for %s, want %s\n%s", got, test.calls, w.tail())
			}
		})
	}
}

func TestLongerListOfFinishedStepRunsNewItems(t *testing.T) {
	w := newWorld(t)
	mirror(w)
	w.finding(0)
	w.failing("x")
	w.reply = func(prompt.Request) (string, error) {
		return `{"title":"Again","steps":[
			{"index":"1","title":"Change","tool":"change","for_each":["c","a","d","b"],"args":{"at":"${item}"},"result_variable":"changed"},
			{"index":"2","title":"Tell","tool":"look","args":{"at":"${changed}"},"depends_on":["1"]}]}`, nil
	}
	result := w.play(given(t, `{"title":"Change all","on_failure":"replan","steps":[
		{"index":"1","title":"Change","tool":"change","for_each":["a","b"],"args":{"at":"${item}"},"result_variable":"changed"},
		{"index":"2","title":"Change more","tool":"change","args":{"at":"x"},"depends_on":["1"]}]}`))
	if got := w.starts(); !slices.Equal(got, []string{"1.1", "1.2", "2", "1.1", "1.3", "2"}) {
		t.Errorf("the steps %v started\n%s", got, w.tail())
	}
	if got := plan.CanonicalJSON(result.Variables["changed"]); got != `["c","a","d","b"]` || result.Status != event.StatusCompleted {
		t.Errorf("the run ended with %s, and the result is %s", result.Reason, got)
	}
}

func TestEachOccurrenceInTheNewListRunsOnce(t *testing.T) {
	for list, want := range map[string][]string{
		`["a"]`:             {"1.1", "1.2"}, // one is done
		`["a","b","a"]`:     {"1.1", "1.2", "1.2", "1.3"},
		`["b","a"]`:         {"1.1", "1.2", "1.1"},
		`["a","b","a","a"]`: {"1.1", "1.2", "1.2", "1.3", "1.4"},
	} {
		t.Run(list, func(t *testing.T) {
			w := newWorld(t)
			mirror(w)
			w.tool = func(c agent.CallTool) event.Data {
				if c.Index == "1.1" && c.Attempt == 1 {
					return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "the disk is full", Failure: event.FailureTool}
				}
				return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: c.Args["at"], MS: 1}
			}
			step := `{"title":"Change","on_failure":"replan","steps":[{"index":"1","title":"Change","tool":"change","for_each":%s,"args":{"at":"${item}"},"result_variable":"changed"}]}`
			w.reply = func(prompt.Request) (string, error) { return fmt.Sprintf(step, list), nil }
			start := given(t, fmt.Sprintf(step, `["a","a"]`))
			start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
			result := w.play(start)
			if got := w.starts(); !slices.Equal(got, want) {
				t.Errorf("the steps %v started, want %v\n%s", got, want, w.tail())
			}
			if plan.CanonicalJSON(result.Variables["changed"]) != list {
				t.Errorf("the run ended with %s: %s\n%v", result.Reason, result.Error, result.Variables)
			}
		})
	}
}

// Each new plan puts a new item before one that an agent has done.
func TestNoAttemptOfACallOfAMovedItemStartsTwice(t *testing.T) {
	w := newWorld(t)
	mirror(w)
	const step = `{"title":"Ask","on_failure":"replan","steps":[{"index":"1","title":"Ask","executor":"agent","profile":"scout","for_each":%s,"at_once":1,"result_variable":"told"}]}`
	fails := turn{fails: "no answer"}
	asks, tells := turn{calls: []reply.ToolUse{use("look", "q")}}, turn{text: "told"}
	k := &replyingModel{
		turns:  []turn{asks, tells, fails, fails, fails, asks, tells, fails, fails, fails, asks, tells},
		others: script{prompt.PurposeReplan: {fmt.Sprintf(step, `["b","a","x"]`), fmt.Sprintf(step, `["c","a","b"]`)}},
	}
	k.join(w)
	start := given(t, fmt.Sprintf(step, `["a","y"]`))
	start.Prompting.ModelTools, start.Prompting.Profiles = true, []prompt.Profile{{Name: "scout"}}
	if result := w.play(start); plan.CanonicalJSON(result.Variables["told"]) != `["told","told","told"]` {
		t.Fatalf("the run ended with %s: %s\n%s", result.Reason, result.Error, w.tail())
	}
	started := map[event.Attempt]bool{}
	for _, d := range all[event.StepStarted](w) {
		a := event.Attempt{Index: d.Index, Number: d.Attempt}
		if started[a] {
			t.Errorf("attempt %d of %s started twice", a.Number, a.Index)
		}
		started[a] = true
	}
	for _, item := range w.run.Step("1").Items {
		for _, c := range item.Loop.Calls {
			if w.run.Step(c.Step.Index) != c {
				t.Errorf("%s is no call of item %s", c.Step.Index, item.Step.Index)
			}
		}
	}
}

// A step of the model has only its title to say what it does.
func TestNewTitleOfAStepOfTheModelRepeatsItsItems(t *testing.T) {
	const step = `{"title":"Write","on_failure":"replan","steps":[{"index":"1","title":%q,"executor":"self","for_each":["a","b"],"at_once":1,"result_variable":"texts"}]}`
	for _, how := range []string{"replan", "review"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			mirror(w)
			fails := true
			w.reply = func(r prompt.Request) (string, error) {
				words := r.Messages[len(r.Messages)-1].Content
				switch {
				case r.Purpose == prompt.PurposeReplan && how == "replan":
					fails = false
					return fmt.Sprintf(step, "Translate"), nil
				case r.Purpose == prompt.PurposeReplan, fails && strings.Contains(words, ": b"):
					return "", errors.New("no answer")
				case strings.Contains(words, "Translate"):
					return "translated", nil
				}
				return "summed up", nil
			}
			start := given(t, fmt.Sprintf(step, "Sum up"))
			result := w.play(start)
			if how == "review" {
				fails = false
				w.review = func(v *agent.Review) event.ReviewDecision {
					if err := v.Edit(given(t, fmt.Sprintf(step, "Translate")).Plan.Steps[0]); err != nil {
						t.Fatal(err)
					}
					return event.ReviewRun
				}
				d := resumed(start)
				d.Review = true
				result = w.resume(d)
			}
			if got := plan.CanonicalJSON(result.Variables["texts"]); got != `["translated","translated"]` {
				t.Errorf("the run ended with %s: %s, and the result is %s\n%s", result.Reason, result.Error, got, w.tail())
			}
		})
	}
}

func TestResumeOfAnUnverifiedRunEvaluatesTheChecksOfItems(t *testing.T) {
	for word, want := range map[string]event.Reason{"": event.ReasonGoalMet, "not ": event.ReasonStepFailed} {
		t.Run(string(want), func(t *testing.T) {
			w := newWorld(t)
			mirror(w)
			start := given(t, `{"title":"Change all","steps":[
				{"index":"1","title":"Change","tool":"change","for_each":["a","b"],"args":{"at":"${item}"},"check":{"tool":"look","args":{"at":"${item}"},"expect":"`+word+`(result != nil)"}},
				{"index":"2","title":"Change","tool":"change","args":{"at":"c"},"depends_on":["1"],"check":{"expect":"result != nil"}}]}`)
			start.RequireVerified = true
			start.Rules = []rule.Rule{{Tool: "look", Verdict: rule.VerdictBlock, Source: rule.SourceFlag}, {Tool: "*", Verdict: rule.VerdictRun}}
			if result := w.play(start); result.Reason != event.ReasonUnverified {
				t.Fatalf("the run ended with %s: %s", result.Reason, result.Error)
			}
			again := resumed(start)
			again.Rules = start.Rules[1:]
			result := w.resume(again)
			if got := w.starts(); result.Reason != want || !slices.Equal(got, []string{"1.1", "1.2", "2"}) {
				t.Errorf("the resume ended with %s: %s, after the steps %v\n%s", result.Reason, result.Error, got, w.tail())
			}
			attempts := map[event.Attempt]bool{}
			for _, h := range result.History {
				a := event.Attempt{Index: h.Index, Number: h.Attempt}
				if attempts[a] {
					t.Errorf("attempt %d of %s is twice in the history", a.Number, a.Index)
				}
				attempts[a] = true
			}
		})
	}
}

func TestItemsOfAnUnchangedStepBelongToTheNewPlan(t *testing.T) {
	w := newWorld(t)
	mirror(w)
	w.finding(0)
	w.failing("c")
	const step = `{"index":"1","title":"Change","tool":"change","for_each":["a","b"],"args":{"at":"${item}"},"check":{"tool":"look","args":{"at":"${item}"},"expect":"result != nil"}}`
	const other = `{"index":"2","title":"Change more","tool":"change","args":{"at":"%s"},"depends_on":["1"]}`
	w.reply = script{prompt.PurposeReplan: {`{"title":"Again","steps":[` + step + `,` + fmt.Sprintf(other, "d") + `]}`}}.reply
	start := given(t, `{"title":"Change all","on_failure":"replan","steps":[`+step+`,`+fmt.Sprintf(other, "c")+`]}`)
	start.RequireVerified = true
	start.Rules = []rule.Rule{{Tool: "look", Verdict: rule.VerdictBlock, Source: rule.SourceFlag}, {Tool: "*", Verdict: rule.VerdictRun}}
	if result := w.play(start); result.Reason != event.ReasonUnverified {
		t.Fatalf("the run ended with %s: %s\n%s", result.Reason, result.Error, w.tail())
	}
	again := resumed(start)
	again.Rules = start.Rules[1:]
	w.resume(again)
	if got := w.run.Step("1").Status; got != agent.StepCompleted {
		t.Errorf("step 1 is %s, want %s\n%s", got, agent.StepCompleted, w.tail())
	}
	if got := w.starts(); !slices.Equal(got, []string{"1.1", "1.2", "2", "2"}) {
		t.Errorf("the steps %v started", got)
	}
}

// One item fails while another is in doubt. The step ends once the doubt is resolved.
func TestStepStoppedByAnItemEndsAfterDoubts(t *testing.T) {
	w := newWorld(t)
	w.finding(0)
	w.failing("b")
	works := w.tool
	w.tool = func(c agent.CallTool) event.Data {
		if c.Args["at"] == "a" {
			return event.StepInDoubt{Index: c.Index, Attempt: c.Attempt, Reason: "no answer in 1s"}
		}
		return works(c)
	}
	w.choose = func(n int) int { return n - 1 } // b fails before the doubt about a
	start := given(t, `{"title":"Change all","steps":[{"index":"1","title":"Change","tool":"change","for_each":["a","b"],"args":{"at":"${item}"}}]}`)
	start.InDoubt, start.Rules = event.DoubtRerun, []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
	if result := w.play(start); result.Reason != event.ReasonStepFailed || w.run.Step("1").Status != agent.StepFailed {
		t.Errorf("the run ended with %s, and step 1 is %s\n%s", result.Reason, w.run.Step("1").Status, w.tail())
	}
}

// The user stops the run, one item or all of them, at any time, and resumes. No call that has
// returned is repeated, and nothing is lost.
func TestStoppedItemsAreResumedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.finding(4)
		w.choose = func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "next") }
		effects := map[any]int{}
		works := w.tool
		w.tool = func(c agent.CallTool) event.Data {
			if c.Tool.Name == "change" {
				effects[c.Args["at"]]++
			}
			return works(c)
		}
		// interrupt ends a call as the runner does: its tool has not been called, or that is unknown.
		interrupt := func(i int) {
			c, ok := w.pending[i].(agent.CallTool)
			if !ok {
				return
			}
			w.pending = slices.Delete(slices.Clone(w.pending), i, i+1)
			if rapid.Bool().Draw(t, "unknown") && !c.Tool.ReadOnly {
				w.apply(event.StepInDoubt{Index: c.Index, Attempt: c.Attempt, Reason: "canceled by the user"})
				return
			}
			w.apply(event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "canceled by the user", Failure: event.FailureInterrupted})
		}
		w.failed = func(agent.Question) event.FailureResolved {
			return event.FailureResolved{Decision: rapid.SampledFrom([]event.FailureDecision{event.FailureRetry, event.FailureAbort}).Draw(t, "decision")}
		}
		w.doubt = func(agent.Question) event.DoubtDecision {
			return rapid.SampledFrom([]event.DoubtDecision{event.DoubtRerun, event.DoubtAbort}).Draw(t, "doubt")
		}
		start := eachPlan(t, fmt.Sprintf(`,"at_once":%d`, rapid.IntRange(0, 3).Draw(t, "at once")))
		start.Attended = rapid.Bool().Draw(t, "attended")
		if !start.Attended {
			start.InDoubt = event.DoubtRerun
		}
		w.apply(start)
		stops := rapid.IntRange(1, 6).Draw(t, "stops")
		for n := 0; ; n++ {
			w.advance()
			if w.run.Result != nil {
				if w.run.Result.Status == event.StatusCompleted {
					break
				}
				if rapid.Bool().Draw(t, "killed") {
					w.kill(len(w.events))
					mirrorOn(w)
				}
				w.begun, w.pending = map[string]bool{}, nil
				again := resumed(start)
				again.From = w.run.Seq
				w.apply(again)
				continue
			}
			if w.waits() == 0 || n > 1000 {
				t.Fatalf("the run is stuck:\n%s", w.tail())
			}
			if stops > 0 && rapid.IntRange(0, 4).Draw(t, "stops here") == 0 {
				stops--
				step := w.run.Step("2")
				switch rapid.SampledFrom([]string{"run", "item", "step"}).Draw(t, "stop") {
				case "run":
					w.apply(event.RunPaused{Reason: "stopped by the user"})
					for len(w.pending) > 0 && w.run.Result == nil {
						if _, call := w.pending[0].(agent.CallTool); !call {
							w.pending = w.pending[1:]
						} else if interrupt(0); rapid.Bool().Draw(t, "advance") {
							w.advance()
						}
					}
				case "item":
					if len(w.pending) > 0 {
						interrupt(rapid.IntRange(0, len(w.pending)-1).Draw(t, "item"))
					}
				case "step":
					if len(step.Items) == 0 || step.Status != agent.StepRunning {
						break
					}
					if failed, ok := agent.CancelItems(step, "canceled by the user"); ok {
						w.apply(failed)
						w.advance()
					}
					for i := len(w.pending) - 1; i >= 0; i-- {
						interrupt(i)
					}
				}
				continue
			}
			w.deliver()
		}
		if got := plan.CanonicalJSON(w.run.Result.Variables["changed"]); got != `["a","b","c","d"]` {
			t.Fatalf("the result is %s\n%s", got, w.tail())
		}
		for item, times := range effects {
			if times != 1 {
				t.Fatalf("item %v was changed %d times\n%s", item, times, w.tail())
			}
		}
		if len(effects) != 4 {
			t.Fatalf("changed %v", effects)
		}
	})
}
