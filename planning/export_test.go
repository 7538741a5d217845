package planning

// ReadSteps reads the steps of a reply as the pipeline does, valid or not.
func ReadSteps(text string) []Step { return readProposal(Reply{Text: text}, false).plan.Steps }

// ReadValue reads a text as DecodePlan does.
func ReadValue(text []byte) (v any, err error) {
	v, _, err = readValue(text)
	return v, err
}

// PlanRequest is the request of phase 3.
func PlanRequest(b Brief) Request { return planRequest(b, analysis{}, "") }
