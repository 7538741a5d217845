package agent_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/prompt"
)

// unansweredRun returns a run whose steps have ended, one of them skipped, and
// whose model wrote no answer.
func unansweredRun(t *testing.T) (*world, event.RunStarted) {
	t.Helper()
	w := newWorld(t)
	w.reply = script{prompt.PurposeSynthesis: {"", "all is well"}}.reply
	w.tool = failing("2", 99, event.FailureTool)
	start := given(t, with(chain, second, second+`,"on_failure":"skip"`))
	start.SkipSynthesis = false
	got := w.play(start)
	if got.Status != event.StatusCompleted || got.Reason != event.ReasonPartial || !strings.Contains(string(got.Unanswered), "the model fell silent") {
		t.Fatalf("ended %s, %s, unanswered %q", got.Status, got.Reason, got.Unanswered)
	}
	return w, start
}

func TestMissingAnswerShowsResults(t *testing.T) {
	w, _ := unansweredRun(t)
	for _, want := range []string{
		"the model wrote no answer: the model fell silent", "**1. First**: completed\n\n```\nresult of 1\n```", "**2. Second**: failed", "**3. Third**: skipped", "result of 4",
	} {
		if !strings.Contains(string(w.run.Result.Answer), want) {
			t.Errorf("the answer lacks %q:\n%s", want, w.run.Result.Answer)
		}
	}
}

func TestAnswerFromResultsIsBounded(t *testing.T) {
	w := newWorld(t)
	w.reply = script{prompt.PurposeSynthesis: {""}}.reply
	w.tool = func(c agent.CallTool) event.Data {
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: strings.Repeat("```\n", 2500)}
	}
	plan := looks("1", "2", "3", "4", "5", "6")
	start := started(event.DefaultLimits())
	start.Plan = &plan
	answer := w.play(start).Answer
	if n := len(answer); n > 14_000 || strings.Count(string(answer), "… 7999 more characters") != 6 || !strings.Contains(string(answer), "\n````\n```\n") {
		t.Errorf("the answer has %d bytes:\n%.300s", n, answer)
	}
}

func TestResumeAsksForMissingAnswerAlone(t *testing.T) {
	w, start := unansweredRun(t)
	if !w.run.Resumable() || !w.run.NeedsModel() {
		t.Error("a run without an answer is not resumable or needs no model")
	}
	before := len(w.starts())
	got := w.resume(resumed(start))
	if got.Reason != event.ReasonPartial || got.Answer != "all is well" || got.Unanswered != "" || len(w.starts()) != before {
		t.Errorf("ended %s with %q, unanswered %q, after the starts %v", got.Reason, got.Answer, got.Unanswered, w.starts()[before:])
	}
	if w.run.Resumable() {
		t.Error("the answered run is resumable")
	}
	again := resumed(start)
	again.From = w.run.Seq
	if err := w.offer(again); err == nil {
		t.Error("an answered run was resumed")
	}
}

func TestMissingAnswerSurvivesFailuresStopsAndKills(t *testing.T) {
	whole, start := unansweredRun(t)
	first := len(whole.events)
	if whole.resume(resumed(start)); whole.run.Result.Unanswered != "" {
		t.Fatal(whole.run.Result.Unanswered)
	}
	for n := first; n < len(whole.events); n++ {
		w := newWorld(t)
		w.reply = script{prompt.PurposeSynthesis: {"", "all is well"}}.reply
		w.events = slices.Clone(whole.events)
		w.kill(n)
		if n > first {
			_ = w.offer(event.RunPaused{}) // a run past that point refuses the stop and continues
		}
		for range 2 { // the first attempt fails again, if the kill left one
			if !w.run.Resumable() {
				break
			}
			if got := w.resume(resumed(start)); got.Status != event.StatusCompleted {
				t.Errorf("killed after event %d: %s", n, got.Reason)
			}
		}
		if got := w.run.Result; got.Answer != "all is well" || len(w.starts()) != len(whole.starts()) {
			t.Errorf("killed after event %d: %q after the starts %v", n, got.Answer, w.starts())
		}
	}
}

func TestResultsOfRunWithoutAnswer(t *testing.T) {
	long := strings.Repeat("x", 3000)
	for name, c := range map[string]struct {
		change func(*event.RunStarted)
		tool   func(agent.CallTool) event.Data
		wants  []string // none if no results are shown
	}{
		"results of each step": {wants: []string{"**1. First**: completed\n\n```\nresult of 1\n```", "result of 4"}},
		"a sixth of the context window": {
			change: func(start *event.RunStarted) { start.Prompting.ContextWindow = 2000 },
			tool: func(c agent.CallTool) event.Data {
				return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: long}
			},
			wants: []string{"```\n" + strings.Repeat("x", 250) + "\n… 2750 more characters"},
		},
		"characters, and bytes that are none": {
			change: func(start *event.RunStarted) { start.Prompting.ContextWindow = 2000 },
			tool: func(c agent.CallTool) event.Data {
				return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: strings.Repeat("é\xff", 1500)}
			},
			wants: []string{"```\n" + strings.Repeat("é\uFFFD", 125) + "\n… 2750 more characters"},
		},
		"answered run":          {change: func(start *event.RunStarted) { start.SkipSynthesis = false }},
		"failed run":            {tool: failing("2", 99, event.FailureTool)},
		"dry run":               {change: func(start *event.RunStarted) { start.DryRun = true }},
		"steps without results": {tool: func(c agent.CallTool) event.Data { return event.StepCompleted{Index: c.Index, Attempt: c.Attempt} }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = script{prompt.PurposeSynthesis: {"all is well"}}.reply
			if c.tool != nil {
				w.tool = c.tool
			}
			start := given(t, chain)
			if c.change != nil {
				c.change(&start)
			}
			w.play(start)
			got := w.run.Results()
			for _, want := range c.wants {
				if !strings.Contains(got, want) {
					t.Errorf("the results lack %q:\n%s", want, got)
				}
			}
			if len(c.wants) == 0 && got != "" {
				t.Errorf("got unexpected results:\n%s", got)
			}
		})
	}
}

func TestResultsTakeNoCopyOfALargeResult(t *testing.T) {
	w := newWorld(t)
	large := strings.Repeat("é", 4<<20)
	w.tool = func(c agent.CallTool) event.Data {
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: large}
	}
	w.play(given(t, chain))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	results := w.run.Results()
	runtime.ReadMemStats(&after)
	if !strings.Contains(results, "more characters") {
		t.Fatalf("got %d bytes of results", len(results))
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("allocated %d KB for %d KB of results", got>>10, len(results)>>10)
	}
}

func TestUndoneRunIsNotTakenUpAgain(t *testing.T) {
	w := newWorld(t)
	start := started(event.DefaultLimits())
	w.apply(start)
	if w.run.Next(); !w.run.Active() || !w.run.Resumable() {
		t.Fatal("the killed run is over")
	}
	w.apply(event.RunUndone{Files: []event.UndoneFile{{Path: "d", Folder: true}, {Path: "d/a"}, {Path: "d/b"}}})
	if s := w.run.Summary(); w.run.Active() || len(w.run.Next()) > 0 || s.Resumable || !s.Undone || s.Restored != 2 {
		t.Errorf("got active %v, next %v, %+v", w.run.Active(), w.run.Next(), s)
	}
	for _, next := range []event.Data{resumed(start), event.RunUndone{}} {
		if err := w.offer(next); !errors.Is(err, agent.ErrOutOfOrder) {
			t.Errorf("%s after the undo: %v, want ErrOutOfOrder", next.Kind(), err)
		}
	}
}
