package agent

// PlanReviews are the reviews of the plans of a run.
type PlanReviews struct {
	Reviews []ReviewedPlan // reviewed plans, with their changes

	held bool // the current plan waits for its review
}

// holdPlan lets the plan wait for its review, or not.
func (v *PlanReviews) holdPlan(wait bool) { v.held = wait }

// record records a review. A refused plan is held again if the run is resumed.
func (v *PlanReviews) record(r ReviewedPlan, taken bool) {
	v.Reviews = append(v.Reviews, r)
	v.held = v.held && !taken
}

// ReviewPending reports whether the plan of an active or resumed run waits for
// review, now or once nothing else comes first.
func (v *PlanReviews) ReviewPending() bool { return v.held }
