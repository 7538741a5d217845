package lines

import (
	"replan/agent"
	"replan/cli/app"
	"replan/cli/exit"
)

// NobodyReviews says why plans cannot be reviewed here.
func NobodyReviews(a *app.App) error {
	if a.Out().JSON() {
		return exit.Usage("--output json asks no questions, so it cannot show a plan for review: omit --review or --output json")
	}
	return exit.Usage("there is no terminal to review the plan on: omit --review")
}

// CheckReview refuses to hold plans without a terminal to review them.
func CheckReview(a *app.App) error {
	if set := a.Execution(); set.Review && !a.Asks() && !set.DryRun {
		return NobodyReviews(a)
	}
	return nil
}

// CanReview refuses to resume a run with a plan that waits, or will wait, for a
// review, without a terminal for it.
func CanReview(a *app.App, run *agent.Run) error {
	if !run.Resumable() || a.Asks() || !run.ReviewPending() && (!run.ReviewsPlans() || run.Revision > 0) {
		return nil
	}
	return exit.Usage("the plan of the run %s waits for your review: resume it on a terminal, without --output json", run.ID)
}
