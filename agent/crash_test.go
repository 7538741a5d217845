package agent_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
)

// TestResumeAfterAnyCutIsConsistent kills the program repeatedly: the events are
// cut at a random place, and another program resumes the run from the rest.
func TestResumeAfterAnyCutIsConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, start := randomWorld(t, executors)
		limits := start.Limits
		w.watch = func(_ []event.Data, pending []agent.Effect) { checkSlots(t, limits, pending) }
		mirror(w)
		w.apply(start)
		w.playOrStop(t)
		for range rapid.IntRange(1, 3).Draw(t, "kills") {
			w.check = func(event.Event) {}
			w.kill(rapid.IntRange(1, len(w.events)).Draw(t, "kept"))
			mirrorOn(w)
			again := resumed(start)
			again.Attended, again.InDoubt = rapid.Bool().Draw(t, "attended"), randomInDoubt(t)
			again.Limits = limits
			if rapid.Bool().Draw(t, "raise") {
				again.Limits = raised(limits)
			}
			if r := w.run.Result; r != nil && r.Status == event.StatusCompleted && w.run.Unanswered() == "" {
				if err := w.offer(again); !errors.Is(err, agent.ErrOutOfOrder) {
					t.Fatalf("a completed run was resumed: %v", err)
				}
				break
			}
			if rapid.IntRange(0, 3).Draw(t, "undone") == 0 {
				w.undo(again)
				break
			}
			limits = again.Limits
			w.begun, w.pending = map[string]bool{}, nil
			w.apply(again)
			w.playOrStop(t)
		}
		checkOrder(t, w.events)
		checkBudgets(t, limits, w.run.Usage, w.events)
	})
}

// undo undoes the run, which has ended or was killed, takes that back and undoes it again.
// Nothing else can follow it.
func (w *world) undo(again event.RunResumed) {
	w.t.Helper()
	undone := event.RunUndone{Files: []event.UndoneFile{{Path: "a", Action: "restored"}}}
	active, resumable := w.run.Active(), w.run.Resumable()
	w.apply(undone)
	w.apply(event.RunUndone{Redo: true})
	if w.run.Active() != active || w.run.Resumable() != resumable || w.run.Undone != nil {
		w.t.Fatalf("a redone run is active %v, resumable %v, undone %v", w.run.Active(), w.run.Resumable(), w.run.Undone)
	}
	if err := w.offer(event.RunUndone{Redo: true}); !errors.Is(err, agent.ErrOutOfOrder) {
		w.t.Fatalf("a second redo follows: %v", err)
	}
	w.apply(undone)
	if next := w.run.Next(); next != nil || w.run.Active() || w.run.Resumable() {
		w.t.Fatalf("an undone run is active %v, resumable %v, and has the actions %v", w.run.Active(), w.run.Resumable(), next)
	}
	for _, d := range []event.Data{again, event.RunPaused{}, event.RunUndone{}, event.RunCompleted{}} {
		if err := w.offer(d); !errors.Is(err, agent.ErrOutOfOrder) {
			w.t.Fatalf("%s follows the undo: %v", d.Kind(), err)
		}
	}
}

// playOrStop plays the run to its end, or lets the user stop it at a random
// point.
func (w *world) playOrStop(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "stop") == 0 {
		for n := rapid.IntRange(0, 8).Draw(t, "before the stop"); n > 0; n-- {
			w.advance()
			if !w.run.Active() {
				break
			}
			w.deliver()
		}
		if w.run.Active() {
			w.apply(event.RunPaused{Reason: "stopped by the user"})
		}
	}
	w.finish()
}

// raised returns limits with twice the budgets.
func raised(l event.Limits) event.Limits {
	l.MaxSteps *= 2
	l.MaxReplans *= 2
	l.MaxTokens *= 2
	l.MaxToolCalls *= 2
	l.MaxDiscoveryCalls *= 2
	l.MaxExecutionCalls *= 2
	l.MaxCallsPerTool *= 2
	return l
}

// mirrorOn does the same as mirror for a run that has already begun.
func mirrorOn(w *world) {
	again := agent.NewRun(w.planners)
	for _, e := range w.events {
		if err := again.Apply(reread(w.t, e)); err != nil {
			w.t.Fatal(err)
		}
	}
	check := func() {
		if here, there := dump(w.t, w.run), dump(w.t, again); here != there {
			w.t.Fatalf("the refolded run is\n%s\nwant\n%s\nafter\n%s", there, here, w.tail())
		}
	}
	check()
	w.check = func(e event.Event) {
		w.t.Helper()
		if err := again.Apply(reread(w.t, e)); err != nil {
			w.t.Fatal(err)
		}
		check()
	}
}
