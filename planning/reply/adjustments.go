package reply

import (
	"strings"

	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// pointMark is the mark of a list item.
var pointMark = lazyregexp.New(`^(?:[-*+•]|\d+[.)])\s+`)

// Adjustments returns the changes to the plan that a review asks for, one line
// each: the points under its heading "Plan Adjustments". It returns nil if there
// is no such heading.
func Adjustments(review string) []string {
	var points []string
	inside := false
	for text := range strings.SplitSeq(StripThinking(review), "\n") {
		line := strings.TrimSpace(text)
		item := line[len(pointMark.FindString(line)):]
		switch {
		case line == "":
		case strings.HasPrefix(line, "#"), strings.HasPrefix(line, "**") && strings.HasSuffix(strings.TrimRight(line, ":"), "**"):
			inside = strings.Contains(strings.ToLower(line), "adjustments")
		case !inside:
		case item != line || len(points) == 0:
			points = append(points, plan.OneLine(untrusted.Line(item), 600))
		default:
			points[len(points)-1] = plan.OneLine(points[len(points)-1]+" "+untrusted.Line(line), 600)
		}
	}
	return points
}
