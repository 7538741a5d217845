package prompt

import "replan/planning/plan"

// Outline lists the steps of a plan, a line each, as data for a prompt.
func Outline(p plan.Plan) string { return outline(p) }

// Text writes a result as a model reads it best: text as it is, all else as
// JSON.
func Text(result any) string { return resultText(result) }
