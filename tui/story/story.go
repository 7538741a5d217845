package story

import (
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// Once holds what the readers of a session are told a single time, whichever run says it.
type Once struct {
	untyped map[string]bool   // tools without typed arguments
	cuts    map[offerCut]bool // offers that had no room for all tools
}

// offerCut tells the cuts of offers apart. Which tools are left out depends on the goal,
// so that the next turn of the same chat often has another number.
type offerCut struct{ tools, window int }

// NewOnce returns an empty memory for a session.
func NewOnce() *Once { return &Once{untyped: map[string]bool{}, cuts: map[offerCut]bool{}} }

// Story tells one reader about a run. It remembers what it has told.
type Story struct {
	to     Reader
	once   *Once
	run    *agent.Run
	nested bool
	out    []Entry

	ended    untrusted.Text                 // why the run ends, already told
	failed   untrusted.Text                 // why a step failed last, already told
	doubt    untrusted.Text                 // why a step is in doubt, already told
	failure  failure                        // of a step, told last
	attempt  string                         // the attempt whose failure was told last
	writing  bool                           // a model writes a turn
	polled   map[string]untrusted.Text      // what each step waits for
	tenths   map[string]int                 // of the items of each step that have ended, by run and step
	progress map[string]progress            // told last, by run and step
	asked    map[string]event.GateRequested // gates of the session itself
	diffs    []string                       // shown at gates
}

// New returns a story for a reader. once is shared by the stories of a session.
func New(to Reader, once *Once) *Story {
	return &Story{to: to, once: once, polled: map[string]untrusted.Text{}, tenths: map[string]int{}, progress: map[string]progress{}, asked: map[string]event.GateRequested{}}
}

// Follow makes the story tell of a run from now on. nested means that a call of another
// run started it. The story keeps what it has told.
func (s *Story) Follow(run *agent.Run, nested bool) { s.run, s.nested = run, nested }

// ReadBy makes the story tell another reader from now on.
func (s *Story) ReadBy(to Reader) { s.to = to }

// failure is the failure of a step.
type failure struct {
	step   string
	reason untrusted.Text
}

// progress is the newest message of a running tool.
type progress struct {
	message string
	at      time.Time
}

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
	s.out = nil
	_ = s.tellRun(data) || s.tellModel(data) || s.tellPlan(data, before) || s.tellGate(data, before) || s.tellStep(data, before) || s.tellNotice(data)
	s.tellHeld(data)
	return s.out
}

// tell adds an entry if the reader is among those it is for.
func (s *Story) tell(to Reader, e Entry) {
	if s.to&to == 0 {
		return
	}
	if e.ends != "" {
		s.ended = e.ends
	}
	if e.fails != "" {
		s.failed = e.fails
	}
	if e.doubts != "" {
		s.doubt = e.doubts
	}
	s.out = append(s.out, e)
}

// event is tell for an entry whose renderers read the event.
func (s *Story) event(to Reader, data event.Data, e Entry) {
	e.Event = data
	s.tell(to, e)
}

// asks describes the request to a model.
func asks(purpose prompt.Purpose, step string) string {
	switch {
	case purpose == prompt.PurposeAgent:
		return "turn of step " + step
	case step != "":
		return "arguments of step " + step
	case purpose == prompt.PurposeTools:
		return "choice of tools"
	default:
		return string(purpose)
	}
}
