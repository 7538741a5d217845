package plain

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/plantext"
	"replan/tui/story"
)

// Print prints one entry of a run whose events the log does not see.
func (l *Log) Print(run *agent.Run, e story.Entry) error {
	l.run, l.runs = run, []*agent.Run{run}
	return l.whole(func() error {
		l.entry(e)
		return nil
	})
}

// Text returns the lines that a log without a terminal prints of an entry of a run. Those
// of a nested run are indented.
func Text(run *agent.Run, nested bool, e story.Entry) string {
	var out strings.Builder
	l := New(&out, "", Options{})
	l.run, l.runs = run, []*agent.Run{run}
	if nested {
		l.runs = []*agent.Run{nil, run}
	}
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
		if l.styles == nil { // the live line shows it
			l.Line("  %s", l.Faint("%s", e.Words))
		}
	case story.Plan:
		l.Line("%s plan: %s", l.Signs.Started, l.Strong(e.Plan.Title.Line()))
		l.Plan("  ", plantext.Plan(*e.Plan, l.ascii))
	case story.Revision:
		l.line(e)
		l.Plan("  ", plantext.Run(l.run, l.ascii, nil))
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
		l.granted(e)
	case story.GateOpens:
		l.gate(*e.Gate)
	case story.GateAnswered:
		l.line(e)
		l.suggest(e)
	case story.ServerAsks:
		l.elicitation(e.Event.(event.ElicitationRequested))
	case story.Question:
		l.question(e.Question)
	case story.Answer:
		l.answer(e)
	case story.Results:
		l.results(e.Results)
	case story.Outcome:
		l.outcome(e)
	case story.Progress:
		if l.styles == nil { // the live line shows it
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
	if e.Level == story.Begins && l.styles != nil {
		return
	}
	words := "%s%s %s"
	if e.Level == story.Plain {
		words = "%s%s%s"
	}
	if e.Kind == story.Found && l.styles == nil { // programs rely on the line
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
