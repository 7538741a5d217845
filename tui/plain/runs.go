package plain

import "replan/agent"

// activeRuns are the runs under way, one of which is printed. A run started by a call of a
// chat follows the run that made the call.
type activeRuns struct {
	runs []*agent.Run
	run  *agent.Run // the one being printed, nil before the first
}

// enter starts a run. It drops the previous runs if the first of them is over.
func (a *activeRuns) enter() {
	if len(a.runs) > 0 && a.runs[0].Result != nil {
		a.runs = nil
	}
	a.run = agent.NewRun(nil)
	a.runs = append(a.runs, a.run)
}

// show selects a run that is not under way here. nested means that a call of another run
// started it.
func (a *activeRuns) show(run *agent.Run, nested bool) {
	a.run, a.runs = run, []*agent.Run{run}
	if nested {
		a.runs = []*agent.Run{nil, run}
	}
}

// find selects the run with the given id and reports whether it exists.
func (a *activeRuns) find(id string) bool {
	for _, r := range a.runs {
		if r.ID == id {
			a.run = r
			return true
		}
	}
	return false
}

// toFirst selects the run that the user started, if there is one.
func (a *activeRuns) toFirst() {
	if len(a.runs) > 0 {
		a.run = a.runs[0]
	}
}

// printed returns the run being printed, nil before the first.
func (a *activeRuns) printed() *agent.Run { return a.run }

// all returns the runs in the order in which they started.
func (a *activeRuns) all() []*agent.Run { return a.runs }

// nested reports whether a call started the run being printed.
func (a *activeRuns) nested() bool { return len(a.runs) > 0 && a.run != a.runs[0] }

// inset returns the indentation for lines of the run being printed.
func (a *activeRuns) inset() string {
	if a.nested() {
		return "    "
	}
	return ""
}
