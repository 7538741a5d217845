package cli

import (
	"replan/agent"
	"replan/cli/config"
)

// nobodyReviews says why no plan can be looked over here.
func (o *options) nobodyReviews() error {
	if o.Output == config.OutputJSON {
		return usage("with --output json nobody is asked, so no plan can be looked over: leave --review or --output json out")
	}
	return usage("there is no terminal on which the plan could be looked over: leave --review out")
}

// checkReview refuses to hold plans that nobody can look over.
func (o *options) checkReview() error {
	if o.Review && !o.asks() && !o.DryRun {
		return o.nobodyReviews()
	}
	return nil
}

// canReview refuses to take up a run whose plan waits to be looked over, or will,
// where nobody can.
func (o *options) canReview(run *agent.Run) error {
	if !run.Resumable() || o.asks() || !run.Unreviewed() && (!run.Holds() || run.Revision > 0) {
		return nil
	}
	return usage("the plan of the run %s waits to be looked over: resume it on a terminal, without --output json", run.ID)
}
