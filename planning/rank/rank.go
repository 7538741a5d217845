package rank

import (
	"cmp"
	"slices"

	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Draft is one of several plans made for the same goal, with what was found out
// about it before a step ran.
type Draft struct {
	Number   int            `json:"draft"`              // from 1, in the order of the requests
	Taken    bool           `json:"taken,omitempty"`    // it is the plan of the run, or the plan was repaired from it
	Plan     *plan.Plan     `json:"plan,omitempty"`     // nil if it is taken, repeats another draft, or has no step
	Repeats  int            `json:"repeats,omitempty"`  // an earlier draft with the same steps; 0 if there is none
	Missing  untrusted.Text `json:"missing,omitempty"`  // why it has no step
	Faults   []plan.Fault   `json:"faults,omitempty"`   // it cannot run with any
	Warnings []plan.Fault   `json:"warnings,omitempty"` // it runs anyway
	Steps    int            `json:"steps"`
	Denied   int            `json:"denied,omitempty"`  // calls that a rule denies
	Gates    int            `json:"gates"`             // calls that wait for the user
	PathMS   int64          `json:"path_ms,omitempty"` // expected time of its longest chain of steps
	Changes  bool           `json:"changes,omitempty"` // a step may change something
}

// Usable reports whether the draft can run as it is.
func (d Draft) Usable() bool { return d.Steps > 0 && d.Missing == "" && len(d.Faults) == 0 }

// Criterion is a reason why one draft is better than another.
type Criterion string

// The criteria, most important first. The order of the requests decides between
// drafts that are equal in all of them.
const (
	BySteps    Criterion = "steps" // having any
	ByFaults   Criterion = "faults"
	ByDenials  Criterion = "denials"
	ByWarnings Criterion = "warnings"
	ByChanges  Criterion = "changes"
	ByGates    Criterion = "gates"
	ByPath     Criterion = "path"
	ByLength   Criterion = "length"
	ByOrder    Criterion = "order"
)

// Best returns the position of the best draft, or -1 if none has a step. The first
// of these differences decides:
//
//   - fewer faults;
//   - fewer calls that a rule denies;
//   - fewer warnings;
//   - agreement with most drafts on whether anything is changed. Otherwise a plan
//     that only looks would win, because it asks for nothing;
//   - fewer calls that wait for the user at a gate;
//   - a shorter longest chain of steps, in expected time;
//   - fewer steps;
//   - the earlier request.
func Best(drafts []Draft) int {
	best := -1
	for i := range drafts {
		if drafts[i].Steps > 0 && (best < 0 || order(drafts, i, best) < 0) {
			best = i
		}
	}
	return best
}

func order(drafts []Draft, a, b int) int {
	_, by := Compare(drafts, drafts[a], drafts[b])
	return by
}

// Compare returns the criterion by which two of the drafts differ, and a negative
// number if a is better.
func Compare(drafts []Draft, a, b Draft) (Criterion, int) {
	changes := mostChange(drafts)
	for _, c := range []struct {
		criterion Criterion
		by        int
	}{
		{BySteps, cmp.Compare(count(a.Steps == 0), count(b.Steps == 0))},
		{ByFaults, cmp.Compare(len(a.Faults), len(b.Faults))},
		{ByDenials, cmp.Compare(a.Denied, b.Denied)},
		{ByWarnings, cmp.Compare(len(a.Warnings), len(b.Warnings))},
		{ByChanges, cmp.Compare(count(a.Changes != changes), count(b.Changes != changes))},
		{ByGates, cmp.Compare(a.Gates, b.Gates)},
		{ByPath, cmp.Compare(a.PathMS, b.PathMS)},
		{ByLength, cmp.Compare(a.Steps, b.Steps)},
	} {
		if c.by != 0 {
			return c.criterion, c.by
		}
	}
	return ByOrder, cmp.Compare(a.Number, b.Number)
}

// mostChange reports whether most drafts with steps may change something. If they
// are even, the first one counts.
func mostChange(drafts []Draft) bool {
	votes, first := 0, false
	for _, d := range slices.Backward(drafts) {
		switch {
		case d.Steps == 0:
			continue
		case d.Changes:
			votes++
		default:
			votes--
		}
		first = d.Changes
	}
	return votes > 0 || votes == 0 && first
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// MarkRepeats marks each draft whose steps equal those of an earlier one. One with
// fewer faults than that is a draft of its own. plans are the plans of the drafts.
func MarkRepeats(drafts []Draft, plans []plan.Plan) {
	for i := range drafts {
		for j := range i {
			if drafts[i].Steps > 0 && drafts[j].Repeats == 0 && len(drafts[i].Faults) >= len(drafts[j].Faults) && plan.SameSteps(plans[i].Steps, plans[j].Steps) {
				drafts[i].Repeats = drafts[j].Number
				break
			}
		}
	}
}

// Take returns the drafts after the user chose another one. current is the plan
// that the run had until then.
func Take(drafts []Draft, number int, current plan.Plan) []Draft {
	out := slices.Clone(drafts)
	for i, d := range out {
		switch {
		case d.Number == number:
			out[i].Taken, out[i].Plan = true, nil
		case d.Taken:
			out[i].Taken, out[i].Plan = false, &current
		}
	}
	return out
}
