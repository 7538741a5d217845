package agent

import (
	"strings"

	"replan/planning/plan"
)

// headlineKept bounds the error text in the sentence that ends a run, in runes;
// the history keeps the full error.
const headlineKept = 300

// headline returns the first non-empty line of an error.
func headline(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if runes := []rune(line); len(runes) > headlineKept {
		return string(runes[:headlineKept]) + "…"
	}
	if rest != "" {
		return line + " …"
	}
	return line
}

// PassesOver reports whether a step has failed for good and its run continues without it,
// as its on_failure says.
func (r *Run) PassesOver(s *StepState) bool {
	return s.Status == StepFailed && !s.isItem() && s.Failure.Replannable() && !r.scheduler().retries(s) &&
		r.Plan.FailureOf(s.Step, r.fallback) == plan.OnFailureSkip
}
