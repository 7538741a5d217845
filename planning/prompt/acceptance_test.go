package prompt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
)

func TestFormatTakesAnAcceptanceOfToolsThatOnlyRead(t *testing.T) {
	b := prompttest.Brief()
	request := planRequest(b)
	if at := strings.Index(string(request.Format), `"acceptance"`); at < strings.Index(string(request.Format), `"steps"`) {
		t.Error("the steps wait for the acceptance")
	}
	for checks, fits := range map[string]bool{
		"[" + plantest.IsGone + "]": true, "[]": true, `[{"title":"t","expect":"uses.n == 0"}]`: true,
		`[{"title":"t","tool":"fs.patch","args":{},"expect":"x"}]`: true, // as one of a variable: a schema allows other fields
		`[{"title":"t"}]`: false, `[{"expect":"x"}]`: false, "[" + strings.TrimSuffix(strings.Repeat(plantest.IsGone+",", 4), ",") + "]": false,
	} {
		value, err := plan.DecodeValue([]byte(plantest.Accepted(checks)))
		if err != nil {
			t.Fatal(err)
		}
		if err := compile(t, request.Format).Validate(value); (err == nil) != fits {
			t.Errorf("%s fits: %v, want %v", checks, err, fits)
		}
	}
	small, reading := b, b
	small.Prompting.Small = true
	reading.Catalog = b.Catalog[:2]
	for name, r := range map[string]prompt.Request{
		"a small model": planRequest(small), "tools that only read": planRequest(reading), "a replan": replanRequest(b, prompttest.Situation()),
	} {
		if strings.Contains(string(r.Format), "acceptance") {
			t.Errorf("the format of %s has an acceptance", name)
		}
	}
	if !strings.Contains(last(request), "`acceptance`") || strings.Contains(last(planRequest(small)), "acceptance") {
		t.Error("the request must describe the acceptance, but not to a small model")
	}
}

func TestPlanMayHaveMilestonesAndRisksAfterSteps(t *testing.T) {
	req := planRequest(prompttest.Brief())
	var format struct {
		Required   []string                   `json:"required"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(req.Format, &format); err != nil {
		t.Fatal(err)
	}
	if format.Properties["milestones"] == nil || format.Properties["risks"] == nil || strings.Join(format.Required, " ") != "title steps" {
		t.Errorf("the format requires %v and has %d fields", format.Required, len(format.Properties))
	}
	if text := string(req.Format); strings.Index(text, `"milestones"`) < strings.Index(text, `"expected_outcome"`) {
		t.Error("milestones precede the steps")
	}
}
