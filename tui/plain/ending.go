package plain

import (
	"slices"
	"strings"

	"replan/agent/event"
	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/tui/telling"
)

// completed prints how a run ended, with its answer.
func (l *Log) completed(r event.Result) {
	if answer := l.withoutFailure(l.withoutDiffs(r.Answer.Visible())); answer != "" {
		l.Line("")
		l.Markdown(answer)
		if cut := telling.CutOffWords(l.run); cut != "" {
			l.Line("%s %s", l.Signs.Note, cut)
		}
		l.Line("")
	} else if r.Answer != "" {
		l.Line("")
	} else if r.Status == event.StatusCompleted && l.inset() == "" {
		l.results(r) // the answer covers the results of a run started by a call
	}
	if l.run != nil && l.run.DryRun() {
		l.wouldCheck("", l.run.Plan.Acceptance)
	}
	if r.Unanswered != "" {
		l.Line("%s the answer is missing; ask for it again: replan plan resume %s", l.Signs.Note, l.run.ID)
	}
	denied := r.Reason == event.ReasonDenied && l.failed != "" // the last line says it again
	if r.Error != "" && r.Error != l.ended && !denied && !telling.RepeatsFailure(r.Error, l.failed) && telling.FailureReason(l.run, r) == "" &&
		!telling.RepeatsPhase(l.run, r) {
		l.Line("%s %s", l.Signs.Failed, r.Error.Line())
	}
	if r.Reason == event.ReasonNoPlan && len(l.run.Exchanges) > 0 {
		l.Line("%s try again, or choose a larger model with --model; replan replay %s shows its replies", l.Signs.Note, telling.ShortID(l.run.ID))
	}
	if l.hint != "" && r.Status != event.StatusCompleted {
		l.Line("%s %s", l.Signs.Note, l.hint)
	}
	l.ending(r)
}

// unlessSaid returns a reason to follow its subject, or "" if the reason why the run
// ends is the same.
func (l *Log) unlessSaid(reason untrusted.Text) string {
	if reason == l.ended {
		return ""
	}
	return ": " + reason.Line()
}

// ending prints how the run ended in one line: how long it took and what it used.
func (l *Log) ending(r event.Result) {
	how, sign := telling.EndWords(l.run, r), l.Signs.Failed
	switch r.Status {
	case event.StatusCompleted:
		sign = l.Signs.Done
	case event.StatusCancelled:
		sign = l.Signs.Skipped
	}
	parts := telling.UsageParts(r)
	if evidence := telling.EvidenceWords(l.run); evidence != "" {
		parts = append(parts, evidence)
	}
	if l.run != nil && l.run.DryRun() {
		parts = append(parts, telling.NothingCalled)
	}
	tail := ""
	if len(parts) > 0 {
		tail = l.Between + strings.Join(parts, l.Between)
	}
	l.Line("%s%s", Ink{how, sign.Style.Bold(true)}, l.Faint("%s", tail))
}

// withoutDiffs drops the fenced diffs of an answer that a gate already showed.
func (l *Log) withoutDiffs(answer string) string {
	return diffFence.ReplaceAllStringFunc(answer, func(block string) string {
		diff := strings.TrimSpace(diffFence.FindStringSubmatch(block)[1])
		for _, shown := range l.diffs {
			if strings.TrimSpace(untrusted.Visible(shown)) == diff {
				return ""
			}
		}
		return block
	})
}

// textFence matches a fenced block of text with the colon before it.
var textFence = lazyregexp.New("(?ms):\n\n^```+text\n(.*?)^```+ *$\n?")

// withoutFailure drops the text of the last failure from an answer, and an answer
// that says nothing else: the line of its step showed it.
func (l *Log) withoutFailure(answer string) string {
	why := strings.TrimRight(l.failed.FirstLine(), ".")
	if why == "" {
		return answer
	}
	answer = textFence.ReplaceAllStringFunc(answer, func(block string) string {
		if text := textFence.FindStringSubmatch(block)[1]; !strings.HasPrefix(text, why) {
			return block
		}
		return ": " + why + "."
	})
	line := strings.TrimRight(strings.TrimSpace(answer), ".")
	if strings.HasPrefix(line, "`") && strings.HasSuffix(line, "` failed: "+why) && !strings.Contains(line, "\n") {
		return ""
	}
	return answer
}

// results prints the results of a plan without a written answer: those that no
// other step used.
func (l *Log) results(r event.Result) {
	if r.Plan == nil {
		return
	}
	for _, s := range telling.UnusedResults(l.run) {
		l.Line("%s result of %s %s", l.Signs.Started, s.Step.Index, s.Step.Title.Line())
		members, _ := s.Result.(map[string]any)
		diff, _ := members["diff"].(string)
		lines := telling.ItemLines(s)
		if lines == nil {
			lines = telling.ResultLines(s.Result)
		}
		switch {
		case diff != "" && slices.Contains(l.diffs, diff):
			l.Line("    %s", telling.ResultWords(s.Result))
		case diff != "":
			l.Patch("    ", diff)
		case lines != nil:
			l.Block("    ", strings.Join(lines, "\n"), outputShown)
		default:
			l.Block("    ", indented(s.Result), outputShown)
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
	return telling.Milliseconds(d.MS) + l.Between + words
}
