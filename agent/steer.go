package agent

import (
	"replan/agent/event"
)

// applySteered passes the user's remark to whoever is working: each model in a
// loop gets it with its next turn, otherwise the planner of the rest.
func (r *Run) applySteered(d event.RunSteered) {
	if loops := r.roster().activeLoops(); len(loops) > 0 {
		for _, l := range loops {
			if !l.over() {
				l.remark(string(d.Text))
			}
		}
		return
	}
	r.Planning.keepMessages(string(d.Text))
	r.dialogue().heed()
}

// Steerable reports whether a remark of the user to the run would be heard.
func (r *Run) Steerable() bool {
	switch {
	case !r.Active() || r.ends() || r.Paused || r.dryRun || r.planOnly && r.Revision > 0:
		return false
	case r.Synthesis.Started:
		return r.Synthesis.Direct && !r.Synthesis.Done
	case len(r.roster().activeLoops()) > 0:
		return true
	case r.Revision == 0:
		return r.origins().canReplan()
	default:
		return r.origins().canReplan() && (r.Planning.active() || r.Planning.wantsReplan() || !r.closer().settled())
	}
}
