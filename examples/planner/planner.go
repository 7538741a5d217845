package main

import (
	"strings"

	"replan/planning/plan"
	"replan/planning/prompt"
)

// byError plans without a model: what it proposes depends on nothing but the
// last error, so that every run of it goes the same way.
func byError(b prompt.Brief, failure *prompt.Situation) plan.Plan {
	if failure == nil {
		return first(b.Goal)
	}
	return next(*failure)
}

// first proposes four steps to publish a report, and none for any other goal.
func first(goal string) plan.Plan {
	if !strings.Contains(goal, "report") {
		return plan.Plan{Title: "only reports can be published"} // no steps: there is no plan
	}
	find := step("1", "find", map[string]any{"what": "the report"})
	find.ResultVariable = "places"
	return plan.Plan{Title: "Publish the report", Steps: []plan.Step{
		find, fetch("2", "${places[0]}"),
		summarize("3"), publish("4", "${summary}"),
	}}
}

// next looks at the error alone. An index that a remaining step has means that
// step. What is finished stays, and its results can be referred to as before: the
// places that step 1 found.
func next(s prompt.Situation) plan.Plan {
	switch {
	case strings.Contains(s.Error, "the primary is down"):
		return plan.Plan{Title: "Go around the primary", Steps: []plan.Step{
			fetch("2", "${places[1]}"), summarize("3"), publish("4", "${summary}"),
		}}
	case strings.Contains(s.Error, "the mirror is down"):
		old := fetch("5", "${places[2]}")
		old.ResultVariable = "old"
		return plan.Plan{Title: "Make do with what is there", Steps: []plan.Step{
			old, publish("6", "as it was last week: ${old}"),
		}}
	case strings.Contains(s.Error, "the report is too long"):
		return plan.Plan{Title: "The same again", Steps: s.Remaining}
	default:
		return plan.Plan{Title: "nothing can be done about it"} // no steps: it gives up
	}
}

func fetch(index, from string) plan.Step {
	s := step(index, "fetch", map[string]any{"from": from})
	s.ResultVariable, s.ExpectedOutcome = "report", "the text of the report"
	return s
}

func summarize(index string) plan.Step {
	s := step(index, "summarize", map[string]any{"text": "${report}"})
	s.ResultVariable = "summary"
	return s
}

// publish waits for the steps that its text refers to: a reference is a
// dependency.
func publish(index, text string) plan.Step {
	return step(index, "publish", map[string]any{"text": text})
}

func step(index, tool string, args map[string]any) plan.Step {
	return plan.Step{Index: index, Title: plan.Text(tool), Tool: tool, Args: args}
}
