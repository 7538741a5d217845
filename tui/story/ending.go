package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/tui/wording"
)

// Ending is how a run ended.
type Ending struct {
	Result   event.Result   // without its error, if that was told
	Word     string         // the outcome of a run that was not stopped
	Steps    string         // how many steps of the plan are done; "" without a plan
	Evidence string         // how many checks hold; "" without checks
	Failed   untrusted.Text // why a step failed last; "" for none
	Doubt    untrusted.Text // why a step is in doubt; "" for none
	Declined bool           // the user said no to a call, which ended the run

	resumes string // what a resume does, behind the key or command; "" if none is possible
	kept    bool   // finished steps are kept then
}

// Resume says what resuming the ended run with a key or a command does. It returns "" if the
// run cannot be resumed on its own.
func (e *Ending) Resume(by string) string {
	switch {
	case e.resumes == "":
		return ""
	case e.kept:
		return "Finished steps are kept; " + by + e.resumes
	default:
		return by + e.resumes
	}
}

// tellEnding tells how the run ended: its answer or its results, why it ended, and what
// can be done about it.
func tellEnding(at scene, gates *gates, r event.Result) {
	tellNotRun(at, r)
	var results []Result
	if r.Answer != "" {
		answer := Entry{Kind: Answer, Text: r.Answer}
		if at.isRead(Lines) {
			answer.Text = untrusted.Text(withoutFailure(gates.withoutShown(r.Answer.Visible()), at.lastFailure()))
		}
		if at.isRead(Screen) {
			answer.Text = untrusted.Text(intent.WithoutDenied(r.Answer.Visible()))
		}
		if answer.Text != "" {
			answer.Words = cutOffWords(at.run)
		}
		at.tell(Lines|Screen, answer)
	} else if r.Status == event.StatusCompleted && !at.nested { // the answer covers the results of a nested run
		results = unused(at, gates, r)
		at.tell(Lines|Screen, Entry{Kind: Results, Results: results})
	}
	if at.run.DryRun() {
		for _, c := range at.run.Plan.Acceptance {
			at.tell(Lines, Entry{Words: "would check: " + wording.CheckWords(c)})
		}
	}
	if r.Unanswered != "" {
		at.tell(Lines, Entry{Level: Info, Words: "the answer is missing; ask for it again: replan plan resume " + at.run.ID})
	}
	e := &Ending{Result: r, Word: outcomeWord(at, r), Steps: stepsDone(at.run), Evidence: wording.EvidenceWords(at.run), Failed: at.lastFailure(), Doubt: at.lastDoubt(), Declined: at.run.DeclinedAt() != nil}
	if !at.isRead(Caller) && explained(at, r) {
		e.Result.Error = ""
	}
	sayResume(at, e)
	if e.Result.Error != "" {
		at.tell(Lines, Entry{Level: Fatal, Words: r.Error.Line()})
	}
	noPlan := r.Reason == event.ReasonNoPlan && len(at.run.Exchanges) > 0
	if noPlan {
		at.tell(Lines, Entry{Level: Info, Words: "try again, or choose a larger model with --model; replan replay " + wording.ShortID(at.run.ID) + " shows its replies"})
	}
	at.tell(Lines|Screen|Caller, Entry{Kind: Outcome, Words: wording.EndWords(at.run, r), Facts: figures(at.run, r), Results: results, Ending: e})
	if noPlan && !at.nested {
		at.tell(Live, Entry{Kind: Advice})
	}
}

// tellNotRun tells which steps of the plan had not begun when the run failed.
func tellNotRun(at scene, r event.Result) {
	const most = 3
	if r.Status != event.StatusFailed {
		return
	}
	left := slices.DeleteFunc(slices.Clone(at.run.Steps), func(s *agent.StepState) bool {
		return s.Draft || s.Status != agent.StepPending || s.Attempt > 0
	})
	for i, s := range left {
		if i == most && len(left) > most+1 {
			at.tell(Lines, Entry{Level: Skipped, Words: "and " + english.Count(len(left)-most, "more step") + "  not run"})
			return
		}
		at.tell(Lines, Entry{Level: Skipped, Words: s.Step.Index + " " + s.Step.Title.Line() + "  not run"})
	}
}

// figures lists what a run used and what is shown of it.
func figures(run *agent.Run, r event.Result) []string {
	if steps := stepsDone(run); steps != "" && r.Usage.Steps > 0 && !run.DryRun() { // the usage counts attempts and replaced steps, too
		if r.Usage.ToolCalls == r.Usage.Steps {
			r.Usage.ToolCalls = 0
		}
		r.Usage.Steps = 0
		if r.Reason == event.ReasonPartial { // its words count them
			return evidenced(run, r)
		}
		return append([]string{steps}, evidenced(run, r)...)
	}
	return evidenced(run, r)
}

// evidenced lists what a run used and what shows that its work is done.
func evidenced(run *agent.Run, r event.Result) []string {
	parts := wording.UsageParts(r)
	if evidence := wording.EvidenceWords(run); evidence != "" {
		parts = append(parts, evidence)
	}
	if run.DryRun() {
		parts = append(parts, wording.NothingCalled)
	}
	return parts
}

// explained reports whether the reader has been told the error of a run, or is told it with
// the outcome.
func explained(at scene, r event.Result) bool {
	failed := at.lastFailure()
	denied := at.isRead(Lines) && r.Reason == event.ReasonDenied && failed != "" // the outcome says it again
	return at.run.DeclinedAt() != nil || at.hasEnd(r.Error) || denied || repeatsFailure(r.Error, failed) || wording.FailureReason(at.run, r) != "" || repeatsPhase(at.run, r)
}

// outcomeWord describes the outcome of a run that was not stopped.
func outcomeWord(at scene, r event.Result) string {
	switch why := wording.FailureReason(at.run, r); {
	case at.run.DeclinedAt() != nil:
		return "stopped: " + wording.DeclinedStep(at.run, false)
	case r.Status == event.StatusFailed && why != "" && (repeatsFailure(r.Error, at.lastFailure()) || strings.Contains(r.Answer.Line(), why)):
		return "failed" // it was told why
	case r.Status == event.StatusFailed:
		return "failed: " + cmp.Or(why, wording.ReasonWords(r.Reason))
	case at.run.DryRun():
		return wording.NothingCalled
	case at.run.PlanOnly():
		return "planned: nothing was run"
	case r.Reason == event.ReasonPartial:
		return "partial: " + wording.PartialWords(at.run, r)
	case r.Reason.Nothing():
		return wording.ReasonWords(r.Reason)
	default:
		return "done"
	}
}

// stepsDone counts the steps of the plan: "6 steps", "3 of 4 steps". The usage of a run also
// counts calls of agents and earlier attempts.
func stepsDone(run *agent.Run) string {
	all := len(run.Plan.Steps)
	switch done := run.Done(); {
	case all == 0:
		return ""
	case done < all:
		return fmt.Sprintf("%d of %s", done, english.Count(all, "step"))
	default:
		return english.Count(all, "step")
	}
}

// sayResume completes an ending with what resuming the run does.
func sayResume(at scene, e *Ending) {
	if at.run.DryRun() || at.nested { // no journal; or resumed with the run that started it
		return
	}
	e.resumes = " resumes the run"
	if e.Result.Unanswered != "" {
		e.resumes += " and asks for it again."
		return
	}
	var failed []string
	for _, step := range at.run.Steps {
		switch {
		case step.Status == agent.StepCompleted:
			e.kept = true
		case step.Status == agent.StepFailed && !skippedByUser(at.run, step.Step.Index):
			failed = append(failed, untrusted.Line(step.Step.Index))
		}
	}
	switch len(failed) {
	case 0:
	case 1:
		e.resumes += " and tries step " + failed[0] + " again"
	default:
		e.resumes += " and tries the failed steps again"
	}
	e.resumes += "."
}

// skippedByUser reports whether the user chose to skip a failed step, which no resume tries
// again.
func skippedByUser(run *agent.Run, index string) bool {
	attempts := run.AttemptsOf(index)
	if len(attempts) == 0 {
		return false
	}
	return slices.ContainsFunc(attempts[len(attempts)-1].Asked, func(a agent.Asked) bool {
		return a.About == agent.AskedFailure && a.Decision == string(event.FailureSkip)
	})
}

// unused returns the results of a plan without a written answer: those that no other step
// used.
func unused(at scene, gates *gates, r event.Result) (all []Result) {
	if at.isRead(Lines) && r.Plan == nil {
		return nil
	}
	for _, step := range unusedResults(at.run) {
		members, _ := step.Result.(map[string]any)
		diff, _ := members["diff"].(string)
		all = append(all, Result{Step: step, Shown: diff != "" && gates.hasShown(diff)})
	}
	return all
}

// textFence matches a fenced block of text with the colon before it.
var textFence = lazyregexp.New("(?ms):\n\n^```+text\n(.*?)^```+ *$\n?")

// withoutFailure drops the text of the last failure from an answer, and an answer that says
// nothing else: the entry of its step told it.
func withoutFailure(answer string, failed untrusted.Text) string {
	why := strings.TrimRight(failed.FirstLine(), ".")
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
