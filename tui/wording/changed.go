package wording

import (
	"strings"

	"replan/planning/plan"
)

// FieldChange is a field or an argument of a step that a revision changed. A value may
// span several lines; "" means that the step had none, or has none now.
type FieldChange struct {
	Name          string // as the screen names the field, or the name of the argument
	Before, After string
	Arg           bool // an argument, whose values are JSON
}

// StepChanges lists what differs between two versions of a step: its fields, then its
// arguments by name.
func StepChanges(before, after *plan.Step) []FieldChange {
	var changes []FieldChange
	for _, field := range []struct {
		name  string
		words func(*plan.Step) string
	}{
		{"title", func(s *plan.Step) string { return s.Title.Visible() }},
		{"tool", func(s *plan.Step) string { return s.Tool }},
		{"executor", func(s *plan.Step) string { return string(plan.ExecutorOf(*s)) }},
		{"profile", func(s *plan.Step) string { return s.Profile }},
		{"after", func(s *plan.Step) string { return strings.Join(s.DependsOn, ", ") }},
		{"expects", func(s *plan.Step) string { return s.ExpectedOutcome.Visible() }},
		{"for each", func(s *plan.Step) string { return EachWords(s.ForEach) }},
		{"when", func(s *plan.Step) string { return s.When }},
		{"until", untilOf},
		{"check", func(s *plan.Step) string { return ChecksWords(s.Checks) }},
	} {
		if was, is := field.words(before), field.words(after); was != is {
			changes = append(changes, FieldChange{Name: field.name, Before: was, After: is})
		}
	}
	for _, name := range plan.ChangedArgs(before.Args, after.Args) {
		changes = append(changes, FieldChange{Name: name, Before: argText(before, name), After: argText(after, name), Arg: true})
	}
	return changes
}

// untilOf says what a step waits for, "" for nothing.
func untilOf(s *plan.Step) string {
	if s.Until == nil {
		return ""
	}
	return UntilWords(*s.Until)
}

// argText formats an argument of a step, "" if the step has no such argument.
func argText(s *plan.Step, name string) string {
	value, ok := s.Args[name]
	if !ok {
		return ""
	}
	text, _ := ValueText(value)
	return text
}
