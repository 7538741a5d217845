package story

import (
	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
)

// Story tells one reader about a run. It remembers what it has told.
type Story struct {
	run    *agent.Run
	nested bool
	page   page
	models models
	gates  gates
	steps  steps
}

// New returns a story for a reader. once is shared by the stories of a session.
func New(to Reader, once *Once) *Story {
	return &Story{
		page:   page{reader: to},
		models: models{once: once},
		gates:  gates{asked: map[string]event.GateRequested{}},
		steps:  steps{polled: map[string]untrusted.Text{}, tenths: map[string]int{}, progress: map[string]progress{}, held: heldLines{}},
	}
}

// Follow makes the story tell of a run from now on. nested means that a call of another
// run started it. The story keeps what it has told.
func (s *Story) Follow(run *agent.Run, nested bool) { s.run, s.nested = run, nested }

// ReadBy makes the story tell another reader from now on.
func (s *Story) ReadBy(to Reader) { s.page.readBy(to) }

// Before holds the parts of the state of a run that an event is about to overwrite and
// that the story tells.
type Before struct {
	gate       *agent.Gate // the open gate that the event answers
	replanning bool
	failure    untrusted.Text // the error of the failed step that the event decides
}

// Before returns the state to pass to [Story.Tell] once the run has applied the event.
func (s *Story) Before(data event.Data) Before {
	before := Before{replanning: s.run.Replanning != nil}
	switch d := data.(type) {
	case event.GateResolved:
		for _, g := range s.run.Gates {
			if g.Gate == d.Gate {
				before.gate = g
			}
		}
	case event.FailureResolved:
		if step := s.run.Step(d.Step); step != nil && step.Status == agent.StepFailed {
			before.failure = step.Error
		}
	}
	return before
}

// Apply applies an event to the run and returns what it says.
func (s *Story) Apply(e event.Event) ([]Entry, error) {
	before := s.Before(e.Data)
	if err := s.run.Apply(e); err != nil {
		return nil, err
	}
	return s.Tell(e.Data, before), nil
}

// Tell returns what an event says, after the run has applied it.
func (s *Story) Tell(data event.Data, before Before) []Entry {
	at := scene{&s.page, s.run, s.nested, before}
	if _, ends := data.(event.RunCompleted); ends {
		s.steps.releaseHeld(at)
	}
	_ = s.models.tell(at, data) || tellRun(at, &s.gates, data) || tellPlan(at, &s.steps, data) || s.gates.tell(at, data) ||
		s.steps.tell(at, data) || tellNotice(at, data)
	tellHeld(at, data)
	return s.page.take()
}

// Session returns what an event of the session itself says.
func (s *Story) Session(data event.Data) []Entry {
	tellSession(scene{page: &s.page}, &s.gates, data)
	return s.page.take()
}
