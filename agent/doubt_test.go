package agent_test

import (
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/prompt"
)

// changes is a plan of a step with effects, a read that depends on it, and an
// independent read.
const changes = `{"title":"Changes","steps":[
 {"index":"1","title":"Change","tool":"change","args":{"at":"a"},"result_variable":"a"},
 {"index":"2","title":"Behind","tool":"look","args":{"at":"${a}"}},
 {"index":"3","title":"Beside","tool":"look","args":{"at":"b"}}]}`

// doubting makes the calls of step 1 end in doubt that many times.
func doubting(times int) func(agent.CallTool) event.Data {
	return func(c agent.CallTool) event.Data {
		if c.Index == "1" && times > 0 {
			times--
			return event.StepInDoubt{Index: c.Index, Attempt: c.Attempt, Reason: "it took longer than the 2m0s it may", MS: 5}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "result of " + c.Index}
	}
}

func TestDoubtIsResolved(t *testing.T) {
	for name, c := range map[string]struct {
		attended bool
		option   event.DoubtDecision
		answers  []event.DoubtDecision // of the user
		times    int                   // the step ends in doubt
		want     event.Reason
		calls    int // of the step
		by       string
	}{
		"unattended aborts":                  {times: 1, want: event.ReasonInDoubt, calls: 1, by: "nobody was there to be asked"},
		"option abort":                       {option: event.DoubtAbort, times: 1, want: event.ReasonInDoubt, calls: 1, by: "--in-doubt abort"},
		"option done":                        {option: event.DoubtDone, times: 1, want: event.ReasonGoalMet, calls: 1, by: "--in-doubt done"},
		"option rerun":                       {option: event.DoubtRerun, times: 1, want: event.ReasonGoalMet, calls: 2, by: "--in-doubt rerun"},
		"option rerun applies once":          {option: event.DoubtRerun, times: 2, want: event.ReasonInDoubt, calls: 2, by: "--in-doubt rerun"},
		"option answers for an attended run": {attended: true, option: event.DoubtDone, times: 1, want: event.ReasonGoalMet, calls: 1, by: "--in-doubt done"},
		"user says done":                     {attended: true, answers: []event.DoubtDecision{event.DoubtDone}, times: 1, want: event.ReasonGoalMet, calls: 1, by: "user"},
		"user reruns three times":            {attended: true, answers: []event.DoubtDecision{event.DoubtRerun, event.DoubtRerun, event.DoubtRerun}, times: 3, want: event.ReasonGoalMet, calls: 4, by: "user"},
		"user aborts":                        {attended: true, answers: []event.DoubtDecision{event.DoubtAbort}, times: 1, want: event.ReasonInDoubt, calls: 1, by: "user"},
	} {
		// The result is the same whether the step ends in doubt while the program
		// runs or because the program ends.
		for _, way := range []string{"live", "lost"} {
			t.Run(name+", "+way, func(t *testing.T) {
				w := newWorld(t)
				gates := 0
				w.gate = func(event.GateRequested) event.Decision { gates++; return event.Allow }
				answers := c.answers
				w.doubt = func(q agent.Question) event.DoubtDecision {
					if !q.Doubt || q.Step != "1" || q.Reason == "" || q.Args["at"] != "a" {
						t.Errorf("got the question %+v", q)
					}
					answer := answers[0]
					answers = answers[1:]
					return answer
				}
				start := given(t, changes)
				start.Attended, start.InDoubt = c.attended, c.option
				var got event.Result
				if way == "live" {
					w.tool = doubting(c.times)
					got = w.play(start)
				} else {
					w.tool = doubting(c.times - 1)
					w.apply(start)
					w.until(event.KindGateResolved)
					w.advance()
					w.kill(len(w.events))
					got = w.resume(resumed(start))
				}
				if got.Reason != c.want {
					t.Fatalf("ended %s (%s), want %s", got.Reason, got.Error, c.want)
				}
				if n := len(slices.DeleteFunc(w.starts(), func(s string) bool { return s != "1" })); n != c.calls || gates != c.calls {
					t.Errorf("called %d times after %d gates, want %d of each", n, gates, c.calls)
				}
				doubts, decided := all[event.StepInDoubt](w), all[event.DoubtResolved](w)
				if len(doubts) != c.times || len(decided) != c.times || decided[0].By != c.by {
					t.Errorf("doubts %v, decisions %v; want %d of each, by %q", doubts, decided, c.times, c.by)
				}
				switch {
				case got.Status != event.StatusCompleted:
					if !strings.Contains(string(got.Error), "step 1 (Change) may or may not have taken effect") || !slices.Equal(w.run.Snapshot(true).InDoubt, []string{"1"}) {
						t.Errorf("ended with %q, in doubt %v", got.Error, w.run.Snapshot(true).InDoubt)
					}
				case decided[len(decided)-1].Decision == event.DoubtDone:
					if a, there := w.run.Variables()["a"]; !there || a != nil || w.run.Step("2").Args["at"] != nil {
						t.Errorf("the step declared done has the result %v, and the next step was called with %v", a, w.run.Step("2").Args)
					}
				}
			})
		}
	}
}

func TestNoStepStartsDuringDoubt(t *testing.T) {
	w := newWorld(t)
	w.tool = doubting(1)
	start := given(t, with(changes, `{"at":"b"}}`, `{"at":"b"}},{"index":"4","title":"Later","tool":"look","args":{},"depends_on":["3"]}`))
	start.Attended, start.Limits.MaxConcurrency = true, 1
	w.apply(start)
	w.until(event.KindStepInDoubt)
	before := len(w.starts())
	for w.advance(); len(w.pending) > 0; w.advance() {
		w.deliver()
	}
	if len(w.starts()) != before || len(w.run.Questions()) != 1 || w.run.Busy() {
		t.Errorf("got %d starts, want %d; questions %v", len(w.starts()), before, w.run.Questions())
	}
	w.doubt = func(agent.Question) event.DoubtDecision { return event.DoubtDone }
	if got := w.finish(); got.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s", got.Reason, got.Error)
	}
}

func TestDoubtLastsUntilResolved(t *testing.T) {
	w := newWorld(t)
	w.tool = doubting(1)
	start := given(t, changes)
	if got := w.play(start); got.Reason != event.ReasonInDoubt {
		t.Fatal(got.Reason)
	}
	for range 2 { // aborted each time
		w.kill(len(w.events))
		if got := w.resume(resumed(start)); got.Reason != event.ReasonInDoubt || len(all[event.StepInDoubt](w)) != 1 {
			t.Fatalf("%s, doubts %v", got.Reason, all[event.StepInDoubt](w))
		}
	}
	w.kill(len(w.events))
	again := resumed(start)
	again.Attended = true
	w.doubt = func(agent.Question) event.DoubtDecision { return event.DoubtDone }
	if got := w.resume(again); got.Reason != event.ReasonGoalMet || strings.Count(strings.Join(w.starts(), " "), "1") != 1 {
		t.Errorf("%s after the starts %v", got.Reason, w.starts())
	}
}

// The first resume is killed once it has recorded that the step runs again.
func TestLaterAnswerToADoubtHolds(t *testing.T) {
	w := newWorld(t)
	w.tool = doubting(1)
	start := given(t, changes)
	w.play(start)
	again := resumed(start)
	again.InDoubt = event.DoubtRerun
	w.resume(again)
	w.kill(1 + slices.IndexFunc(w.events, func(e event.Event) bool {
		d, ok := e.Data.(event.DoubtResolved)
		return ok && d.Decision == event.DoubtRerun
	}))
	again.InDoubt = event.DoubtDone
	if got := w.resume(again); got.Reason != event.ReasonGoalMet || strings.Count(strings.Join(w.starts(), " "), "1") != 1 {
		t.Errorf("%s after the starts %v", got.Reason, w.starts())
	}
}

func TestLostStepIsInDoubtOnce(t *testing.T) {
	w := newWorld(t)
	start := given(t, changes)
	w.apply(start)
	w.until(event.KindGateResolved)
	w.advance()
	for range 3 { // the program ends again before it records the doubt
		w.kill(len(w.events))
		w.apply(resumed(start))
	}
	w.kill(len(w.events))
	w.resume(resumed(start))
	if doubts := all[event.StepInDoubt](w); len(doubts) != 1 || doubts[0].Attempt != 1 {
		t.Errorf("got the doubts %v, want one", doubts)
	}
}

func TestDoubtSurvivesStop(t *testing.T) {
	for name, c := range map[string]struct {
		stop func(*world)
	}{
		"stopped during the call": {func(w *world) {
			w.apply(event.RunPaused{Reason: "stopped by the user"})
			w.deliver()
		}},
		"stopped during the question": {func(w *world) {
			w.deliver()
			w.apply(event.RunPaused{Reason: "stopped by the user"})
		}},
		"stopped after a resume": {func(w *world) {
			w.kill(len(w.events))
			w.apply(resumed(given(w.t, changes)))
			w.apply(event.RunPaused{Reason: "stopped by the user"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.tool = doubting(1)
			start := given(t, changes)
			start.Attended, start.Limits.MaxConcurrency = true, 1
			w.apply(start)
			w.choose = func(int) int { // the gate first, then the rest
				if len(w.run.Gates) > 0 {
					return len(w.pending)
				}
				return max(0, slices.IndexFunc(w.pending, func(e agent.Effect) bool { _, ok := e.(agent.OpenGate); return ok }))
			}
			for len(w.starts()) == 0 || w.starts()[len(w.starts())-1] != "1" {
				w.advance()
				if i := slices.IndexFunc(w.pending, isCall("1")); i >= 0 {
					break
				}
				w.deliver()
			}
			w.choose = func(int) int { return max(0, slices.IndexFunc(w.pending, isCall("1"))) }
			c.stop(w)
			if got := w.finish(); got.Reason != event.ReasonInterrupted {
				t.Fatalf("%s: %s", got.Reason, got.Error)
			}
			if len(all[event.StepInDoubt](w)) != 1 || !slices.Equal(w.run.Snapshot(true).InDoubt, []string{"1"}) {
				t.Errorf("doubts %v, in doubt %v", all[event.StepInDoubt](w), w.run.Snapshot(true).InDoubt)
			}
			w.choose = func(int) int { return 0 }
			w.kill(len(w.events))
			asked := 0
			w.doubt = func(agent.Question) event.DoubtDecision { asked++; return event.DoubtDone }
			if got := w.resume(resumed(start)); got.Reason != event.ReasonGoalMet || asked != 1 {
				t.Errorf("%s after %d questions: %s", got.Reason, asked, got.Error)
			}
		})
	}
}

func TestDoubtIsNotRetriedOrReplanned(t *testing.T) {
	w := newWorld(t)
	w.tool = doubting(1)
	w.reply = script{prompt.PurposeReplan: {`{"title":"x","steps":[{"index":"9","title":"Other","tool":"look","args":{"at":"z"}}]}`}}.reply
	start := given(t, with(changes, `"result_variable":"a"`, `"result_variable":"a","on_failure":"replan","retries":3`))
	if got := w.play(start); got.Reason != event.ReasonInDoubt || got.Usage.Replans != 0 || len(all[event.StepRetry](w)) != 0 {
		t.Errorf("%s after %d replans and %d retries", got.Reason, got.Usage.Replans, len(all[event.StepRetry](w)))
	}
}

func TestLostReadRunsAgain(t *testing.T) {
	w := newWorld(t)
	start := given(t, chain)
	w.apply(start)
	w.advance()
	w.kill(len(w.events))
	got := w.resume(resumed(start))
	if got.Reason != event.ReasonGoalMet || len(all[event.StepInDoubt](w)) != 0 || w.run.Step("1").Attempt != 2 || got.Usage.Steps != 6 {
		t.Errorf("%s, attempt %d, %+v", got.Reason, w.run.Step("1").Attempt, got.Usage)
	}
}

// damage loses the n-th line of the journal, its last.
func damage(w *world, n int) {
	w.t.Helper()
	w.kill(n - 1)
	w.apply(event.JournalDamaged{Line: n})
}

func TestDamagedLastLinePutsNextStepInDoubt(t *testing.T) {
	w := newWorld(t)
	w.apply(given(t, changes))
	w.until(event.KindGateResolved)
	w.advance()
	at := slices.IndexFunc(w.events, func(e event.Event) bool {
		started, ok := e.Data.(event.StepStarted)
		return ok && started.Index == "1"
	})
	if at < 0 {
		t.Fatalf("step 1 did not start:\n%s", w.tail())
	}
	damage(w, at+1)
	got := w.resume(resumed(given(t, changes)))
	doubts := all[event.StepInDoubt](w)
	if got.Reason != event.ReasonInDoubt || len(doubts) != 1 || doubts[0].Index != "1" || !strings.Contains(string(doubts[0].Reason), "journal is damaged") {
		t.Errorf("ended %s, doubts %v", got.Reason, doubts)
	}
	if slices.Contains(w.starts(), "1") {
		t.Errorf("started again: %v", w.starts())
	}
}

func TestLostEventRepeatsNoEffect(t *testing.T) {
	for name, world := range map[string]func(*testing.T) (*world, event.RunStarted){
		"given plan": fullWorld,
		"changes":    func(t *testing.T) (*world, event.RunStarted) { return newWorld(t), given(t, changes) },
	} {
		t.Run(name, func(t *testing.T) {
			whole, start := world(t)
			whole.play(start)
			start.InDoubt = "" // no option allows a second run
			lost := 0
			for n := 3; n <= len(whole.events); n++ {
				w, _ := world(t)
				w.events = slices.Clone(whole.events)
				damage(w, n)
				if w.run.Result == nil || w.run.Result.Status != event.StatusCompleted {
					w.resume(resumed(start))
				}
				started, ok := whole.events[n-1].Data.(event.StepStarted)
				if !ok || started.Tool != "change" {
					continue
				}
				if lost++; startedAgain(w.events[n:], started.Index) {
					t.Errorf("after the loss of event %d, the start of step %s, the step started again", n, started.Index)
				}
			}
			if lost == 0 {
				t.Fatal("no step with effects started")
			}
		})
	}
}
