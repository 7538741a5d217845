package live

import (
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/planning"
	"replan/planning/prompt"
)

// Run is a run on the screen.
type Run struct {
	// State is the run after the events applied so far, nil before the first run.
	State *agent.Run
	// Nested reports whether a call of another run started the run, and ParentCall
	// which one; it is "" if the call is unknown.
	Nested     bool
	ParentCall string
	// Abandoned reports that the session gave the run up without a result.
	Abandoned bool

	applied  []event.Event // the events to restart the run from
	requests map[modelRequest]time.Time
}

// modelRequest is a request to a model outside the planning phases.
type modelRequest struct {
	purpose prompt.Purpose
	step    string // "" for none
}

// newRun returns a run after its first event.
func newRun(planners planning.Planners, e event.Event) (*Run, error) {
	state := agent.NewRun(planners)
	if err := state.Apply(e); err != nil {
		return nil, err
	}
	return &Run{State: state, applied: []event.Event{e}, requests: map[modelRequest]time.Time{}}, nil
}

// startedBy notes that a call of another run started the run.
func (r *Run) startedBy(outer *Run) { r.Nested, r.ParentCall = true, outer.callOf(r.State.ID) }

// keep stores an event so that the run can be restarted.
func (r *Run) keep(e event.Event) { r.applied = append(r.applied, e) }

// apply applies an event.
func (r *Run) apply(e event.Event) error {
	if err := r.State.Apply(e); err != nil {
		return err
	}
	r.follow(e.Data)
	if _, resumed := e.Data.(event.RunResumed); resumed {
		r.Abandoned = false
	}
	return nil
}

// restart gives the run a new state after the same events, so that whatever was drawn
// keeps the old one.
func (r *Run) restart(planners planning.Planners) {
	r.State = agent.NewRun(planners)
	for _, e := range r.applied {
		_ = r.State.Apply(e) // any error was reported the first time
	}
}

// Abandon notes that the session gave the run up without a result.
func (r *Run) Abandon() { r.Abandoned = true }

// Active reports whether the run is under way.
func (r *Run) Active() bool { return r.State != nil && r.State.Active() && !r.Abandoned }

// AnswerSaysAll reports whether the answer shows all that the plan and its step would: it
// is the result of the only step, which reads.
func (r *Run) AnswerSaysAll() bool {
	run := r.State
	if run == nil || run.Route == nil || run.Revision > 1 || run.Chat != nil || len(run.Steps) != 1 {
		return false
	}
	if run.Model != "" && run.Route.Intent.WantsWords() {
		return false // the model writes the answer
	}
	tool, err := run.Catalog.Find(run.Steps[0].Step.Tool)
	return err == nil && tool.ReadOnly && run.Steps[0].Status != agent.StepFailed
}

// Requested reports whether a request for purpose is under way, for which step,
// and since when. Of several requests it returns the one for the first step.
func (r *Run) Requested(purpose prompt.Purpose) (step string, since time.Time, ok bool) {
	for request, at := range r.requests {
		if request.purpose == purpose && (!ok || request.step < step) {
			step, since, ok = request.step, at, true
		}
	}
	return step, since, ok
}

// waitsForModel reports whether a request outside the planning phases is under way.
func (r *Run) waitsForModel() bool { return len(r.requests) > 0 }

// follow updates the requests to models after an event.
func (r *Run) follow(data event.Data) {
	switch d := data.(type) {
	case event.ModelRequested:
		r.requests[modelRequest{d.Purpose, d.Step}] = r.State.Now
	case event.ModelReplied:
		delete(r.requests, modelRequest{d.Purpose, d.Step})
	case event.SynthesisStarted:
		purpose := prompt.PurposeSynthesis
		if d.Direct {
			purpose = prompt.PurposeChat
		}
		r.requests[modelRequest{purpose: purpose}] = r.State.Now
	case event.SynthesisCompleted:
		delete(r.requests, modelRequest{purpose: prompt.PurposeSynthesis})
		delete(r.requests, modelRequest{purpose: prompt.PurposeChat})
	case event.RunResumed, event.RunCompleted:
		clear(r.requests)
	}
}

// callOf returns the index of the run's call that started the run with this id,
// "" if none did.
func (r *Run) callOf(id string) string {
	loops := []*agent.Loop{r.State.Chat}
	for _, step := range r.State.Steps {
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
