package step

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/timing"
	"replan/tui/wording"
)

// drawStory draws the history of the step by attempt: when it was ready, who
// decided what, and how each attempt ended.
func drawStory(p *draw.SheetPage, run *agent.Run, shown *Subject) {
	l, s := p.Styles, shown.Step
	at := timing.NewAxis(run, l.Now)
	attempts := run.AttemptsOf(s.Step.Index)
	began := 0
	for _, a := range attempts {
		if !a.StartedAt.IsZero() {
			began++
		}
	}
	p.Prose(l.Muted, storyWords(s, attempts, began))
	for i := range attempts {
		a := &attempts[i]
		p.Heading(attemptHeading(a, run))
		writeAttempt(p, a, at)
	}
	switch {
	case shown.Kind == SubjectGone && shown.Revision != nil:
		writeMoment(p, at, shown.Revision.At, l.Removed, l.Glyphs.Removed, fmt.Sprintf("revision %d removed it", shown.Revision.Number))
	case s.Status == agent.StepPending && !s.ReadyAt.IsZero() && run.Result == nil && !openAttempt(attempts):
		p.Blank()
		writeMoment(p, at, s.ReadyAt, l.Muted, l.Glyphs.Pending, "ready: it waits for a slot")
	case s.Status == agent.StepSkipped:
		p.Blank()
		p.Prose(l.Faint, l.Glyphs.Skipped+" skipped: "+s.Error.Line())
	}
}

// openAttempt reports whether the newest attempt is still running.
func openAttempt(attempts []agent.Attempt) bool {
	return len(attempts) > 0 && attempts[len(attempts)-1].EndedAt.IsZero()
}

// storyWords summarizes the attempts.
func storyWords(s *agent.StepState, attempts []agent.Attempt, began int) string {
	retries, asked := 0, 0
	for i := range attempts {
		if !attempts[i].RetryAt.IsZero() {
			retries++
		}
		asked += len(attempts[i].Asked)
	}
	if len(attempts) == 0 {
		if s.DryRun {
			return "A dry run makes no attempts."
		}
		return "There is no attempt yet."
	}
	words := english.Count(began, "attempt")
	if began == 0 {
		words = "not begun"
	}
	if retries > 0 {
		words += ", " + english.Count(retries, "retry")
	}
	if asked > 0 {
		words += ", " + english.Count(asked, "question") + " to you"
	}
	return words
}

func attemptHeading(a *agent.Attempt, run *agent.Run) string {
	heading := fmt.Sprintf("attempt %d", a.Number)
	switch {
	case a.Revision == 0 && run.Revision > 0:
		heading += ", while the plan streamed in"
	case len(run.Revisions) > 0 && a.Revision > 0:
		heading += fmt.Sprintf(", revision %d", a.Revision)
	}
	return heading
}

// writeAttempt adds the events of an attempt with their times.
func writeAttempt(p *draw.SheetPage, a *agent.Attempt, at timing.Axis) {
	l := p.Styles
	if !a.ReadyAt.IsZero() {
		writeMoment(p, at, a.ReadyAt, l.Muted, l.Glyphs.Pending, "ready")
	}
	for _, q := range a.Asked {
		if q.About == agent.AskedGate {
			writeAsked(p, q, at)
		}
	}
	if !a.StartedAt.IsZero() {
		words := "began"
		if r := a.Passed; r != nil {
			words += " without a gate: " + wording.RuleReason(*r)
		}
		writeMoment(p, at, a.StartedAt, l.Text, l.Glyphs.Folded, words)
	}
	writeEnded(p, a, at)
	for _, q := range a.Asked {
		if q.About != agent.AskedGate {
			writeAsked(p, q, at)
		}
	}
	if !a.RetryAt.IsZero() {
		pause := max(at.At(a.RetryAt)-at.At(a.EndedAt), 0)
		writeMoment(p, at, a.EndedAt, l.Muted, l.Glyphs.Pending, "retry after "+wording.Shortly(pause))
	}
}

// writeEnded adds the outcome of an attempt.
func writeEnded(p *draw.SheetPage, a *agent.Attempt, at timing.Axis) {
	l := p.Styles
	duration := ""
	if !a.StartedAt.IsZero() {
		duration = " after " + wording.Shortly(max(at.At(a.EndedAt)-at.At(a.StartedAt), 0))
	}
	switch {
	case a.EndedAt.IsZero():
		if !a.StartedAt.IsZero() {
			writeMoment(p, at, time.Time{}, l.Running, l.Spinner(), "running")
		}
	case a.Status == agent.StepCompleted:
		writeMoment(p, at, a.EndedAt, l.Success, l.Glyphs.Done, "done"+duration)
	case a.Status == agent.StepFailed && len(a.Asked) > 0 && a.Asked[len(a.Asked)-1].Declined():
		// Its answer says it.
	case a.Status == agent.StepFailed:
		words := "failed" + duration
		if a.StartedAt.IsZero() {
			words = "failed before it started"
		}
		if a.Failure == event.FailureDenied && a.StartedAt.IsZero() {
			words = "denied"
		} else if a.Failure != "" {
			words += " (" + untrusted.Line(string(a.Failure)) + ")"
		}
		writeMoment(p, at, a.EndedAt, l.Danger, l.Glyphs.Failed, words)
		writeQuote(p, l.Danger, a.Error.Visible())
	case a.Status == agent.StepInDoubt:
		words := "in doubt" + duration
		if a.Failure == event.FailureInterrupted && a.Error == "" {
			words = "lost" + duration + ": replan ended before the result came"
		}
		writeMoment(p, at, a.EndedAt, l.Warning, l.Glyphs.Doubt, words)
		writeQuote(p, l.Warning, a.Error.Visible())
	case a.Status == agent.StepSkipped:
		writeMoment(p, at, a.EndedAt, l.Removed, l.Glyphs.Removed, "abandoned: a new plan replaced it")
	}
}

// writeQuote adds the first lines of an error.
func writeQuote(p *draw.SheetPage, style lipgloss.Style, text string) {
	const maxLines = 6 // lines; the output has all of it
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if len(text) > draw.LongestLine {
		text = strings.ToValidUTF8(text[:draw.LongestLine], "")
	}
	lines := draw.Wrap(untrusted.Visible(text), max(p.Width-momentColumn-2, 8))
	more := len(lines) - maxLines
	lines = draw.Paint(style, lines[:min(len(lines), maxLines)])
	if more > 0 {
		lines = append(lines, p.Styles.Faint.Render(p.Styles.Cut(english.Count(more, "more line")+" in the output", p.Width-momentColumn-2)))
	}
	p.Add(draw.Hang(strings.Repeat(" ", min(momentColumn+2, max(p.Width-8, 0))), lines)...)
}

// writeAsked adds a question and its answer.
func writeAsked(p *draw.SheetPage, q agent.Asked, at timing.Axis) {
	l := p.Styles
	if q.About == agent.AskedGate {
		words := "asked at its gate"
		if q.Why != "" {
			words += ": " + q.Why.Line()
		}
		writeMoment(p, at, q.At, l.Warning, l.Glyphs.Gate, words)
	}
	if q.AnsweredAt.IsZero() {
		writeMoment(p, at, time.Time{}, l.Warning, l.Glyphs.Gate, "not answered")
		return
	}
	glyph, style := l.Glyphs.Done, l.Success
	switch {
	case q.Declined():
		glyph, style = l.Glyphs.Declined, l.Text
	case q.Decision == string(event.Deny), q.Decision == string(event.FailureAbort): // also the answer to a doubt
		glyph, style = l.Glyphs.Failed, l.Danger
	case q.Decision == string(event.Edit):
		glyph, style = l.Glyphs.Revised, l.Warning
	}
	words := wording.DecisionWords(q) + " by " + wording.WhoWords(q.By)
	if waited := at.At(q.AnsweredAt) - at.At(q.At); waited > 0 {
		words += " after " + wording.Shortly(waited)
	}
	if why := q.Reason.Line(); why != "" {
		words += ": " + why
	}
	writeMoment(p, at, q.AnsweredAt, style, glyph, words)
}

// momentColumn is the width of the times in a story, in cells.
const momentColumn = 8

// writeMoment adds an event at a time of the run; a zero time means now.
func writeMoment(p *draw.SheetPage, at timing.Axis, when time.Time, style lipgloss.Style, glyph, words string) {
	l := p.Styles
	column := momentColumn
	if p.Width < 24 {
		column = 0
	}
	lead := strings.Repeat(" ", column)
	if column > 0 && !when.IsZero() {
		lead = l.Faint.Render(fmt.Sprintf("%*s ", column-1, wording.Seconds(at.At(when))))
	}
	p.Item(lead+style.Render(glyph)+" ", l.Text, words)
}
