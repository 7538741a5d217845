package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// completed prints how a run ended, with its answer.
func (l *Log) completed(r event.Result) {
	if r.Answer != "" {
		l.line("")
		l.block("", r.Answer, 0)
		if cut := CutOff(l.run); cut != "" {
			l.line("%s %s", l.marks.note, cut)
		}
		l.line("")
	} else if r.Status == event.StatusCompleted && l.inset() == "" {
		l.results(r) // the answer covers the results of a run started by a call
	}
	if r.Unanswered != "" {
		l.line("%s the answer is missing; ask for it again: replan plan resume %s", l.marks.note, l.run.ID)
	}
	if r.Error != "" && r.Error != l.blocked {
		l.line("%s %s", l.marks.failed, untrusted.Line(r.Error))
	}
	parts := []string{
		seconds(r.DurationMS), english.Count(r.Usage.Steps, "step"), english.Count(r.Usage.ToolCalls, "tool call"),
		english.Count(r.Usage.Replans, "replan"), english.Count(r.Usage.PromptTokens+r.Usage.CompletionTokens, "token"),
	}
	if l.run != nil && l.run.DryRun() {
		parts = append(parts, "dry run: nothing was called")
	}
	l.line("%s: %s in %s", r.Status, r.Reason, strings.Join(parts, l.marks.between))
}

// CutOff says why the answer of a run is incomplete, or returns "" if it is
// complete.
func CutOff(run *agent.Run) string {
	for _, x := range slices.Backward(run.Exchanges) {
		if x.Purpose != prompt.PurposeSynthesis && x.Purpose != prompt.PurposeChat {
			continue
		}
		if !x.Reply.CutOff || x.Error != "" {
			return ""
		}
		return fmt.Sprintf("the answer was cut off at %s", english.Count(cmp.Or(x.Reply.CompletionTokens, x.Request.MaxTokens), "token"))
	}
	return ""
}

// results prints the results of a plan without a written answer: those that no
// other step used.
func (l *Log) results(r event.Result) {
	if r.Plan == nil {
		return
	}
	for _, item := range l.run.SynthesisItems() {
		s := l.run.Step(item.Index)
		if item.Status != plan.ItemCompleted || item.Result == nil || s == nil || s.DryRun {
			continue
		}
		l.line("%s result of %s %s", l.marks.started, item.Index, untrusted.Line(item.Title))
		l.block("    ", indented(item.Result), outputShown)
	}
}
