package prompt

import (
	"strings"

	"replan/planning/plan"
)

// ground describes the project for a request about work in it; "" where nothing is known.
// It does not depend on the purpose of the request.
func ground(b Brief) string {
	s := b.Prompting.Sketch
	if s.Empty() {
		return ""
	}
	var lines []string
	about := []string{}
	if len(s.Languages) > 0 {
		about = append(about, strings.Join(s.Languages, ", "))
	}
	if len(s.Tests) > 0 {
		about = append(about, "tests run with "+strings.Join(s.Tests, " and "))
	}
	if s.Branch != "" {
		about = append(about, "branch "+s.Branch)
	}
	if len(about) > 0 {
		lines = append(lines, "Project: "+strings.Join(about, "; "))
	}
	add := func(label string, names []string) {
		if len(names) > 0 {
			lines = append(lines, label+": "+strings.Join(names, ", "))
		}
	}
	add("Files", s.Files)
	add("Files with words of the goal", s.Near)
	add("Changed since the last commit", s.Changed)
	add("Declared", s.Named)
	for i, line := range lines {
		lines[i] = disarm(plan.OneLine(line, 1600))
	}
	return strings.Join(lines, "\n")
}
