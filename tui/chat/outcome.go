package chat

import (
	"fmt"
	"strings"
	"time"

	"replan/agent/event"
	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/story"
	"replan/tui/wording"
)

// outcomeBlock returns a block with how a run ended. again says what a resume of the run does. It
// is "" if the run cannot be resumed, or only together with the run that started it. isUndone
// tells whether the run was undone since.
func outcomeBlock(l *draw.Styles, e *story.Ending, again string, isUndone func() bool) *Block {
	r := &e.Result
	return &Block{Gap: r.Status != event.StatusCompleted || r.Answer != "", Draw: func(width int) []string {
		duration := wording.ClockTime(time.Duration(r.DurationMS) * time.Millisecond)
		facts := []string{duration}
		if e.Steps != "" {
			facts = append(facts, e.Steps)
		}
		if r.Usage.Replans > 0 {
			facts = append(facts, english.Count(r.Usage.Replans, "replan"))
		}
		if n := r.Usage.PromptTokens + r.Usage.CompletionTokens; n > 0 {
			facts = append(facts, wording.Tokens(n)+" tok")
		}
		if e.Evidence != "" && !isUndone() {
			facts = append(facts, e.Evidence)
		}
		tail := l.Faint.Render(strings.Join(facts, " "+l.Glyphs.Separator+" "))
		switch r.Status {
		case event.StatusCompleted:
			sign := l.Success.Render(l.Glyphs.Done)
			if r.Reason == event.ReasonPartial {
				sign = l.Warning.Render(l.Glyphs.Partial)
			}
			if r.Reason.Nothing() {
				sign = l.Muted.Render(l.Glyphs.Separator)
			}
			lines := draw.Flow([]string{sign + " " + e.Word, tail}, "  ", width)
			if r.Unanswered == "" {
				return lines
			}
			why := strings.TrimSpace("The answer is missing: " + r.Unanswered.Line() + ". " + again)
			return append(lines, draw.Aside(l.Muted, why, width)...)
		case event.StatusCanceled:
			words := "stopped"
			if why := r.Error.Line(); strings.HasPrefix(why, words) && why != "stopped by the user" { // by another, or with its worker
				words = why
			}
			lines := draw.Flow([]string{l.Warning.Render(l.Glyphs.Stopped) + " " + words, tail}, "  ", width)
			if again == "" {
				return lines
			}
			return append(lines, draw.Aside(l.Muted, again, width)...)
		default:
			lines := draw.Wrap(e.Word, width-2)
			last := len(lines) - 1
			lines = append(lines[:last], draw.Flow([]string{lines[last], tail}, "  ", width-2)...)
			sign := l.Danger.Render(l.Glyphs.Failed)
			if e.Declined {
				sign = l.Text.Render(l.Glyphs.Declined)
			}
			lines = draw.Hang(sign+" ", lines)
			if r.Error != "" {
				lines = append(lines, draw.Aside(l.Muted, r.Error.Visible(), width)...)
			}
			return lines
		}
	}}
}

// revisionBlock returns a block with the changes of a replan. If failureShown, the
// chat already shows the failure that caused it.
func revisionBlock(l *draw.Styles, d event.PlanDiff, failureShown bool) *Block {
	reason := wording.Cause(d.Reason)
	return &Block{Gap: !failureShown, Draw: func(width int) []string {
		parts := []string{l.Accent.Render(fmt.Sprintf("%s rev %d", l.Glyphs.Revised, d.Revision))}
		if n := len(d.Removed); n > 0 {
			parts = append(parts, l.Removed.Render(fmt.Sprintf("%s%d removed", l.Glyphs.Removed, n)))
		}
		if n := len(d.Added); n > 0 {
			parts = append(parts, l.Added.Render(fmt.Sprintf("%s%d added", l.Glyphs.Added, n)))
		}
		if n := len(d.Revised); n > 0 {
			parts = append(parts, l.Warning.Render(fmt.Sprintf("%s%d revised", l.Glyphs.Revised, n)))
		}
		lines := draw.Flow(parts, "  ", width)
		if reason != "" && !failureShown {
			lines = append(lines, draw.Aside(l.Muted, "because "+reason, width)...)
		}
		return lines
	}}
}
