package planning_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/rank"
	"replan/planning/reply"
)

// draftsOf plays a pipeline without an analysis, which asks for n drafts.
func draftsOf(t *testing.T, n int, turns ...turn) (planning.Outcome, []prompt.Request) {
	t.Helper()
	b := prompttest.Brief()
	b.Prompting.SkipAnalysis, b.Prompting.Drafts = true, n
	p := planning.NewPipeline(b)
	requests := play(t, p, turns)
	return p.Outcome(), requests
}

const (
	oneSearch = `{"title":"Search","steps":[{"index":"1","title":"Find uses","executor":"tool","tool":"fs.search","args":{"pattern":"authenticate"},"depends_on":[],"expected_outcome":"files and lines of authenticate"}]}`
	twoReads  = `{"title":"Read","steps":[{"index":"1","title":"Read auth.go","executor":"tool","tool":"fs.read","args":{"path":"auth.go"}},{"index":"2","title":"Read main.go","executor":"tool","tool":"fs.read","args":{"path":"main.go"}}]}`
	twoFaults = `{"title":"Rename it","steps":[{"index":"1","title":"Look","executor":"tool","tool":"fs.look","args":{},"depends_on":["9"],"expected_outcome":"x"}]}`
	oneFault  = `{"title":"Rename it","steps":[{"index":"1","title":"Read the file auth.go","executor":"tool","tool":"fs.read","args":{"path":"auth.go"},"depends_on":["9"],"expected_outcome":"the source of authenticate"}]}`
	nothing   = `{"title":"","steps":[],"reason":"it is done"}`
)

func TestBestOfSeveralDraftsIsTaken(t *testing.T) {
	const ask, repair = prompt.PurposePlan, prompt.PurposeRepair
	for name, c := range map[string]struct {
		turns []turn
		kind  planning.OutcomeKind
		steps string // indices of the plan
		state string // of each draft
		left  string // reason of an outcome without a plan
	}{
		"without faults":              {[]turn{{want: ask, reply: twoFaults}, {want: ask, reply: oneSearch}, {want: ask, reply: oneFault}}, planning.OutcomePlanned, "1", "2 faults, taken, 1 fault", ""},
		"of the same kind as most":    {[]turn{{want: ask, reply: oneSearch}, {want: ask, reply: plantest.FullPlan}, {want: ask, reply: plantest.FullPlan}}, planning.OutcomePlanned, "1 2", "kept, taken, repeats 2", ""},
		"with the fewest steps":       {[]turn{{want: ask, reply: twoReads}, {want: ask, reply: oneSearch}, {want: ask, fail: "it took too long"}}, planning.OutcomePlanned, "1", "kept, taken, none", ""},
		"the least faulty, repaired":  {[]turn{{want: ask, reply: twoFaults}, {want: ask, reply: oneFault}, {want: ask, reply: twoFaults}, {want: repair, reply: oneSearch}}, planning.OutcomePlanned, "1", "2 faults, 1 fault taken, 2 faults repeats 1", ""},
		"any that came":               {[]turn{{want: ask, fail: "it took too long"}, {want: ask, reply: "I cannot"}, {want: ask, reply: oneSearch}}, planning.OutcomePlanned, "1", "none, 1 fault none, taken", ""},
		"a plan before no plan":       {[]turn{{want: ask, reply: nothing}, {want: ask, reply: nothing}, {want: ask, reply: oneSearch}}, planning.OutcomePlanned, "1", "none, none, taken", ""},
		"identical ones count once":   {[]turn{{want: ask, reply: oneSearch}, {want: ask, reply: oneSearch}, {want: ask, reply: strings.ReplaceAll(oneSearch, `"1"`, `"7"`)}}, planning.OutcomePlanned, "1", "taken, repeats 1, repeats 1", ""},
		"no plan, as the model says":  {[]turn{{want: ask, fail: "it took too long"}, {want: ask, reply: nothing}, {want: ask, reply: nothing}}, planning.OutcomeEmpty, "", "", "it is done"},
		"a repair if none came":       {[]turn{{want: ask, fail: "no answer"}, {want: ask, fail: "no answer"}, {want: ask, fail: "no answer"}, {want: repair, reply: oneSearch}}, planning.OutcomePlanned, "1", "", ""},
		"silence if nothing came":     {[]turn{{want: ask, fail: "no answer"}, {want: ask, fail: "no answer"}, {want: ask, fail: "no answer"}, {want: repair, fail: "no answer"}, {want: repair, fail: "no answer"}}, planning.OutcomeSilent, "", "", "no answer"},
		"the faults of the best stay": {[]turn{{want: ask, reply: twoFaults}, {want: ask, reply: oneFault}, {want: ask, reply: twoFaults}, {want: repair, reply: oneFault}, {want: repair, reply: oneFault}}, planning.OutcomeEmpty, "", "", "9"},
	} {
		t.Run(name, func(t *testing.T) {
			o, requests := draftsOf(t, 3, c.turns...)
			if o.Kind != c.kind || indices(o.Plan.Steps) != c.steps || !strings.Contains(o.Reason, c.left) {
				t.Errorf("got %s with the steps %q and the reason %q, want %s with %q and %q", o.Kind, indices(o.Plan.Steps), o.Reason, c.kind, c.steps, c.left)
			}
			if got := draftStates(o.Drafts); got != c.state {
				t.Errorf("got the drafts %q, want %q", got, c.state)
			}
			for _, r := range requests[3:] {
				if r.Draft != nil {
					t.Errorf("the %s is asked for as draft %d", r.Purpose, r.Draft.Number)
				}
			}
		})
	}
}

// draftStates says what became of each draft.
func draftStates(drafts []rank.Draft) string {
	var states []string
	for _, d := range drafts {
		var words []string
		if n := len(d.Faults); n > 0 {
			words = append(words, strings.TrimSuffix(fmt.Sprintf("%d faults", n), map[bool]string{true: "s"}[n == 1]))
		}
		switch {
		case d.Taken:
			words = append(words, "taken")
		case d.Repeats > 0:
			words = append(words, fmt.Sprintf("repeats %d", d.Repeats))
		case d.Missing != "":
			words = append(words, "none")
		case d.Usable():
			words = append(words, "kept")
		}
		if (d.Plan != nil) != (d.Steps > 0 && !d.Taken && d.Repeats == 0) {
			words = append(words, "with the wrong plan")
		}
		states = append(states, strings.Join(words, " "))
	}
	return strings.Join(states, ", ")
}

func TestDraftsDifferInTheirTemperatureAlone(t *testing.T) {
	turns := make([]turn, prompt.MaxDrafts)
	for i := range turns {
		turns[i] = turn{want: prompt.PurposePlan, reply: oneSearch}
	}
	_, requests := draftsOf(t, 9, turns...)
	seen := map[float64]bool{}
	for i, r := range requests {
		if r.Draft.Number != i+1 || r.Draft.Of != prompt.MaxDrafts || seen[r.Draft.Temperature] {
			t.Errorf("request %d asks for %+v", i+1, *r.Draft)
		}
		seen[r.Draft.Temperature] = true
		r.Draft = nil
		if first := requests[0]; i > 0 {
			if first.Draft = nil; fmt.Sprint(r) != fmt.Sprint(first) {
				t.Errorf("request %d differs from the first in more than its draft", i+1)
			}
		}
	}
	if !seen[0] {
		t.Error("no draft has the temperature of the model")
	}
}

func TestOneDraftIsAskedForAsBefore(t *testing.T) {
	for _, n := range []int{0, 1} {
		o, requests := draftsOf(t, n, turn{want: prompt.PurposePlan, reply: plantest.FullPlan})
		if requests[0].Draft != nil || o.Drafts != nil {
			t.Errorf("with %d drafts: asked for %+v, got %+v", n, requests[0].Draft, o.Drafts)
		}
	}
}

func TestPlanOfSimpleGoalIsItsOnlyDraft(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.Drafts = 3
	p := planning.NewPipeline(b)
	play(t, p, []turn{{want: prompt.PurposeAnalysis, reply: `{"mode":"plan","task":"Find","goal":"found","complexity":"simple","reflect":false,` + oneSearch[1:]}})
	if o := p.Outcome(); o.Kind != planning.OutcomePlanned || o.Drafts != nil {
		t.Errorf("got %s with %d drafts", o.Kind, len(o.Drafts))
	}
}

func TestRunSaysWhatADraftWouldAskFor(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.SkipAnalysis, b.Prompting.Drafts = true, 2
	b.Assess = func(p plan.Plan) (denied, gates int, path time.Duration) {
		return 2 - len(p.Steps), 3, time.Second
	}
	p := planning.NewPipeline(b)
	play(t, p, []turn{{want: prompt.PurposePlan, reply: oneSearch}, {want: prompt.PurposePlan, reply: plantest.FullPlan}})
	drafts := p.Outcome().Drafts
	if !drafts[1].Taken || drafts[0].Denied != 1 || drafts[0].Gates != 3 || drafts[0].PathMS != 1000 {
		t.Errorf("got the drafts %+v", drafts)
	}
}

func TestFaultyDraftsAreNotAssessed(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.SkipAnalysis, b.Prompting.Drafts = true, 2
	b.Assess = func(p plan.Plan) (denied, gates int, path time.Duration) {
		t.Errorf("assessed %q", p.Title)
		return 0, 0, 0
	}
	p := planning.NewPipeline(b)
	p.Absorb(reply.Reply{Text: twoFaults})
	p.Absorb(reply.Reply{Text: oneFault})
	if r, ok := p.Next(); !ok || r.Purpose != prompt.PurposeRepair {
		t.Errorf("got %s, want a repair", r.Purpose)
	}
}
