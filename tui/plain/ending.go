package plain

import (
	"slices"
	"strings"

	"replan/agent/event"
	"replan/tui/telling"
)

// completed prints how a run ended, with its answer.
func (l *Log) completed(r event.Result) {
	if answer := l.withoutDiffs(r.Answer.Visible()); answer != "" {
		l.line("")
		l.markdown(answer)
		if cut := telling.CutOffWords(l.run); cut != "" {
			l.line("%s %s", l.marks.note, cut)
		}
		l.line("")
	} else if r.Status == event.StatusCompleted && l.inset() == "" {
		l.results(r) // the answer covers the results of a run started by a call
	}
	if r.Unanswered != "" {
		l.line("%s the answer is missing; ask for it again: replan plan resume %s", l.marks.note, l.run.ID)
	}
	if r.Error != "" && r.Error != l.blocked && !telling.RepeatsFailure(r.Error, l.failed) {
		l.line("%s %s", l.marks.failed, r.Error.Line())
	}
	if r.Reason == event.ReasonNoPlan && len(l.run.Exchanges) > 0 {
		l.line("%s try again, or choose a larger model with --model; replan replay %s shows its replies", l.marks.note, telling.ShortID(l.run.ID))
	}
	if l.hint != "" && r.Status != event.StatusCompleted {
		l.line("%s %s", l.marks.note, l.hint)
	}
	l.ending(r)
}

// ending prints how the run ended in one line: how long it took and what it used.
func (l *Log) ending(r event.Result) {
	how, sign := telling.EndWords(r), l.marks.failed
	switch r.Status {
	case event.StatusCompleted:
		sign = l.marks.done
	case event.StatusCancelled:
		sign = l.marks.skipped
	}
	parts := telling.UsageParts(r)
	if l.run != nil && l.run.DryRun() {
		parts = append(parts, telling.NothingCalled)
	}
	tail := ""
	if len(parts) > 0 {
		tail = l.marks.between + strings.Join(parts, l.marks.between)
	}
	l.line("%s%s", ink{how, sign.style.Bold(true)}, l.faint("%s", tail))
}

// results prints the results of a plan without a written answer: those that no
// other step used.
func (l *Log) results(r event.Result) {
	if r.Plan == nil {
		return
	}
	for _, s := range telling.UnusedResults(l.run) {
		l.line("%s result of %s %s", l.marks.started, s.Step.Index, s.Step.Title.Line())
		members, _ := s.Result.(map[string]any)
		diff, _ := members["diff"].(string)
		lines := telling.ResultLines(s.Result)
		switch {
		case diff != "" && slices.Contains(l.diffs, diff):
			l.line("    %s", telling.ResultWords(s.Result))
		case diff != "":
			l.patch("    ", diff)
		case lines != nil:
			l.block("    ", strings.Join(lines, "\n"), outputShown)
		default:
			l.block("    ", indented(s.Result), outputShown)
		}
	}
}

// outcome returns how long a step took and, on a terminal, what it found or did.
func (l *Log) outcome(d event.StepCompleted) string {
	words := ""
	if l.look != nil {
		words = telling.ResultWords(d.Result)
	}
	if words == "" {
		return telling.Milliseconds(d.MS)
	}
	return telling.Milliseconds(d.MS) + l.marks.between + words
}
