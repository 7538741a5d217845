package agent

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
