package agent_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/prompt"
)

// calling makes change answer with its argument, and counts its calls by argument. They go on
// counting over kills.
func (w *world) calling() map[any]int {
	called := map[any]int{}
	w.tool = func(c agent.CallTool) event.Data {
		if c.Tool.Name == "change" {
			called[c.Args["at"]]++
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: c.Args["at"], MS: 1}
	}
	return called
}

// cut kills the program after n events. Calls that were under way then have been made.
func (w *world) cut(n int, called map[any]int) {
	w.kill(n)
	clear(called)
	for _, d := range all[event.StepStarted](w) {
		if d.Tool == "change" || d.Tool == "w:change" {
			called[d.Args["at"]]++
		}
	}
}

// A run with checked items is cut after every event. A resume without an answer ends it. The
// answer comes with the next resume, which is cut after every event, too. No item that was
// called is called again, and each doubt is asked about once.
func TestItemsDeclaredDoneAreNotCalledAgain(t *testing.T) {
	const steps = `{"title":"Change all","steps":[
		{"index":"1","title":"Change","tool":"change","for_each":["a","b","c"],"at_once":2,"args":{"at":"${item}"},"result_variable":"changed",
		 "check":[{"expect":"result == item"},{"tool":"look","expect":"result != nil"}]}]}`
	start := given(t, steps)
	start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
	done := resumed(start)
	done.InDoubt = event.DoubtDone
	whole := newWorld(t)
	whole.calling()
	whole.play(start)
	doubts := 0
	// ended returns the run after a cut and an unattended resume.
	ended := func(n int) (*world, map[any]int) {
		w := newWorld(t)
		called := w.calling()
		w.play(start)
		w.cut(n, called)
		w.resume(resumed(start))
		return w, called
	}
	for n := 1; n < len(whole.events); n++ {
		w, called := ended(n)
		if w.run.Result.Reason != event.ReasonInDoubt {
			continue
		}
		doubts++
		before := len(w.events)
		w.resume(done)
		checkCalledOnce(t, w, called, fmt.Sprintf("cut after event %d", n))
		for m := before + 1; m < len(w.events); m++ {
			again, called := ended(n)
			again.resume(done)
			again.cut(m, called)
			again.resume(done)
			checkCalledOnce(t, again, called, fmt.Sprintf("cut after events %d and %d", n, m))
		}
	}
	if doubts == 0 {
		t.Error("no cut left a doubt")
	}
}

func checkCalledOnce(t *testing.T, w *world, called map[any]int, when string) {
	t.Helper()
	if r := w.run.Result; r.Status != event.StatusCompleted {
		t.Fatalf("%s, the run ended with %s: %s\n%s", when, r.Reason, r.Error, w.tail())
	}
	if want := map[any]int{"a": 1, "b": 1, "c": 1}; !maps.Equal(called, want) {
		t.Fatalf("%s, the items were called %v times\n%s", when, called, w.tail())
	}
	asked := map[event.Attempt]bool{}
	for _, d := range all[event.StepInDoubt](w) {
		a := event.Attempt{Index: d.Index, Number: d.Attempt}
		if asked[a] {
			t.Fatalf("%s, attempt %d of %s is in doubt twice\n%s", when, a.Number, a.Index, w.tail())
		}
		asked[a] = true
	}
}

// The work of an item is done, and its checks are not evaluated or refute it. Whatever makes its
// step begin again, and wherever the item is then, only its checks are evaluated.
func TestItemsWhoseWorkIsDoneAreOnlyCheckedAgain(t *testing.T) {
	const step = `{"index":"1","title":"Change","tool":"change","for_each":%s,"at_once":1,"args":{"at":"${item}"},"result_variable":"changed",
		"check":[{"tool":"look","expect":"result == 'right'"}]%s}`
	planned := func(t *testing.T, list, more, onFailure string) event.RunStarted {
		start := given(t, fmt.Sprintf(`{"title":"Change all","on_failure":%q,"steps":[`+step+`]}`, onFailure, list, more))
		start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
		return start
	}
	for name, again := range map[string]func(t *testing.T, w *world, start event.RunStarted){
		"a resume": func(_ *testing.T, w *world, start event.RunStarted) { w.resume(resumed(start)) },
		"a review that moves it": func(t *testing.T, w *world, start event.RunStarted) {
			w.review = func(v *agent.Review) event.ReviewDecision {
				if err := v.Edit(planned(t, `["b","c","a"]`, "", "abort").Plan.Steps[0]); err != nil {
					t.Fatal(err)
				}
				return event.ReviewRun
			}
			d := resumed(start)
			d.Review = true
			w.resume(d)
		},
		"a review that gives it a condition": func(t *testing.T, w *world, start event.RunStarted) {
			w.review = func(v *agent.Review) event.ReviewDecision {
				if err := v.Edit(planned(t, `["a","b","c"]`, `,"when":"item != 'd'"`, "abort").Plan.Steps[0]); err != nil {
					t.Fatal(err)
				}
				return event.ReviewRun
			}
			d := resumed(start)
			d.Review = true
			w.resume(d)
		},
	} {
		for _, state := range []string{"refuted", "stopped in its check", "declared done"} {
			t.Run(name+", "+state, func(t *testing.T) {
				w := newWorld(t)
				called := w.calling()
				found := "wrong"
				w.finds = func(c agent.CallCheck) event.CheckCompleted { return c.Returned(found, 1) }
				start := planned(t, `["a","b","c"]`, "", "abort")
				w.apply(start)
				switch state {
				case "stopped in its check":
					w.until(event.KindStepCompleted)
					w.apply(event.RunPaused{Reason: "stopped by the user"})
					w.pending = nil
					w.finish()
				case "declared done":
					w.until(event.KindStepStarted)
					w.cut(len(w.events), called)
					w.resume(resumed(start))
					start.InDoubt = event.DoubtDone
				default:
					w.finish()
				}
				found = "right"
				again(t, w, start)
				checkCalledOnce(t, w, called, state)
			})
		}
	}
	t.Run("a replan", func(t *testing.T) {
		w := newWorld(t)
		called := w.calling()
		found := "wrong"
		w.finds = func(c agent.CallCheck) event.CheckCompleted { return c.Returned(found, 1) }
		w.reply = func(prompt.Request) (string, error) {
			found = "right"
			return fmt.Sprintf(`{"title":"Again","steps":[`+step+`]}`, `["c","b","a"]`, ""), nil
		}
		w.play(planned(t, `["a","b","c"]`, "", "replan"))
		checkCalledOnce(t, w, called, "replanned")
		if got := w.starts(); !slices.Equal(got, []string{"1.1", "1.1", "1.2"}) {
			t.Errorf("the steps %v started", got)
		}
	})
}
