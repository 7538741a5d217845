package ask_test

import (
	"context"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/ask"
	"replan/tui/draw"
	"replan/tui/live"
	"replan/tui/panes"
	"replan/tui/panetest"
)

const run = "r-20261121-114200-k3fq"

// screen is the dialog on a screen of some size, about what happens in a run.
type screen struct {
	*panetest.Driver
	dialog  *ask.Dialog
	pending *ask.Pending
	panes   *panes.Arrangement
	size    draw.Rect // of the dialog
	over    bool      // another dialog covers it
	seq     uint64
	now     time.Time
}

func open(t *testing.T, width, height int) *screen {
	t.Helper()
	k := panetest.Keys()
	s := &screen{
		dialog: ask.New(panetest.DarkLook(), k, draw.Pauses{Grace: time.Nanosecond, Check: time.Nanosecond}), pending: &ask.Pending{Runs: &live.Runs{}},
		panes: panes.New(k, 0, 0), now: time.Date(2026, 11, 21, 11, 42, 0, 0, time.UTC),
	}
	s.Driver = &panetest.Driver{T: t, Keys: k, Part: s.dialog, Guard: s.dialog.Guard(), Draw: s.draw, Hints: s.dialog.Hints, Width: width}
	s.panes.Resize(width, height)
	return s
}

// draw lays the dialog out and draws it, as the screen does.
func (s *screen) draw() []string {
	s.panes.Arrange(panes.Contents{Sheet: s.dialog.Height, Input: func(int, int, int) int { return 1 }})
	s.size = s.panes.Layout().Sheet
	s.dialog.SetState(ask.State{Size: s.size, Over: s.over})
	if !s.dialog.Showing() {
		return nil
	}
	return s.dialog.View(s.size)
}

// happens lets events happen in the run.
func (s *screen) happens(data ...event.Data) *screen {
	s.T.Helper()
	for _, d := range data {
		s.seq++
		e := event.Event{Seq: s.seq, Time: s.now, Run: run, Data: d}
		var err error
		if r := s.pending.Runs.Find(run); r == nil {
			_, err = s.pending.Runs.Start(e)
		} else {
			err = s.pending.Runs.Apply(r, e)
		}
		if err != nil {
			s.T.Fatal(err)
		}
	}
	s.dialog.Set(s.pending.List())
	s.draw()
	return s
}

// started begins a run with these tools.
func started(tools ...plan.Tool) event.RunStarted {
	return event.RunStarted{Goal: "rename authenticate to verifyUser", Model: "qwen3:8b", Limits: event.DefaultLimits(), Catalog: tools, Attended: true}
}

// renames is a run of a rename up to a gate.
func renames(gate event.GateRequested, tools ...plan.Tool) []event.Data {
	steps := append(panetest.RenameSteps(), plan.Step{Index: "7", Title: "Rename in the token helper", Executor: plan.ExecutorTool, Tool: "fs.patch"})
	p := plan.Plan{Title: "Rename authenticate", Steps: steps, OnFailure: plan.OnFailureReplan}
	begins := []event.Data{started(tools...), event.PlanCreated{Plan: p, Revision: 1}}
	if gate.Step == "7" {
		begins = append(begins, event.PlanDiff{Plan: p, Revision: 2})
	}
	return append(begins, gate)
}

// settled shows events after the grace time of the dialog.
func settled(t *testing.T, width, height int, data ...event.Data) *screen {
	t.Helper()
	s := open(t, width, height).happens(data...)
	s.Rest()
	return s
}

// seen pages through the open gate, so that all of its call has been in view.
func (s *screen) seen() *screen {
	for range 30 {
		s.Press(panetest.Key("pgdown"))
	}
	return s
}

// resize gives the screen another size.
func (s *screen) resize(width, height int) {
	s.panes.Resize(width, height)
	s.Width = width
	s.draw()
}

// answer is the answer to a gate.
func answer(gate string, d event.Decision, scope event.Scope) session.Command {
	return session.Resolve{Run: run, Gate: gate, Decision: d, Scope: scope}
}

func allow(gate string) session.Command { return answer(gate, event.Allow, event.ScopeOnce) }
func deny(gate string) session.Command  { return answer(gate, event.Deny, event.ScopeOnce) }

// previews answers what the dialog asks about an edited call.
type previews struct {
	session.Queries
	err error
}

func (p previews) PreviewCall(context.Context, string, string, map[string]any) (plan.ToolPreview, error) {
	return plan.ToolPreview{}, p.err
}

// kill empties a text area, from its beginning.
func (s *screen) kill() {
	for range 40 {
		s.Press(panetest.Named("ctrl+k", "delete")...)
	}
}
