package live

import (
	"slices"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/planning"
)

// Runs is the set of runs on the screen, and what the session is about to do
// with them.
type Runs struct {
	// Planners are the planners of the session; nil means the three phases and a
	// model.
	Planners planning.Planners
	// Recorded means that a replay shows past runs. They cannot be resumed. Their
	// streamed events are kept, so that a restarted run has its streamed text: a
	// replay holds all events in memory anyway.
	Recorded bool

	// Can says what the session can do with runs.
	Can session.Abilities

	preparing bool // something was sent but its run has not started
	stopping  bool // the user asked to stop the run under way
	resumes   int  // runs resumed on this screen

	all      []*Run // the run that the user started, then those that calls started in it
	shown    *Run
	none     Run // stands for the current run before the first
	repeated *repeatedRun
}

// repeatedRun is a run whose past events the session repeats.
type repeatedRun struct {
	id   string
	upto uint64 // number of the last past event
}

// All returns the run that the user started, then those that calls started in
// it, in the order in which they started.
func (s *Runs) All() []*Run { return s.all }

// Current returns the innermost run under way, else the newest run that the user
// started. Before the first run it returns a run without a state.
func (s *Runs) Current() *Run {
	if len(s.all) == 0 {
		return &s.none
	}
	if s.all[0].Active() {
		for _, r := range slices.Backward(s.all) {
			if r.Active() {
				return r
			}
		}
	}
	return s.all[0]
}

// Shown returns the run in the plan pane. Before the first run it has no state.
func (s *Runs) Shown() *Run {
	if s.shown == nil {
		return &s.none
	}
	return s.shown
}

// Find returns the run with this id, nil if it is not on the screen.
func (s *Runs) Find(id string) *Run {
	for _, r := range s.all {
		if r.State.ID == id {
			return r
		}
	}
	return nil
}

// Live reports whether a run is on the screen and under way.
func (s *Runs) Live(id string) bool {
	r := s.Find(id)
	return r != nil && s.all[0].Active() && r.Active()
}

// Active returns the id of the current run if it is under way, else "".
func (s *Runs) Active() string {
	if r := s.Current(); r.Active() {
		return r.State.ID
	}
	return ""
}

// Busy reports whether there is work to stop.
func (s *Runs) Busy() bool { return s.preparing || s.Active() != "" }

// Resumable reports whether the run in the plan pane has ended and can be
// resumed now.
func (s *Runs) Resumable() bool {
	r := s.Shown().State
	return !s.Recorded && s.Can.NoResume == "" && r != nil && r.Result != nil && r.Resumable() && !s.Busy()
}

// Steerable reports whether anything in the current runs would hear the user: a
// model at work, or one that can replan.
func (s *Runs) Steerable() bool {
	return slices.ContainsFunc(s.all, func(r *Run) bool { return r.Active() && r.State.Steerable() })
}

// Held returns the run whose plan waits for review, nil for none.
func (s *Runs) Held() *agent.Run {
	if s.Repeating() || !s.Busy() {
		return nil
	}
	for _, r := range s.all {
		if r.Active() && r.State.AwaitsReview() {
			return r.State
		}
	}
	return nil
}

// Start puts a run on the screen at its first event and shows its plan. A run
// that starts during another was started by a call of the other, and returns to
// it.
func (s *Runs) Start(e event.Event) (*Run, error) {
	r, err := newRun(s.Planners, e)
	if err != nil {
		return nil, err
	}
	if outer := s.Current(); outer.Active() {
		r.startedBy(outer)
		s.all = append(s.all, r)
	} else {
		s.all = []*Run{r}
		s.stopping = false
	}
	s.preparing = false
	s.shown = r
	return r, nil
}

// Apply applies an event to a run on the screen.
func (s *Runs) Apply(r *Run, e event.Event) error {
	s.keep(r, e)
	if err := r.apply(e); err != nil {
		return err
	}
	switch e.Data.(type) {
	case event.RunResumed:
		s.stopping, s.preparing = false, false
		s.resumes++
	case event.RunCompleted:
		if !r.Nested {
			s.stopping = false
		}
	}
	return nil
}

// Undo marks the runs on the screen that were undone or redone. Their journals say so too.
func (s *Runs) Undo(d event.ChatUndone) {
	if len(d.Files) == 0 && !d.Already && !d.AsWas {
		return
	}
	for _, r := range s.all {
		if r.State.ID == d.Run || slices.Contains(d.Inner, r.State.ID) {
			// An error means that it is marked already.
			_ = s.Apply(r, event.Event{Seq: r.State.Seq + 1, Time: r.State.Now, Run: r.State.ID, Data: event.RunUndone{Files: d.Files, Redo: d.Redo}})
		}
	}
}

// keep stores an event so that the run can be restarted.
func (s *Runs) keep(r *Run, e event.Event) {
	if s.Recorded || !e.Data.Kind().Passing() {
		r.keep(e)
	}
}

// Restart gives an ended run that is about to be resumed a new state, so that
// whatever was drawn keeps the old one. The runs that it started leave the
// screen.
func (s *Runs) Restart(r *Run) {
	r.restart(s.Planners)
	s.all = s.all[:slices.Index(s.all, r)+1]
	s.shown = r
}

// Finish records that the session has finished a request.
func (s *Runs) Finish() {
	s.preparing = false
	if s.Active() == "" {
		s.stopping = false
	}
}

// Preparing reports whether something was sent but its run has not started.
func (s *Runs) Preparing() bool { return s.preparing }

// Stopping reports whether the user asked to stop the run under way.
func (s *Runs) Stopping() bool { return s.stopping }

// Resumes returns how many runs were resumed on this screen.
func (s *Runs) Resumes() int { return s.resumes }

// Await records whether the session prepares something, also during a run.
func (s *Runs) Await(preparing bool) { s.preparing = preparing }

// Stop records that the user asked to stop the run under way.
func (s *Runs) Stop() { s.stopping = true }

// Prepare records that the session prepares something, unless a run is under way.
func (s *Runs) Prepare() { s.preparing = s.Active() == "" }

// Repeat announces that the session repeats the past events of a run that it
// resumes.
func (s *Runs) Repeat(d session.Resuming) {
	s.repeated = &repeatedRun{id: d.Run, upto: d.Upto}
	s.preparing = true
}

// Repeating reports whether the session repeats past events.
func (s *Runs) Repeating() bool { return s.repeated != nil }

// Repeats reports whether an event repeats a past one. The first new event of
// the run ends the repetition.
func (s *Runs) Repeats(e event.Event) bool {
	if s.repeated == nil || e.Run != s.repeated.id {
		return false
	}
	if _, ok := e.Data.(event.ChatReply); ok || e.Seq > s.repeated.upto {
		s.repeated, s.preparing = nil, false
		return false
	}
	return true
}

// ApplyRepeated applies a repeated event to its run and returns the run, nil if
// it is not the current one.
func (s *Runs) ApplyRepeated(e event.Event) (*Run, error) {
	r := s.Current()
	if r.State == nil || r.State.ID != e.Run {
		return nil, nil
	}
	s.keep(r, e)
	return r, r.State.Apply(e)
}

// GiveUp ends the repetition of a run that cannot be resumed.
func (s *Runs) GiveUp() {
	if s.repeated != nil {
		s.Current().Abandon()
		s.repeated = nil
	}
}
