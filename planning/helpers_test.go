package planning_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// readSteps reads the steps of a reply as the pipeline does, whether valid or
// not.
func readSteps(text string) []plan.Step {
	return reply.ReadProposal(reply.Reply{Text: text}, false).Plan.Steps
}

// planRequest returns the request of phase 3 for a goal without an analysis.
func planRequest(b prompt.Brief) prompt.Request {
	return prompt.PlanRequest(b, reply.Analysis{}, "")
}

// mustPlan decodes a plan written by a test.
func mustPlan(t testing.TB, text string) plan.Plan {
	t.Helper()
	p, faults := plan.DecodePlan([]byte(text))
	if len(faults) > 0 {
		t.Fatalf("decode %s: %v", text, plan.FaultError(faults))
	}
	return p
}

// faultsAt lists faults as "code path" for comparison.
func faultsAt(faults []plan.Fault) []string {
	var list []string
	for _, f := range faults {
		list = append(list, f.Code+" "+f.Path)
	}
	return list
}

// benchCatalogue returns forty tools of two servers with schemas; every fifth
// name exists twice and must be qualified.
func benchCatalogue() plan.Catalogue {
	var catalogue plan.Catalogue
	for i := range 40 {
		tool := plan.Tool{Name: "tool." + strconv.Itoa(i), Server: "one", ReadOnly: i%2 == 0, InputSchema: json.RawMessage(`{
			"type": "object", "required": ["path"], "additionalProperties": false,
			"properties": {"path": {"type": "string"}, "text": {"type": "string"}, "lines": {"type": "integer"}, "from": {"type": "array", "items": {"type": "string"}}}
		}`)}
		catalogue = append(catalogue, tool)
		if i%5 == 0 {
			tool.Server = "two"
			catalogue = append(catalogue, tool)
		}
	}
	return catalogue
}

// analysisOf returns an analysis that says so much.
func analysisOf(text string) reply.Analysis { return reply.Analysis{Brief: text} }
