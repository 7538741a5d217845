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
func tellPlan(at scene, steps *steps, data event.Data) bool {
	const all = Lines | Screen | Record
	switch d := data.(type) {
	case event.RouteMatched:
		if _, typed := d.Intent.TypedCommand(); typed {
			break // the goal says all of it
		}
		at.tell(all, Entry{Kind: Route, Level: Done, Words: routeWords(d, at.run.Model)})
	case event.PlanCreated:
		to := Lines | Client
		if !planned(at.run) { // no phase has shown it
			to |= Screen
		}
		at.tell(to, Entry{Kind: Plan, Level: Started, Plan: &d.Plan, Words: "plan: " + d.Plan.Title.Line(), Brief: "planned: " + d.Plan.Title.Line()})
	case event.PlanEmpty:
		at.tell(Lines, Entry{Level: Fatal, Words: "no plan: " + d.Reason.Line(), ends: d.Reason})
	case event.PlanDiff:
		at.event(all|Client, d, Entry{
			Kind: Revision, Level: Started, Words: revisionWords(d), Line: fmt.Sprintf("plan, revision %d", d.Revision),
			Brief: "planned again: " + d.Reason.Line(), CauseKnown: at.before.replanning,
		})
	case event.PlanChosen:
		at.tell(all, Entry{Level: Asks, Words: "took another plan instead" + wording.SignedBy(d.By), Plan: &d.Plan})
	case event.PlanReviewed:
		at.event(Lines|Screen, d, Entry{Kind: Reviewed, Level: Asks, Depth: 1})
	case event.ReplanStarted:
		tellReplan(at, steps, d)
	case event.ReplanRefused:
		at.tell(all, Entry{
			Level: Trouble, Words: at.sentence(refusedWords(d)), Line: fmt.Sprintf("replan %d refused: %s", d.Attempt, d.Reason.Line()),
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
func tellReplan(at scene, steps *steps, d event.ReplanStarted) {
	why := "step " + d.Step + " failed"
	switch {
	case wording.IsDeclinedAt(at.run, d.Step):
		why = "you declined step " + d.Step
	case d.Step != "":
		steps.tellFailure(at, d.Step, d.Error)
	case d.Request == "":
		why = d.Error.Line()
		at.tell(Screen, Entry{Level: Failed, Words: english.Capital(why)})
	default:
		why = "as requested" // by whoever sent the remark
	}
	at.tell(Lines|Screen, Entry{Kind: Replanning, Level: Again, Words: fmt.Sprintf("replan %d: %s", d.Attempt, why)})
}

// tellHeld tells that a plan now waits for review.
func tellHeld(at scene, data event.Data) {
	switch data.(type) {
	case event.PlanCreated, event.PlanChosen, event.PlanDiff, event.ReplanRefused, event.RunResumed:
	default:
		return
	}
	if !at.run.AwaitsReview() {
		return
	}
	if _, chosen := data.(event.PlanChosen); !chosen { // it still waits
		waits := Entry{Level: Asks, Words: wording.ReviewWaits}
		if _, again := data.(event.RunResumed); again {
			waits.Plan = &at.run.Plan
		}
		at.tell(Lines, waits)
	}
	at.tell(Lines, Entry{Kind: Held})
}
