package rank_test

import (
	"testing"

	"replan/planning/plan"
	"replan/planning/rank"
)

func TestFirstDifferenceDecidesBetweenDrafts(t *testing.T) {
	t.Parallel()
	faults := func(n int) []plan.Fault { return make([]plan.Fault, n) }
	for name, c := range map[string]struct {
		drafts []rank.Draft
		want   int
		by     rank.Criterion // between the first two
	}{
		"any step before none":                      {[]rank.Draft{{Number: 1}, {Number: 2, Steps: 9, Faults: faults(4)}}, 1, rank.BySteps},
		"fewer faults before fewer gates":           {[]rank.Draft{{Number: 1, Steps: 1, Faults: faults(1)}, {Number: 2, Steps: 9, Gates: 3}}, 1, rank.ByFaults},
		"fewer denied calls before fewer warnings":  {[]rank.Draft{{Number: 1, Steps: 1, Denied: 1}, {Number: 2, Steps: 1, Warnings: faults(3)}}, 1, rank.ByDenials},
		"fewer warnings before fewer gates":         {[]rank.Draft{{Number: 1, Steps: 1, Warnings: faults(1)}, {Number: 2, Steps: 1, Gates: 2}}, 1, rank.ByWarnings},
		"the change that most make before no gate":  {[]rank.Draft{{Number: 1, Steps: 1}, {Number: 2, Steps: 2, Gates: 1, Changes: true}, {Number: 3, Steps: 3, Gates: 1, Changes: true}}, 1, rank.ByChanges},
		"no change where most make none":            {[]rank.Draft{{Number: 1, Steps: 1, Changes: true}, {Number: 2, Steps: 2}, {Number: 3, Steps: 3}}, 1, rank.ByChanges},
		"the change of the first if they are even":  {[]rank.Draft{{Number: 1, Steps: 3, Gates: 2, Changes: true}, {Number: 2, Steps: 1}}, 0, rank.ByChanges},
		"drafts without a step say nothing of that": {[]rank.Draft{{Number: 1}, {Number: 2}, {Number: 3, Steps: 3, Gates: 2, Changes: true}, {Number: 4, Steps: 1}}, 2, rank.ByOrder},
		"fewer gates before a shorter path":         {[]rank.Draft{{Number: 1, Steps: 1, Gates: 2, PathMS: 1}, {Number: 2, Steps: 2, Gates: 1, PathMS: 9}}, 1, rank.ByGates},
		"a shorter path before fewer steps":         {[]rank.Draft{{Number: 1, Steps: 1, PathMS: 9}, {Number: 2, Steps: 2, PathMS: 5}}, 1, rank.ByPath},
		"fewer steps before the order":              {[]rank.Draft{{Number: 1, Steps: 3}, {Number: 2, Steps: 2}}, 1, rank.ByLength},
		"the earlier of equal ones":                 {[]rank.Draft{{Number: 1, Steps: 3}, {Number: 2, Steps: 3}}, 0, rank.ByOrder},
		"none if no draft has a step":               {[]rank.Draft{{Number: 1}, {Number: 2}}, -1, rank.ByOrder},
	} {
		if got := rank.Best(c.drafts); got != c.want {
			t.Errorf("%s: took draft %d, want %d", name, got+1, c.want+1)
		}
		if by, _ := rank.Compare(c.drafts, c.drafts[0], c.drafts[1]); by != c.by {
			t.Errorf("%s: decided by %s, want %s", name, by, c.by)
		}
	}
}

func TestDraftTakenByTheUserReplacesTheOther(t *testing.T) {
	t.Parallel()
	second := plan.Plan{Title: "two"}
	drafts := []rank.Draft{{Number: 1, Steps: 1, Taken: true}, {Number: 2, Steps: 1, Plan: &second}}
	after := rank.Take(drafts, 2, plan.Plan{Title: "one"})
	if after[0].Taken || after[0].Plan == nil || after[0].Plan.Title != "one" || !after[1].Taken || after[1].Plan != nil {
		t.Errorf("got %+v", after)
	}
	if !drafts[0].Taken || drafts[1].Plan == nil {
		t.Errorf("the drafts before are changed: %+v", drafts)
	}
}
