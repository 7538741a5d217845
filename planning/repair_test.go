package planning_test

import (
	"encoding/json"
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

// partialReply is the beginning of wrongPlan, broken off.
var partialReply = plantest.WrongPlan[:len(plantest.WrongPlan)-60]

func TestRepairRequestIncludesFaultyReply(t *testing.T) {
	const analyzed, reviewed = "who calls it", "Run the tests last."
	whole, partly := `"expected_outcome":"x"`, "Data: the beginning of a plan\n```\n{\"title\":\"Rename it\""
	noPlan, broke := "- the model returned no execution plan: it took too long\n", "- the execution plan broke off before it was whole: it took too long\n"
	for _, tt := range []struct {
		name         string
		skipAnalysis bool
		turns        []turn
		holds, lacks []string // parts of the last repair
	}{
		{
			"partial reply", true,
			[]turn{{want: "plan", fail: "it took too long", reply: partialReply}, {want: "repair", reply: plantest.FullPlan}},
			[]string{partly, broke},
			[]string{"There is no plan yet:", analyzed},
		},
		{
			"only thoughts", true,
			[]turn{{want: "plan", fail: "it took too long", reply: "<think>First"}, {want: "repair", reply: plantest.FullPlan}},
			[]string{"There is no plan yet:", noPlan},
			[]string{"the beginning of a plan"},
		},
		{
			"partial reply with analysis and review", false,
			[]turn{{want: "analysis", reply: plantest.Analysis}, {want: "review", reply: plantest.Review}, {want: "plan", fail: "it took too long", reply: partialReply}, {want: "repair", reply: plantest.FullPlan}},
			[]string{partly, broke, analyzed, reviewed},
			nil,
		},
		{
			"faulty reply with analysis and review", false,
			[]turn{{want: "analysis", reply: plantest.Analysis}, {want: "review", reply: plantest.Review}, {want: "plan", reply: plantest.WrongPlan}, {want: "repair", reply: plantest.FullPlan}},
			[]string{whole, `there is no tool "fs.look"`, "depends on step 9", analyzed, reviewed},
			[]string{"the beginning of a plan"},
		},
		{
			"faulty reply, then a partial repair", true,
			[]turn{{want: "plan", reply: plantest.WrongPlan}, {want: "repair", fail: "it took too long", reply: partialReply}, {want: "repair", reply: plantest.FullPlan}},
			[]string{whole, `there is no tool "fs.look"`, "depends on step 9", "- the repaired plan broke off before it was whole: it took too long\n"},
			[]string{"the beginning of a plan"}, // the whole one says more
		},
		{
			"partial reply, then a faulty repair", true,
			[]turn{{want: "plan", fail: "it took too long", reply: partialReply}, {want: "repair", reply: plantest.WrongPlan}, {want: "repair", reply: plantest.FullPlan}},
			[]string{whole, `there is no tool "fs.look"`},
			[]string{"the beginning of a plan", "broke off"},
		},
		{
			"partial reply, then no repair", true,
			[]turn{{want: "plan", fail: "it took too long", reply: partialReply}, {want: "repair", fail: "gone"}, {want: "repair", reply: plantest.FullPlan}},
			[]string{partly, "- the model returned no repaired plan: gone\n"},
			nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := prompttest.Brief()
			b.Prompting.SkipAnalysis = tt.skipAnalysis
			asked := play(t, planning.NewPipeline(b), tt.turns)
			repair := asked[len(asked)-1]
			text := last(repair)
			for _, want := range tt.holds {
				if !strings.Contains(text, want) {
					t.Errorf("the repair lacks %q:\n%s", want, text)
				}
			}
			for _, not := range tt.lacks {
				if strings.Contains(text, not) {
					t.Errorf("the repair contains %q:\n%s", not, text)
				}
			}
			if !strings.HasSuffix(text, "\n\nGoal: "+b.Goal) {
				t.Error("the repair does not end with the goal")
			}
		})
	}
}

func TestRepairRequestOfReplanIncludesFaultyReply(t *testing.T) {
	r := planning.NewReplanner(prompttest.Brief(), prompttest.Situation())
	r.Fail("it took too long", reply.Reply{Text: partialReply})
	request, _ := r.Next()
	for _, want := range []string{`{"title":"Rename it"`, "- the new plan broke off before it was whole: it took too long\n", "Failed: step 3"} {
		if !strings.Contains(last(request), want) {
			t.Errorf("the repair lacks %q:\n%s", want, last(request))
		}
	}
}

func TestRepairRequestFitsItsWindow(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.ContextWindow, b.Prompting.MaxTokens = 8192, 1024
	long := strings.Repeat("It is long. ", 2000)
	p := planning.NewPipeline(b)
	p.Absorb(reply.Reply{Text: "REFLECT: yes\nTASK: Rename\n" + long})
	p.Absorb(reply.Reply{Text: plantest.Review + long})
	p.Absorb(reply.Reply{Text: plantest.WrongPlan[:len(plantest.WrongPlan)-1] + `,"note":"` + long + `"}`})
	p.Fail("it took too long", reply.Reply{Text: partialReply + long})
	request, _ := p.Next()
	if n := prompt.ConversationTokens(b.Prompting, request.Messages); n > 8192-1024 || strings.Contains(request.Shortened, "too long all the same") {
		t.Errorf("got about %d tokens: %s", n, request.Shortened)
	}
	for _, want := range []string{"## Critic", "TASK: Rename", `"tool":"fs.look"`, "depends on step 9"} {
		if !strings.Contains(last(request), want) {
			t.Errorf("the repair lacks %q", want)
		}
	}
}

func TestModelsPlanWithControlCharactersInANameIsRepaired(t *testing.T) {
	for _, c := range []struct{ reply, want string }{
		{`{"title":"T","steps":[{"index":"1\u001b[2J","title":"Find uses","executor":"tool","tool":"fs.search","args":{"pattern":"x"},"depends_on":[]}]}`, "index holds control characters"},
		{`{"title":"T","steps":[{"index":"1","title":"Find uses","executor":"tool","tool":"fs.search\u202e","args":{"pattern":"x"},"depends_on":[]}]}`, "the name of its tool holds characters that cannot be seen"},
	} {
		var stream reply.StepStream
		if drafts := stream.Feed(c.reply); len(drafts) > 0 {
			t.Errorf("%s: got the draft %+v", c.reply, drafts)
		}
		b := prompttest.Brief()
		b.Prompting.SkipAnalysis = true
		asked := play(t, planning.NewPipeline(b), []turn{{want: "plan", reply: c.reply}, {want: "repair", reply: plantest.FullPlan}})
		if text := last(asked[1]); !strings.Contains(text, c.want) {
			t.Errorf("the repair lacks %q:\n%s", c.want, text)
		}
	}
}

func TestReferenceToUnknownFieldIsRepaired(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.SkipAnalysis = true
	b.Catalog[1].OutputSchema = json.RawMessage(`{"type":"object","properties":{"matches":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"}}}}}}`)
	plan := func(reference string) string {
		return `{"title":"Read it","steps":[
			{"index":"1","title":"Find uses","executor":"tool","tool":"fs.search","args":{"pattern":"x"},"depends_on":[],"result_variable":"uses"},
			{"index":"2","title":"Read the first","executor":"tool","tool":"fs.read","args":{"path":"` + reference + `"},"depends_on":["1"]}]}`
	}
	p := planning.NewPipeline(b)
	asked := play(t, p, []turn{{want: "plan", reply: plan("${uses.matches.0.file}")}, {want: "repair", reply: plan("${uses.matches.0.path}")}})
	const want = `step 2 refers to ${uses.matches.0.file}, but matches.0 in the result of step 1 has no field "file", only line and path; refer to a field that is there, or to ${uses} as a whole`
	if text := last(asked[1]); !strings.Contains(text, want) {
		t.Errorf("the repair lacks %q:\n%s", want, text)
	}
	if p.Outcome().Kind != planning.OutcomePlanned {
		t.Errorf("ended %+v", p.Outcome())
	}
}
