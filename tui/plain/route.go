package plain

import (
	"fmt"
	"math"
	"strings"

	"replan/agent/event"
)

// Routed says in a sentence who planned a goal without a model, and how sure it is
// of the goal's wording.
func Routed(d event.RouteMatched, model string) string {
	who := "planned by your words"
	switch {
	case model == "":
		who += " alone, since there is no model"
	case !asksModel(d.Chain):
		who += ", no model was asked"
	}
	return fmt.Sprintf("%s (%d %% sure)", who, int(math.Round(d.Confidence*100)))
}

// asksModel reports whether part of a chain is for a model. Tool names contain a
// dot, so a name without one means a model.
func asksModel(chain []string) bool {
	for _, name := range chain {
		if !strings.Contains(name, ".") {
			return true
		}
	}
	return false
}
