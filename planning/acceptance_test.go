package planning_test

import (
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

// acceptance lists the checks of a plan.
func acceptance(p plan.Plan) string {
	var checks []string
	for _, c := range p.Acceptance {
		checks = append(checks, strings.TrimSpace(c.Tool+" "+c.Expect))
	}
	return strings.Join(checks, " | ")
}

const goneText = "fs.search len(result.matches) == 0"

func TestPlannerProposesTheAcceptance(t *testing.T) {
	for name, tt := range map[string]struct {
		replies  []string // to phase 3 and repairs
		want     string
		warnings string // codes
	}{
		"of a tool and of a variable":     {[]string{plantest.Accepted("[" + plantest.IsGone + `,{"title":"it was used","expect":"len(uses.matches) > 0"}]`)}, goneText + " | len(uses.matches) > 0", ""},
		"one without a list":              {[]string{plantest.Accepted(plantest.IsGone)}, goneText, ""},
		"a nearly right tool":             {[]string{plantest.Accepted(strings.Replace(plantest.IsGone, "fs.search", "fs_search", 1))}, goneText, ""},
		"a bad expression is left out":    {[]string{plantest.Accepted("[" + plantest.IsGone + `,{"title":"it works","expect":"all tests pass"}]`)}, goneText, plan.CodeBadExpression},
		"words alone are left out":        {[]string{plantest.Accepted(`["the tests pass"]`)}, "", plan.CodeBadExpression},
		"no expectation is left out":      {[]string{plantest.Accepted(`[{"title":"it works"}]`)}, "", plan.CodeBadExpression},
		"a vacuous one is left out":       {[]string{plantest.Accepted(`[{"expect":"1 < 2"}]`)}, "", plan.CodeVacuousCheck},
		"an unknown tool is left out":     {[]string{plantest.Accepted(`[{"tool":"fs.look","args":{},"expect":"result.n == 0"}]`)}, "", plan.CodeUnknownTool},
		"a tool with effects is left out": {[]string{plantest.Accepted(`[{"tool":"test.run","args":{},"expect":"result.passed"}]`)}, "", plan.CodeBadType},
		"missing args are left out":       {[]string{plantest.Accepted(`[{"tool":"fs.search","args":{},"expect":"result.n == 0"}]`)}, "", plan.CodeBadArgs},
		"an unknown variable":             {[]string{plantest.Accepted(`[{"expect":"tests.passed"}]`)}, "", plan.CodeBadExpression},
		"a repair without it keeps it":    {[]string{strings.Replace(plantest.Accepted(plantest.IsGone), "test.run", "no.tool", 1), plantest.FullPlan}, goneText, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := prompttest.Brief()
			b.Prompting.SkipAnalysis = true
			p := planning.NewPipeline(b)
			for _, text := range tt.replies {
				p.Absorb(reply.Reply{Text: text})
			}
			out := p.Outcome()
			if out.Kind != planning.OutcomePlanned || len(out.Plan.Steps) != 2 {
				t.Fatalf("the outcome is %s: %s", out.Kind, out.Reason)
			}
			if got := acceptance(out.Plan); got != tt.want {
				t.Errorf("got the acceptance %q, want %q", got, tt.want)
			}
			var codes []string
			for _, w := range out.Warnings {
				if strings.HasPrefix(w.Path, "/acceptance") {
					codes = append(codes, w.Code)
				}
			}
			if got := strings.Join(codes, " "); got != tt.warnings {
				t.Errorf("got the warnings %q, want %q", got, tt.warnings)
			}
		})
	}
}

func TestPlanOfASimpleGoalHasAnAcceptance(t *testing.T) {
	b := prompttest.Brief()
	p := planning.NewPipeline(b)
	request := firstRequest(p)
	if !strings.Contains(string(request.Format), `"acceptance"`) || !strings.Contains(last(request), "`acceptance`") {
		t.Error("the analysis is not asked for an acceptance")
	}
	p.Absorb(reply.Reply{Text: `{"mode":"plan","task":"t","goal":"g","complexity":"simple","reflect":false,` + plantest.Accepted("[" + plantest.IsGone + `,{"expect":"1 < 2"}]`)[1:]})
	if got := acceptance(p.Outcome().Plan); got != goneText {
		t.Errorf("got the acceptance %q (%s), want %q", got, p.Outcome().Reason, goneText)
	}
	b.Catalog = b.Catalog[:2]
	if request := firstRequest(planning.NewPipeline(b)); strings.Contains(string(request.Format), `"acceptance"`) || strings.Contains(last(request), "acceptance") {
		t.Error("the analysis must propose no acceptance where no tool changes anything")
	}
}

func TestReplanKeepsTheAcceptance(t *testing.T) {
	s := prompttest.Situation()
	s.Plan.Acceptance = []plan.Check{{Title: "the old name is gone", Tool: "fs.search", Args: map[string]any{"pattern": "x"}, Expect: "len(result.matches) == 0"}}
	p := planning.NewReplanner(prompttest.Brief(), s)
	if text := last(firstRequest(p)); !strings.Contains(text, `"expect":"len(result.matches) == 0"`) {
		t.Errorf("the replan does not show the acceptance:\n%s", text)
	}
	p.Absorb(reply.Reply{Text: strings.TrimSuffix(plantest.NewTail, "}") + `,"acceptance":[]}`})
	if got := acceptance(p.Outcome().Plan); got != goneText {
		t.Errorf("the new plan has the acceptance %q (%s)", got, p.Outcome().Reason)
	}
}
