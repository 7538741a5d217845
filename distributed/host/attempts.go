package host

import (
	"replan/agent/event"
	"replan/distributed/records"
)

const (
	// maxDeaths is the number of workers that may die in a row while a run makes no
	// progress. It is likely to be what kills them.
	maxDeaths = 5
	// maxNotOpened is the number of workers in a row that may fail to open a run.
	maxNotOpened = 5
)

// attempts count the workers that failed to bring a run further.
type attempts struct {
	deaths    int  // workers in a row that took the run up and died before it made progress
	harmless  bool // the run cannot be why its last worker ended
	notOpened int  // workers in a row that could not open it
}

// forget forgets them, since a run is resumed.
func (a *attempts) forget() { a.deaths, a.notOpened = 0, 0 }

// died returns the number of workers in a row that died.
func (a *attempts) died() int { return a.deaths }

// isLast reports whether no other worker is to try to open the run if this one fails.
func (a *attempts) isLast() bool { return a.notOpened+1 >= maxNotOpened }

// count counts the workers in a row that died, or could not open the run. gatesOpen says
// that other workers left gates open.
func (a *attempts) count(r records.Record, gatesOpen bool) {
	switch {
	case r.TakenUp != "":
		if !a.harmless {
			a.deaths++
		}
		a.harmless = false
	case r.Stopped:
		a.harmless = true
	case r.NotOpened != nil:
		a.notOpened++
		a.deaths = 0
	case len(r.Events) > 0:
		a.notOpened = 0
		for _, e := range r.Events {
			a.judge(e, gatesOpen)
		}
	case r.Mail:
		a.deaths = 0 // a user looks after it
	}
}

// judge notes whether an event is progress, and whether the run could kill its worker
// after it. Progress is a result that no later worker works for again. What people decide
// is none: it comes by mail.
func (a *attempts) judge(e event.Event, gatesOpen bool) {
	switch e.Data.(type) {
	case event.PhaseCompleted, event.PlanDiff, event.StepCompleted, event.StepFailed, event.StepSkipped, event.CheckCompleted,
		event.ModelReplied, event.SynthesisCompleted, event.RunCompleted, event.ChatReply:
		a.deaths = 0
	case event.PhaseStarted, event.StepStarted, event.ModelRequested, event.ReplanStarted, event.SynthesisStarted:
		a.harmless = false
	case event.RunPaused: // its worker stops in order
		a.harmless = true
	case event.RunResumed: // and waits for answers, if gates are open
		a.harmless = gatesOpen
	}
}
