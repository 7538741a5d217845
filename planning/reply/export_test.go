package reply

import "replan/planning/plan"

// ReadSteps reads the steps of a reply as the pipeline does, whether valid or
// not.
func ReadSteps(text string) []plan.Step { return ReadProposal(Reply{Text: text}, false).Plan.Steps }
