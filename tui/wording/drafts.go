package wording

import (
	"fmt"
	"strings"

	"replan/internal/english"
	"replan/planning/prompt"
	"replan/planning/rank"
)

// PhaseWords names a phase of planning with its draft, if there are several.
func PhaseWords(phase string, d *prompt.Draft) string {
	if d == nil {
		return phase
	}
	return fmt.Sprintf("%s, draft %d of %d", phase, d.Number, d.Of)
}

// DraftsWords says which of several drafts of a plan was taken, and why the others
// were not.
func DraftsWords(drafts []rank.Draft) string {
	var taken rank.Draft
	for _, d := range drafts {
		if d.Taken {
			taken = d
		}
	}
	words := []string{fmt.Sprintf("Took draft %d of %d: %s", taken.Number, len(drafts), DraftWords(taken))}
	if len(taken.Faults) > 0 {
		words[0] = fmt.Sprintf("Repaired draft %d of %d, the best: it had %s", taken.Number, len(drafts), english.Count(len(taken.Faults), "fault"))
	}
	for _, d := range drafts {
		if !d.Taken {
			words = append(words, fmt.Sprintf("draft %d %s", d.Number, lessWords(drafts, taken, d)))
		}
	}
	return strings.Join(words, "; ")
}

// DraftWords returns the figures of a draft.
func DraftWords(d rank.Draft) string {
	if d.Missing != "" {
		return "no plan: " + Excerpt(d.Missing, 120)
	}
	if d.Taken && len(d.Faults) > 0 {
		return "repaired; it had " + english.Count(len(d.Faults), "fault")
	}
	words := []string{english.Count(len(d.Faults), "fault"), english.Count(d.Steps, "step")}
	if len(d.Faults) == 0 {
		words = []string{"no faults", words[1], english.Count(d.Gates, "gate")}
	}
	if n := len(d.Warnings); n > 0 {
		words = append(words, english.Count(n, "warning"))
	}
	if d.Denied > 0 {
		words = append(words, english.Count(d.Denied, "denied call"))
	}
	return strings.Join(words, ", ")
}

// lessWords says why a draft was not taken.
func lessWords(drafts []rank.Draft, taken, d rank.Draft) string {
	switch {
	case d.Missing != "":
		return "gave no plan: " + Excerpt(d.Missing, 120)
	case d.Repeats > 0:
		return fmt.Sprintf("is the same as draft %d", d.Repeats)
	}
	by, order := rank.Compare(drafts, taken, d)
	switch by {
	case rank.ByFaults:
		return "had " + english.Count(len(d.Faults), "fault")
	case rank.ByDenials:
		return "has " + english.Count(d.Denied, "call") + " that a rule denies"
	case rank.ByWarnings:
		return "had " + english.Count(len(d.Warnings), "warning")
	case rank.ByChanges:
		if d.Changes {
			return "may change something"
		}
		return "changes nothing"
	case rank.ByGates:
		return "has " + english.Count(d.Gates, "gate")
	case rank.ByPath:
		if order > 0 { // the user took the longer one
			return "takes less time"
		}
		return "takes longer"
	case rank.ByLength:
		return "has " + english.Count(d.Steps, "step")
	default:
		return "is as good"
	}
}
