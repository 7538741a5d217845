package agent_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// file is a file that calls change; each call is checked against the version that
// its gate showed.
type file struct {
	version int
	calls   []string // steps whose calls changed the file
	refused int
}

// in makes the calls of a world change the file. Previews show the current
// version, and a call that was approved for another version is refused.
func (f *file) in(w *world) {
	w.show = func(g agent.OpenGate) event.GateRequested {
		shown := g.Gate
		shown.Diff, shown.Hashes = fmt.Sprint("version ", f.version), map[string]string{"f": fmt.Sprint(f.version)}
		return shown
	}
	w.tool = func(c agent.CallTool) event.Data {
		if version, approved := c.Hashes["f"]; approved && version != fmt.Sprint(f.version) {
			f.refused++
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "outdated", Outdated: "f changed since it was approved", Failure: event.FailureTool}
		}
		f.version++
		f.calls = append(f.calls, c.Index)
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "done"}
	}
}

func TestOutdatedCallAsksAgainAndRuns(t *testing.T) {
	for _, n := range []int{2, 5} {
		t.Run(fmt.Sprint(n, " changes of one file"), func(t *testing.T) {
			w, f := newWorld(t), &file{}
			f.in(w)
			mirror(w)
			start := given(t, parallel(n))
			start.Limits.MaxToolCalls = n // refused calls do not count
			got := w.play(start)
			if got.Reason != event.ReasonGoalMet || len(f.calls) != n || got.Usage.ToolCalls != n || got.Usage.Steps != n {
				t.Fatalf("ended %s (%s) after the calls %v, used %+v", got.Reason, got.Error, f.calls, got.Usage)
			}
			if len(got.History) != n {
				t.Errorf("the history has %d items: %+v", len(got.History), got.History)
			}
			if f.refused != n-1 {
				t.Errorf("%d calls were refused, want each but the first refused once", f.refused)
			}
			again := 0
			for _, g := range gates(w) {
				if g.Outdated != "" {
					again++
					if g.Outdated != "f changed since it was approved" || g.Diff == "version 0" {
						t.Errorf("the second gate has the reason %q and the diff %q", g.Outdated, g.Diff)
					}
				}
			}
			if again != n-1 || len(gates(w)) != 2*n-1 {
				t.Errorf("%d of %d gates ask again, want %d", again, len(gates(w)), n-1)
			}
		})
	}
}

func TestOutdatedCallCanBeDenied(t *testing.T) {
	w, f := newWorld(t), &file{}
	f.in(w)
	w.gate = func(g event.GateRequested) event.Decision {
		if g.Outdated != "" {
			return event.Deny
		}
		return event.Allow
	}
	if got := w.play(given(t, parallel(2))); got.Reason != event.ReasonDenied || len(f.calls) != 1 {
		t.Errorf("ended %s (%s) after the calls %v", got.Reason, got.Error, f.calls)
	}
}

func TestOutdatedCallRunsUnderNewGrant(t *testing.T) {
	w, f := newWorld(t), &file{}
	f.in(w)
	asked := 0
	w.resolve = func(g event.GateRequested) event.GateResolved {
		asked++
		answer := event.GateResolved{Gate: g.Gate, Decision: event.Allow, Scope: event.ScopeOnce, By: "test"}
		if asked == 2 {
			answer.Scope = event.ScopeRun
		}
		return answer
	}
	if got := w.play(given(t, parallel(2))); got.Reason != event.ReasonGoalMet || len(f.calls) != 2 || asked != 2 {
		t.Errorf("ended %s (%s) after the calls %v and %d gates", got.Reason, got.Error, f.calls, asked)
	}
}

func TestOutdatedCallOfChatAsksAgain(t *testing.T) {
	w, f := newWorld(t), &file{}
	f.in(w)
	start := started(event.DefaultLimits())
	chats(nil, w, &start)
	turns := 0
	w.reply = func(prompt.Request) (string, error) { return "done", nil }
	w.calls = func(prompt.Request) []reply.ToolUse {
		if turns++; turns > 1 {
			return nil
		}
		return []reply.ToolUse{use("change", "a"), use("change", "b")}
	}
	got := w.play(start)
	if got.Reason != event.ReasonDirect || len(f.calls) != 2 || f.refused != 1 {
		t.Errorf("ended %s (%s) after the calls %v, %d refused", got.Reason, got.Error, f.calls, f.refused)
	}
}

func TestOutdatedCallSurvivesKill(t *testing.T) {
	w, f := newWorld(t), &file{}
	f.in(w)
	start := given(t, parallel(3))
	w.apply(start)
	w.until(event.KindStepFailed)
	w.kill(len(w.events))
	again := resumed(start)
	if got := w.resume(again); got.Reason != event.ReasonGoalMet || len(f.calls) != 3 {
		t.Errorf("ended %s (%s) after the calls %v", got.Reason, got.Error, f.calls)
	}
	for _, g := range gates(w) {
		if strings.Contains(g.Diff, "version 0") && maps.Equal(g.Hashes, map[string]string{"f": "1"}) {
			t.Errorf("a gate shows an outdated diff: %+v", g)
		}
	}
}
