package agent

import (
	"replan/agent/rule"
	"replan/planning/plan"
)

// Carried returns the sources of untrusted text in the call of a step.
func (r *Run) Carried(index string) []rule.Provenance { return r.origins().provenance(r.Step(index)) }

// Graph returns the graph of the current plan, or nil if there is none.
func (r *Run) Graph() *plan.Graph { return r.graph }
