package planning

// ReadSteps reads the steps of a reply as the pipeline does, valid or not.
func ReadSteps(text string) []Step { return readProposal(Reply{Text: text}, false).plan.Steps }
