package plantool

import (
	"fmt"

	"replan/agent"
	"replan/planning/plan"
)

// CreatedPlan is the result of plan_create. The tags jsonschema describe the fields to
// MCP clients.
type CreatedPlan struct {
	ID    string        `json:"id" jsonschema:"the id to pass to plan_execute"`
	Title string        `json:"title"`
	Steps []PlannedStep `json:"steps"`
}

// PlannedStep is one step of a [CreatedPlan].
type PlannedStep struct {
	Index     string   `json:"index"`
	Title     string   `json:"title"`
	Tool      string   `json:"tool" jsonschema:"the tool it calls; empty if a model does the step"`
	DependsOn []string `json:"depends_on" jsonschema:"the steps that must end before it"`
}

// ExecutedRun is the result of plan_execute and plan_create_and_execute.
type ExecutedRun struct {
	Run    string `json:"run" jsonschema:"the id of the run"`
	Status string `json:"status" jsonschema:"completed, failed, cancelled, unfinished or running"`
	Reason string `json:"reason" jsonschema:"the reason for the status, in one word"`
	Steps  []Step `json:"steps"`
	Error  string `json:"error,omitempty" jsonschema:"why the run did not complete"`
}

// Step is one step of an [ExecutedRun].
type Step struct {
	Index  string `json:"index"`
	Title  string `json:"title"`
	Status string `json:"status" jsonschema:"pending, waiting, running, completed, failed, skipped or in_doubt"`
	Result any    `json:"result,omitempty" jsonschema:"a long result is shortened to its start and end"`
	Error  string `json:"error,omitempty" jsonschema:"why the step failed or was skipped"`
}

// Created describes a stored plan.
func Created(p plan.Plan) CreatedPlan {
	out := CreatedPlan{ID: p.ID, Title: string(p.Title), Steps: make([]PlannedStep, len(p.Steps))}
	for i, step := range p.Steps {
		out.Steps[i] = PlannedStep{Index: step.Index, Title: string(step.Title), Tool: step.Tool, DependsOn: append([]string{}, step.DependsOn...)}
	}
	return out
}

// Executed describes a run and the results of its steps. A run that has not ended
// has the status unfinished.
func Executed(run *agent.Run) ExecutedRun {
	out := ExecutedRun{Run: run.ID, Status: string(agent.StatusUnfinished), Steps: make([]Step, len(run.Steps))}
	for i, s := range run.Steps {
		step := Step{Index: s.Step.Index, Title: string(s.Step.Title), Status: string(s.Status)}
		if s.Result != nil {
			step.Result = excerpt(s.Result, fmt.Sprintf("run %s, step %s", run.ID, s.Step.Index))
		}
		if s.Error != "" {
			step.Error = shorten(string(s.Error), "run "+run.ID)
		}
		out.Steps[i] = step
	}
	if r := run.Result; r != nil {
		out.Status, out.Reason, out.Error = string(r.Status), string(r.Reason), string(r.Error)
	}
	return out
}

// Limits on how much of one result is included, in characters: its start and its
// end.
const (
	excerptHead = 1000
	excerptTail = 500
)

// excerpt returns a result as a model sees it: the value itself, or, if long, its
// start and end as text.
func excerpt(value any, where string) any {
	text, ok := value.(string)
	if !ok {
		text = plan.CanonicalJSON(value)
	}
	if short := shorten(text, where); short != text {
		return short
	}
	return value
}

// shorten returns a text, or, if it is long, its start and end and where to find
// the whole.
func shorten(text, where string) string {
	runes := []rune(text)
	left := len(runes) - excerptHead - excerptTail
	if left <= 0 {
		return text
	}
	return fmt.Sprintf("%s\n[… %d characters left out; the full text is in %s …]\n%s", string(runes[:excerptHead]), left, where, string(runes[len(runes)-excerptTail:]))
}
