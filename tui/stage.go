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

// stage is a run on the screen together with the screen's own state for it.
type stage struct {
	run      *agent.Run    // nil before the first
	folded   []event.Event // applied to the run, in order
	by       string        // the call that started it in the enclosing run, "" if the user did
	asked    map[errand]time.Time
	turn     *chat.Turn            // the chat turn that a model writes or last wrote
	planning *chat.Thought         // models' thinking in the planning phases, nil for none
	thoughts *chat.Block           // shows the thinking
	cards    int                   // number of chat calls shown
	failed   string                // the attempt whose failure the chat has reported
	blocked  string                // the reason the chat gave for the run's end: a guard's sentence, or why there is no answer
	cut      string                // the last reported omission from a prompt
	closing  bool                  // the session has reported the run's outcome
	dry      bool                  // the run makes no calls
	planOnly bool                  // the run ends with its plan
	ended    bool                  // the session abandoned the run without a result
	live     func(run string) bool // whether a run on the screen is under way; nil in a stage without a run
}

// errand is a model request outside the planning phases.
type errand struct {
	purpose prompt.Purpose
	step    string // its step, "" for none
}

func newStage(run *agent.Run) *stage { return &stage{run: run, asked: map[errand]time.Time{}} }

// goes reports whether the run is under way.
func (s *stage) goes() bool { return s.run != nil && s.run.Result == nil && !s.ended }

// busyWith reports whether a model request with purpose p is under way, and for
// which step.
func (s *stage) busyWith(p prompt.Purpose) (step string, ok bool) {
	for e := range s.asked {
		if e.purpose == p && (!ok || e.step < step) {
			step, ok = e.step, true
		}
	}
	return step, ok
}

// spins reports whether the run needs animation.
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

// stirs reports whether a call of the loop is running. Without running or
// waiting calls, it returns idle. A call that waits for its own run does not
// count: that run is animated itself.
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

// front returns the run under way: the innermost one started by plan tools,
// else the user's.
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

// stageOf returns the run with this id, nil if it is not on the screen.
func (m *Model) stageOf(run string) *stage {
	for _, s := range m.stages {
		if s.run.ID == run {
			return s
		}
	}
	return nil
}

// live reports whether a run is on the screen and under way.
func (m *Model) live(run string) bool {
	s := m.stageOf(run)
	return s != nil && m.stages[0].goes() && s.goes()
}

// enter puts a run on the screen. A run that starts during another was started
// by the other's model, and returns to it.
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

// startedBy returns the index of the call that started the run with this id, ""
// if none did.
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

// talkRuns returns the runs on the screen for the list of exchanges.
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

// inner reports whether a plan tool started the current run.
func (m *Model) inner() bool { return len(m.stages) > 0 && m.stages[0] != m.stage }

// moment captures the run's state before it applies an event.
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

// phased reports whether planning phases produced the plan.
func (s *stage) phased() bool {
	for i := range s.run.Phases {
		if s.run.Phases[i].Status != agent.PhasePending {
			return true
		}
	}
	return false
}

// outcomeWord describes the outcome of a completed run.
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

// openTurn returns the turn being written. After a completed turn it starts a
// new one, which enters the chat with its first text.
func (s *stage) openTurn() *chat.Turn {
	if s.turn == nil || s.turn.Done {
		s.turn = &chat.Turn{Split: &chat.Splitter{}}
	}
	return s.turn
}

// going returns the id of the run if it is under way, else "".
func (s *stage) going() string {
	if !s.goes() {
		return ""
	}
	return s.run.ID
}
