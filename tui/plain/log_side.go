package plain

import (
	"strings"

	"replan/agent/event"
	"replan/tui/wording"
)

// answerShown is the maximum number of lines printed of the answer to a side question.
const answerShown = 400

// side prints a side question and what it took, with the calls and the answer below.
func (l *Log) side(d event.ChatSide) {
	sign := l.Signs.Done
	switch d.Status {
	case event.StatusFailed:
		sign = l.Signs.Failed
	case event.StatusCanceled:
		sign = l.Signs.Skipped
	}
	facts := strings.Join(append([]string{wording.SideNotInRun}, wording.SideFacts(d)...), l.Between)
	l.Line("%s %s: %s  %s", sign, strings.ToLower(wording.SideTitle), l.Strong(d.Question.Line()), l.Faint("%s", facts))
	for _, c := range d.Calls {
		sign := l.Signs.Done
		if c.Error != "" {
			sign = l.Signs.Failed
		}
		l.Line("  %s %s", sign, wording.SideCallWords(c))
		if c.Error != "" {
			l.Block("      ", c.Error.Visible(), outputShown)
		}
	}
	if d.Text != "" {
		l.Block("  ", strings.TrimSpace(d.Text.Visible()), answerShown)
	}
	if words := wording.SideEnding(d); words != "" {
		l.Block("  ", words, outputShown)
	}
}
