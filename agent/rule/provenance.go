package rule

import "replan/planning/plan"

// Provenance is the origin of text in a gated call, see [plan.Provenance].
type Provenance = plan.Provenance
