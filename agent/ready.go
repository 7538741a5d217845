package agent

import (
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// needOfRunning returns the next need of a step that runs.
func (s *StepState) needOfRunning() need {
	switch {
	case s.Loop != nil:
		return s.Loop.need()
	case s.expands() && s.itemsOver():
		return needRecord
	default:
		return needNothing
	}
}

// deniedBy says which rule denied a call.
func deniedBy(r rule.Rule) string {
	switch r.Source {
	case rule.SourceFlag:
		return "denied by --deny " + r.String()
	case rule.SourceBuiltIn: // no gate can show how its server has changed the tool
		return "denied: " + string(r.Why)
	}
	return "denied by a rule: " + string(r.Why)
}

// argName returns the name under which the tool takes an argument of a step.
func (s *StepState) argName(written string) string {
	for _, c := range slices.Concat(s.call.fitted, s.Coerced) {
		if c.Name != "" && c.Arg == plan.JSONPointer("", written) {
			return c.Name
		}
	}
	return written
}

// args returns the arguments of a step as written: those of the user if there are
// any, else those of the plan.
func (s *StepState) args() map[string]any {
	if s.author.args != nil {
		return s.author.args
	}
	return s.Step.Args
}

// notTakenWords says why a step is not taken.
func notTakenWords(d event.StepSkipped) untrusted.Text {
	if saw := plan.SawWords(d.Saw); saw != "" {
		return untrusted.Text("not taken: " + saw)
	}
	return "not taken: it needs the result of a step that is not taken"
}
