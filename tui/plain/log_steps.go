package plain

import (
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui/plantext"
	"replan/tui/story"
	"replan/tui/wording"
)

// dryStep prints what a step or an item would do: the known part of its call, and whether
// a gate would stop it.
func (l *Log) dryStep(e story.Entry) {
	s := e.Step
	if s != nil && s.Parent != "" {
		l.Line("%s%s %s  %s", inset(e), l.Signs.Pending, e.Words, l.Faint("dry run"))
		l.dryCall(inset(e)+"    ", e)
		return
	}
	what := ""
	if s != nil {
		what = "  [" + plantext.Executor(s.Step.Executor, s.Step.Tool) + "]"
	}
	if s != nil && s.Items != nil {
		l.Line("%s %s%s", l.Signs.Pending, e.Words, l.Faint("%s  dry run%s%s", what, l.Between, wording.ItemsWords(s)))
		return // its items say the rest
	}
	l.Line("%s %s%s", l.Signs.Pending, e.Words, l.Faint("%s  dry run", what))
	if s != nil && s.Step.ForEach != nil {
		l.Line("    would run for each of %s: %s", wording.EachWords(s.Step.ForEach), wording.EstimateWords(l.runs.printed().Plan, s.Step.ForEach))
	}
	l.dryCall("    ", e)
}

// dryCall prints the call that a step or an item would make, and what would be asked,
// awaited and checked.
func (l *Log) dryCall(indent string, e story.Entry) {
	l.Args(indent, e.Args)
	if gate := e.Event.(event.StepCompleted).Gate; gate != nil {
		l.Line("%s%s: %s (%s rule for %s)", indent, wording.WouldWords(*gate), gate.Why, gate.Source, gate.Tool)
	}
	if e.Step == nil {
		return
	}
	if e.Step.Step.Until != nil {
		l.Line("%swould wait until: %s", indent, wording.UntilWords(*e.Step.Step.Until))
	}
	if e.Step.Step.When != "" {
		l.Line("%swould run only when: %s", indent, untrusted.Line(e.Step.Step.When))
	}
	for _, c := range e.Step.Step.Checks {
		l.Line("%swould check: %s", indent, wording.CheckWords(c))
	}
}
