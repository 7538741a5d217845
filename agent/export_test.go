package agent

import "replan/agent/rule"

// Carried says where untrusted text in the call of a step comes from.
func (r *Run) Carried(index string) []rule.Provenance { return r.provenance(r.Step(index)) }
