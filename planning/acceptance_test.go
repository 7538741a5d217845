package planning_test

import (
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// accepted is fullPlan with an acceptance.
func accepted(checks string) string {
	return strings.TrimSuffix(fullPlan, "}") + `,"acceptance":` + checks + "}"
}

// acceptance lists the checks of a plan.
func acceptance(p plan.Plan) string {
	var checks []string
	for _, c := range p.Acceptance {
		checks = append(checks, strings.TrimSpace(c.Tool+" "+c.Expect))
	}
	return strings.Join(checks, " | ")
}

const (
	isGone   = `{"title":"the old name is gone","tool":"fs.search","args":{"pattern":"authenticate"},"expect":"len(result.matches) == 0"}`
	goneText = "fs.search len(result.matches) == 0"
)

func TestPlannerProposesTheAcceptance(t *testing.T) {
	for name, tt := range map[string]struct {
		replies  []string // to phase 3 and repairs
		want     string
		warnings string // codes
	}{
		"of a tool and of a variable":     {[]string{accepted("[" + isGone + `,{"title":"it was used","expect":"len(uses.matches) > 0"}]`)}, goneText + " | len(uses.matches) > 0", ""},
		"one without a list":              {[]string{accepted(isGone)}, goneText, ""},
		"a nearly right tool":             {[]string{accepted(strings.Replace(isGone, "fs.search", "fs_search", 1))}, goneText, ""},
		"a bad expression is left out":    {[]string{accepted("[" + isGone + `,{"title":"it works","expect":"all tests pass"}]`)}, goneText, plan.CodeBadExpression},
		"words alone are left out":        {[]string{accepted(`["the tests pass"]`)}, "", plan.CodeBadExpression},
		"no expectation is left out":      {[]string{accepted(`[{"title":"it works"}]`)}, "", plan.CodeBadExpression},
		"a vacuous one is left out":       {[]string{accepted(`[{"expect":"1 < 2"}]`)}, "", plan.CodeVacuousCheck},
		"an unknown tool is left out":     {[]string{accepted(`[{"tool":"fs.look","args":{},"expect":"result.n == 0"}]`)}, "", plan.CodeUnknownTool},
		"a tool with effects is left out": {[]string{accepted(`[{"tool":"test.run","args":{},"expect":"result.passed"}]`)}, "", plan.CodeBadType},
		"missing args are left out":       {[]string{accepted(`[{"tool":"fs.search","args":{},"expect":"result.n == 0"}]`)}, "", plan.CodeBadArgs},
		"an unknown variable":             {[]string{accepted(`[{"expect":"tests.passed"}]`)}, "", plan.CodeBadExpression},
		"a repair without it keeps it":    {[]string{strings.Replace(accepted(isGone), "test.run", "no.tool", 1), fullPlan}, goneText, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := brief()
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

func TestFormatTakesAnAcceptanceOfToolsThatOnlyRead(t *testing.T) {
	b := brief()
	b.Prompting.SkipAnalysis = true
	request := firstRequest(planning.NewPipeline(b))
	if at := strings.Index(string(request.Format), `"acceptance"`); at < strings.Index(string(request.Format), `"steps"`) {
		t.Error("the steps wait for the acceptance")
	}
	for checks, fits := range map[string]bool{
		"[" + isGone + "]": true, "[]": true, `[{"title":"t","expect":"uses.n == 0"}]`: true,
		`[{"title":"t","tool":"fs.patch","args":{},"expect":"x"}]`: true, // as one of a variable: a schema allows other fields
		`[{"title":"t"}]`: false, `[{"expect":"x"}]`: false, "[" + strings.TrimSuffix(strings.Repeat(isGone+",", 4), ",") + "]": false,
	} {
		value, err := plan.DecodeValue([]byte(accepted(checks)))
		if err != nil {
			t.Fatal(err)
		}
		if err := compile(t, request.Format).Validate(value); (err == nil) != fits {
			t.Errorf("%s fits: %v, want %v", checks, err, fits)
		}
	}
	small, reading := b, b
	small.Prompting.Small = true
	reading.Catalogue = b.Catalogue[:2]
	for name, r := range map[string]prompt.Request{
		"a small model": firstRequest(planning.NewPipeline(small)), "tools that only read": firstRequest(planning.NewPipeline(reading)), "a replan": firstRequest(planning.NewReplanner(b, situation())),
	} {
		if strings.Contains(string(r.Format), "acceptance") {
			t.Errorf("the format of %s has an acceptance", name)
		}
	}
	if !strings.Contains(last(request), "`acceptance`") || strings.Contains(last(firstRequest(planning.NewPipeline(small))), "acceptance") {
		t.Error("the request must describe the acceptance, but not to a small model")
	}
}

func TestPlanOfASimpleGoalHasAnAcceptance(t *testing.T) {
	b := brief()
	p := planning.NewPipeline(b)
	request := firstRequest(p)
	if !strings.Contains(string(request.Format), `"acceptance"`) || !strings.Contains(last(request), "`acceptance`") {
		t.Error("the analysis is not asked for an acceptance")
	}
	p.Absorb(reply.Reply{Text: `{"mode":"plan","task":"t","goal":"g","complexity":"simple","reflect":false,` + accepted("[" + isGone + `,{"expect":"1 < 2"}]`)[1:]})
	if got := acceptance(p.Outcome().Plan); got != goneText {
		t.Errorf("got the acceptance %q (%s), want %q", got, p.Outcome().Reason, goneText)
	}
	b.Catalogue = b.Catalogue[:2]
	if request := firstRequest(planning.NewPipeline(b)); strings.Contains(string(request.Format), `"acceptance"`) || strings.Contains(last(request), "acceptance") {
		t.Error("the analysis must propose no acceptance where no tool changes anything")
	}
}

func TestReplanKeepsTheAcceptance(t *testing.T) {
	s := situation()
	s.Plan.Acceptance = []plan.Check{{Title: "the old name is gone", Tool: "fs.search", Args: map[string]any{"pattern": "x"}, Expect: "len(result.matches) == 0"}}
	p := planning.NewReplanner(brief(), s)
	if text := last(firstRequest(p)); !strings.Contains(text, `"expect":"len(result.matches) == 0"`) {
		t.Errorf("the replan does not show the acceptance:\n%s", text)
	}
	p.Absorb(reply.Reply{Text: strings.TrimSuffix(newTail, "}") + `,"acceptance":[]}`})
	if got := acceptance(p.Outcome().Plan); got != goneText {
		t.Errorf("the new plan has the acceptance %q (%s)", got, p.Outcome().Reason)
	}
}
