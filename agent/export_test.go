package agent

// Carried says where untrusted text in the call of a step comes from.
func (r *Run) Carried(index string) []Provenance { return r.provenance(r.Step(index)) }
