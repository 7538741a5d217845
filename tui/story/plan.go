package story

import (
	"fmt"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/tui/wording"
)

// tellPlan tells how the plan was made and changed.
func (s *Story) tellPlan(data event.Data, before Before) bool {
	const all = Lines | Screen | Record
	switch d := data.(type) {
	case event.RouteMatched:
		s.tell(all, Entry{Kind: Route, Level: Done, Words: routeWords(d, s.run.Model)})
	case event.PlanCreated:
		to := Lines | Client
		if !planned(s.run) { // no phase has shown it
			to |= Screen
		}
		s.tell(to, Entry{Kind: Plan, Level: Started, Plan: &d.Plan, Words: "plan: " + d.Plan.Title.Line(), Brief: "planned: " + d.Plan.Title.Line()})
	case event.PlanEmpty:
		s.tell(Lines, Entry{Level: Fatal, Words: "no plan: " + d.Reason.Line(), ends: d.Reason})
	case event.PlanDiff:
		s.event(all|Client, d, Entry{
			Kind: Revision, Level: Started, Words: revisionWords(d), Line: fmt.Sprintf("plan, revision %d", d.Revision),
			Brief: "planned again: " + d.Reason.Line(), Told: before.replanning,
		})
	case event.PlanChosen:
		s.tell(all, Entry{Level: Asks, Words: "took another plan instead" + wording.SignedBy(d.By), Plan: &d.Plan})
	case event.PlanReviewed:
		s.event(Lines|Screen, d, Entry{Kind: Reviewed, Level: Asks, Depth: 1})
	case event.ReplanStarted:
		s.tellReplan(d)
	case event.ReplanRefused:
		s.tell(all, Entry{
			Level: Trouble, Words: s.sentence(refusedWords(d)), Line: fmt.Sprintf("replan %d refused: %s", d.Attempt, d.Reason.Line()),
		})
	default:
		return false
	}
	return true
}

// planned reports whether planning phases produced the plan of a run.
func planned(r *agent.Run) bool {
	for i := range r.Phases {
		if r.Phases[i].Status != agent.PhasePending {
			return true
		}
	}
	return false
}

// revisionWords says what a revision changed and why.
func revisionWords(d event.PlanDiff) string {
	var parts []string
	for _, p := range wording.RevisionParts(d.Removed, d.Added, d.Revised) {
		parts = append(parts, p.Name+" "+p.Steps)
	}
	words := fmt.Sprintf("revision %d: %s", d.Revision, strings.Join(parts, "; "))
	if reason := wording.Cause(d.Reason); reason != "" {
		words += ", because " + reason
	}
	return words
}

// tellReplan tells that a new plan is made, and why.
func (s *Story) tellReplan(d event.ReplanStarted) {
	why := "step " + d.Step + " failed"
	switch {
	case d.Step != "":
		s.tellFailure(d.Step, d.Error)
	case d.Request == "":
		why = d.Error.Line()
		s.tell(Screen, Entry{Level: Failed, Words: english.Capital(why)})
	default:
		why = "as requested" // by whoever sent the remark
	}
	s.tell(Lines|Screen, Entry{Kind: Replanning, Level: Again, Words: fmt.Sprintf("replan %d: %s", d.Attempt, why)})
}

// tellHeld tells that a plan now waits for review.
func (s *Story) tellHeld(data event.Data) {
	switch data.(type) {
	case event.PlanCreated, event.PlanChosen, event.PlanDiff, event.ReplanRefused, event.RunResumed:
	default:
		return
	}
	if !s.run.AwaitsReview() {
		return
	}
	if _, chosen := data.(event.PlanChosen); !chosen { // it still waits
		waits := Entry{Level: Asks, Words: wording.ReviewWaits}
		if _, again := data.(event.RunResumed); again {
			waits.Plan = &s.run.Plan
		}
		s.tell(Lines, waits)
	}
	s.tell(Lines, Entry{Kind: Held})
}
