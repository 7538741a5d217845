package plain

import (
	"fmt"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plantext"
	"replan/tui/telling"
)

// dryStep prints what a step would do: the known part of its call, and whether a
// gate would stop it.
func (l *Log) dryStep(d event.StepCompleted) {
	what := ""
	if s := l.run.Step(d.Index); s != nil {
		what = "  [" + plantext.Executor(s.Step.Executor, s.Step.Tool) + "]"
	}
	s := l.run.Step(d.Index)
	if s != nil && s.Items != nil {
		l.Line("%s %s %s%s", l.Signs.Pending, d.Index, l.title(d.Index), l.Faint("%s  dry run%s%s", what, l.Between, telling.ItemsWords(s)))
		return // its items say the rest
	}
	l.Line("%s %s %s%s", l.Signs.Pending, d.Index, l.title(d.Index), l.Faint("%s  dry run", what))
	if s != nil && s.Step.ForEach != nil {
		l.Line("    would run for each of %s: %s", telling.EachWords(s.Step.ForEach), telling.EstimateWords(l.run.Plan, s.Step.ForEach))
	}
	l.dryCall("    ", d)
}

// dryCall prints the call that a step or an item would make, and what would be asked,
// awaited and checked.
func (l *Log) dryCall(indent string, d event.StepCompleted) {
	l.Args(indent, d.Args)
	if d.Gate != nil {
		l.Line("%s%s: %s (%s rule for %s)", indent, telling.WouldWords(*d.Gate), d.Gate.Why, d.Gate.Source, d.Gate.Tool)
	}
	if s := l.run.Step(d.Index); s != nil {
		if s.Step.Until != nil {
			l.Line("%swould wait until: %s", indent, telling.UntilWords(*s.Step.Until))
		}
		if s.Step.When != "" {
			l.Line("%swould run only when: %s", indent, untrusted.Line(s.Step.When))
		}
		l.wouldCheck(indent, s.Step.Checks)
	}
}

// wouldCheck prints the checks that a run would evaluate.
func (l *Log) wouldCheck(indent string, checks []plan.Check) {
	for _, c := range checks {
		l.Line("%swould check: %s", indent, telling.CheckWords(c))
	}
}

// printStep prints what happened to a step or its gate.
func (l *Log) printStep(d event.Data) {
	if l.printCall(d) {
		return
	}
	switch d := d.(type) {
	case event.StepExpanded:
		l.expanded(d)
	case event.StepStarted:
		l.stepStarted(d)
	case event.StepCompleted:
		l.stepCompleted(d)
	case event.StepFailed:
		if d.Removes != "" || d.Outdated != "" {
			return // its gate reports the reason
		}
		l.Line("%s %s %s  %s", l.Signs.Failed, d.Index, l.title(d.Index), l.Faint("%s", telling.Milliseconds(d.MS)))
		l.failure("    ", d)
	case event.CheckCompleted:
		l.checked("  ", d)
	case event.StepRetry:
		l.stepRetried(d)
	case event.StepSkipped:
		why := "skipped: " + d.Reason.Line()
		if s := l.run.Step(d.Index); s != nil && s.NotTaken {
			why = s.Error.Line()
		}
		l.Line("%s %s %s  %s", l.Signs.Skipped, d.Index, l.title(d.Index), why)
	case event.StepInDoubt:
		l.Line("%s %s %s  in doubt%s", l.Signs.Gate, d.Index, l.title(d.Index), l.unlessSaid(d.Reason))
	case event.DoubtResolved:
		l.Line("  %s step %s: %s%s", l.Signs.Gate, d.Step, telling.OfDoubt(d.Decision).Does, telling.SignedBy(d.By))
	case event.FailureResolved:
		if s := l.run.Step(d.Step); s != nil && s.Error == plan.DeniedAtGate && d.Decision == event.FailureAbort {
			return // the answer at the gate said it
		}
		l.Line("  %s step %s: %s%s", l.Signs.Gate, d.Step, telling.OfFailure(d.Decision).Does, telling.SignedBy(d.By))
		l.Args("    ", d.Args)
	case event.GateRequested:
		l.gate(d)
	case event.GateResolved:
		l.resolved(d)
	case event.StepProgress:
		l.progress(d)
	case event.ElicitationRequested:
		l.elicitation(d)
	case event.ElicitationResolved:
		l.Line("  %s %s", l.Signs.Gate, telling.ElicitationWords(d))
	}
}

// stepStarted prints the start of a step, but not the further calls of one that waits.
func (l *Log) stepStarted(d event.StepStarted) {
	if s := l.run.Step(d.Index); s != nil && s.Polls > 0 {
		return // it still waits
	}
	again := ""
	if d.Attempt > 1 {
		again = fmt.Sprintf(", attempt %d", d.Attempt)
	}
	l.starts("%s %s %s  %s", l.Signs.Started, d.Index, d.Title.Line(), l.Faint("[%s]%s", plantext.Executor(d.Executor, d.Tool), again))
	l.coerced("  ", d.Coerced)
	l.passed("  ", d)
}

// stepCompleted prints the end of a step's call. One that waits has a line of its own.
func (l *Log) stepCompleted(d event.StepCompleted) {
	if d.DryRun {
		l.dryStep(d)
		return
	}
	s := l.run.Step(d.Index)
	if s != nil && s.Step.Until != nil && s.Step.ForEach == nil {
		return // what it waits for has a line of its own
	}
	if s != nil && s.Items != nil {
		l.Line("%s %s %s  %s", l.Signs.Done, d.Index, l.title(d.Index), l.Faint("%s%s%s", telling.ItemsWords(s), l.Between, telling.Milliseconds(d.MS)))
		return
	}
	l.Line("%s %s %s  %s", l.Signs.Done, d.Index, l.title(d.Index), l.Faint("%s", l.outcome(d)))
}

// stepRetried prints that a step is tried again, or what it waits for.
func (l *Log) stepRetried(d event.StepRetry) {
	if s := l.run.Step(d.Index); s != nil && s.Polls > 0 {
		l.waits(d)
		return
	}
	l.Line("%s %s %s  again", l.Signs.Replan, d.Index, l.title(d.Index))
}

// waits prints what a step waits for, each state of it once.
func (l *Log) waits(d event.StepRetry) {
	if l.polled[d.Index] != d.Error {
		l.polled[d.Index] = d.Error
		l.Line("  %s %s %s  %s", l.Signs.Note, d.Index, l.title(d.Index), d.Error.Line())
	}
}

// checked prints what a check found.
func (l *Log) checked(indent string, d event.CheckCompleted) {
	sign := l.Signs.Note
	switch d.State {
	case plan.StateVerified:
		sign = l.Signs.Done
	case plan.StateRefuted:
		sign = l.Signs.Failed
	}
	if d.Index == "" {
		indent = ""
	}
	words := telling.CheckedWords(d)
	if s := l.run.Step(d.Index); s != nil && s.Parent != "" {
		words = d.Index + " " + words // other items may have ended since its own line
	}
	l.Line("%s%s %s", indent, sign, words)
}

// failure prints why a step failed, unless its gate or the end of the run has just
// said it.
func (l *Log) failure(indent string, d event.StepFailed) {
	l.failed = d.Error
	if d.Error != plan.DeniedAtGate && d.Error != l.ended {
		l.Block(indent, d.Error.Visible(), outputShown)
	}
}
