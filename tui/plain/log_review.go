package plain

import (
	"maps"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plantext"
	"replan/tui/wording"
)

// held prints every call in full that would ask of a plan on hold for review.
func (l *Log) held() {
	v := l.runs.printed().Review()
	for line := range strings.SplitSeq(strings.TrimRight(Asking(v, true)+Conditions(v.Plan()), "\n"), "\n") {
		if line != "" {
			l.Line("  %s", line)
		}
	}
}

// Asking describes the calls of a reviewed plan that would ask, with the rule and
// whether the user can approve the call now. whole adds their arguments.
func Asking(v *agent.Review, whole bool) string {
	var b strings.Builder
	say := func(indent, text string) {
		for line := range strings.SplitSeq(strings.TrimRight(untrusted.Visible(text), "\n"), "\n") {
			b.WriteString(strings.TrimRight(indent+line, " ") + "\n")
		}
	}
	for _, s := range v.Steps() {
		if s.Gate == nil || s.Out || s.Settled {
			continue
		}
		word := "asks: " + s.Gate.Rule.Why
		switch {
		case s.Passes:
			word = "approved"
		case s.Gate.Closed != "":
			word += "; " + s.Gate.Closed
		}
		say("", untrusted.Line(s.Step.Index+". "+s.Step.Title.Visible())+"  ["+plantext.Executor(s.Step.Executor, s.Step.Tool)+"]  "+word.Line())
		if !whole {
			continue
		}
		say("    ", "rule: "+wording.RuleWords(s.Gate.Rule))
		for _, name := range slices.Sorted(maps.Keys(s.Gate.Args)) {
			say("    ", name+": "+text(s.Gate.Args[name]))
		}
		for _, line := range wording.SourceLines(s.Gate.Provenance) {
			say("    ", untrusted.Line(line))
		}
	}
	return b.String()
}

// Conditions describes when the steps of a plan under review are taken, what they wait for,
// and their checks, and the acceptance.
func Conditions(p plan.Plan) string {
	var b strings.Builder
	for _, s := range p.Steps {
		if s.When != "" {
			b.WriteString("step " + s.Name() + " is taken if " + untrusted.Line(s.When) + "\n")
		}
		if s.Until != nil {
			b.WriteString("step " + s.Name() + " waits until " + wording.UntilWords(*s.Until) + "\n")
		}
		for _, c := range s.Checks {
			b.WriteString("check of step " + s.Name() + ": " + wording.CheckWords(c) + "\n")
		}
	}
	for _, c := range p.Acceptance {
		b.WriteString("the goal is met if " + wording.CheckWords(c) + "\n")
	}
	return b.String()
}

// reviewed prints the outcome of a plan review.
func (l *Log) reviewed(d event.PlanReviewed) {
	if d.Decision != event.ReviewRun {
		l.Line("  %s the plan is refused%s", l.Signs.Gate, wording.SignedBy(d.By))
		return
	}
	run, changed := l.runs.printed(), d.Changes().String()
	if changed != "" {
		changed = ": " + changed
	}
	l.Line("  %s the plan was reviewed%s%s", l.Signs.Gate, wording.SignedBy(d.By), changed)
	removed, edited := wording.ReviewedSteps(run, d)
	for _, s := range removed {
		l.Line("  %s %s %s  [%s]", l.Signs.Removed, s.Index, s.Title.Line(), plantext.Executor(s.Executor, s.Tool))
	}
	for _, s := range edited {
		l.Line("  %s %s %s  [%s]", l.Signs.Revised, s.Index, s.Title.Line(), plantext.Executor(s.Executor, s.Tool))
		l.Args("      ", s.Args)
		if s.ForEach != nil {
			l.Line("      for each: %s", wording.EachWords(s.ForEach))
		}
		if s.When != "" {
			l.Line("      when: %s", untrusted.Line(s.When))
		}
		if s.Until != nil {
			l.Line("      until: %s", wording.UntilWords(*s.Until))
		}
		for _, c := range s.Checks {
			l.Line("      check: %s", wording.CheckWords(c))
		}
	}
	if d.Acceptance {
		for _, c := range run.Plan.Acceptance {
			l.Line("    the goal is met if %s", wording.CheckWords(c))
		}
	}
	for _, m := range d.Moved {
		l.Line("    %s waits for %s", m.Step, m.After)
	}
	for _, a := range d.Approved {
		l.Line("    the gate of %s is approved for exactly the shown call: %s %s", a.Step, untrusted.Line(a.Tool), untrusted.Line(plan.CanonicalJSON(a.Args)))
	}
}
