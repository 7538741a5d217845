package agent

import (
	"fmt"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// How much is shown of the results where no model wrote an answer, in characters.
const (
	shownOfAll = 12_000
	shownOfOne = 4_000
)

// Unanswered says why a run that completed has no answer from its model, "" where
// it has one or needs none. A resume asks for the answer again, and runs no step.
func (r *Run) Unanswered() string {
	if r.Result == nil || r.Result.Status != event.StatusCompleted {
		return ""
	}
	return r.Result.Unanswered
}

// Answering reports whether all steps have ended and only the answer is missing.
func (r *Run) Answering() bool { return r.answering }

// missingAnswer says why the model wrote no answer, or not all of it, "" where it
// did or where rules make up for it.
func (r *Run) missingAnswer() string {
	if !r.Synthesis.Done || r.Synthesis.Direct || r.ruleAnswers() {
		return ""
	}
	return r.Synthesis.Error
}

// ruleAnswers reports whether the answer by rule stands in for one that the model
// did not begin.
func (r *Run) ruleAnswers() bool {
	return r.Synthesis.Text == "" && r.Route != nil && r.Revision == 1
}

// unwritten is the answer where the model gave none, or not all of it: what there
// is, or the steps with their results.
func (r decision) unwritten() string {
	if r.ruleAnswers() {
		return r.ruled()
	}
	if r.Synthesis.Text != "" {
		return r.Synthesis.Text + "\n\n*The answer was cut off: " + r.Synthesis.Error + "*"
	}
	return "The steps are done, but the model wrote no answer: " + r.Synthesis.Error + "\n\n" + r.stepResults(shownOfAll)
}

// Results shows what each step brought, of a run that completed and for which
// nobody wrote an answer; "" of any other. It is a part of the conversation that
// later turns are sent, so it takes no more than a sixth of the context window,
// at three characters a token.
func (r *Run) Results() string {
	hasResult := func(s *StepState) bool { return resultText(s) != "" }
	if r.Result == nil || r.Result.Status != event.StatusCompleted || r.Result.Answer != "" || r.dryRun || !slices.ContainsFunc(r.Steps, hasResult) {
		return ""
	}
	bound := shownOfAll
	if r.ContextWindow > 0 {
		bound = min(bound, r.ContextWindow/2)
	}
	return r.stepResults(bound)
}

// stepResults lists the steps with their results as Markdown, in no more than
// bound characters of results.
func (r *Run) stepResults(bound int) string {
	sizes := make([]int, len(r.Steps))
	for i, s := range r.Steps {
		sizes[i] = min(len([]rune(resultText(s))), shownOfOne)
	}
	shares := prompt.Shares(sizes, bound)
	var text strings.Builder
	text.WriteString("What the steps brought:\n")
	for i, s := range r.Steps {
		fmt.Fprintf(&text, "\n**%s. %s**: %s\n", s.Step.Index, s.Step.Title, s.Status)
		if result := []rune(resultText(s)); len(result) > 0 {
			shown := string(result[:shares[i]])
			if left := len(result) - shares[i]; left > 0 {
				shown += fmt.Sprintf("\n… %d more characters", left)
			}
			text.WriteString("\n" + fencedBlock(shown) + "\n")
		}
	}
	return text.String()
}

// resultText is what a step brought, as text; "" where it brought nothing.
func resultText(s *StepState) string {
	switch result := s.Result.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(result)
	default:
		return plan.CanonicalJSON(result)
	}
}

// fencedBlock is text as a block of code in Markdown, which nothing in the text
// can end.
func fencedBlock(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}
