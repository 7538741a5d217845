package agent

import (
	"iter"
	"maps"

	"replan/agent/event"
)

// flight is what is under way: calls of tools, including those of steps that the plan no
// longer has, and requests to models.
type flight struct {
	inFlight  map[event.Attempt]bool
	modelBusy int
}

// quiet reports whether nothing is in flight.
func (f *flight) quiet() bool { return f.modelBusy == 0 && len(f.inFlight) == 0 }

// calls returns the tool calls that have not returned.
func (f *flight) calls() iter.Seq[event.Attempt] { return maps.Keys(f.inFlight) }

// callsUnderWay returns how many calls have not returned.
func (f *flight) callsUnderWay() int { return len(f.inFlight) }

// modelsUnderWay returns how many requests to models have no reply.
func (f *flight) modelsUnderWay() int { return f.modelBusy }

// callStarts notes that a call is under way.
func (f *flight) callStarts(index string, attempt int) {
	if f.inFlight == nil {
		f.inFlight = map[event.Attempt]bool{}
	}
	f.inFlight[event.Attempt{Index: index, Number: attempt}] = true
}

// callReturns reports whether such a call was under way.
func (f *flight) callReturns(index string, attempt int) bool {
	key := event.Attempt{Index: index, Number: attempt}
	underWay := f.inFlight[key]
	delete(f.inFlight, key)
	return underWay
}

// modelStarts notes that a request to a model is under way.
func (f *flight) modelStarts() { f.modelBusy++ }

// modelReturns notes that a request to a model has ended.
func (f *flight) modelReturns() { f.modelBusy-- }

// loseCalls forgets the calls, which ended with the program.
func (f *flight) loseCalls() { f.inFlight = nil }

// loseModels forgets the requests to models, which ended with the program.
func (f *flight) loseModels() { f.modelBusy = 0 }
