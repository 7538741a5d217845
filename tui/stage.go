package tui

import (
	"slices"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/prompt"
	"replan/tui/chat"
	"replan/tui/dialog"
)

// stage is a run on the screen, with what the screen keeps of it besides.
type stage struct {
	run      *agent.Run    // nil before the first
	folded   []event.Event // into the run, in order
	by       string        // the call that has started it in the run around it, "" where the user has
	asked    map[errand]time.Time
	turn     *chat.Turn            // in which a model writes into the chat, or has written last
	planning *chat.Thought         // what models thought aloud in the phases of planning, nil for nothing
	thoughts *chat.Block           // that tells of it
	cards    int                   // calls of the chat that stand in it
	failed   string                // the attempt whose failure the chat has told
	blocked  string                // what the chat has said of why the run ends: a guard's sentence, or why there is no answer
	cut      string                // what was last said to be left out of a prompt
	closing  bool                  // the session has said what came of the run
	dry      bool                  // the run calls nothing
	planOnly bool                  // the run ends with its plan
	ended    bool                  // the session gave the run up without a result
	live     func(run string) bool // whether a run on the screen goes on, nil where this is no run
}

// errand is what a model is at work on outside the phases of planning.
type errand struct {
	purpose prompt.Purpose
	step    string // that it is for, "" for none
}

func newStage(run *agent.Run) *stage { return &stage{run: run, asked: map[errand]time.Time{}} }

// goes reports whether the run goes on.
func (s *stage) goes() bool { return s.run != nil && s.run.Result == nil && !s.ended }

// busyWith reports whether a model is at work on something of that kind, and for
// which step.
func (s *stage) busyWith(p prompt.Purpose) (step string, ok bool) {
	for e := range s.asked {
		if e.purpose == p && (!ok || e.step < step) {
			step, ok = e.step, true
		}
	}
	return step, ok
}

// spins reports whether something of the run moves.
func (s *stage) spins() bool {
	if !s.goes() {
		return false
	}
	r := s.run
	if r.Replanning != nil || len(s.asked) > 0 {
		return true
	}
	for i := range r.Phases {
		if r.Phases[i].Status == agent.PhaseRunning {
			return true
		}
	}
	for _, step := range r.Steps {
		if step.Status == agent.StepRunning && (step.Loop == nil || s.stirs(step.Loop, true)) {
			return true
		}
	}
	return r.Chat != nil && s.stirs(r.Chat, false)
}

// stirs reports whether a call of a loop is under way, or idle where there is
// none that waits for the user either. A call that waits for its own run leaves
// it to that one.
func (s *stage) stirs(l *agent.Loop, idle bool) bool {
	for _, c := range l.Calls {
		switch {
		case c.Status == agent.StepRunning && !s.live(c.Run):
			return true
		case c.Status == agent.StepRunning, c.Status == agent.StepWaiting, c.Status == agent.StepInDoubt:
			idle = false
		}
	}
	return idle
}

// front is the run that goes on: the innermost of those that plan tools have
// started, else the one that the user did.
func (m *Model) front() *stage {
	if len(m.stages) == 0 {
		return m.stage
	}
	if m.stages[0].goes() {
		for _, s := range slices.Backward(m.stages) {
			if s.goes() {
				return s
			}
		}
	}
	return m.stages[0]
}

// stageOf is the run with this id, nil where it is not on the screen.
func (m *Model) stageOf(run string) *stage {
	for _, s := range m.stages {
		if s.run.ID == run {
			return s
		}
	}
	return nil
}

// live reports whether a run goes on, which is one on the screen.
func (m *Model) live(run string) bool {
	s := m.stageOf(run)
	return s != nil && m.stages[0].goes() && s.goes()
}

// enter puts a run on the screen. One that starts while another goes on was
// started by that one's model, and leads back to it.
func (m *Model) enter(s *stage) {
	if around := m.front(); around.goes() {
		s.by = startedBy(around.run, s.run.ID)
		m.stages = append(m.stages, s)
	} else {
		m.stages = []*stage{s}
		m.stopping, m.reopened = false, nil
	}
	s.live = m.live
	m.stage = s
	m.watch(s)
}

// startedBy is the call of a run that has started the one with this id, "" where
// none has.
func startedBy(around *agent.Run, id string) string {
	loops := []*agent.Loop{around.Chat}
	for _, step := range around.Steps {
		loops = append(loops, step.Loop)
	}
	for _, l := range loops {
		if l == nil {
			continue
		}
		for _, c := range l.Calls {
			if c.Run == id {
				return c.Step.Index
			}
		}
	}
	return ""
}

// talkRuns are the runs on the screen, for the list of their exchanges.
func (m *Model) talkRuns() []dialog.ExchangesRun {
	var runs []dialog.ExchangesRun
	for _, s := range m.stages {
		runs = append(runs, dialog.ExchangesRun{Run: s.run, By: s.by})
	}
	return runs
}

// watch shows a run in the plan pane.
func (m *Model) watch(s *stage) {
	m.shown = s
	m.dag.Show(s.run)
}

// inner reports whether the run that is told of was started by a plan tool.
func (m *Model) inner() bool { return len(m.stages) > 0 && m.stages[0] != m.stage }

// moment looks at the run before an event is folded.
func (s *stage) moment(d event.Data) moment {
	was := moment{replanning: s.run.Replanning != nil}
	switch d := d.(type) {
	case event.GateResolved:
		for _, g := range s.run.Gates {
			if g.Gate == d.Gate {
				was.gate = g
			}
		}
	case event.FailureResolved:
		if s := s.run.Step(d.Step); s != nil && s.Status == agent.StepFailed {
			was.failure = s.Error
		}
	}
	return was
}

// phased reports whether phases of planning have told of the plan.
func (s *stage) phased() bool {
	for i := range s.run.Phases {
		if s.run.Phases[i].Status != agent.PhasePending {
			return true
		}
	}
	return false
}

// outcomeWord says how a run that completed went.
func (s *stage) outcomeWord(r *event.Result) string {
	switch {
	case s.dry:
		return "dry run: nothing was called"
	case s.planOnly:
		return "planned: nothing was run"
	case r.Reason == event.ReasonPartial:
		return "done in part: some steps were skipped"
	case r.Reason == event.ReasonNothingFound:
		return "nothing found"
	default:
		return "done"
	}
}

// openTurn is the turn that is being written. One that is done is followed by
// another, which begins in the chat where the first of it arrives.
func (s *stage) openTurn() *chat.Turn {
	if s.turn == nil || s.turn.Done {
		s.turn = &chat.Turn{Split: &chat.Splitter{}}
	}
	return s.turn
}

// going is the run that goes on, "" where none does.
func (s *stage) going() string {
	if !s.goes() {
		return ""
	}
	return s.run.ID
}
