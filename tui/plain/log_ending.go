package plain

import (
	"strings"

	"replan/agent/event"
	"replan/tui/story"
	"replan/tui/wording"
)

// answer prints the answer of a run. Its words say why it is not complete.
func (l *Log) answer(e story.Entry) {
	l.Line("")
	if e.Text == "" { // all of it was printed before
		return
	}
	l.Markdown(e.Text.Visible())
	if e.Words != "" {
		l.Line("%s %s", l.Signs.Note, e.Words)
	}
	l.Line("")
}

// outcome prints how the run ended in one line: how long it took and what it used.
func (l *Log) outcome(e story.Entry) {
	status, sign := e.Ending.Result.Status, l.Signs.Failed
	if hint := l.gates.howToAllow(); hint != "" && status != event.StatusCompleted {
		l.Line("%s %s", l.Signs.Note, hint)
	}
	switch status {
	case event.StatusCompleted:
		sign = l.Signs.Done
	case event.StatusCanceled:
		sign = l.Signs.Skipped
	}
	tail := ""
	if len(e.Facts) > 0 {
		tail = l.Between + strings.Join(e.Facts, l.Between)
	}
	l.Line("%s%s", Ink{e.Words, sign.Style.Bold(true)}, l.Faint("%s", tail))
}

// results prints the results of a plan without a written answer: those that no
// other step used.
func (l *Log) results(all []story.Result) {
	for _, of := range all {
		s := of.Step
		l.Line("%s result of %s %s", l.Signs.Started, s.Step.Index, s.Step.Title.Line())
		members, _ := s.Result.(map[string]any)
		diff, _ := members["diff"].(string)
		lines := wording.ItemLines(s)
		if lines == nil {
			lines = wording.ResultLines(s.Result)
		}
		earlier, output := wording.LastLines(wording.ShownOf(s).OutputLines(), outputShown)
		switch {
		case of.Shown:
			l.Line("    %s", wording.ResultWords(s.Result))
		case diff != "":
			l.Patch("    ", diff)
		case lines != nil:
			l.Block("    ", strings.Join(lines, "\n"), outputShown)
		case len(output) > 0:
			if earlier != "" {
				l.Line("    … %s", earlier)
			}
			l.Block("    ", strings.Join(output, "\n"), 0)
		default:
			l.Block("    ", indented(s.Result), outputShown)
		}
	}
}
