package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/markdown"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// About returns the run as a side question is told of it. It shares nothing with the run
// that a later event changes.
func (r *Run) About() prompt.About {
	a := prompt.About{Goal: string(r.Goal), State: r.stateWords(), Over: r.ID != "" && !r.Active(), Plan: r.Plan, States: map[string]string{}, History: slices.Clone(r.History)}
	a.Plan.Steps = nil
	for _, s := range r.Steps {
		a.Plan.Steps = append(a.Plan.Steps, s.Step)
		a.States[s.Step.Index] = strings.ReplaceAll(string(s.Status), "_", " ")
	}
	if len(r.Gates) > 0 {
		g := r.Gates[0]
		a.Waits = g.Tool + "\n" + cmp.Or(g.Diff, plan.CanonicalJSON(g.Args))
	}
	return a
}

// stateWords says what the run does, after "It is".
func (r *Run) stateWords() string {
	switch result := r.Result; {
	case r.ID == "":
		return ""
	case r.Undone != nil:
		return "undone"
	case result != nil && result.Status == event.StatusFailed:
		return "over: it failed (" + cmp.Or(headline(string(result.Error)), string(result.Reason)) + ")"
	case result != nil && result.Status == event.StatusCanceled:
		return "stopped"
	case result != nil:
		return "completed"
	case len(r.Gates) > 0:
		return "waiting for the user to allow step " + r.Gates[0].Step
	case r.Asking() != "":
		return "waiting for the user to decide about step " + r.Asking()
	case r.AwaitsReview():
		return "waiting for the user to review the plan"
	case r.Revision == 0:
		return "being planned"
	default:
		return "running"
	}
}

// The questions about a run that its state answers without a model.
var (
	aboutStep     = lazyregexp.New(`(?i)^why (?:did|does|has|is) (?:step )?(\d+(?:\.\d+)*) (?:fail|failed|failing|stop|stopped|not work)\s*\??$`)
	aboutFailure  = lazyregexp.New(`(?i)^(?:what (?:has )?(?:failed|went wrong)|which steps? (?:has |have )?failed|why (?:did|does|has) (?:it|the (?:run|plan)) (?:fail|failed))\s*\??$`)
	aboutProgress = lazyregexp.New(`(?i)^(?:how far (?:is it|is the run|are you)|what (?:is it|is the run|are you) (?:doing|waiting for)(?: now)?|what is running(?: now)?|which steps? (?:is|are) running(?: now)?|why does it wait)\s*\??$`)
)

// The longest title and error, in characters, that an answer holds within a sentence.
const (
	titleInAnswer = 80
	errorInAnswer = 240
)

// AnswerAbout answers a question about a run from its state, without a model. The answer is
// Markdown that leaves the text of programs as it is. ok is false if the words do not clearly
// ask for that.
func AnswerAbout(a prompt.About, question string) (answer string, ok bool) {
	question = strings.Join(strings.Fields(question), " ")
	switch {
	case !aboutStep.MatchString(question) && !aboutFailure.MatchString(question) && !aboutProgress.MatchString(question):
		return "", false
	case a.State == "":
		return "There is no run to ask about yet.", true
	case aboutStep.MatchString(question):
		return aboutOneStep(a, aboutStep.FindStringSubmatch(question)[1]), true
	case aboutFailure.MatchString(question):
		return aboutFailures(a), true
	default:
		return aboutWork(a), true
	}
}

// aboutOneStep says why a step failed.
func aboutOneStep(a prompt.About, index string) string {
	for _, item := range slices.Backward(a.History) {
		if item.Index == index && (item.Status == plan.ItemFailed || item.Status == plan.ItemInDoubt) {
			return failureWords(item)
		}
	}
	step, ok := a.Plan.Step(index)
	if !ok {
		return "The plan has no step " + index + "."
	}
	state := "it is " + a.States[index]
	if a.Over && a.States[index] == string(StepPending) {
		state = "it never began"
	}
	return fmt.Sprintf("Step %s (%s) did not fail: %s.", index, markdown.Legible(string(step.Title), titleInAnswer), state)
}

// failureWords says how an attempt failed.
func failureWords(item plan.HistoryItem) string {
	verb := "failed"
	if item.Status == plan.ItemInDoubt {
		verb = "may or may not have taken effect"
	}
	why := cmp.Or(strings.TrimSpace(string(item.Error)), "it gave no reason")
	if strings.Contains(why, "\n") || utf8.RuneCountInString(why) > errorInAnswer {
		why = "\n\n" + markdown.Block(why)
	} else {
		why = " " + markdown.Legible(why, errorInAnswer)
	}
	words := fmt.Sprintf("Step %s (%s) %s:%s", item.Index, markdown.Legible(string(item.Title), titleInAnswer), verb, why)
	if item.Tool != "" {
		words += "\n\nIt called " + markdown.Code(item.Tool, titleInAnswer)
		if path, ok := item.Args["path"].(string); ok && path != "" {
			words += " on " + markdown.Code(path, 120)
		}
		words += "."
	}
	return words
}

// stateInAnswer returns what a run does, with the error in it quoted.
func stateInAnswer(a prompt.About) string {
	state, why, failed := strings.Cut(a.State, " (")
	if !failed {
		return a.State
	}
	return state + " (" + markdown.Legible(strings.TrimSuffix(why, ")"), errorInAnswer) + ")"
}

// aboutFailures tells the failures of a run, the newest of each step, as paragraphs: an item
// of a list cannot hold several.
func aboutFailures(a prompt.About) string {
	var failures []string
	seen := map[string]bool{}
	for _, item := range slices.Backward(a.History) {
		if item.Parent == "" && !seen[item.Index] && (item.Status == plan.ItemFailed || item.Status == plan.ItemInDoubt) {
			failures = append(failures, failureWords(item))
		}
		seen[item.Index] = true
	}
	slices.Reverse(failures)
	if len(failures) == 0 {
		return "No step has failed. It is " + stateInAnswer(a) + "."
	}
	return strings.Join(failures, "\n\n")
}

// aboutWork says how far a run is.
func aboutWork(a prompt.About) string {
	done := 0
	var now []string
	for _, s := range a.Plan.Steps {
		switch a.States[s.Index] {
		case string(StepCompleted):
			done++
		case string(StepRunning), string(StepChecking), string(StepWaiting):
			now = append(now, "step "+s.Index+" ("+markdown.Legible(string(s.Title), titleInAnswer)+")")
		}
	}
	words := "It is " + stateInAnswer(a)
	if len(a.Plan.Steps) > 0 {
		words += fmt.Sprintf("; %d of %s done", done, english.Count(len(a.Plan.Steps), "step"))
	}
	if len(now) > 0 {
		words += ". At work: " + english.List(now, "and")
	}
	return words + "."
}
