package live

import (
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/prompt"
)

// recorder numbers the events of runs.
type recorder struct {
	t    *testing.T
	runs *Runs
	seq  map[string]uint64
}

func record(t *testing.T) *recorder {
	return &recorder{t: t, runs: &Runs{}, seq: map[string]uint64{}}
}

func (r *recorder) event(run string, d event.Data) event.Event {
	r.seq[run]++
	return event.Event{Seq: r.seq[run], Time: time.Unix(int64(r.seq[run]), 0), Run: run, Data: d}
}

func (r *recorder) start(run string) *Run {
	r.t.Helper()
	started, err := r.runs.Start(r.event(run, event.RunStarted{Goal: "a goal"}))
	if err != nil {
		r.t.Fatal(err)
	}
	return started
}

func (r *recorder) apply(run *Run, data ...event.Data) {
	r.t.Helper()
	for _, d := range data {
		if err := r.runs.Apply(run, r.event(run.State.ID, d)); err != nil {
			r.t.Fatal(err)
		}
	}
}

func completed() event.Data {
	return event.RunCompleted{Result: event.Result{Status: event.StatusCompleted}}
}

func TestInnermostActiveRunIsCurrent(t *testing.T) {
	r := record(t)
	if r.runs.Current().State != nil || r.runs.Shown().State != nil || r.runs.Busy() {
		t.Error("there is a run before the first")
	}
	outer := r.start("outer")
	inner := r.start("inner")
	if r.runs.Current() != inner || !inner.Nested || outer.Nested {
		t.Errorf("%s is current", r.runs.Current().State.ID)
	}
	r.apply(inner, completed())
	if r.runs.Active() != "outer" || r.runs.Shown() != inner {
		t.Errorf("%s is active and %s shown", r.runs.Active(), r.runs.Shown().State.ID)
	}
	r.apply(outer, completed())
	if next := r.start("next"); len(r.runs.All()) != 1 || r.runs.Current() != next || r.runs.Find("outer") != nil {
		t.Error("the next run of the user does not replace the others")
	}
}

func TestRunsInsideAnEndedRunAreNotLive(t *testing.T) {
	r := record(t)
	outer := r.start("outer")
	r.start("inner")
	r.apply(outer, completed())
	if r.runs.Live("inner") || r.runs.Animated() || r.runs.Active() != "" {
		t.Error("the inner run is live")
	}
}

func TestAbandonedRunIsNotActive(t *testing.T) {
	r := record(t)
	r.start("run").Abandoned = true
	if r.runs.Busy() || r.runs.Current().Active() {
		t.Error("the run is active")
	}
}

func TestRestartedRunHasNewStateAndNoNestedRuns(t *testing.T) {
	r := record(t)
	run := r.start("run")
	r.start("inner")
	r.apply(run, completed())
	before := run.State
	r.runs.Restart(run)
	if run.State == before || run.State.Result == nil || run.State.Goal != before.Goal || len(r.runs.All()) != 1 || r.runs.Shown() != run {
		t.Errorf("got %+v with %d runs", run.State.Result, len(r.runs.All()))
	}
}

func TestUndoneRunIsMarkedIfItChangedFiles(t *testing.T) {
	for _, c := range []struct {
		undo   event.Undo
		marked bool
	}{
		{event.Undo{}, false},
		{event.Undo{AsWas: true}, true},
		{event.Undo{Already: true}, true},
		{event.Undo{Files: []event.UndoneFile{{Path: "a"}}}, true},
	} {
		r := record(t)
		run, inner := r.start("run"), r.start("inner")
		c.undo.Run, c.undo.Inner = "run", []string{"inner"}
		r.runs.Undo(event.ChatUndone{Undo: c.undo})
		if (run.State.Undone != nil) != c.marked || (inner.State.Undone != nil) != c.marked {
			t.Errorf("%+v: marked %v and %v", c.undo, run.State.Undone, inner.State.Undone)
		}
	}
}

func TestRepetitionEndsWithFirstNewEvent(t *testing.T) {
	r := record(t)
	r.runs.Repeat(session.Resuming{Run: "run", Upto: 2})
	for seq, want := range map[uint64]bool{1: true, 2: true} {
		if got := r.runs.Repeats(event.Event{Run: "run", Seq: seq}); got != want {
			t.Errorf("event %d repeats: %v", seq, got)
		}
	}
	if r.runs.Repeats(event.Event{Run: "other", Seq: 1}) || !r.runs.Repeating() || !r.runs.Busy() {
		t.Error("another run ends the repetition")
	}
	if r.runs.Repeats(event.Event{Run: "run", Seq: 3}) || r.runs.Repeating() || r.runs.Busy() {
		t.Error("a new event does not end the repetition")
	}
}

func TestModelRequestsEndWithReplyOrRun(t *testing.T) {
	r := record(t)
	run := r.start("run")
	at := time.Unix(1, 0)
	run.State.Now = at
	run.follow(event.ModelRequested{Purpose: prompt.PurposeStep, Step: "2"})
	run.follow(event.ModelRequested{Purpose: prompt.PurposeStep, Step: "1"})
	if step, since, ok := run.Requested(prompt.PurposeStep); step != "1" || !since.Equal(at) || !ok {
		t.Errorf("step %q since %v, %v", step, since, ok)
	}
	run.follow(event.ModelReplied{Purpose: prompt.PurposeStep, Step: "1"})
	if step, _, _ := run.Requested(prompt.PurposeStep); step != "2" {
		t.Errorf("step %q", step)
	}
	run.follow(completed())
	if _, _, ok := run.Requested(prompt.PurposeStep); ok {
		t.Error("a request outlives the run")
	}
}
