package reply_test

import (
	"encoding/json"
	"testing"

	"replan/planning/plan"
	"replan/planning/reply"
)

func TestPlannedNumbersWrittenAsTextAreFitted(t *testing.T) {
	catalog := plan.Catalog{{Name: "it", InputSchema: json.RawMessage(
		`{"type":"object","properties":{"number":{"type":"number"},"integer":{"type":"integer"},"boolean":{"type":"boolean"}}}`,
	)}}
	for name, c := range map[string]struct{ arg, text, want string }{
		"trailing zero":                {"number", "1.50", `"1.5"`},
		"zero before a zero":           {"number", "0.10", `"0.1"`},
		"negative exponent":            {"number", "1e-3", `"0.001"`},
		"exponent of zero":             {"number", "2.5E0", `"2.5"`},
		"exponent behind a fraction":   {"number", "-12.34e1", `"-123.4"`},
		"large number":                 {"number", "6.02214076e23", `"602214076000000000000000"`},
		"many digits":                  {"number", "3.14159265358979323846264338327950288419716", `"3.14159265358979323846264338327950288419716"`},
		"negative zero":                {"number", "-0.0", `"0"`},
		"whole number as a number":     {"number", "3.0", `"3"`},
		"whole number as an integer":   {"integer", " 1.5e1 ", `"15"`},
		"capital letter":               {"boolean", "True", `"true"`},
		"fraction as an integer":       {"integer", "1.50", ``},
		"tiny fraction as an integer":  {"integer", "9007199254740991.4", ``},
		"number too long to write out": {"number", "1e999", ``},
		"number as a boolean":          {"boolean", "1", ``},
		"word as a number":             {"number", "many", ``},
	} {
		t.Run(name, func(t *testing.T) {
			steps := reply.FinishSteps(catalog, nil, []plan.Step{
				{Index: "1", Title: "It", Executor: plan.ExecutorTool, Tool: "it", Args: map[string]any{c.arg: c.text}},
			})
			want := c.want
			if want == "" {
				want = plan.CanonicalJSON(c.text)
			}
			if got := plan.CanonicalJSON(steps[0].Args[c.arg]); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			faults, warnings := plan.Validate(plan.Plan{Title: "T", Goal: "G", Steps: steps}, plan.Rules{CheckTools: true, Catalog: catalog})
			switch {
			case c.want != "" && (len(faults) > 0 || len(warnings) != 1 || warnings[0].Code != plan.CodeCoerced):
				t.Errorf("faults %+v, warnings %+v", faults, warnings)
			case c.want == "" && (len(faults) != 1 || faults[0].Code != plan.CodeBadArgs):
				t.Errorf("faults %+v, warnings %+v", faults, warnings)
			}
		})
	}
}
