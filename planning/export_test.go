package planning

// ReadSteps reads the steps of a reply as the pipeline does, valid or not.
func ReadSteps(text string) []Step { return readProposal(Reply{Text: text}, false).plan.Steps }

// ReadValue reads a text the quick way, as DecodePlan does.
func ReadValue(text string) (v any, ok bool) {
	r := valueReader{text: text}
	return r.readValue()
}

// PlanRequest is the request of phase 3.
func PlanRequest(b Brief) Request { return planRequest(b, analysis{}, "") }
