package plantest

import (
	"strings"
)

// Replies of models.
const (
	// FullPlan is a reply with a valid plan.
	FullPlan = `{"title":"Rename it","steps":[
		{"index":"1","title":"Find uses","executor":"tool","tool":"fs.search","args":{"pattern":"authenticate"},"depends_on":[],"result_variable":"uses","expected_outcome":"files and lines"},
		{"index":"2","title":"Run the tests","executor":"tool","tool":"test.run","args":{},"depends_on":["1"],"expected_outcome":"all pass"}]}`
	// WrongPlan is a reply with a plan of an unknown tool and an unknown step.
	WrongPlan = `{"title":"Rename it","steps":[{"index":"1","title":"Look","executor":"tool","tool":"fs.look","args":{},"depends_on":["9"],"expected_outcome":"x"}]}`
	// Analysis is a reply of phase 1 that asks for a review.
	Analysis = `{"mode":"plan","task":"Rename a function","goal":"tests pass","unknowns":["who calls it"],"resources":["fs.search"],` +
		`"knowledge":{"read":["the source"],"keep":[]},"complexity":"medium","subtasks":["find","rename"],"reflect":true}`
	// Review is a reply of phase 2.
	Review = "## Critic\n- Tests may be missing.\n\n## Pragmatist\n- One search is enough.\n\n## Detailer\n- Check docs.\n\n## Plan Adjustments\n- Run the tests last.\n"
	// IsGone is a check that the old name is gone.
	IsGone = `{"title":"the old name is gone","tool":"fs.search","args":{"pattern":"authenticate"},"expect":"len(result.matches) == 0"}`
	// NewTail is a reply with a new plan of the failed step 3.
	NewTail = `{"title":"Look first","steps":[
	{"index":"5","title":"Search","executor":"tool","tool":"fs.search","args":{"pattern":"x"},"depends_on":[],"expected_outcome":"where x is"},
	{"index":"3","title":"Patch","executor":"tool","tool":"fs.patch","args":{"path":"a.go","edits":[{"old":"X","new":"y"}]},"depends_on":["1","5"],"expected_outcome":"changed"},
	{"index":"4","title":"Test again","executor":"tool","tool":"test.run","args":{"target":"./..."},"depends_on":["3"],"expected_outcome":"all pass"}]}`
	// SameTail is a reply with steps 3 and 4 once more.
	SameTail = `{"title":"Again","steps":[
	{"index":"3","title":"Patch","executor":"tool","tool":"fs.patch","args":{"edits":[{"new":"y","old":"x"}],"path":"a.go"},"depends_on":["1","2"]},
	{"index":"4","title":"Test again","executor":"tool","tool":"test.run","args":{"target":"./..."},"depends_on":["3"]}]}`
)

// Accepted is FullPlan with an acceptance of these checks.
func Accepted(checks string) string {
	return strings.TrimSuffix(FullPlan, "}") + `,"acceptance":` + checks + "}"
}
