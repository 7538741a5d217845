package plan_test

import (
	_ "embed"
	"encoding/json"
	"testing"

	"replan/planning/plan"
)

//go:embed testdata/nested.json
var nestedPlans []byte

// TestPlansWithNestedReferencesCheckAndRun plays plans that mean the right thing, many
// with types as models write them, over tools that answer what their schemas say.
func TestPlansWithNestedReferencesCheckAndRun(t *testing.T) {
	var set struct {
		Catalog plan.Catalog `json:"catalogue"`
		Results map[string]json.RawMessage
		Plans   []struct {
			Title, Slip string
			Plan        json.RawMessage
		}
	}
	if err := json.Unmarshal(nestedPlans, &set); err != nil {
		t.Fatal(err)
	}
	run := func(p plan.Plan) error {
		values := map[string]any{}
		for _, index := range plan.NewGraph(p).Order() {
			step, _ := p.Step(index)
			args, err := plan.ResolveArgs(step.Args, values)
			if err != nil {
				return err
			}
			tool, err := set.Catalog.Find(step.Tool)
			if err != nil {
				return err
			}
			signature, err := plan.NewSignature(tool)
			if err != nil {
				return err
			}
			args, _ = signature.Coerce(args)
			if err := signature.CheckStrict(args); err != nil {
				return err
			}
			if values[step.ResultVariable], err = plan.DecodeValue(set.Results[step.Tool]); err != nil {
				return err
			}
		}
		return nil
	}
	ran, strict := 0, 0
	for _, c := range set.Plans {
		rules := plan.Rules{CheckTools: true, Catalog: set.Catalog}
		p, faults, _ := plan.CheckPlan(c.Plan, rules)
		err := plan.FaultError(faults)
		if err == nil {
			err = run(p)
		}
		if err == nil {
			ran++
		} else {
			t.Logf("%s, %s: %v", c.Title, c.Slip, err)
		}
		rules.Strict = true
		if _, faults, _ := plan.CheckPlan(c.Plan, rules); len(faults) == 0 {
			strict++
		}
	}
	t.Logf("%d of %d plans check and run, %d check without conversions", ran, len(set.Plans), strict)
	if ran*100 < len(set.Plans)*95 || strict*2 > len(set.Plans) {
		t.Error("too few plans run, or the plans hold too few slips")
	}
}
