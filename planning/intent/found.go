package intent

import (
	"strings"

	"replan/planning/plan"
)

// NothingFound reports whether the steps of a chain did their work without a
// result.
func NothingFound(in Intent, history []plan.HistoryItem) bool {
	a := answering{in: in, items: lastAttempts(history)}
	empty := func(tool, list string) bool {
		found, listed := a.result(tool).at(list).v.([]any)
		return listed && len(found) == 0 && a.result(tool).at("total").number() == 0
	}
	searched := empty("fs.search", "matches")
	switch in.Action {
	case find:
		if a.done("fs.list") && in.Target == "" {
			return strings.HasPrefix(a.listed(a.result("fs.list")), "There is nothing") || strings.HasPrefix(a.listed(a.result("fs.list")), "No folder")
		}
		return (searched || empty("code.symbols", "symbols")) && len(a.named(a.result("fs.list"))) == 0
	case references:
		return searched || empty("code.references", "references") && a.result("code.references").at("definition").v == nil
	case definition:
		return searched || empty("code.definition", "definitions")
	case symbols:
		return empty("code.symbols", "symbols")
	case explain:
		return searched || empty("code.definition", "definitions")
	case debug:
		summary := a.result(runTests).at("summary").text()
		return searched || strings.HasPrefix(summary, noTests) || strings.HasPrefix(summary, "no test matches")
	case commit:
		return !a.done("vcs.commit") && a.result("vcs.status").at("clean").flag()
	default:
		return false
	}
}
