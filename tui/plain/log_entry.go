package plain

import (
	"maps"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui/plantext"
	"replan/tui/story"
	"replan/tui/wording"
)

// Print prints one entry of a run whose events the log does not see.
func (l *Log) Print(run *agent.Run, e story.Entry) error {
	l.runs.show(run, false)
	return l.batch(func() error {
		l.entry(e)
		return nil
	})
}

// Text returns the lines that a log without a terminal prints of an entry of a run. Those
// of a nested run are indented.
func Text(run *agent.Run, nested bool, e story.Entry) string {
	var out strings.Builder
	l := New(&out, "", Options{})
	l.runs.show(run, nested)
	l.entry(e)
	return out.String()
}

// draw prints what the run says.
func (l *Log) draw(entries []story.Entry) {
	for _, e := range entries {
		l.entry(e)
	}
}

// entry prints one entry.
func (l *Log) entry(e story.Entry) {
	switch e.Kind {
	case story.Goal:
		l.goal(e.Event.(event.RunStarted))
	case story.Where:
		l.where(e.Words)
	case story.Reading:
		if !l.onTerminal() { // the live line shows it
			l.Line("  %s", l.Faint("%s", e.Words))
		}
	case story.Plan:
		l.Line("%s plan: %s", l.Signs.Started, l.Strong(e.Plan.Title.Line()))
		l.Plan("  ", plantext.Plan(*e.Plan, l.ascii))
	case story.Revision:
		l.line(e)
		l.Plan("  ", plantext.Run(l.runs.printed(), l.ascii, nil))
	case story.Reviewed:
		l.reviewed(e.Event.(event.PlanReviewed))
	case story.Held:
		l.held()
	case story.TurnText:
		l.Markdown(string(e.Text))
	case story.Call:
		l.Line("%s%s %s  %s", inset(e), l.Signs.Started, e.Words, l.Faint("%s", l.arguments(e.Args)))
	case story.Dry:
		l.dryStep(e)
	case story.Granted:
		l.gates.granted(e)
	case story.GateOpens:
		l.gates.opens(*e.Gate, l.runs.printed())
	case story.GateAnswered:
		l.line(e)
		l.gates.answered(e, l.runs.printed())
	case story.ServerAsks:
		l.gates.serverAsks(e.Event.(event.ElicitationRequested), l.runs.printed())
	case story.Question:
		l.question(e.Question)
	case story.Answer:
		l.answer(e)
	case story.Results:
		l.results(e.Results)
	case story.Outcome:
		l.outcome(e)
	case story.Progress:
		if !l.onTerminal() { // the live line shows it
			l.line(e)
		}
	default:
		l.line(e)
	}
}

// inset returns the blanks before the lines of an entry.
func inset(e story.Entry) string { return strings.Repeat("  ", e.Depth) }

// line prints an entry whose words are all, with what belongs below it. On a terminal the
// live line shows that work begins.
func (l *Log) line(e story.Entry) {
	if e.Level == story.Begins && l.onTerminal() {
		return
	}
	words := "%s%s %s"
	if e.Level == story.Plain {
		words = "%s%s%s"
	}
	if e.Kind == story.Found && !l.onTerminal() { // programs rely on the line
		e.Facts = e.Facts[:1]
	}
	if facts := strings.Join(e.Facts, l.Between); facts != "" {
		l.Line(words+"  %s", inset(e), l.sign(e), e.Short(), l.Faint("%s", facts))
	} else {
		l.Line(words, inset(e), l.sign(e), e.Short())
	}
	if e.Detail != "" {
		l.Block(inset(e)+"    ", e.Detail, outputShown)
	}
	l.Args(inset(e)+"  ", e.Args)
	if e.Plan != nil {
		l.Plan("  ", plantext.Plan(*e.Plan, l.ascii))
	}
}

// sign returns the sign of an entry.
func (l *Log) sign(e story.Entry) Ink {
	if e.Kind == story.Noted {
		return l.Signs.Note
	}
	switch e.Level {
	case story.Begins, story.Started:
		return l.Signs.Started
	case story.Done:
		return l.Signs.Done
	case story.Failed, story.Trouble, story.Fatal:
		return l.Signs.Failed
	case story.Skipped:
		return l.Signs.Skipped
	case story.Declined:
		return l.Signs.Declined
	case story.Warn, story.Info:
		return l.Signs.Note
	case story.Asks, story.Decision, story.Doubt:
		return l.Signs.Gate
	case story.Again:
		return l.Signs.Replan
	case story.Would:
		return l.Signs.Pending
	default:
		return Ink{}
	}
}

// arguments formats the arguments of a call on one line.
func (l *Log) arguments(args map[string]any) string {
	const maxRunes = 100 // runes
	parts := make([]string, 0, len(args))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		parts = append(parts, name+": "+text(args[name]))
	}
	line := wording.Excerpt(untrusted.Text(strings.Join(parts, ", ")), maxRunes)
	if l.ascii {
		line = strings.ReplaceAll(line, "…", "...")
	}
	return line
}
