package plantest

import (
	"fmt"
	"strings"
	"testing"

	"replan/planning/plan"
)

// Shape formats each step as a line: index, executor or tool, dependencies and
// title.
func Shape(steps []plan.Step) string {
	var lines []string
	for _, s := range steps {
		executor := string(s.Executor)
		switch {
		case s.Tool != "":
			executor = s.Tool
		case s.Profile != "":
			executor += ":" + s.Profile
		}
		line := fmt.Sprintf("%s %s <%s> %s", s.Index, executor, strings.Join(s.DependsOn, ","), s.Title)
		if len(s.Args) > 0 {
			line += " " + plan.CanonicalJSON(s.Args)
		}
		if s.ResultVariable != "" {
			line += " =" + s.ResultVariable
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Decoded returns the value of a JSON text.
func Decoded(t testing.TB, text string) any {
	t.Helper()
	v, err := plan.DecodeValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
