package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

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

// Summary is a run in a line of a list.
type Summary struct {
	Run       string       `json:"run"`
	Plan      string       `json:"plan"` // id of the stored plan it carried out; "" for a goal or a file without one
	Goal      string       `json:"goal"`
	Title     string       `json:"title,omitempty"` // of the plan
	Status    event.Status `json:"status"`          // StatusUnfinished where it has not ended
	Reason    event.Reason `json:"reason"`
	Started   time.Time    `json:"started"`
	Steps     int          `json:"steps"` // of the plan as it is now
	Done      int          `json:"done"`  // of those
	Replans   int          `json:"replans"`
	Workspace string       `json:"workspace"`
	Session   string       `json:"session,omitempty"`
	Outer     string       `json:"outer,omitempty"`     // the run whose model asked for this one, with which it is resumed
	Resumable bool         `json:"resumable"`           // there is something left to do
	PlanOnly  bool         `json:"plan_only,omitempty"` // a plan was to be made, and nothing run
}

// How a run that has not ended can stand.
const (
	StatusUnfinished event.Status = "unfinished" // its program was ended, or nobody knows better
	StatusRunning    event.Status = "running"    // some process is carrying it out
)

// Summary returns the run in a line.
func (r *Run) Summary() Summary {
	s := Summary{
		Run: r.ID, Plan: r.Plan.ID, Goal: r.Goal, Title: r.Plan.Title, Status: StatusUnfinished,
		Started: r.StartedAt, Steps: len(r.Plan.Steps), Done: r.Done(), Replans: r.Usage.Replans,
		Workspace: r.Workspace, Session: r.session, Outer: r.outerRun, Resumable: r.Resumable(), PlanOnly: r.planOnly,
	}
	if r.Result != nil {
		s.Status, s.Reason = r.Result.Status, r.Result.Reason
	}
	return s
}

// Resumable reports whether a resume would find something to do: the run has
// begun and is not completed, or the model still owes it an answer.
func (r *Run) Resumable() bool {
	return r.ID != "" && !r.dryRun && (r.Result == nil || r.Result.Status != event.StatusCompleted || r.Unanswered() != "")
}

// Standing is a run as far as it has come.
type Standing struct {
	event.Result
	CompletedSteps []string `json:"completed_steps"`
	InDoubt        []string `json:"in_doubt"`
}

// Standing returns the result so far, and which steps are done or in doubt. A
// run that has not ended has the status unfinished and no reason. live says that
// some process is carrying it out: in one that none does, a step that was under
// way and does not only read is in doubt.
func (r *Run) Standing(live bool) Standing {
	s := Standing{CompletedSteps: []string{}, InDoubt: []string{}}
	if r.Result != nil {
		s.Result = *r.Result
	} else {
		s.Result = r.result(ending{status: StatusUnfinished})
	}
	r.every(func(step *StepState) {
		switch {
		case step.Draft:
		case step.Status == StepCompleted && step.Parent == "":
			s.CompletedSteps = append(s.CompletedSteps, step.Step.Index)
		case step.Status == StepInDoubt, step.Status == StepRunning && step.Loop == nil && (step.interruption.isLost() || !live && !r.readOnly(step)):
			s.InDoubt = append(s.InDoubt, step.Step.Index)
		}
	})
	return s
}
