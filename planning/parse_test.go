package planning_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/planning"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

func TestProsePlansHaveTitleMilestonesAndRisks(t *testing.T) {
	b := prompttest.Brief()
	b.Prompting.SkipAnalysis = true
	p := planning.NewPipeline(b)
	play(t, p, []turn{{want: "plan", reply: "**Task:** Rename it\n**Milestones:**\nA. Understand\nB. [phase]\n**Steps:**\n1. Look → SELF\n**Risks:**\n- callers elsewhere\n"}})
	plan := p.Outcome().Plan
	if plan.Title != "Rename it" || len(plan.Milestones) != 1 || plan.Milestones[0].Title != "Understand" || len(plan.Risks) != 1 {
		t.Errorf("title %q, milestones %v, risks %v", plan.Title, plan.Milestones, plan.Risks)
	}
}

func TestRepliesWithLostStepsAreRepaired(t *testing.T) {
	whole := `{"title":"t","steps":[{"title":"Look","executor":"self","depends_on":[]},{"title":"Say","executor":"self","depends_on":["1"]}]}`
	tests := []struct {
		name  string
		reply string
		cut   bool
		lost  bool
	}{
		{"a whole plan", whole, false, false},
		{"cut off after a whole plan", whole + "\nAnd now", true, false},
		{"cut off within a step", whole[:90], true, true},
		{"stopped within a step", whole[:90], false, true},
		{"cut off between steps", whole[:strings.Index(whole, `,{"title":"Say"`)], true, true},
		{"stopped between steps", whole[:strings.Index(whole, `,{"title":"Say"`)], false, false},
		{"cut off after the list", strings.TrimSuffix(whole, "}"), true, false},
		{"a bare list cut off", `["Look","Sa`, true, true},
		{"lines cut off", "1. Look\n2. Sa", true, true},
		{"lines not cut off", "1. Look\n2. Say", false, false},
		{"cut off before any step", "{\"title\":\"A plan th", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := prompttest.Brief()
			b.Prompting.SkipAnalysis = true
			p := planning.NewPipeline(b)
			p.Absorb(reply.Reply{Text: tt.reply, CutOff: tt.cut})
			req, asks := p.Next()
			if asks != tt.lost {
				t.Fatalf("requests a repair: %v, want %v (%+v)", asks, tt.lost, p.Outcome())
			}
			if asks && (req.Purpose != prompt.PurposeRepair || tt.cut && !strings.Contains(last(req), "cut off")) {
				t.Errorf("%s does not mention that the reply was cut off:\n%s", req.Purpose, last(req))
			}
		})
	}
}

// absorbAnything feeds any text to every stage of planning to find a panic.
func absorbAnything(text string, cut bool) {
	for _, prompt := range []prompt.Prompting{{}, {SkipAnalysis: true}} {
		b := prompttest.Brief()
		b.Prompting = prompt
		p := planning.NewPipeline(b)
		for range 4 {
			p.Absorb(reply.Reply{Text: text, CutOff: cut})
		}
	}
	p := planning.NewReplanner(prompttest.Brief(), prompttest.Situation())
	p.Absorb(reply.Reply{Text: text, CutOff: cut})
	p.Absorb(reply.Reply{Text: text, CutOff: cut})
	_, _ = reply.ParseArgs(text)
	var s reply.StepStream
	s.Feed(text)
}

func FuzzNoReplyPanics(f *testing.F) {
	for _, seed := range []string{plantest.FullPlan, plantest.Analysis, plantest.Review, plantest.SameTail, "1. A → TOOL: x\n**Parallel:** 1, 2", "<think>", "{{[[\"", `{"steps":[{"index":0,"depends_on":{}}]}`} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(_ *testing.T, text string, cut bool) { absorbAnything(text, cut) })
}

func TestNoReplyPanics(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"{", "}", "[", "]", `"`, ":", ",", `\`, `"steps"`, `"title"`, `"index"`, `"depends_on"`, `"executor"`, `"tool"`, `"args"`, `"mode":"plan"`,
		"0", "1", "null", "true", "self", "<think>", "</think>", "```json\n", "\n", "1. ", "- ", "→ TOOL: ", "**Steps:**", "**Parallel:** ", "DIRECT", "é", "\x00", "\xff",
	})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for _, piece := range rapid.SliceOfN(rapid.OneOf(pieces, rapid.String()), 0, 60).Draw(t, "pieces") {
			b.WriteString(piece)
		}
		absorbAnything(b.String(), rapid.Bool().Draw(t, "cut"))
	})
}
