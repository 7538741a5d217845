package plan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"replan/planning/plan"
)

// TestSampleOfPublicPlansRuns holds how many of 60 public plans run as they are. The
// others are wrong in their data sets.
func TestSampleOfPublicPlansRuns(t *testing.T) {
	run := 0
	data, err := os.ReadFile(filepath.Join("testdata", "public.json"))
	if err != nil {
		t.Fatal(err)
	}
	var plans []struct {
		Plan  json.RawMessage `json:"plan"`
		Tools plan.Catalog    `json:"tools"`
	}
	if err := json.Unmarshal(data, &plans); err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		if _, faults, _ := plan.CheckPlan(p.Plan, plan.Rules{Catalog: p.Tools, CheckTools: true}); len(faults) > 0 {
			t.Log(faults[0].Code + ": " + faults[0].Message)
		} else {
			run++
		}
	}
	if t.Logf("%d of %d public plans run as they are", run, len(plans)); run < 58 || len(plans) != 60 {
		t.Error("58 of 60 did")
	}
}
