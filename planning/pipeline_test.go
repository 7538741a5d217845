package planning_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

// turn is one exchange with the scripted model: the expected request, and the
// reply or the failure.
type turn struct {
	want  prompt.Purpose
	reply string
	fail  string
	cut   bool
}

// play feeds a scripted conversation to a planner and returns the requests.
func play(t *testing.T, p planning.Planner, turns []turn) []prompt.Request {
	t.Helper()
	var asked []prompt.Request
	for i, turn := range turns {
		req, ok := p.Next()
		if !ok {
			t.Fatalf("turn %d: the planner is finished (%+v), want the request %s", i, p.Outcome(), turn.want)
		}
		again, _ := p.Next()
		if fmt.Sprint(req) != fmt.Sprint(again) {
			t.Fatalf("turn %d: two calls of Next returned different requests", i)
		}
		if req.Purpose != turn.want {
			t.Fatalf("turn %d: got the request %s, want %s; last message:\n%s", i, req.Purpose, turn.want, last(req))
		}
		asked = append(asked, req)
		if turn.fail != "" {
			p.Fail(turn.fail, reply.Reply{Text: turn.reply})
			continue
		}
		p.Absorb(reply.Reply{Text: turn.reply, CutOff: turn.cut})
	}
	if req, ok := p.Next(); ok {
		t.Fatalf("unexpected request for %s:\n%s", req.Purpose, last(req))
	}
	return asked
}

// firstRequest returns the first request of a planner.
func firstRequest(p planning.Planner) prompt.Request {
	req, _ := p.Next()
	return req
}

func last(r prompt.Request) string { return r.Messages[len(r.Messages)-1].Content }

func skips(p planning.Planner) string {
	var phases []string
	for _, s := range p.Skipped() {
		if s.Reason == "" {
			phases = append(phases, "no reason!")
		}
		phases = append(phases, fmt.Sprint(s.Phase))
	}
	return strings.Join(phases, " ")
}

// skipReasons lists the skipped phases with their reasons.
func skipReasons(p planning.Planner) string {
	var all []string
	for _, s := range p.Skipped() {
		all = append(all, fmt.Sprint(s.Phase, " ", s.Reason))
	}
	return strings.Join(all, ", ")
}

func indices(steps []plan.Step) string {
	var all []string
	for _, s := range steps {
		all = append(all, s.Index)
	}
	return strings.Join(all, " ")
}

func TestPipelineFollowsReplies(t *testing.T) {
	simple := `{"mode":"plan","task":"Run tests","goal":"green","complexity":"simple","reflect":false,"steps":[{"index":"1","title":"Run the tests","executor":"tool","tool":"test.run","args":{},"depends_on":[],"expected_outcome":"all pass"}]}`
	noReview := strings.Replace(plantest.Analysis, `"reflect":true`, `"reflect":false`, 1)
	tests := []struct {
		name    string
		prompt  prompt.Prompting
		turns   []turn
		kind    planning.OutcomeKind
		skipped string
		steps   string // indices of the plan
		reason  string // part of the outcome's reason
	}{
		{name: "direct answer", turns: []turn{{want: "analysis", reply: `{"mode":"direct","task":"t","goal":"g","complexity":"simple","reflect":false}`}}, kind: "direct", skipped: "2 3"},
		{name: "DIRECT alone in prose", turns: []turn{{want: "analysis", reply: "**DIRECT**\n"}}, kind: "direct", skipped: "2 3"},
		{name: "DIRECTLY is not DIRECT", turns: []turn{{want: "analysis", reply: "DIRECTLY change the file, then test.\nREFLECT: no"}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", skipped: "2", steps: "1 2"},
		{name: "forced plan ignores direct", prompt: prompt.Prompting{ForcePlan: true}, turns: []turn{{want: "analysis", reply: `{"mode":"direct"}`}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", skipped: "2", steps: "1 2"},
		{name: "simple analysis with steps", turns: []turn{{want: "analysis", reply: simple}}, kind: "planned", skipped: "2 3", steps: "1"},
		{name: "analysis with steps asks for a review", turns: []turn{{want: "analysis", reply: strings.Replace(simple, `"reflect":false`, `"reflect":true`, 1)}, {want: "review", reply: plantest.Review}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", steps: "1 2"},
		{name: "analysis with steps is not simple", turns: []turn{{want: "analysis", reply: strings.Replace(simple, `"simple"`, `"medium"`, 1)}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", skipped: "2", steps: "1 2"},
		{name: "forced plan ignores steps in direct mode", prompt: prompt.Prompting{ForcePlan: true}, turns: []turn{{want: "analysis", reply: strings.Replace(simple, `"mode":"plan"`, `"mode":"direct"`, 1)}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", skipped: "2", steps: "1 2"},
		{name: "simple analysis with an invalid plan", turns: []turn{{want: "analysis", reply: strings.Replace(simple, "test.run", "test.go", 1)}, {want: "repair", reply: plantest.FullPlan}}, kind: "planned", skipped: "2 3", steps: "1 2"},
		{name: "simple analysis cut off in its steps", turns: []turn{{want: "analysis", reply: simple[:len(simple)-30], cut: true}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", skipped: "2", steps: "1 2"},
		{name: "all three phases", turns: []turn{{want: "analysis", reply: plantest.Analysis}, {want: "review", reply: plantest.Review}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", steps: "1 2"},
		{name: "review not requested", turns: []turn{{want: "analysis", reply: noReview}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", skipped: "2", steps: "1 2"},
		{name: "review switched off", prompt: prompt.Prompting{SkipReview: true}, turns: []turn{{want: "analysis", reply: plantest.Analysis}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", skipped: "2", steps: "1 2"},
		{name: "review requested in bold prose", turns: []turn{{want: "analysis", reply: "TASK: rename\n**REFLECT:** yes, it is risky"}, {want: "review", reply: plantest.Review}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", steps: "1 2"},
		{name: "phase 1 switched off", prompt: prompt.Prompting{SkipAnalysis: true}, turns: []turn{{want: "plan", reply: plantest.FullPlan}}, kind: "planned", skipped: "1 2", steps: "1 2"},
		{name: "phase 3 switched off", prompt: prompt.Prompting{SkipPlan: true}, turns: []turn{{want: "analysis", reply: plantest.Analysis}}, kind: "analysed", skipped: "2 3"},
		{name: "phases 1 and 3 switched off", prompt: prompt.Prompting{SkipAnalysis: true, SkipPlan: true}, kind: "direct", skipped: "1 2 3", reason: "both switched off"},
		{name: "no reply in phase 1", turns: []turn{{want: "analysis", fail: "timed out"}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", skipped: "2", steps: "1 2"},
		{name: "no reply in phase 1, phase 3 switched off", prompt: prompt.Prompting{SkipPlan: true}, turns: []turn{{want: "analysis", fail: "timed out"}}, kind: "failed", skipped: "2 3", reason: "the model returned no analysis: timed out"},
		{name: "blank analysis, phase 3 switched off", prompt: prompt.Prompting{SkipPlan: true}, turns: []turn{{want: "analysis", reply: " "}}, kind: "failed", skipped: "2 3", reason: "the reply is empty"},
		{name: "no reply in any phase", turns: []turn{{want: "analysis", fail: "gone"}, {want: "plan", fail: "gone"}, {want: "repair", fail: "gone"}, {want: "repair", fail: "gone"}}, kind: "silent", skipped: "2", reason: "the model wrote no plan, after 2 repairs: the model returned no repaired plan: gone"},
		{name: "no reply in phase 2", turns: []turn{{want: "analysis", reply: plantest.Analysis}, {want: "review", fail: "timed out"}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", steps: "1 2"},
		{name: "no reply in phase 3", turns: []turn{{want: "analysis", reply: noReview}, {want: "plan", fail: "timed out"}, {want: "repair", reply: plantest.FullPlan}}, kind: "planned", skipped: "2", steps: "1 2"},
		{name: "refusal in phase 2", turns: []turn{{want: "analysis", reply: plantest.Analysis}, {want: "review", reply: "I'm sorry, but I can't do that."}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", skipped: "2", steps: "1 2"},
		{name: "refusal in phase 1", turns: []turn{{want: "analysis", reply: "I cannot help with that."}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", skipped: "1 2", steps: "1 2"},
		{name: "invalid plan is repaired", turns: []turn{{want: "analysis", reply: noReview}, {want: "plan", reply: plantest.WrongPlan}, {want: "repair", reply: plantest.FullPlan}}, kind: "planned", skipped: "2", steps: "1 2"},
		{name: "plan stays invalid", turns: []turn{{want: "analysis", reply: noReview}, {want: "plan", reply: plantest.WrongPlan}, {want: "repair", reply: plantest.WrongPlan}, {want: "repair", reply: plantest.WrongPlan}}, kind: "empty", skipped: "2", reason: "cannot be used, after 2 repairs: "},
		{name: "plan stays too long", prompt: prompt.Prompting{SkipAnalysis: true, MaxRepairs: 1}, turns: []turn{{want: "plan", reply: `["a","b","c","d","e","f"]`}, {want: "repair", reply: `["a","b","c","d","e","f"]`}}, kind: "failed", skipped: "1 2", reason: "after 1 repair: the plan has 6 steps"},
		{name: "all allowed repairs", prompt: prompt.Prompting{SkipAnalysis: true, MaxRepairs: 2}, turns: []turn{{want: "plan", reply: plantest.WrongPlan}, {want: "repair", reply: "no idea"}, {want: "repair", reply: plantest.FullPlan}}, kind: "planned", skipped: "1 2", steps: "1 2"},
		{name: "no reply to the first repair", prompt: prompt.Prompting{SkipAnalysis: true}, turns: []turn{{want: "plan", reply: plantest.WrongPlan}, {want: "repair", fail: "gone"}, {want: "repair", reply: plantest.FullPlan}}, kind: "planned", skipped: "1 2", steps: "1 2"},
		{name: "no reply to the last repair", prompt: prompt.Prompting{SkipAnalysis: true, MaxRepairs: 1}, turns: []turn{{want: "plan", reply: plantest.WrongPlan}, {want: "repair", fail: "gone"}}, kind: "empty", skipped: "1 2", reason: "cannot be used, after 1 repair: "},
		{name: "empty plan with a refusal as title", prompt: prompt.Prompting{SkipAnalysis: true}, turns: []turn{{want: "plan", reply: `{"title":"I cannot do this without a network","steps":[]}`}}, kind: "empty", skipped: "1 2", reason: "I cannot do this without a network"},
		{name: "empty plan with a reason", prompt: prompt.Prompting{SkipAnalysis: true}, turns: []turn{{want: "plan", reply: `{"title":"None","reason":"nothing to do","steps":[]}`}}, kind: "empty", skipped: "1 2", reason: "nothing to do"},
		{name: "empty list", prompt: prompt.Prompting{SkipAnalysis: true}, turns: []turn{{want: "plan", reply: `[]`}}, kind: "empty", skipped: "1 2", reason: "no steps"},
		{name: "too many steps are refused, not cut", prompt: prompt.Prompting{SkipAnalysis: true, MaxRepairs: 1}, turns: []turn{{want: "plan", reply: `["a","b","c","d","e","f"]`}, {want: "repair", reply: `["a","b"]`}}, kind: "planned", skipped: "1 2", steps: "1 2"},
		{name: "analysis of thoughts alone", turns: []turn{{want: "analysis", reply: "<think>hm</think>", cut: true}, {want: "plan", reply: plantest.FullPlan}}, kind: "planned", skipped: "1 2", steps: "1 2"},
		{name: "plan of prose alone", prompt: prompt.Prompting{SkipAnalysis: true}, turns: []turn{{want: "plan", reply: "I would look around first."}, {want: "repair", reply: plantest.FullPlan}}, kind: "planned", skipped: "1 2", steps: "1 2"},
		{name: "agent step without profiles", prompt: prompt.Prompting{SkipAnalysis: true}, turns: []turn{{want: "plan", reply: "1. Look → AGENT: explorer\n"}, {want: "repair", reply: plantest.FullPlan}}, kind: "planned", skipped: "1 2", steps: "1 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := prompttest.Brief()
			b.Prompting = tt.prompt
			p := planning.NewPipeline(b)
			play(t, p, tt.turns)
			out := p.Outcome()
			if out.Kind != tt.kind || indices(out.Plan.Steps) != tt.steps || skips(p) != tt.skipped {
				t.Errorf("ended %s with steps %q, skipped %q (%s); want %s, %q, %q",
					out.Kind, indices(out.Plan.Steps), skips(p), out.Reason, tt.kind, tt.steps, tt.skipped)
			}
			if !strings.Contains(out.Reason, tt.reason) {
				t.Errorf("got the reason %q, want %q", out.Reason, tt.reason)
			}
			if len(out.Faults) > 0 != (strings.Contains(tt.reason, "repair: ") || strings.Contains(tt.reason, "repairs: ")) {
				t.Errorf("faults %v with reason %q", out.Faults, out.Reason)
			}
			if out.Kind == planning.OutcomePlanned {
				if faults, _ := plan.Validate(out.Plan, plan.Rules{Catalog: b.Catalog, CheckTools: true, MaxSteps: b.MaxSteps, Planned: true}); len(faults) > 0 {
					t.Errorf("planned an invalid plan: %v", faults)
				}
				if string(out.Plan.Goal) != b.Goal || plan.CheckID(out.Plan.ID) != nil {
					t.Errorf("goal %q, id %q", out.Plan.Goal, out.Plan.ID)
				}
			}
		})
	}
}

func TestPipelineIgnoresRepliesAfterTheEnd(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.SkipPlan = true
	p := planning.NewPipeline(b)
	p.Fail("gone", reply.Reply{})
	before := p.Outcome()
	p.Absorb(reply.Reply{Text: plantest.FullPlan})
	p.Fail("again", reply.Reply{})
	if p.Outcome().Reason != before.Reason || p.Outcome().Kind != planning.OutcomeFailed {
		t.Errorf("the outcome changed after the end: %+v", p.Outcome())
	}
}

func TestFinalAnalysisIsMarkdown(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.SkipPlan = true
	p := planning.NewPipeline(b)
	play(t, p, []turn{{want: "analysis", reply: plantest.Analysis}})
	for _, want := range []string{"**Task:** Rename a function", "**Unknowns:**\n\n- who calls it", "**To read:**", "**Complexity:** medium"} {
		if !strings.Contains(p.Outcome().Text, want) {
			t.Errorf("the analysis lacks %q:\n%s", want, p.Outcome().Text)
		}
	}
	if strings.Contains(p.Outcome().Text, "To keep") {
		t.Errorf("an empty list is shown:\n%s", p.Outcome().Text)
	}
}

func TestUnusableRepliesAreReported(t *testing.T) {
	for _, tt := range []struct {
		name  string
		turns []turn
		want  string // skipped phases with their reasons
	}{
		{"empty analysis", []turn{{want: "analysis", reply: ""}, {want: "plan", reply: plantest.FullPlan}}, "1 planned without it: the reply is empty, 2 there is no analysis to review"},
		{"white space as analysis", []turn{{want: "analysis", reply: strings.Repeat("\n", 300)}, {want: "plan", reply: plantest.FullPlan}}, "1 planned without it: the reply is nothing but white space, 2 there is no analysis to review"},
		{"refusal as analysis", []turn{{want: "analysis", reply: "I cannot help; sorry."}, {want: "plan", reply: plantest.FullPlan}}, "1 planned without it: the reply is a refusal, “I cannot help; sorry.”, 2 there is no analysis to review"},
		{"thoughts as analysis", []turn{{want: "analysis", reply: "<think>hm</think>"}, {want: "plan", reply: plantest.FullPlan}}, "1 planned without it: the reply holds nothing but thoughts, 2 there is no analysis to review"},
		{"analysis without fields", []turn{{want: "analysis", reply: `{"mode":"plan","reflect":true}`}, {want: "plan", reply: plantest.FullPlan}}, "1 planned without it: it fills in none of its fields, 2 there is no analysis to review"},
		{"empty review", []turn{{want: "analysis", reply: plantest.Analysis}, {want: "review", reply: " "}, {want: "plan", reply: plantest.FullPlan}}, "2 planned without it: the reply is empty"},
		{"refusal as review", []turn{{want: "analysis", reply: plantest.Analysis}, {want: "review", reply: "Sorry, no."}, {want: "plan", reply: plantest.FullPlan}}, "2 planned without it: the reply is a refusal, “Sorry, no.”"},
		{"valid review", []turn{{want: "analysis", reply: plantest.Analysis}, {want: "review", reply: plantest.Review}, {want: "plan", reply: plantest.FullPlan}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := planning.NewPipeline(prompttest.Brief())
			play(t, p, tt.turns)
			if got := skipReasons(p); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRepairRequestHasGoalReplyAndFaults(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.SkipAnalysis = true
	p := planning.NewPipeline(b)
	asked := play(t, p, []turn{{want: "plan", reply: plantest.WrongPlan}, {want: "repair", reply: plantest.FullPlan}})
	var whole strings.Builder
	for _, m := range asked[1].Messages {
		whole.WriteString(m.Content)
	}
	for _, want := range []string{b.Goal, `"tool":"fs.look"`, `there is no tool "fs.look"`, "depends on step 9, which does not exist"} {
		if !strings.Contains(whole.String(), want) {
			t.Errorf("the repair lacks %q:\n%s", want, last(asked[1]))
		}
	}
}

func TestRepairOfMissingReplyNamesReason(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.SkipAnalysis = true
	p := planning.NewPipeline(b)
	asked := play(t, p, []turn{{want: "plan", fail: "timed out after 2m0s"}, {want: "repair", reply: plantest.WrongPlan}, {want: "repair", fail: "it broke off"}})
	first, second := last(asked[1]), ""
	if !strings.Contains(first, "There is no plan yet:\n") || !strings.Contains(first, "- the model returned no execution plan: timed out after 2m0s\n") || strings.Contains(first, "an earlier plan") {
		t.Errorf("got the first repair\n%s", first)
	}
	if second = last(asked[2]); !strings.Contains(second, `"tool":"fs.look"`) || strings.Contains(second, "timed out") {
		t.Errorf("got the second repair\n%s", second)
	}
	if out := p.Outcome(); out.Kind != planning.OutcomeEmpty || !strings.Contains(out.Reason, "fs.look") || !strings.Contains(out.Reason, "the model returned no repaired plan: it broke off") {
		t.Errorf("ended %s: %s", out.Kind, out.Reason)
	}
}

func TestRepairAfterLostRepairRepeatsFaultyReply(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.SkipAnalysis = true
	asked := play(t, planning.NewPipeline(b), []turn{{want: "plan", reply: plantest.WrongPlan}, {want: "repair", fail: "it broke off"}, {want: "repair", reply: plantest.FullPlan}})
	for _, want := range []string{`there is no tool "fs.look"`, `"tool":"fs.look"`, "the model returned no repaired plan: it broke off"} {
		if !strings.Contains(last(asked[2]), want) {
			t.Errorf("the repair lacks %q:\n%s", want, last(asked[2]))
		}
	}
}

func TestOutcomeWithoutPlanHasReason(t *testing.T) {
	for _, prompt := range []prompt.Prompting{{}, {SkipPlan: true}, {SkipAnalysis: true}, {SkipAnalysis: true, SkipPlan: true}} {
		for _, r := range []string{"", "DIRECT", plantest.Analysis, "[]", plantest.WrongPlan, `{"mode":"direct"}`, "I'm sorry, I can't."} {
			b := prompttest.Brief()
			b.Prompting = prompt
			p := planning.NewPipeline(b)
			for range 6 {
				p.Absorb(reply.Reply{Text: r})
			}
			if out := p.Outcome(); out.Kind == planning.OutcomePending || out.Reason == "" {
				t.Errorf("%+v, reply %q: ended %q because of %q", prompt, r, out.Kind, out.Reason)
			}
		}
	}
}

func TestLaterPhasesSeeResultsOfEarlierOnes(t *testing.T) {
	p := planning.NewPipeline(prompttest.Brief())
	asked := play(t, p, []turn{{want: "analysis", reply: plantest.Analysis}, {want: "review", reply: plantest.Review}, {want: "plan", reply: plantest.FullPlan}})
	if !strings.Contains(last(asked[1]), "who calls it") {
		t.Error("the review does not see the analysis")
	}
	if !strings.Contains(last(asked[2]), "who calls it") || !strings.Contains(last(asked[2]), "Run the tests last.") {
		t.Error("phase 3 does not see analysis and review")
	}
}

func TestUntitledPlansAreNamedByTaskOrGoal(t *testing.T) {
	for analysis, want := range map[string]string{
		strings.Replace(plantest.Analysis, `"reflect":true`, `"reflect":false`, 1): "Rename a function",
		`{"mode":"plan"}`: "Rename authenticate to verify_user",
	} {
		p := planning.NewPipeline(prompttest.Brief())
		play(t, p, []turn{{want: "analysis", reply: analysis}, {want: "plan", reply: `["look","sum up"]`}})
		if got := string(p.Outcome().Plan.Title); got != want {
			t.Errorf("title %q, want %q", got, want)
		}
	}
}

func TestEmptyArgsOfToolAreFilledInLater(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.SkipAnalysis = true
	p := planning.NewPipeline(b)
	play(t, p, []turn{{want: "plan", reply: `{"title":"t","steps":[
		{"index":"1","title":"a","tool":"fs.patch","args":{}},{"index":"2","title":"b","tool":"test.run","args":{}},{"index":"3","title":"c","tool":"fs.patch"}]}`}})
	steps := p.Outcome().Plan.Steps
	if steps[0].Args != nil || steps[1].Args == nil || steps[2].Args != nil {
		t.Errorf("args %v, %v, %v; want none, empty, none", steps[0].Args, steps[1].Args, steps[2].Args)
	}
}

func TestIDsAreDerivedFromTitles(t *testing.T) {
	for title, want := range map[string]string{
		"Rename authenticate → verify_user": "rename-authenticate-verify-user",
		"  ../etc/passwd ":                  "etc-passwd",
		"Überprüfung":                       "berpr-fung",
		"重构":                                "plan",
		strings.Repeat("long ", 40):         "long-long-long-long-long-long-long-long-long-lon",
	} {
		b := prompttest.Brief()
		b.Prompting.SkipAnalysis = true
		p := planning.NewPipeline(b)
		play(t, p, []turn{{want: "plan", reply: plan.CanonicalJSON(map[string]any{"title": title, "steps": []any{"look"}})}})
		if got := p.Outcome().Plan.ID; got != want {
			t.Errorf("title %q: got the id %q, want %q", title, got, want)
		}
	}
}

func TestOnlyPlanFieldsOfReplyAreKept(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.SkipAnalysis = true
	p := planning.NewPipeline(b)
	play(t, p, []turn{{want: "plan", reply: `{"id":"../x","goal":"other","on_failure":"skip","title":"t","note":"hm","variables":{"v":1},
		"milestones":["Look",{"title":"Act","steps":[0,"1"]},{"steps":[]},7],"risks":["none",{"a":1}],
		"steps":[{"index":0,"title":"a","tool":"fs.read","args":{"path":"${v}"},"timeout":"5s","mood":"fine"},{"index":1,"title":"b","executor":"self"}]}`}})
	want := `{"id":"t","title":"t","goal":"Rename authenticate to verify_user","done_when":"other","variables":{"v":1},"on_failure":"skip","steps":[` +
		`{"index":"1","title":"a","executor":"tool","tool":"fs.read","args":{"path":"${v}"},"depends_on":[],"timeout":"5s"},` +
		`{"index":"2","title":"b","executor":"self","depends_on":[]}],` +
		`"milestones":[{"title":"Look"},{"title":"Act","steps":["1","2"]}],"risks":["{\"a\":1}"]}`
	got, err := plan.EncodeJSON(p.Outcome().Plan)
	if err != nil || !plan.EqualValues(plantest.Decoded(t, string(got)), plantest.Decoded(t, want)) {
		t.Errorf("the plan is\n%s (%v)\nwant\n%s", got, err, want)
	}
}

func TestManyFaultsAreListedInPart(t *testing.T) {
	b := prompttest.Brief()
	b.MaxSteps = 0
	b.Prompting.SkipAnalysis = true
	steps := make([]any, 60)
	for i := range steps {
		steps[i] = map[string]any{"title": "a", "tool": "nothing"}
	}
	reply := plan.CanonicalJSON(map[string]any{"title": "t", "steps": steps})
	p := planning.NewPipeline(b)
	asked := play(t, p, []turn{{want: "plan", reply: reply}, {want: "repair", reply: reply}, {want: "repair", reply: reply}})
	if !strings.Contains(last(asked[1]), "- and 36 more faults\n") {
		t.Errorf("got the repair\n%s", last(asked[1]))
	}
	if out := p.Outcome(); len(out.Faults) != 60 || !strings.HasSuffix(out.Reason, "; and 52 more faults") {
		t.Errorf("got %d faults and the reason %q", len(out.Faults), out.Reason)
	}
}

func TestResultsThatNobodyWaitsForAreIgnored(t *testing.T) {
	p := planning.NewPipeline(prompttest.Brief())
	before := firstRequest(p)
	p.(planning.Looker).Looked([]plan.HistoryItem{{Index: "1", Title: "Read a.go", Tool: "fs.read", Status: plan.ItemCompleted, Attempt: 1, Result: "package a"}})
	if after := firstRequest(p); !reflect.DeepEqual(before, after) {
		t.Errorf("the request becomes\n%s", last(after))
	}
}
